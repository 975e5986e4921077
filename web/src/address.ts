import { UnspoolError } from "./errors.js";

/** Addresses that callers give are relative to the page; a worker may have another base or, made of a blob, none. */
export function absolute(url: string | URL): URL {
  const base =
    (globalThis.document as Document | undefined)?.baseURI ?? (globalThis.location as Location | undefined)?.href;
  try {
    return new URL(url, base);
  } catch (thrown) {
    throw new UnspoolError("INVALID_OPTIONS", `Not a URL: ${String(url)}`, { cause: thrown });
  }
}
