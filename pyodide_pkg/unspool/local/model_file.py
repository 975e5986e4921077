"""Files for a model in the page: fetched with progress, checked, and kept by the browser.

In: addresses. Out: JavaScript Blobs; the bytes never enter Python. Nothing of JavaScript is touched at import.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from unspool.errors import ConfigError, NetworkError, ProviderError
from unspool.providers.failure import http_failure

Progress = Callable[[int, int | None], object]
"""Is told how many bytes have come, and how many there will be (None when nobody knows)."""

MODEL_CACHE = "unspool-models"
"""Name of the browser's Cache that keeps model files."""
_SLICE_BYTES = 32 * 1024 * 1024
"""Downloaded bytes are given to the browser in Blobs of this size, which it may move out of memory."""
_REPORT_BYTES = 1024 * 1024
_REFUSAL_CHARS = 2_000


async def fetch_model(url: str, signal: Any, tell: Progress) -> Any:
    """Get a GGUF file, from the browser's Cache when it has been there before.

    A file is taken to be the same for ever under its address: one that changes needs a version in the address.

    Args:
        url: absolute address.
        signal: an AbortSignal.
        tell: is told how it goes, at the beginning, about every MiB, and at the end.
    Returns:
        A Blob.
    Raises:
        NetworkError: NETWORK when there is no response or the connection breaks.
        ProviderError: MODEL_NOT_FOUND for the statuses 404 and 410, and when the file is no GGUF; other codes for other
            statuses.
    """
    import js

    cache: Any = None
    if hasattr(js, "caches"):
        with contextlib.suppress(Exception):  # a browser may have it and refuse it: then there is none
            cache = await js.caches.open(MODEL_CACHE)
    hit = None if cache is None else await cache.match(url)
    if hit:
        blob = await hit.blob()
        tell(int(blob.size), int(blob.size))
        return blob
    blob = await download(url, signal, tell)
    head = str(await blob.slice(0, 4).text())
    if head != "GGUF":
        raise ProviderError("MODEL_NOT_FOUND", f"{url} is no GGUF file: it begins with {head!r}.")
    if cache is not None:
        # In the background: the Blob is whole already. When the disk is full the file is fetched again next time.
        cache.put(url, js.Response.new(blob)).catch(js.Boolean)
    return blob


async def download(url: str, signal: Any, tell: Progress | None = None, *, kind: str = "") -> Any:
    """Get a file.

    Args:
        url, signal, tell: as in `fetch_model`.
        kind: MIME type of the Blob.
    Raises:
        NetworkError, ProviderError: as in `fetch_model`.
    """
    import js
    from pyodide.ffi import JsException

    options = js.Object.new()
    options.signal = signal
    try:
        response = await js.fetch(url, options)
        if not response.ok:
            raise _refused(url, int(response.status), str(await response.text())[:_REFUSAL_CHARS])
        stated = str(response.headers.get("content-length") or "")
        total = int(stated) if stated.isdigit() else None
        reader = response.body.getReader()
        blobs, slices = js.Array.new(), js.Array.new()
        done = told = held = 0
        if tell is not None:
            tell(0, total)
        while not (step := await reader.read()).done:
            size = int(step.value.byteLength)
            slices.push(step.value)
            done += size
            held += size
            if held >= _SLICE_BYTES:
                blobs.push(js.Blob.new(slices))
                slices, held = js.Array.new(), 0
            if tell is not None and done - told >= _REPORT_BYTES:
                told = done
                tell(done, total)
        blobs.push(js.Blob.new(slices))
        if tell is not None:
            tell(done, done)
        described = js.Object.new()
        described.type = kind
        return js.Blob.new(blobs, described)
    except JsException as error:
        raise NetworkError(
            f"{url} could not be fetched ({error.name}: {error.message}). It may be the network, the address, or the "
            "server's CORS headers."
        ) from error


def absolute(url: str, base: str | None = None) -> str:
    """Resolve an address against a base, by default the page's or the worker's.

    Raises:
        ConfigError: INVALID_OPTIONS when it is none; UNSUPPORTED outside of Pyodide.
    """
    try:
        import js
        from pyodide.ffi import JsException
    except ImportError:
        raise ConfigError("UNSUPPORTED", "A model in the page runs under Pyodide, in a browser.") from None
    if base is None and hasattr(js, "location"):
        # A worker out of a Blob has an address that nothing can be relative to; its origin will do.
        base = str(js.location.origin if js.location.protocol == "blob:" else js.location.href)
    try:
        return str(js.URL.new(url, base).href if base else js.URL.new(url).href)
    except JsException:
        raise ConfigError("INVALID_OPTIONS", f"{url!r} is no address.") from None


def _refused(url: str, status: int, body: str) -> ProviderError:
    if status in (404, 410):
        return ProviderError("MODEL_NOT_FOUND", f"There is no file at {url} (status {status}).", status=status)
    return http_failure(status, {}, body.encode())
