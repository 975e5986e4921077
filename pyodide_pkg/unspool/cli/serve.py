"""The demo's server: the self-hosted folder, the model file, and what the page must know.

Host only. In: a folder, and a configuration as JSON-safe data. Out: an ASGI application, and a server for it in a
thread.
"""

from __future__ import annotations

import contextlib
import errno
import mimetypes
import socket
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unspool.cli.checkout import BuildError

TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".gguf": "application/octet-stream",
    ".py": "text/x-python",
}
"""Named here because the platform's own table lacks some: a module or a WebAssembly file of another type is refused."""

HEADERS = {
    # Cross-origin isolation: without it there is no SharedArrayBuffer, and the model runs on one thread.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
REVALIDATE = "no-cache"
"""Kept by the browser, but asked for each time: a new build shows at once, an old file costs one 304."""
FOREVER = "public, max-age=31536000, immutable"
START_TIMEOUT_S = 10.0


def site(dist: Path, config: Mapping[str, Any], models: Mapping[str, Path] | None = None) -> Starlette:
    """Make the application that serves the demo.

    Args:
        dist: the self-hosted folder.
        config: what `/config.json` says.
        models: model files by name, served as `/models/NAME` with ranges. Under an address that names a version
            (`?v=…`) browsers keep them for ever.
    """
    for suffix, kind in TYPES.items():
        mimetypes.add_type(kind, suffix)
    files = dict(models or {})

    async def settings(_request: Request) -> Response:
        return JSONResponse(dict(config), headers={"Cache-Control": "no-store"})

    async def model(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such model.")
        lifetime = FOREVER if "v" in request.query_params else REVALIDATE
        return FileResponse(path, headers={"Cache-Control": lifetime, "Accept-Ranges": "bytes"})

    async def icon(_request: Request) -> Response:
        path = dist / "icon.svg"
        if not path.is_file():
            raise HTTPException(404)
        return FileResponse(path)

    async def refuse(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return PlainTextResponse(f"{error.detail}\n", error.status_code, headers=error.headers)

    return Starlette(
        routes=[
            Route("/config.json", settings),
            Route("/models/{name}", model),
            Route("/favicon.ico", icon),
            Mount("/", StaticFiles(directory=dist, html=True)),
        ],
        exception_handlers={HTTPException: refuse},
        middleware=[Middleware(_Headers)],
    )


class _Headers:
    """Adds our headers to every response, the 404s included: an isolated page refuses what lacks them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", REVALIDATE)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@contextlib.contextmanager
def running(app: Any, *, host: str = "127.0.0.1", port: int = 0) -> Generator[str]:
    """Serve an application in a thread while the block runs.

    Args:
        app: an ASGI application.
        host: the address to listen on.
        port: 0 takes a free one; one that is taken by somebody else gives a free one, too.
    Returns:
        The base URL, without a slash at the end.
    Raises:
        BuildError: BUILD_FAILED when the server does not start.
    """
    listener = listen(host, port)
    config = uvicorn.Config(app, log_level="critical", lifespan="off", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    # In a thread of its own, so that uvicorn leaves the signals of the process alone.
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(START_TIMEOUT_S)
        listener.close()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; connections that come before the server runs wait in its queue.

    Raises:
        BuildError: BUILD_FAILED when there is neither this port nor another one.
    """
    for wanted in dict.fromkeys((port, 0)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
            listener.listen(128)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise BuildError("BUILD_FAILED", f"No server can listen on {host}: {error}.") from error
        else:
            return listener
    raise BuildError("BUILD_FAILED", f"No port of {host} is free.")
