/** A decoded event of an SDK's as JSON text: what its mapper in Python may look at. */

/**
 * Write an event. Errors keep name and message, binary data is left out, and so is what contains itself: SDKs put requests
 * and responses beside the fields that count. Throws what a getter or `toJSON` of the event throws.
 */
export function eventText(event: unknown): string {
  const open: { readonly object: object; readonly written: object }[] = [];
  return (
    JSON.stringify(event, function (this: unknown, _key, value: unknown) {
      if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
      if (typeof value !== "object" || value === null) return value;
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return undefined;
      while (open.length > 0 && open.at(-1)!.written !== this) open.pop();
      if (open.some(({ object }) => object === value)) return undefined;
      const written = value instanceof Error ? { ...value, name: value.name, message: value.message } : value;
      open.push({ object: value, written });
      return written;
    }) ?? "null"
  );
}
