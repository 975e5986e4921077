"""A model in the page: llama.cpp as WebAssembly with a tiny random model, through the shim, in worker and page.

What the model says is nonsense; that it says it in the shape asked for, and every way it can fail, is real.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from tests.browser.client import REALMS, Client, last
from tests.browser.conftest import Watch, test_pages
from tests.tools.tiny_model import write_tiny_model

from unspool.cli.serve import HEADERS, running, site

pytestmark = [pytest.mark.engine]

ANSWER = {
    "type": "object",
    "title": "Answer",
    "properties": {
        "kind": {"enum": ["city", "river", "lake"]},
        "sure": {"type": "boolean"},
        "marks": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 999}, "maxItems": 3},
    },
    "required": ["kind", "sure", "marks"],
    "additionalProperties": False,
}


WAIT_S = 30.0
ENDING = "[1 for one in __import__('unspool.local.engine').local.engine._engines.values() if one._ending]"
IN_A_WORKER = pytest.mark.parametrize("local", ["worker"], indirect=True)
"""For what is the same in the page: one realm is enough."""


class Models:
    """Serves the model files, and lets a test count and hold their downloads."""

    def __init__(self, folder: Path) -> None:
        self.good = write_tiny_model(folder / "good.gguf").read_bytes()
        self.asked: list[str] = []
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.gone = threading.Event()

    def routes(self) -> list[Route]:
        return [Route("/test-models/{name}", self.answer)]

    async def answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.method == "GET":
            self.asked.append(str(request.url.query or name))
        head = {"Content-Length": str(len(self.good))}
        if name == "held.gguf":
            return StreamingResponse(self._held(), headers=head, media_type="application/octet-stream")
        bodies = {
            "good.gguf": self.good,
            "page.gguf": b"<!doctype html><title>Not found</title>",
            "damaged.gguf": self.good[:4] + bytes(2000),
            "cut.gguf": self.good[: len(self.good) // 2],
            "not.wasm": b"no WebAssembly",
            "cut.wasm": b"\0asm\1\0\0\0\1",
            "broken.js": b"export const Wllama = ;",
        }
        if name not in bodies:
            return PlainTextResponse("no such file", 404)
        kind = "text/javascript" if name.endswith(".js") else "application/octet-stream"
        return Response(bodies[name], media_type=kind)

    async def _held(self) -> AsyncIterator[bytes]:
        half = len(self.good) // 2
        self.begun.set()
        try:
            yield self.good[:half]
            await asyncio.to_thread(self.gate.wait, WAIT_S)
            yield self.good[half:]
        except asyncio.CancelledError:
            self.gone.set()
            raise


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def engine_site(dist: Path, models: Models) -> Iterator[str]:
    """The demo's own server, with the test's files beside its own."""
    pages = [
        Route(path, lambda _r, text=text, path=path: _page(path, text), methods=["GET", "HEAD"])
        for path, text in test_pages().items()
    ]
    app = Starlette(routes=[*pages, *models.routes(), Mount("/", site(dist, {}))])
    with running(_Isolated(app)) as base_url:
        yield base_url


def _page(path: str, text: str) -> Response:
    kind = "text/html" if path.endswith(".html") else "text/javascript"
    return Response(text, media_type=kind, headers=HEADERS)


class _Isolated:
    """Adds the headers of isolation, unless the address has `?plain`."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        plain = scope["type"] == "http" and b"plain" in scope.get("query_string", b"")

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                ours = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in ours]
                message = {**message, "headers": kept if plain else [*kept, *ours.items()]}
            await send(message)

        await self._app(scope, receive, sent)


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=REALMS)
async def local(browser: Browser, engine_site: str, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A connection on the isolated site that the tests of this file share, with Python in a worker and in the page."""
    context = await browser.new_context()
    context.set_default_timeout(60_000)
    seen = Watch(context)
    page = await context.new_page()
    await page.goto(f"{engine_site}/blank.html")
    client = Client(page)
    started = await client.start(request.param)
    assert "versions" in started, started
    yield client
    await context.close()
    seen.check()


@pytest.fixture(autouse=True)
def fresh(models: Models) -> None:
    models.asked.clear()
    models.begun.clear()
    models.gate.clear()
    models.gone.clear()


def ask(model: str = "good.gguf", *, n_ctx: int = 512, **options: Any) -> dict[str, Any]:
    """A query of the model of this name."""
    lm = {"provider": "wllama", "modelURL": f"/test-models/{model}", "nCtx": n_ctx, **options.pop("lm", {})}
    limits = {"maxOutputTokens": 120, "seed": 1, **options.pop("options", {})}
    query = {"prompt": "Where?", "schema": ANSWER, "protocol": "native", "lm": lm, "options": limits, **options}
    return {name: value for name, value in query.items() if value is not None}


async def forget_models(client: Client) -> None:
    """Free all engines and files, so that a test starts like a first visit."""
    await python(
        client,
        """
        from unspool.local import engine
        for one in list(engine._engines.values()):
            await one.exit()
        import js
        await js.caches.delete("unspool-models")
        """,
    )


async def python(client: Client, code: str) -> Any:
    """Run Python where the model is."""
    return await client.call("probe", f"pyodide.runPythonAsync({json.dumps(code)}).then((v) => v ?? null)")


async def test_a_typed_query_is_answered_without_a_server(local: Client) -> None:
    told = await local.call("run", ask())
    event = last(told)
    assert event["type"] == "generationComplete", event
    assert event["result"]["kind"] in ("city", "river", "lake")
    assert isinstance(event["result"]["sure"], bool)
    assert event["usage"]["inputTokens"] > 0
    assert event["usage"]["outputTokens"] > 0
    assert sum(e["type"] == "textDelta" for e in told["events"]) > 3  # it came piece by piece


async def test_a_loaded_model_is_not_loaded_again(local: Client, models: Models) -> None:
    await forget_models(local)
    for _ in range(3):
        assert last(await local.call("run", ask()))["type"] == "generationComplete"
    assert models.asked == ["good.gguf"]


@IN_A_WORKER
async def test_the_browser_keeps_the_file(local: Client, models: Models) -> None:
    """A page that is opened again loads the model out of the browser's Cache."""
    await forget_models(local)
    await local.call("run", ask())
    await python(local, "from unspool.local import engine\nfor one in list(engine._engines.values()): await one.exit()")
    assert last(await local.call("run", ask()))["type"] == "generationComplete"
    assert models.asked == ["good.gguf"]


async def test_two_queries_at_once_share_the_model(local: Client, models: Models) -> None:
    await forget_models(local)
    first, second = await asyncio.gather(local.call("run", ask()), local.call("run", ask(options={"seed": 2})))
    assert last(first)["type"] == last(second)["type"] == "generationComplete"
    assert models.asked == ["good.gguf"]


@IN_A_WORKER
async def test_the_same_seed_says_the_same(local: Client) -> None:
    one, two = [last(await local.call("run", ask(options={"seed": 3}))) for _ in range(2)]
    assert one["result"] == two["result"]


async def test_text_without_a_schema_survives_broken_utf8(local: Client) -> None:
    """The tokenizer has all 256 byte tokens: what is no UTF-8 is replaced, or ends the answer with a typed error."""
    for seed in range(3):
        event = last(await local.call("run", ask(schema=None, options={"seed": seed, "maxOutputTokens": 40})))
        if event["type"] == "generationComplete":
            assert event["finishReason"] in ("length", "stop")
            assert event["result"]
        else:
            assert event["error"]["code"] == "PROVIDER"
            assert "UTF-8" in event["error"]["message"]


@IN_A_WORKER
async def test_an_answer_cut_by_its_limit_is_no_value(local: Client) -> None:
    event = last(await local.call("run", ask(options={"maxOutputTokens": 4})))
    assert event["type"] == "parsingFailed"
    assert event["error"]["code"] == "OUTPUT_TRUNCATED"


@IN_A_WORKER
async def test_integers_beyond_javascript_are_refused(local: Client) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "enum": [10**17 + 1, 10**17 + 3]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    event = last(await local.call("run", ask(schema=schema)))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "UNSAFE_INTEGER"


async def test_stop_while_it_writes(local: Client) -> None:
    await local.call("open", "s", ask(schema=None, n_ctx=2048, options={"maxOutputTokens": 2000}))
    await local.call("until", "s", "textDelta", {"stop": True})
    event = last(await local.call("drain", "s"))
    assert event["type"] == "cancelled"
    assert event["error"]["text"]
    # The engine has really stopped, and answers the next query.
    await python(local, "from unspool.local import engine\nfor one in list(engine._engines.values()): await one.idle()")
    assert last(await local.call("run", ask(n_ctx=2048)))["type"] == "generationComplete"


async def test_leaving_stops_it(local: Client) -> None:
    await local.call("open", "l", ask(schema=None, n_ctx=2048, options={"maxOutputTokens": 2000}))
    await local.call("until", "l", "textDelta")
    await local.call("leave", "l")
    await python(local, "from unspool.local import engine\nfor one in list(engine._engines.values()): await one.idle()")
    assert last(await local.call("run", ask(n_ctx=2048)))["type"] == "generationComplete"


async def test_stop_while_the_model_is_fetched(local: Client, models: Models) -> None:
    await forget_models(local)
    await local.call("open", "f", ask("held.gguf"))
    waiting = asyncio.ensure_future(local.call("drain", "f"))
    assert await asyncio.to_thread(models.begun.wait, WAIT_S)
    await local.call("abort", "f")
    assert last(await waiting)["type"] == "cancelled"
    assert await asyncio.to_thread(models.gone.wait, WAIT_S), "the download went on"
    models.gate.set()
    assert last(await local.call("run", ask("held.gguf")))["type"] == "generationComplete"


@IN_A_WORKER
async def test_one_who_waits_leaves_and_the_other_gets_the_model(local: Client, models: Models) -> None:
    await forget_models(local)
    for name in ("a", "b"):
        await local.call("open", name, ask("held.gguf"))
    first, second = [asyncio.ensure_future(local.call("drain", name)) for name in ("a", "b")]
    assert await asyncio.to_thread(models.begun.wait, WAIT_S)
    await local.call("abort", "a")
    assert last(await first)["type"] == "cancelled"
    models.gate.set()
    assert last(await second)["type"] == "generationComplete"
    assert models.asked == ["held.gguf"]


@IN_A_WORKER
@pytest.mark.parametrize(
    ("model", "lm", "code", "says"),
    [
        ("nowhere.gguf", {}, "MODEL_NOT_FOUND", "404"),
        ("page.gguf", {}, "MODEL_NOT_FOUND", "no GGUF"),
        ("damaged.gguf", {}, "PROVIDER", "could not load"),
        ("cut.gguf", {}, "PROVIDER", "could not load"),
        ("good.gguf", {"wasmURL": "/nowhere.wasm"}, "NETWORK", "404"),
        ("good.gguf", {"wasmURL": "/test-models/not.wasm"}, "NETWORK", "no WebAssembly"),
        ("good.gguf", {"wllamaURL": "/nowhere.js"}, "NETWORK", "@wllama/wllama"),
        ("good.gguf", {"wllamaURL": "/test-models/broken.js"}, "NETWORK", "@wllama/wllama"),
        ("good.gguf", {"modelURL": "http://127.0.0.1:9/m.gguf"}, "NETWORK", "could not be fetched"),
        ("good.gguf", {"nCtx": 1 << 30}, "PROVIDER", "memory"),
    ],
)
async def test_what_cannot_be_loaded_says_why(
    local: Client, model: str, lm: dict[str, Any], code: str, says: str
) -> None:
    event = last(await local.call("run", ask(model, lm=lm)))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == code, event["error"]
    assert says in event["error"]["message"]
    # The realm has survived, and so has every other engine.
    assert last(await local.call("run", ask()))["type"] == "generationComplete"


async def test_a_wasm_file_that_is_damaged(page: Page, engine_site: str, watch: Watch) -> None:
    await page.goto(f"{engine_site}/blank.html")
    client = Client(page)
    await client.start("worker")
    event = last(await client.call("run", ask(lm={"wasmURL": "/test-models/cut.wasm"})))
    assert event["error"]["code"] == "PROVIDER"
    assert "could not load" in event["error"]["message"]
    assert last(await client.call("run", ask()))["type"] == "generationComplete"
    watch.errors.clear()  # wllama's own worker does not catch it


async def test_a_prompt_that_is_too_long(local: Client) -> None:
    event = last(await local.call("run", ask(prompt="word " * 1000)))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "CONTEXT_WINDOW_EXCEEDED"
    assert last(await local.call("run", ask()))["type"] == "generationComplete"


@IN_A_WORKER
async def test_a_schema_that_llama_cpp_refuses(local: Client) -> None:
    """wllama crashes on it; the next query gets a new engine."""
    bad = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "nonsense"}}}}
    event = last(await local.call("run", ask(options={"extra": bad})))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "INVALID_REQUEST"
    assert "unrecognized type" in event["error"]["message"]
    assert last(await local.call("run", ask()))["type"] == "generationComplete"


