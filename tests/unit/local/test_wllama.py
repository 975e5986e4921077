"""The model in the page: its options, its faults as codes, and its end. What it says is tested in tests/browser."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from tests.tools.fake_browser import Browser, JsError, browser

import unspool as us
from unspool.errors import CallCancelledError, ConfigError, ProviderError, UnspoolError
from unspool.local.wllama import Wllama, WllamaResponse, model_name

__all__ = ["browser"]

URL = "/models/tiny.gguf"


class FakeEngine:
    """Counts its ends, and remembers what llama.cpp said."""

    def __init__(self, said: str = "") -> None:
        self.spec: Any = None
        self.said = said
        self.exits = 0

    def errors_logged(self) -> str:
        return self.said

    async def exit(self) -> None:
        self.exits += 1


class FakeGeneration:
    """Gives what it is told to: chunks, or an error at the end."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.stops = 0

    async def next(self) -> Any:
        item = self.items.pop(0) if self.items else None
        if isinstance(item, asyncio.Event):
            await item.wait()
            return None
        if isinstance(item, Exception):
            raise item
        return item

    def stop(self) -> None:
        self.stops += 1


def response(*items: Any, said: str = "") -> tuple[WllamaResponse, FakeEngine, FakeGeneration]:
    engine, generation = FakeEngine(said), FakeGeneration(*items)
    made: Any = WllamaResponse(engine, generation)  # type: ignore[arg-type]
    return made, engine, generation


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("/models/SmolLM2-135M.gguf", "SmolLM2-135M"),
        ("https://h/a/b.gguf?v=1.2#x", "b"),
        ("b.gguf", "b"),
        ("/models/file", "file"),
        ("https://h/.gguf", "https://h/.gguf"),
    ],
)
def test_a_model_is_named_after_its_file(url: str, name: str) -> None:
    assert model_name(url) == name


def test_it_is_one_of_the_ready_made_models() -> None:
    model = us.llms.Wllama(model_url=URL, temperature=0)
    assert isinstance(model, Wllama)
    assert repr(model) == "Wllama('tiny')"


@pytest.mark.parametrize(
    "options",
    [
        {"model_url": ""},
        {"model_url": 5},
        {"wllama_url": ""},
        {"wasm_url": ""},
        {"n_ctx": 15},
        {"n_ctx": 2.5},
        {"n_ctx": True},
        {"n_threads": 0},
        {"n_gpu_layers": -1},
        {"temperature": -1},
        {"bogus": 1},
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        Wllama(**{"model_url": URL, **options})
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.skipif(sys.platform == "emscripten", reason="has a browser or Node around it")
async def test_outside_of_a_browser_it_says_so() -> None:
    with pytest.raises(ConfigError) as caught:
        await Wllama(model_url=URL).call("Hi")
    assert caught.value.code == "UNSUPPORTED"


@pytest.mark.host
async def test_chunks_are_plain_data(browser: Browser) -> None:
    made, _, generation = response({"choices": []}, {"usage": {"prompt_tokens": None}})
    assert await made.read() == [{"choices": []}]
    assert await made.read() == [{"usage": {"prompt_tokens": None}}]
    assert await made.read() is None
    assert await made.read() is None
    made.abort()
    assert generation.stops == 0  # it was over


@pytest.mark.host
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (
            "request (6009 tokens) exceeds the available context size (2048 tokens), try increasing it",
            "CONTEXT_WINDOW_EXCEEDED",
        ),
        ("Failed to initialize samplers: grammar", "INVALID_REQUEST"),
        ("Invalid tokens", "PROVIDER"),
    ],
)
async def test_errors_of_llama_cpp_have_codes(browser: Browser, said: str, code: str) -> None:
    made, engine, _ = response(JsError("Error", said, "inference_error"))
    with pytest.raises(ProviderError) as caught:
        await made.read()
    assert caught.value.code == code
    assert said in caught.value.message
    assert engine.exits == 0


@pytest.mark.host
@pytest.mark.parametrize(
    ("logged", "code", "says"),
    [
        ("JSON schema error at #: unrecognized type nonsense", "INVALID_REQUEST", "unrecognized type"),
        ("invalid UTF-8 byte at index 1: 0xA3", "PROVIDER", "UTF-8"),
        ("", "PROVIDER", "Invalid typed array"),
    ],
)
async def test_after_a_crash_the_engine_is_given_up(browser: Browser, logged: str, code: str, says: str) -> None:
    made, engine, _ = response(JsError("RuntimeError", "Invalid typed array length: 1163217991"), said=logged)
    with pytest.raises(UnspoolError, match=says) as caught:
        await made.read()
    assert caught.value.code == code
    assert engine.exits == 1


@pytest.mark.host
async def test_abort_stops_once_and_ends_the_wait(browser: Browser) -> None:
    gate = asyncio.Event()
    made, _, generation = response(gate)
    reading = asyncio.ensure_future(made.read())
    await asyncio.sleep(0)
    made.abort()
    made.abort()
    await made.close()
    assert generation.stops == 1
    gate.set()
    with pytest.raises(CallCancelledError):
        await reading
    with pytest.raises(CallCancelledError):
        await made.read()


@pytest.mark.host
async def test_an_error_after_abort_is_the_abort(browser: Browser) -> None:
    made, engine, _ = response(JsError("AbortError", "aborted"))
    made._aborted = False
    reading = asyncio.ensure_future(made.read())
    made._aborted = True
    with pytest.raises(CallCancelledError):
        await reading
    assert engine.exits == 0
