"""Model files: progress, the browser's Cache, and what is no model file."""

from __future__ import annotations

import pytest
from tests.tools.fake_browser import Browser, Controller, JsError, Response, browser

from unspool.errors import ConfigError, NetworkError, ProviderError
from unspool.local import model_file
from unspool.local.model_file import absolute, download, fetch_model

pytestmark = pytest.mark.host

__all__ = ["browser"]

URL = "https://models.test/m.gguf"
GGUF = b"GGUF" + bytes(100)


def heard() -> tuple[list[tuple[int, int | None]], model_file.Progress]:
    told: list[tuple[int, int | None]] = []
    return told, lambda done, total: told.append((done, total))


async def test_a_file_comes_whole_and_is_kept(browser: Browser) -> None:
    browser.answers[URL] = Response([GGUF[:50], GGUF[50:]], length=104)
    told, tell = heard()
    assert (await fetch_model(URL, Controller(), tell)).data == GGUF
    assert told == [(0, 104), (104, 104)]
    told.clear()
    assert (await fetch_model(URL, Controller(), tell)).data == GGUF
    assert told == [(104, 104)]
    assert browser.fetched == [URL]


async def test_a_length_that_nobody_states_is_none(browser: Browser) -> None:
    browser.answers[URL] = Response(GGUF)
    told, tell = heard()
    await fetch_model(URL, Controller(), tell)
    assert told == [(0, None), (104, 104)]


async def test_progress_is_told_about_every_mebibyte(browser: Browser) -> None:
    browser.answers[URL] = Response([GGUF[:4], *[bytes(1 << 19)] * 8], length=4 + (8 << 19))
    told, tell = heard()
    await fetch_model(URL, Controller(), tell)
    assert len(told) == 2 + 4


async def test_big_files_leave_memory_in_pieces(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "_SLICE_BYTES", 10)
    browser.answers[URL] = Response([b"GGUF", b"12345678", b"9", b"abc"])
    assert (await fetch_model(URL, Controller(), lambda *_: None)).data == b"GGUF123456789abc"


async def test_a_browser_without_a_cache_fetches_each_time(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_name: str) -> None:
        raise JsError("SecurityError", "The operation is insecure.")

    monkeypatch.setattr(browser.js.caches, "open", refuse)
    for _ in range(2):
        browser.answers[URL] = Response(GGUF)
        assert (await fetch_model(URL, Controller(), lambda *_: None)).data == GGUF
    monkeypatch.delattr(browser.js, "caches")
    browser.answers[URL] = Response(GGUF)
    await fetch_model(URL, Controller(), lambda *_: None)
    assert browser.fetched == [URL] * 3


@pytest.mark.parametrize("body", [b"", b"<!do", b"GGU"])
async def test_what_is_no_gguf_is_refused_and_not_kept(browser: Browser, body: bytes) -> None:
    browser.answers[URL] = Response(body)
    with pytest.raises(ProviderError, match="no GGUF file") as caught:
        await fetch_model(URL, Controller(), lambda *_: None)
    assert caught.value.code == "MODEL_NOT_FOUND"
    assert browser.cached == {}


@pytest.mark.parametrize(
    ("status", "code"), [(404, "MODEL_NOT_FOUND"), (410, "MODEL_NOT_FOUND"), (403, "AUTH"), (503, "OVERLOADED")]
)
async def test_statuses_have_codes(browser: Browser, status: int, code: str) -> None:
    browser.answers[URL] = Response(b"no", status)
    with pytest.raises(ProviderError) as caught:
        await download(URL, Controller())
    assert (caught.value.code, caught.value.status) == (code, status)


async def test_no_network(browser: Browser) -> None:
    browser.answers[URL] = JsError("TypeError", "Failed to fetch")
    with pytest.raises(NetworkError, match="CORS"):
        await download(URL, Controller())


async def test_a_connection_that_breaks(browser: Browser) -> None:
    browser.answers[URL] = Response([GGUF[:50], JsError("TypeError", "network error")])
    with pytest.raises(NetworkError, match="network error"):
        await fetch_model(URL, Controller(), lambda *_: None)
    assert browser.cached == {}


async def test_the_kind_of_a_file_is_kept(browser: Browser) -> None:
    browser.answers[URL] = Response(b"\0asm")
    assert (await download(URL, Controller(), kind="application/wasm")).type == "application/wasm"


def test_addresses_need_a_browser() -> None:
    with pytest.raises(ConfigError) as caught:
        absolute("/m.gguf")
    assert caught.value.code == "UNSUPPORTED"