@IN_A_WORKER
@pytest.mark.parametrize("lm", [{"nCtx": 1}, {"nThreads": 0}, {"modelURL": 5}, {"bogus": 1}, {"wasmURL": 5}])
async def test_options_that_make_no_sense(local: Client, lm: dict[str, Any]) -> None:
    told = await local.call("run", ask(lm=lm))
    assert told["threw"]["code"] == "INVALID_OPTIONS"


async def test_progress_is_told(page: Page, engine_site: str) -> None:
    """`onProgress` hears of the model's file, by bytes, until it is whole."""
    await page.goto(f"{engine_site}/blank.html")
    heard = await page.evaluate(
        """async (options) => {
          const { connect } = await import("/unspool/index.js");
          const heard = [];
          const us = await connect({ indexURL: "/pyodide/", onProgress: (progress) => heard.push(progress) });
          await us.query(options);
          us.dispose();
          return heard.filter(({ stage }) => stage === "model");
        }""",
        ask(),
    )
    assert heard[0]["loadedBytes"] == 0
    assert heard[-1]["loadedBytes"] == heard[-1]["totalBytes"] > 500_000
    assert {one["detail"] for one in heard} == {f"{engine_site}/test-models/good.gguf"}


async def test_without_isolation_one_thread_does_it(page: Page, engine_site: str) -> None:
    """No COOP and COEP, so no SharedArrayBuffer."""
    await page.goto(f"{engine_site}/blank.html?plain")
    assert await page.evaluate("crossOriginIsolated") is False
    client = Client(page)
    await client.start("page")
    assert last(await client.call("run", ask(lm={"nThreads": 4})))["type"] == "generationComplete"


