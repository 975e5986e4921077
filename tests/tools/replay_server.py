"""Recorded response bodies on loopback, in a thread. `with serve_bodies({"/name": Recorded(…)}) as base_url: …`

Any request below `/name` gets the body that is recorded under it, whatever it asks for. Pages of other origins may ask.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Recorded:
    """One response."""

    body: bytes
    content_type: str = "text/event-stream"
    slice_bytes: int = 509
    """How much is written at a time: small, and out of step with every frame."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    bodies: Mapping[str, Recorded]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away early is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_OPTIONS(self) -> None:
        self.send_response(204)
        self.send_header("Access-Control-Allow-Headers", self.headers.get("Access-Control-Request-Headers", "*"))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_POST()

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        recorded = next((body for name, body in self.server.bodies.items() if path.startswith(f"{name}/")), None)
        if recorded is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", recorded.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(recorded.body), recorded.slice_bytes):
            piece = recorded.body[at : at + recorded.slice_bytes]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serve_bodies(bodies: Mapping[str, Recorded]) -> Iterator[str]:
    """Serve until the block ends; gives the base URL, without a slash at its end."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.bodies = bodies
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
