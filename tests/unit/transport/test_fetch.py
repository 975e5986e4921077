"""What `fetch` is asked for, with a JavaScript that is faked in Python.

What depends on a real engine (streams, abort, timers, proxies) is in tests/pyodide/bodies/transport_fetch.py.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from unspool.contracts import HttpRequest
from unspool.errors import CallCancelledError, NetworkError
from unspool.transport.fetch import FetchTransport

pytestmark = pytest.mark.host

KEY = "unspool-marker-0123456789"
REQUEST = HttpRequest(
    "POST", "http://h/v1", {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}, b"{}"
)


class JsException(Exception):
    """pyodide.ffi.JsException."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


class Promise:
    """A promise that is settled already."""

    def __init__(self, value: Any = None, error: JsException | None = None) -> None:
        self.value, self.error = value, error
        self.handled = False

    def __await__(self) -> Any:
        self.handled = True
        yield from asyncio.sleep(0).__await__()
        if self.error is not None:
            raise self.error
        return self.value

    def catch(self, handler: Callable[[Any], Any]) -> None:
        self.handled = True


class Reader:
    """A reader over slices; an exception among them is a rejection."""

    def __init__(self, slices: list[bytes | JsException]) -> None:
        self.slices = slices
        self.locked = True
        self.cancelled: list[Promise] = []

    def read(self) -> Promise:
        if not self.slices:
            return Promise(SimpleNamespace(done=True, value=None))
        piece = self.slices.pop(0)
        if isinstance(piece, JsException):
            return Promise(error=piece)
        return Promise(SimpleNamespace(done=False, value=SimpleNamespace(to_bytes=lambda: piece)))

    def cancel(self) -> Promise:
        self.cancelled.append(Promise(error=JsException("AbortError", "aborted")))
        return self.cancelled[-1]

    def releaseLock(self) -> None:
        self.locked = False


class Page:
    """The global scope: one answer of `fetch`, and what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.url = ""
        self.options: Any = None
        self.aborts = 0

    def fetch(self, url: str, options: Any) -> Promise:
        self.url, self.options = url, options
        return Promise(error=self.answer) if isinstance(self.answer, JsException) else Promise(self.answer)

    def abort(self) -> None:
        self.aborts += 1


def response(
    slices: list[bytes | JsException] | None, status: int = 200, type: str = "cors"
) -> tuple[Any, Reader | None]:
    reader = None if slices is None else Reader(slices)
    headers = SimpleNamespace(entries=lambda: [("content-type", "text/event-stream")])
    body = None if reader is None else SimpleNamespace(getReader=lambda: reader)
    return SimpleNamespace(status=status, type=type, headers=headers, body=body), reader


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Page]:
    """Load a page with an answer of `fetch`."""

    def load(answer: Any) -> Page:
        page = Page(answer)
        js = ModuleType("js")
        controller = SimpleNamespace(signal="the signal", abort=page.abort)
        js.AbortController = SimpleNamespace(new=lambda: controller)  # type: ignore[attr-defined]
        entries = SimpleNamespace(to_py=dict)
        js.Object = SimpleNamespace(  # type: ignore[attr-defined]
            fromEntries=lambda pairs: SimpleNamespace(to_py=lambda: dict(pairs)) if pairs else entries
        )
        js.fetch = page.fetch  # type: ignore[attr-defined]
        ffi = ModuleType("pyodide.ffi")
        ffi.JsException = JsException  # type: ignore[attr-defined]
        ffi.to_js = lambda value, **_: SimpleNamespace(**value) if isinstance(value, dict) else value  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "js", js)
        monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
        monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
        return page

    return load


async def test_what_is_asked_for(load: Callable[[Any], Page]) -> None:
    """F9: the headers of the request and no others; no redirect; cookies only for the page's own origin."""
    page = load(response([])[0])
    await FetchTransport().open(REQUEST)
    assert page.url == "http://h/v1"
    asked = vars(page.options)
    assert dict(asked.pop("headers")) == REQUEST.headers
    assert asked == {
        "method": "POST",
        "redirect": "manual",
        "credentials": "same-origin",
        "signal": "the signal",
        "body": b"{}",
    }


async def test_a_request_without_a_body(load: Callable[[Any], Page]) -> None:
    """`fetch` refuses any body with GET."""
    page = load(response([])[0])
    await FetchTransport(credentials="include").open(HttpRequest("GET", "http://h", {}, b""))
    assert "body" not in vars(page.options)
    assert page.options.credentials == "include"