async def test_no_proxy_is_left(local: Client) -> None:
    async def run_all() -> None:
        await local.call("run", ask())
        await local.call("run", ask(prompt="word " * 1000))
        await local.call("run", ask("nowhere.gguf"))
        await local.call("open", "p", ask(schema=None))
        await local.call("until", "p", "textDelta", {"stop": True})
        await local.call("drain", "p")
        for _ in range(200):  # until the engine has stopped, looked at without making a proxy
            if not await local.python(ENDING):
                break

    await run_all()
    before = await local.proxies()
    await run_all()
    left: dict[str, int] = {}
    for _ in range(50):
        left = {at: n - before.get(at, 0) for at, n in (await local.proxies()).items() if n > before.get(at, 0)}
        if not left:
            break
    assert not left


@pytest.mark.slow
async def test_a_real_model_answers(page: Page, dist: Path) -> None:
    """SmolLM2-135M, held to a schema: what it says makes sense."""
    from unspool.cli.checkout import Checkout
    from unspool.cli.engines import model_file

    file = await asyncio.to_thread(model_file, Checkout.of_this_package())
    schema = {
        "type": "object",
        "title": "City",
        "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
        "required": ["city", "country"],
        "additionalProperties": False,
    }
    with running(site(dist, {}, {"smollm2.gguf": file})) as base_url:
        await page.goto(f"{base_url}/unspool/index.js")
        value = await page.evaluate(
            """async (schema) => {
              const { connect } = await import("/unspool/index.js");
              const us = await connect({ indexURL: "/pyodide/" });
              try {
                const lm = { provider: "wllama", modelURL: "/models/smollm2.gguf" };
                const options = { temperature: 0, maxOutputTokens: 60 };
                const prompt = [
                  { role: "user", content: "Which city is the capital of Italy?" },
                  { role: "assistant", content: '{"city": "Rome", "country": "Italy"}' },
                  { role: "user", content: "Which city is the capital of France?" },
                ];
                return await us.query({ prompt, schema, protocol: "native", lm, options });
              } finally {
                us.dispose();
              }
            }""",
            schema,
        )
    assert value == {"city": "Paris", "country": "France"}
