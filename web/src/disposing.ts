/** `using` and `await using` end what has an end, where the runtime knows of them. */

/** Have `using` call a method of a class. */
export function endedBy<Name extends string>(
  kind: { readonly prototype: { readonly [name in Name]: () => void } },
  name: Name,
): void {
  const symbol = Symbol.dispose as symbol | undefined;
  if (symbol !== undefined) Object.defineProperty(kind.prototype, symbol, { value: kind.prototype[name] });
}

/** Have `await using` leave an iterator. */
export function leftBy<I extends object>(iterator: I, leave: () => Promise<unknown>): I & AsyncDisposable {
  const symbol = Symbol.asyncDispose as symbol | undefined;
  const value = async (): Promise<void> => void (await leave());
  return (symbol === undefined ? iterator : Object.defineProperty(iterator, symbol, { value })) as I & AsyncDisposable;
}