async def test_a_response(load: Callable[[Any], Page]) -> None:
    answer, reader = response([b"a", b"b"], 503)
    page = load(answer)
    got = await FetchTransport().open(REQUEST)
    assert (got.status, got.headers) == (503, {"content-type": "text/event-stream"})
    assert [await got.read() for _ in range(4)] == [b"a", b"b", None, None]
    assert reader is not None
    assert not reader.locked
    got.abort()
    await got.close()
    assert (page.aborts, reader.cancelled) == (0, [])


async def test_a_response_without_a_body(load: Callable[[Any], Page]) -> None:
    load(response(None, 204)[0])
    got = await FetchTransport().open(REQUEST)
    assert await got.read() is None
    got.abort()


async def test_aborting(load: Callable[[Any], Page]) -> None:
    """Signal, reader and lock, once; the rejection of `cancel` is handled."""
    answer, reader = response([b"a", b"b"])
    page = load(answer)
    got = await FetchTransport().open(REQUEST)
    await got.read()
    got.abort()
    got.abort()
    await got.close()
    assert reader is not None
    assert page.aborts == len(reader.cancelled) == 1
    assert reader.cancelled[0].handled
    assert not reader.locked
    with pytest.raises(CallCancelledError):
        await got.read()


async def test_a_body_that_ends_because_it_is_aborted_is_no_end(load: Callable[[Any], Page]) -> None:
    answer, _reader = response([])
    load(answer)
    got = await FetchTransport().open(REQUEST)
    task = asyncio.ensure_future(got.read())
    await asyncio.sleep(0)
    got.abort()
    with pytest.raises(CallCancelledError):
        await task


async def test_no_response(load: Callable[[Any], Page]) -> None:
    """F11, F50: a network failure, with what it may be; engines may quote a header that they refuse."""
    page = load(JsException("TypeError", f"Failed to fetch; Bearer {KEY} is an invalid value"))
    with pytest.raises(NetworkError) as caught:
        await FetchTransport().open(REQUEST)
    assert caught.value.retryable
    assert caught.value.message.startswith("No response from h:80 (")
    for word in ("Is the server running?", "TypeError: Failed to fetch", "CORS", "https:", "connect-src"):
        assert word in caught.value.message
    assert KEY not in caught.value.message
    assert caught.value.__context__ is None
    assert page.aborts == 0


async def test_a_body_that_breaks(load: Callable[[Any], Page]) -> None:
    answer, reader = response([b"a", JsException("TypeError", "network error")])
    page = load(answer)
    got = await FetchTransport().open(REQUEST)
    await got.read()
    with pytest.raises(NetworkError, match="network error") as caught:
        await got.read()
    assert "CORS" not in caught.value.message
    assert reader is not None
    assert (page.aborts, reader.locked) == (1, False)


@pytest.mark.parametrize(("status", "type"), [(0, "opaqueredirect"), (307, "basic"), (302, "default")])
async def test_redirects_are_not_followed(load: Callable[[Any], Page], status: int, type: str) -> None:
    """Browsers hide the status of a redirect that is not followed; Node shows it."""
    page = load(response([], status, type)[0])
    with pytest.raises(NetworkError, match="redirect") as caught:
        await FetchTransport().open(REQUEST)
    assert not caught.value.retryable
    assert page.aborts == 1


async def test_timeouts(load: Callable[[Any], Page]) -> None:
    page = load(response([])[0])
    page.fetch = lambda url, options: asyncio.get_running_loop().create_future()  # type: ignore[method-assign,return-value]
    sys.modules["js"].fetch = page.fetch  # type: ignore[attr-defined]
    from unspool.errors import RequestTimeoutError

    with pytest.raises(RequestTimeoutError):
        await FetchTransport(timeout_s=0.001).open(REQUEST)
    assert page.aborts == 1


async def test_cancelling_before_the_headers(load: Callable[[Any], Page]) -> None:
    """F8."""
    page = load(response([])[0])
    sys.modules["js"].fetch = lambda url, options: asyncio.get_running_loop().create_future()  # type: ignore[attr-defined]
    task = asyncio.ensure_future(FetchTransport().open(REQUEST))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert page.aborts == 1
