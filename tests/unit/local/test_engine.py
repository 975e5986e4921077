"""Engines: one load for all who wait, and nothing left when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.tools.fake_browser import Blob, Browser, JsError, Response, Wllama, browser, turns

from unspool.errors import ConfigError, NetworkError, ProviderError
from unspool.local import engine as engine_module
from unspool.local.engine import Engine, EngineSpec, forget, shared_engine

pytestmark = pytest.mark.host

__all__ = ["browser"]

SPEC = EngineSpec("https://h/m.gguf", "https://h/w.js", "https://h/w.wasm", 512, None, 0)


@pytest.fixture
def made(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Wllama]]:
    """The instances of wllama that were made; each loads when the test says so."""
    instances: list[Wllama] = []

    def make(_module: Any, _wasm: str, _logged: Any) -> Wllama:
        instances.append(Wllama())
        return instances[-1]

    async def module(_url: str) -> object:
        return object()

    monkeypatch.setattr(engine_module, "_import_module", module)
    monkeypatch.setattr(engine_module, "_make", make)
    monkeypatch.setattr(engine_module, "_engines", {})
    browser.answers[SPEC.model_url] = Response(b"GGUF...")
    browser.answers[SPEC.wasm_url] = Response(b"\0asm...")
    yield instances


async def loading(engine: Engine, made: list[Wllama], number: int = 0) -> asyncio.Task[None]:
    """Somebody who waits for an engine that is just being loaded."""
    waiter = asyncio.ensure_future(engine.ready())
    await turns(lambda: len(made) > number and made[number].options is not None)
    return waiter


async def test_all_who_ask_share_one_load(made: list[Wllama], browser: Browser) -> None:
    one, two = shared_engine(SPEC), shared_engine(SPEC)
    assert one is two
    assert shared_engine(SPEC._replace(n_ctx=1024)) is not one
    first = await loading(one, made)
    second = asyncio.ensure_future(two.ready())
    made[0].loaded.set_result(None)
    await asyncio.gather(first, second)
    await one.ready()
    assert len(made) == 1
    assert browser.fetched.count(SPEC.model_url) == 1
    assert browser.urls == set()  # the wasm's address was given back


async def test_threads_are_half_of_the_cores(made: list[Wllama], browser: Browser) -> None:
    await loading(shared_engine(SPEC), made)
    assert made[0].options.n_threads == 4
    assert made[0].options.n_ctx == 512


async def test_one_thread_without_jspi(made: list[Wllama], browser: Browser) -> None:
    del browser.js.WebAssembly.Suspending
    await loading(shared_engine(SPEC), made)
    assert made[0].options.n_threads == 1


async def test_the_one_who_stays_gets_it(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    first = await loading(engine, made)
    second = asyncio.ensure_future(engine.ready())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert made[0].exits == 0
    made[0].loaded.set_result(None)
    await second


async def test_when_the_last_one_leaves_the_load_ends(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    waiter = await loading(engine, made)
    waiter.cancel()
    await asyncio.wait([waiter])
    await turns(lambda: made[0].exits == 1)
    again = shared_engine(SPEC)
    assert again is not engine
    second = await loading(again, made, 1)
    made[1].loaded.set_result(None)
    await second


async def test_all_hear_of_the_download(made: list[Wllama], browser: Browser) -> None:
    engine = shared_engine(SPEC)
    heard: dict[str, list[int]] = {"a": [], "b": []}
    waiters = [
        asyncio.ensure_future(engine.ready(lambda done, _total, name=name: heard[name].append(done))) for name in heard
    ]
    await turns(lambda: bool(made) and made[0].options is not None)
    made[0].loaded.set_result(None)
    await asyncio.gather(*waiters)
    assert heard == {"a": [0, 7], "b": [0, 7]}


async def test_a_failed_load_is_tried_again(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    waiter = await loading(engine, made)
    made[0].loaded.set_exception(JsError("RuntimeError", "(ABORT) unreachable"))
    with pytest.raises(ProviderError, match="could not load") as caught:
        await waiter
    assert caught.value.code == "PROVIDER"
    assert made[0].exits == 1
    assert shared_engine(SPEC) is not engine


async def test_a_load_that_llama_cpp_refused(made: list[Wllama]) -> None:
    """wllama 3.13.0 resolves all the same."""
    waiter = await loading(shared_engine(SPEC), made)
    made[0].success = False
    made[0].loaded.set_result(None)
    with pytest.raises(ProviderError, match="could not load"):
        await waiter


async def test_want_of_memory_is_named(made: list[Wllama]) -> None:
    waiter = await loading(shared_engine(SPEC), made)
    made[0].loaded.set_exception(JsError("RangeError", "WebAssembly.Memory(): could not allocate memory"))
    with pytest.raises(ProviderError, match="does not fit into the memory"):
        await waiter


async def test_a_worker_that_fails_without_a_word(made: list[Wllama], monkeypatch: pytest.MonkeyPatch) -> None:
    """wllama only logs the error event of its worker; its promise stays open."""
    monkeypatch.setattr(engine_module, "_LOOK_S", 0.001)
    engine = shared_engine(SPEC)
    waiter = await loading(engine, made)

    class ErrorEvent:
        filename = "blob:x"
        message = "blocked by the policy"

    engine._logged.push(ErrorEvent())
    with pytest.raises(ProviderError, match="blocked by the policy"):
        await waiter
    assert made[0].exits == 1


@pytest.mark.parametrize(
    ("answer", "says"), [(Response(b"", 404), "404"), (Response(b"<htm"), "no WebAssembly"), (JsError("T", "no"), "T")]
)
async def test_without_its_wasm(made: list[Wllama], browser: Browser, answer: Any, says: str) -> None:
    browser.answers[SPEC.wasm_url] = answer
    with pytest.raises(NetworkError, match=says):
        await shared_engine(SPEC).ready()
    assert made == []


async def test_where_there_are_no_workers(made: list[Wllama], browser: Browser) -> None:
    del browser.js.Worker
    with pytest.raises(ConfigError) as caught:
        await shared_engine(SPEC).ready()
    assert caught.value.code == "UNSUPPORTED"


async def test_exit_ends_a_load_too(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    waiter = await loading(engine, made)
    await engine.exit()
    await asyncio.wait([waiter])
    assert waiter.cancelled()
    await turns(lambda: made[0].exits == 1)


async def test_exit_frees_what_is_loaded(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    waiter = await loading(engine, made)
    made[0].loaded.set_result(None)
    await waiter
    await engine.exit()
    await engine.exit()
    assert made[0].exits == 1
    assert shared_engine(SPEC) is not engine


async def test_the_log_is_short_and_without_stacks(made: list[Wllama]) -> None:
    engine = shared_engine(SPEC)
    await loading(engine, made)
    engine._logged.push("invalid magic", "Stack trace (abort):\n at x", Blob(b""), "y" * 1000)
    said = engine.errors_logged()
    assert said.startswith("invalid magic yyy")
    assert len(said) < 400


def test_forgetting_twice_is_fine() -> None:
    engine = shared_engine(SPEC)
    forget(engine)
    other = shared_engine(SPEC)
    forget(engine)
    assert shared_engine(SPEC) is other
    forget(other)
