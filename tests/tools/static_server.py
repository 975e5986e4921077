"""A static file server on loopback, in a thread, for pages under test. `with serve_folder(folder) as base_url: …`"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""The headers that give a page `SharedArrayBuffer`, which PyScript's workers need."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A name for what the platform's table lacks or gets wrong; a module script is refused without it.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/octet-stream",
        ".json": "application/json",
        ".gguf": "application/octet-stream",
    }

    def __init__(self, *args: object, headers: Mapping[str, str], pages: Mapping[str, str], **kwargs: object) -> None:
        self._headers = headers
        self._pages = pages
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        page = "" if path == "/favicon.ico" else self._pages.get(path)
        if page is None:
            super().do_GET()
            return
        body = page.encode()
        self.send_response(200)
        kind = self.guess_type(path)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        for name, value in self._headers.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in mid-transfer is no event."""


@contextmanager
def serve_folder(
    folder: Path, *, headers: Mapping[str, str] | None = None, pages: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Serve a folder while the block runs.

    Args:
        folder: the static root.
        headers: sent with every answer, such as `ISOLATION`.
        pages: texts by path, served in place of files.
    Returns:
        The base URL, without a slash at the end.
    """
    handler = functools.partial(_Handler, directory=str(folder), headers=headers or {}, pages=pages or {})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
