"""As much of a browser as the loading of a model needs, for CPython: modules `js` and `pyodide` made of plain Python.

What real browsers do is tested in tests/browser; this is for orders of events that are hard to bring about there.
"""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest


class JsError(Exception):
    """Stands for `pyodide.ffi.JsException`."""

    def __init__(self, name: str, message: str, type: str | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        if type is not None:
            self.type = type


class Array(list[Any]):
    """A JavaScript array."""

    @classmethod
    def new(cls) -> Array:
        return cls()

    @classmethod
    def of(cls, *items: Any) -> Array:
        return cls(items)

    def push(self, *items: Any) -> None:
        self.extend(items)

    @property
    def length(self) -> int:
        return len(self)

    @length.setter
    def length(self, size: int) -> None:
        del self[size:]


class Bytes:
    """A Uint8Array or an ArrayBuffer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.byteLength = len(data)

    def to_bytes(self) -> bytes:
        return self._data


class Blob:
    def __init__(self, data: bytes, type: str = "") -> None:
        self.data = data
        self.type = type

    @classmethod
    def new(cls, parts: list[Any], options: Any = None) -> Blob:
        data = b"".join(part.data if isinstance(part, Blob) else part.to_bytes() for part in parts)
        return cls(data, getattr(options, "type", ""))

    @property
    def size(self) -> int:
        return len(self.data)

    def slice(self, start: int, end: int) -> Blob:
        return Blob(self.data[start:end])

    async def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    async def arrayBuffer(self) -> Bytes:
        return Bytes(self.data)


class Response:
    """What `fetch` gives, or what a Cache keeps."""

    def __init__(self, body: bytes | list[bytes | Exception], status: int = 200, length: int | None = None) -> None:
        self._slices = [body] if isinstance(body, bytes) else list(body)
        self._length = length
        self.status = status
        self.ok = status == 200
        headers = {} if length is None else {"content-length": str(length)}
        self.headers = types.SimpleNamespace(get=headers.get)
        self.body = types.SimpleNamespace(getReader=lambda: types.SimpleNamespace(read=self._read))

    @classmethod
    def new(cls, blob: Blob) -> Response:
        return cls(blob.data)

    def copy(self) -> Response:
        """One whose body has not been read."""
        return Response(self._slices, self.status, self._length)

    async def _read(self) -> Any:
        if not self._slices:
            return types.SimpleNamespace(done=True, value=None)
        piece = self._slices.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return types.SimpleNamespace(done=False, value=Bytes(piece))

    async def text(self) -> str:
        return b"".join(piece for piece in self._slices if isinstance(piece, bytes)).decode()

    async def blob(self) -> Blob:
        return Blob(b"".join(piece for piece in self._slices if isinstance(piece, bytes)))


class Controller:
    """An AbortController, and its signal."""

    def __init__(self) -> None:
        self.aborted = False
        self.signal = self

    @classmethod
    def new(cls) -> Controller:
        return cls()

    def abort(self) -> None:
        self.aborted = True


class Promise:
    """A promise of nothing that anybody waits for."""

    def catch(self, _handler: Any) -> None: ...


class Browser:
    """The modules, and what they were asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Response | Exception] = {}
        self.fetched: list[str] = []
        self.cached: dict[str, Response] = {}
        self.urls: set[str] = set()
        self.js = types.ModuleType("js")
        members: dict[str, Any] = {
            "Array": Array,
            "Object": types.SimpleNamespace(new=types.SimpleNamespace),
            "Boolean": bool,
            "Blob": Blob,
            "Response": Response,
            "AbortController": Controller,
            "Worker": object,
            "fetch": self._fetch,
            "caches": types.SimpleNamespace(open=self._open_cache),
            "URL": types.SimpleNamespace(createObjectURL=self._make_url, revokeObjectURL=self.urls.discard),
            "JSON": types.SimpleNamespace(stringify=json.dumps, parse=json.loads),
            "WebAssembly": types.SimpleNamespace(Suspending=object),
            "navigator": types.SimpleNamespace(hardwareConcurrency=8),
        }
        for name, value in members.items():
            setattr(self.js, name, value)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        package, ffi = types.ModuleType("pyodide"), types.ModuleType("pyodide.ffi")
        ffi.JsException = JsError  # type: ignore[attr-defined]
        for module in (self.js, package, ffi):
            patch.setitem(sys.modules, module.__name__, module)

    async def _fetch(self, url: str, _options: Any) -> Response:
        self.fetched.append(url)
        await asyncio.sleep(0)
        answer = self.answers.get(url, Response(b"", 404))
        if isinstance(answer, Exception):
            raise answer
        return answer.copy()

    async def _open_cache(self, _name: str) -> Any:
        async def match(url: str) -> Response | None:
            return self.cached.get(url)

        def put(url: str, response: Response) -> Promise:
            self.cached[url] = response
            return Promise()

        return types.SimpleNamespace(match=match, put=put)

    def _make_url(self, _blob: Blob) -> str:
        url = f"blob:{len(self.urls)}"
        self.urls.add(url)
        return url


class Wllama:
    """An instance of wllama whose load a test ends when it likes."""

    def __init__(self) -> None:
        self.loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.success = True
        self.exits = 0
        self.options: Any = None

    def loadModel(self, _blobs: Any, options: Any) -> asyncio.Future[None]:
        self.options = options
        return self.loaded

    def getLoadedContextInfo(self) -> Any:
        return types.SimpleNamespace(success=self.success)

    def exit(self) -> Any:
        self.exits += 1

        class Done(Promise):
            def __await__(self) -> Any:
                return asyncio.sleep(0).__await__()

        return Done()


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    made = Browser()
    made.install(monkeypatch)
    return made


async def turns(condition: Callable[[], bool], most: int = 200) -> None:
    """Let the loop run until something has happened."""
    for _ in range(most):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")
