import { UnspoolError } from "./errors.js";
/** Addresses that callers give are relative to the page; a worker may have another base or, made of a blob, none. */
export function absolute(url) {
    const base = globalThis.document?.baseURI ?? globalThis.location?.href;
    try {
        return new URL(url, base);
    }
    catch (thrown) {
        throw new UnspoolError("INVALID_OPTIONS", `Not a URL: ${String(url)}`, { cause: thrown });
    }
}
