"""The door to JavaScript, called as the worker's host calls it: with JSON text. F46, F49; design, "One picture"."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest

from unspool import bridge as module
from unspool import llms
from unspool.bridge import Bridge
from unspool.contracts import Request

MODELS = """
from pydantic import BaseModel
from unspool.llms import FunctionModel

class Answer(BaseModel):
    text: str
    n: int

class Later(BaseModel):
    other: "Answer | None" = None

class Many(BaseModel):
    answers: list[Answer]

Answers = list[Answer]
heard = []
listens = FunctionModel(lambda request: heard.append(request) or ["{}"])
numbers = FunctionModel(lambda request: ['{"text":"a",', '"n":1}'])
broken = 3
"""

SCRIPT = {"provider": "scripted", "text": '{"text":"a","n":1}', "chunkChars": 6}
TERMINAL = ("generationComplete", "parsingFailed", "generationFailed", "cancelled")


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    for name in ("unspool_test_models", "unspool_test_more"):
        sys.modules.pop(name, None)


@pytest.fixture
def ready(bridge: Bridge) -> Bridge:
    assert ok(bridge.register(json.dumps({"modules": {"unspool_test_models": MODELS}}))) == {}
    return bridge


def ok(text: Any) -> Any:
    assert isinstance(text, str)
    answer = json.loads(text)
    assert answer["ok"] is True, answer
    return answer["value"]


def refused(text: Any) -> Any:
    assert isinstance(text, str)
    answer = json.loads(text)
    assert answer["ok"] is False
    assert set(answer["error"]) >= {"code", "message", "retryable"}
    return answer["error"]


async def opened(bridge: Bridge, **request: Any) -> str:
    given = {"prompt": "?", "lm": SCRIPT, **request}
    return json.dumps(ok(await bridge.open(json.dumps({k: v for k, v in given.items() if v is not None}))))


async def rest(bridge: Bridge, call: str) -> list[Any]:
    events: list[Any] = []
    done = False
    while not done:
        batch = ok(await bridge.pull(call))
        events += batch["events"]
        done = batch["done"]
    return placed(events)


def placed(events: list[Any]) -> list[Any]:
    """Give events whole paths, as the page does."""
    path: list[Any] = []
    for event in events:
        if "path" in event:
            path = event["path"] = path[: event.pop("keep", 0)] + event["path"]
    return events


async def all_events(bridge: Bridge, **request: Any) -> list[Any]:
    events = await rest(bridge, await opened(bridge, **request))
    assert [event["type"] in TERMINAL for event in events] == [False] * (len(events) - 1) + [True]
    return events


async def test_registered_type(ready: Bridge) -> None:
    events = await all_events(ready, schema={"type": "unspool_test_models:Answer"})
    assert events[0] == {"type": "textDelta", "delta": '{"text'}
    assert {"type": "stringFieldDelta", "path": ["text"], "delta": "a"} in events
    assert {"type": "fieldEnd", "path": ["n"], "value": 1} in events
    assert events[-1] == {"type": "generationComplete", "result": {"text": "a", "n": 1}, "finishReason": "stop"}


async def test_a_long_name_crosses_once(bridge: Bridge) -> None:
    """However many members lie below it, and in however many batches: else an answer of 1 MB could become gigabytes."""
    name, items = "k" * 10_000, list(range(1_000))
    model = {"provider": "scripted", "text": json.dumps({name: items})}
    call = await opened(bridge, schema={"jsonSchema": {}}, lm=model)
    texts: list[str] = []
    while not texts or not ok(texts[-1])["done"]:
        texts.append(await bridge.pull(call))
    assert len(texts) > 4
    assert sum(text.count(name) for text in texts) == 3  # the raw text, the path, the result
    events = await all_events(bridge, schema={"jsonSchema": {}}, lm=model)
    ends = [event for event in events if event["type"] == "fieldEnd"]
    assert [event["path"] for event in ends] == [*([name, i] for i in items), [name]]
    assert [event.get("value") for event in ends] == [*items, None]


async def test_one_batch_for_each_slice(ready: Bridge) -> None:
    call = await opened(ready, schema={"type": "unspool_test_models:Answer"})
    batches = []
    while not batches or not batches[-1]["done"]:
        batches.append(ok(await ready.pull(call)))
    texts = [[event["delta"] for event in batch["events"] if event["type"] == "textDelta"] for batch in batches]
    assert texts == [['{"text'], ['":"a",'], ['"n":1}'], []]
    assert all(batch["events"] for batch in batches)


async def test_a_slice_with_very_many_events_comes_in_several_batches(bridge: Bridge) -> None:
    """F10: the page reads one batch in one task."""
    numbers = list(range(1_000))
    request = {"schema": {"jsonSchema": {"type": "array"}}, "lm": {"provider": "scripted", "text": json.dumps(numbers)}}
    call = await opened(bridge, **request)
    batches = []
    while not batches or not batches[-1]["done"]:
        batches.append(ok(await bridge.pull(call)))
    events = [event for batch in batches for event in batch["events"]]
    assert max(len(batch["events"]) for batch in batches) == 256
    assert [event["value"] for event in events if event["type"] == "fieldEnd"] == numbers
    assert events[-1]["result"] == numbers
    assert placed(events) == await all_events(bridge, **request)


async def test_json_schema(bridge: Bridge) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
    events = await all_events(bridge, schema={"jsonSchema": schema, "name": "Wanted"})
    assert events[-1]["type"] == "parsingFailed"
    assert events[-1]["error"]["code"] == "OUTPUT_INVALID"
    assert "not a valid Wanted: n: should be string, got 1" in events[-1]["error"]["message"]
    assert events[-1]["error"]["partialValue"] == {"text": "a", "n": 1}


async def test_json_schema_of_a_standard_schema_is_not_checked_here(bridge: Bridge) -> None:
    schema = {"jsonSchema": {"type": "string", "pattern": r"\p{L}"}, "check": False}
    events = await all_events(bridge, schema=schema)
    assert events[-1]["result"] == {"text": "a", "n": 1}


async def test_plain_text(bridge: Bridge) -> None:
    lm = {"provider": "scripted", "text": "Hello"}
    for request in ({"lm": lm}, {"lm": lm, "schema": None, "protocol": "json", "maxDepth": 3}):
        assert await all_events(bridge, **request) == [
            {"type": "textDelta", "delta": "Hello"},
            {"type": "generationComplete", "result": "Hello", "finishReason": "stop"},
        ]


async def test_native_protocol_and_messages_and_options(ready: Bridge) -> None:
    seen: list[Any] = []
    sys.modules["unspool_test_models"].numbers._generate = lambda request: [seen.append(request), '{"text":"a","n":1}'][
        1
    ]  # type: ignore[attr-defined]
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "parts": [{"type": "text", "text": "q"}]}]
    events = await all_events(
        ready,
        prompt=prompt,
        system="above",
        protocol="native",
        schema={"type": "unspool_test_models:Answer"},
        lm={"object": "unspool_test_models:numbers"},
        options={"temperature": 0.5, "maxOutputTokens": 9, "stop": ["x"], "seed": 1, "extra": {"k": [1]}},
    )
    assert events[-1]["result"] == {"text": "a", "n": 1}
    [request] = seen
    assert [message.text for message in request.messages] == ["above", "s", "q"]
    assert (request.temperature, request.max_output_tokens, request.stop, request.seed) == (0.5, 9, ("x",), 1)
    assert request.extra == {"k": [1]}
    assert request.output_schema.name == "Answer"


async def test_limits_are_passed_on(ready: Bridge) -> None:
    events = await all_events(ready, schema={"jsonSchema": {}}, maxChars=5)
    assert events[-1]["error"]["code"] == "OUTPUT_TOO_LARGE"
    lm = {"provider": "scripted", "text": "[[1]]"}
    events = await all_events(ready, schema={"jsonSchema": {}}, lm=lm, maxDepth=1)
    assert events[-1]["error"]["code"] == "OUTPUT_TOO_LARGE"


@pytest.mark.parametrize("text", ['{"text":"a","n":9007199254740993}', '{"text":"a","n":9007199254740993,"more":1}'])
async def test_unsafe_integer_ends_the_stream_once(ready: Bridge, text: str) -> None:
    """Also in progress: the digits would be lost before anybody could see the error."""
    for size in (1, 7, None):
        lm = {"provider": "scripted", "text": text, **({"chunkChars": size} if size else {})}
        events = await all_events(ready, schema={"type": "unspool_test_models:Answer"}, lm=lm)
        assert events[-1]["type"] == "generationFailed"
        assert events[-1]["error"]["code"] == "UNSAFE_INTEGER"
        assert "n is 9007199254740993" in events[-1]["error"]["message"]
        assert events[-1]["error"]["partialValue"]["text"] == "a"
        assert "9007199254740993" in events[-1]["error"]["text"]


async def test_safe_integers_pass(ready: Bridge) -> None:
    lm = {"provider": "scripted", "text": '{"text":"9007199254740993","n":9007199254740991}'}
    events = await all_events(ready, schema={"type": "unspool_test_models:Answer"}, lm=lm)
    assert events[-1]["result"] == {"text": "9007199254740993", "n": 9007199254740991}


async def test_cancel_before_the_first_pull(bridge: Bridge) -> None:
    call = await opened(bridge)
    assert ok(bridge.cancel(call)) == {}
    assert ok(bridge.cancel(call)) == {}
    [event] = await rest(bridge, call)
    assert event["type"] == "cancelled"
    assert event["error"]["code"] == "ABORTED"
    assert ok(bridge.cancel(call)) == {}  # over: nothing happens


class Page:
    """The page's models, as the host of the worker offers them."""

    def __init__(self, *reads: Any) -> None:
        self.reads = list(reads)
        self.requests: list[Any] = []
        self.aborted: list[str] = []
        self.opening: asyncio.Event | None = None
        self.asked = asyncio.Event()
        self.stopped = asyncio.Event()
        self.waiting = asyncio.Event()

    async def open(self, request: str) -> str:
        self.requests.append(json.loads(request))
        self.asked.set()
        if self.opening is not None:
            await self.opening.wait()
        return "s1"

    async def read(self, stream: str) -> Any:
        assert stream == "s1"
        if not self.reads:
            self.waiting.set()
            await asyncio.Event().wait()
        given = self.reads.pop(0)
        if isinstance(given, Exception):
            raise given
        return None if given is None else json.dumps(given)

    def abort(self, stream: str) -> None:
        self.aborted.append(stream)
        self.stopped.set()


PAGE = {"provider": "page", "model": "page-1"}


async def test_model_of_the_page(bridge: Bridge) -> None:
    page = Page(['{"text":'], ['"a",', '"n":1}'], None)
    bridge.connect_page(page)
    events = await all_events(
        bridge, schema={"jsonSchema": {"type": "object"}}, lm=PAGE, options={"temperature": 0}, system="s"
    )
    assert events[-1]["result"] == {"text": "a", "n": 1}
    assert page.aborted == []
    [request] = page.requests
    assert request["model"] == "page-1"
    assert request["temperature"] == 0
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][1]["parts"][0]["text"].startswith("?\n\n")
    assert "maxOutputTokens" not in request and "outputSchema" not in request


async def test_model_of_the_page_is_told_the_native_schema(bridge: Bridge) -> None:
    page = Page(['{"value":[1]}'], None)
    bridge.connect_page(page)
    schema = {"jsonSchema": {"type": "array", "items": {"type": "integer"}}, "name": "L"}
    events = await all_events(bridge, schema=schema, lm=PAGE, protocol="native")
    assert events[-1]["result"] == [1]
    assert page.requests[0]["outputSchema"]["name"] == "L"
    assert page.requests[0]["outputSchema"]["strict"] is True


async def test_model_of_the_page_gives_chunks_or_chat_events(bridge: Bridge) -> None:
    chunks = [
        {"type": "block-start", "index": 0, "kind": "reasoning"},
        {"type": "reasoning-delta", "index": 0, "text": "hm"},
        {"type": "block-end", "index": 0},
        {"type": "block-start", "index": 1, "kind": "text"},
        {"type": "text-delta", "index": 1, "text": "42"},
        {"type": "block-end", "index": 1},
        {"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}},
        {"type": "finish", "reason": "stop"},
    ]
    chat = [
        {"choices": [{"index": 0, "delta": {"content": "4"}}]},
        {"choices": [{"index": 0, "delta": {"content": "2"}, "finish_reason": "stop"}]},
    ]
    for pieces in (chunks, chat):
        bridge.connect_page(Page(*[[piece] for piece in pieces], None))
        events = await all_events(bridge, schema={"jsonSchema": {"type": "integer"}}, lm=PAGE)
        assert events[-1]["result"] == 42


class PageError(Exception):
    def __init__(self, code: str | None, message: str) -> None:
        super().__init__(f"Error: {message}")
        self.code = code
        self.message = message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PageError("RATE_LIMIT", "slow"), "RATE_LIMIT"),
        (PageError(None, "boom"), "PROVIDER"),
        (ValueError("x"), "PROVIDER"),
    ],
)
async def test_failing_model_of_the_page(bridge: Bridge, error: Exception, code: str) -> None:
    bridge.connect_page(Page(['{"text":"a'], error))
    events = await all_events(bridge, schema={"jsonSchema": {}}, lm=PAGE)
    assert events[-1]["type"] == "generationFailed"
    assert events[-1]["error"]["code"] == code
    assert events[-1]["error"]["partialValue"] == {"text": "a"}


async def test_page_that_sends_nonsense(bridge: Bridge) -> None:
    for reads in ([[[1]]], [[{"type": "finish", "reason": "bored"}]], [["a"], [{"type": "block-end", "index": "x"}]]):
        bridge.connect_page(Page(*reads, None))
        events = await all_events(bridge, lm=PAGE)
        assert events[-1]["type"] == "generationFailed"


async def test_without_a_page_there_is_no_model_of_it(bridge: Bridge) -> None:
    error = refused(await bridge.open(json.dumps({"prompt": "?", "lm": PAGE})))
    assert error["code"] == "UNSUPPORTED"


async def test_cancel_wakes_a_pull(bridge: Bridge) -> None:
    page = Page(['{"text":"a'])
    bridge.connect_page(page)
    call = await opened(bridge, schema={"jsonSchema": {}}, lm=PAGE)
    ok(await bridge.pull(call))
    pulling = asyncio.ensure_future(bridge.pull(call))
    await page.waiting.wait()
    ok(bridge.cancel(call))
    batch = ok(await pulling)
    assert [event["type"] for event in batch["events"]] == ["cancelled"]
    assert batch["done"] is True
    assert batch["events"][0]["error"]["partialValue"] == {"text": "a"}
    assert page.aborted == ["s1"]
    assert refused(await bridge.pull(call))["code"] == "UNKNOWN_CALL"


async def test_cancel_while_the_page_starts(bridge: Bridge) -> None:
    """The page's answer gets its name after the call is over; it must be stopped all the same."""
    page = Page()
    page.opening = asyncio.Event()
    bridge.connect_page(page)
    call = await opened(bridge, lm=PAGE)
    pulling = asyncio.ensure_future(bridge.pull(call))
    await page.asked.wait()
    ok(bridge.cancel(call))
    assert ok(await pulling)["events"][0]["type"] == "cancelled"
    assert page.aborted == []
    page.opening.set()
    await page.stopped.wait()
    assert page.aborted == ["s1"]


async def test_close_ends_a_pull_without_an_event(bridge: Bridge) -> None:
    page = Page(["a"])
    bridge.connect_page(page)
    call = await opened(bridge, lm=PAGE)
    ok(await bridge.pull(call))
    pulling = asyncio.ensure_future(bridge.pull(call))
    await page.waiting.wait()
    assert ok(await bridge.close(call)) == {}
    assert ok(await pulling) == {"events": [], "done": True}
    assert ok(await bridge.close(call)) == {}
    assert page.aborted == ["s1"]


async def test_second_pull_is_refused_and_the_first_lives(bridge: Bridge) -> None:
    page = Page(["a"])
    bridge.connect_page(page)
    call = await opened(bridge, lm=PAGE)
    ok(await bridge.pull(call))
    pulling = asyncio.ensure_future(bridge.pull(call))
    await page.waiting.wait()
    assert refused(await bridge.pull(call))["code"] == "BRIDGE_PROTOCOL"
    ok(bridge.cancel(call))
    assert ok(await pulling)["done"] is True


async def test_cancelled_pull_lets_go_of_everything(bridge: Bridge) -> None:
    page = Page(["a"])
    bridge.connect_page(page)
    call = await opened(bridge, lm=PAGE)
    ok(await bridge.pull(call))
    pulling = asyncio.ensure_future(bridge.pull(call))
    await page.waiting.wait()
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    assert page.aborted == ["s1"]
    assert refused(await bridge.pull(call))["code"] == "UNKNOWN_CALL"


async def test_calls_are_bounded_and_independent() -> None:
    bridge = Bridge(max_calls=2)
    first, second = await opened(bridge), await opened(bridge)
    assert first != second
    error = refused(await bridge.open(json.dumps({"prompt": "?", "lm": SCRIPT})))
    assert error["code"] == "MAX_ACTIVE_STREAMS_EXCEEDED"
    assert (await rest(bridge, first))[-1]["type"] == "generationComplete"
    third = await opened(bridge)
    ok(await bridge.close(second))
    assert (await rest(bridge, third))[-1]["type"] == "generationComplete"


def request(**members: Any) -> str:
    return json.dumps({"prompt": "?", "lm": SCRIPT, **members})


async def test_an_unknown_provider_is_told_which_there_are(bridge: Bridge) -> None:
    told = refused(await bridge.open(request(lm={"provider": "openia", "model": "m"})))["message"]
    assert "'openia'" in told
    assert all(name in told for name in ("openai,", "openai-chat", "anthropic", "ollama", "wllama", "scripted"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "BRIDGE_PROTOCOL"),
        ("[]", "BRIDGE_PROTOCOL"),
        ('{"prompt": NaN}', "BRIDGE_PROTOCOL"),
        ("[" * 100_000, "BRIDGE_PROTOCOL"),  # Pyodide: fatal, were it given to json.loads
        ("{}", "INVALID_OPTIONS"),
        (request(prompt=None), "INVALID_OPTIONS"),
        (request(prompt=[{"role": "x", "content": ""}]), "INVALID_OPTIONS"),
        (request(promt="typo"), "INVALID_OPTIONS"),
        (request(schema=3), "INVALID_OPTIONS"),
        (request(schema={"jsonSchema": 1}), "INVALID_OPTIONS"),
        (request(schema={"jsonSchema": {"type": "x"}}), "INVALID_OPTIONS"),
        (request(schema={"jsonSchema": {"unevaluatedItems": False}}), "UNSUPPORTED"),
        (request(schema={"type": "unspool_no_such_module:Answer"}), "MODULE_ERROR"),
        (request(schema={"type": "json:NoSuchName"}), "MODULE_ERROR"),
        (request(schema={"type": "json"}), "MODULE_ERROR"),
        (request(schema={"type": "json:dumps"}), "INVALID_OPTIONS"),
        (request(lm=None), "INVALID_OPTIONS"),
        (request(lm={"provider": "nobody"}), "INVALID_OPTIONS"),
        (request(lm={"object": "json:dumps"}), "INVALID_OPTIONS"),
        (request(lm={"provider": "openai-chat"}), "INVALID_OPTIONS"),
        (request(lm={"provider": "openai-chat", "model": "m", "apikey": "typo"}), "INVALID_OPTIONS"),
        (request(lm={"provider": "openai-chat", "model": "m", "profile": "nobody"}), "INVALID_OPTIONS"),
        (request(lm={"provider": "openai", "model": "m", "profile": "ollama"}), "INVALID_OPTIONS"),
        (request(lm={"provider": "scripted", "text": 1}), "INVALID_OPTIONS"),
        (request(lm={"provider": "scripted", "text": "a", "chunkChars": 0}), "INVALID_OPTIONS"),
        (request(options={"temprature": 1}), "INVALID_OPTIONS"),
        (request(options={"temperature": "hot"}), "INVALID_OPTIONS"),
        (request(options=[]), "INVALID_OPTIONS"),
        (request(protocol="yaml", schema={"jsonSchema": {}}), "INVALID_OPTIONS"),
        (request(maxChars=0), "INVALID_OPTIONS"),
        (request(system=1), "INVALID_OPTIONS"),
    ],
)
async def test_bad_requests_are_answered(bridge: Bridge, text: str, code: str) -> None:
    assert refused(await bridge.open(text))["code"] == code
    assert ok(await bridge.open(request()))["id"]


async def test_bad_messages_are_answered(bridge: Bridge) -> None:
    for text in ("", "{}", '{"id": 1}', "null"):
        for answer in (await bridge.pull(text), bridge.cancel(text), await bridge.close(text)):
            assert refused(answer)["code"] == "BRIDGE_PROTOCOL"
    assert refused(await bridge.pull('{"id": "7"}'))["code"] == "UNKNOWN_CALL"
    assert ok(bridge.cancel('{"id": "7"}')) == ok(await bridge.close('{"id": "7"}')) == {}


async def test_modules_see_each_other_and_can_be_replaced(ready: Bridge) -> None:
    more = "from unspool_test_models import Answer\nclass More(Answer):\n    extra: int = 5\n"
    assert ok(ready.register(json.dumps({"modules": {"unspool_test_more": more}}))) == {}
    events = await all_events(ready, schema={"type": "unspool_test_more:More"})
    assert events[-1]["result"] == {"text": "a", "n": 1, "extra": 5}
    events = await all_events(
        ready, schema={"type": "unspool_test_models:Later"}, lm={"provider": "scripted", "text": "{}"}
    )
    assert events[-1]["result"] == {"other": None}  # names in annotations are looked up in the module
    changed = MODELS.replace("n: int", "n: int\n    m: int = 2")
    assert ok(ready.register(json.dumps({"modules": {"unspool_test_models": changed}}))) == {}
    events = await all_events(ready, schema={"type": "unspool_test_models:Answer"})
    assert events[-1]["result"] == {"text": "a", "n": 1, "m": 2}


@pytest.mark.parametrize(
    ("modules", "code", "words"),
    [
        ({"unspool_test_more": "def ("}, "MODULE_ERROR", "SyntaxError"),
        ({"unspool_test_more": "1/0"}, "MODULE_ERROR", "ZeroDivisionError"),
        ({"unspool_test_more": "import unspool_no_such_module"}, "MODULE_ERROR", "unspool_no_such_module"),
        ({"unspool_test_more": "raise ValueError('key sk-abcdefgh12345678')"}, "MODULE_ERROR", "[redacted]"),
        ({"json": ""}, "INVALID_OPTIONS", "json"),
        ({"unspool.bridge": ""}, "INVALID_OPTIONS", "unspool.bridge"),
        ({"wave": ""}, "INVALID_OPTIONS", "wave"),  # of the standard library, though nobody imported it yet
        ({"__main__": ""}, "INVALID_OPTIONS", "__main__"),
        ({"pydantic": ""}, "INVALID_OPTIONS", "pydantic"),  # it would be found by whoever imports the real one later
        ({"hypothesis.none": ""}, "INVALID_OPTIONS", "hypothesis.none"),
        ({"unspool.none": ""}, "INVALID_OPTIONS", "unspool.none"),
        ({"unspool_test_more": "raise SystemExit"}, "MODULE_ERROR", "SystemExit"),
        ({"a b": ""}, "INVALID_OPTIONS", "a b"),
        ({"": ""}, "INVALID_OPTIONS", ""),
        ({"unspool_test_more": 1}, "INVALID_OPTIONS", "unspool_test_more"),
        ([], "BRIDGE_PROTOCOL", "modules"),
        (None, "BRIDGE_PROTOCOL", "modules"),
    ],
    ids=str,
)
async def test_bad_modules_are_answered(ready: Bridge, modules: Any, code: str, words: str) -> None:
    error = refused(ready.register(json.dumps({"modules": modules})))
    assert error["code"] == code
    assert words in error["message"]
    assert "unspool_test_more" not in sys.modules
    assert "Traceback" not in error["message"]


async def test_failed_replacement_leaves_the_module(ready: Bridge) -> None:
    before = sys.modules["unspool_test_models"]
    refused(ready.register(json.dumps({"modules": {"unspool_test_models": "1/0"}})))
    assert sys.modules["unspool_test_models"] is before
    assert (await all_events(ready, schema={"type": "unspool_test_models:Answer"}))[-1]["type"] == "generationComplete"


async def test_unknown_faults_cross_as_a_code_only(ready: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError("password: hunter2")

    call = await opened(ready)
    monkeypatch.setattr(module, "event_json", fault)
    error = refused(await ready.pull(call))
    assert error["code"] == "INTERNAL"
    assert "hunter2" not in json.dumps(error)
    assert refused(await ready.pull(call))["code"] == "UNKNOWN_CALL"
    monkeypatch.setattr(module, "Question", fault)
    assert refused(await ready.open(request()))["code"] == "INTERNAL"


async def test_functions_of_the_module_share_one_table() -> None:
    call = json.dumps(ok(await module.open(request())))
    assert ok(module.cancel(call)) == {}
    assert [event["type"] for event in ok(await module.pull(call))["events"]] == ["cancelled"]
    assert ok(await module.close(call)) == {}
    assert ok(module.register('{"modules": {}}')) == {}


@pytest.mark.parametrize(
    "lm",
    [
        {"provider": "openai"},
        {"provider": "openai-chat"},
        {"provider": "openai-chat", "profile": "ollama"},
        {"provider": "anthropic"},
        {"provider": "gemini"},
        {"provider": "bedrock", "region": "us-east-1"},
        {"provider": "cohere"},
        {"provider": "ollama"},
    ],
    ids=str,
)
async def test_providers_have_the_same_members(bridge: Bridge, lm: dict[str, Any]) -> None:
    members = {"model": "m", "apiKey": "k", "baseURL": "http://127.0.0.1:9/v1", "timeoutS": 5, "idleTimeoutS": 5}
    assert ok(await bridge.open(request(lm={**lm, **members, "imageInput": False})))["id"]
    assert ok(await bridge.open(request(lm={**lm, "model": "m"})))["id"]
    assert refused(await bridge.open(request(lm={**lm, "model": "m", "apikey": "typo"})))["code"] == "INVALID_OPTIONS"


async def test_judged_parts(ready: Bridge) -> None:
    """`check`, as `query_stream` has it; a fault is in the batch of what closed."""
    model = {"provider": "scripted", "text": '{"text":5,"n":1}'}
    asked = {"schema": {"type": "unspool_test_models:Answer"}, "lm": model}
    plain = await all_events(ready, **asked)
    told = await all_events(ready, **asked, check="report")
    fault = next(event for event in told if event["type"] == "fieldInvalid")
    assert (fault["path"], fault["kind"]) == (["text"], "type")
    assert told[told.index(fault) - 1] == {"type": "fieldEnd", "path": ["text"], "value": 5}
    assert [event for event in told if event is not fault] == plain
    stopped = await all_events(ready, **asked, check="stop")
    assert [event["type"] for event in stopped[-3:]] == ["fieldEnd", "fieldInvalid", "parsingFailed"]
    assert [issue["path"] for issue in stopped[-1]["error"]["issues"]] == [["text"]]
    error = refused(await ready.open(json.dumps({"prompt": "?", **asked, "check": "often"})))
    assert error["code"] == "INVALID_OPTIONS"


async def test_a_fault_stays_with_what_closed(ready: Bridge) -> None:
    """A page that reads batches can hold back what is invalid."""
    good, bad = {"n": 0, "text": ""}, {"n": 0, "text": 1}
    model = {"provider": "scripted", "text": json.dumps([good] * 31 + [bad] * 2)}
    call = await opened(ready, schema={"type": "unspool_test_models:Answers"}, lm=model, check="report")
    first = ok(await ready.pull(call))["events"]
    assert len(first) == 257  # one more than the most of a batch
    assert [event["type"] for event in first[-2:]] == ["fieldEnd", "fieldInvalid"]
    assert [event["type"] for event in ok(await ready.pull(call))["events"]].count("fieldInvalid") == 1


async def test_the_message_and_the_repairs(bridge: Bridge) -> None:
    model = {"provider": "scripted", "text": "{'a': 1,}"}
    call = await opened(bridge, schema={"jsonSchema": {}}, lm=model, lenient=True, returnsMessage=True)
    batches: list[Any] = []
    while not batches or not batches[-1]["done"]:
        batches.append(ok(await bridge.pull(call)))
    repairs = batches[-1]["repairs"]
    assert [repair["kind"] for repair in repairs] == ["single-quotes", "trailing-comma"]
    assert repairs[0]["byteOffset"] == 1
    assert all("repairs" not in batch for batch in batches[:-1])
    end = batches[-1]["events"][-1]
    assert end["result"] == {"a": 1}
    assert end["message"]["parts"] == [{"type": "text", "text": "{'a': 1,}"}]
    assert "message" not in (await all_events(bridge, lm=model))[-1]


async def test_examples_and_further_turns_are_what_the_model_is_shown(ready: Bridge) -> None:
    heard: list[Request] = cast("Any", sys.modules["unspool_test_models"]).heard
    asked = {
        "lm": {"object": "unspool_test_models:listens"},
        "prompt": "What?",
        "examples": [
            ["Before?", {"text": "a", "n": 1}],
            [[{"role": "user", "content": "And?"}], {"text": "b", "n": 2}],
        ],
        "repair": {"answer": '{"n": 1}', "fault": "text is missing."},
    }
    for protocol, answer in (("json", '"text":"a"'), ("python", "text='a'")):
        schema = {"type": "unspool_test_models:Answer"}
        await all_events(ready, schema=schema, protocol=protocol, **asked)
        roles = [message.role for message in heard[-1].messages]
        texts = [message.text for message in heard[-1].messages]
        assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
        assert (texts[0], texts[2]) == ("Before?", "And?")
        assert answer in texts[1]
        assert texts[4].startswith("What?")
        assert texts[5] == '{"n": 1}'
        assert "text is missing." in texts[6]


async def test_the_value_of_an_example_in_json_is_shown_as_it_was_given(ready: Bridge) -> None:
    """It says what the model is to write, which a validator may turn into something else."""
    heard: list[Request] = cast("Any", sys.modules["unspool_test_models"]).heard
    value = {"n": 1, "text": "a"}
    asked = {"lm": {"object": "unspool_test_models:listens"}, "schema": {"type": "unspool_test_models:Answer"}}
    await all_events(ready, prompt="What?", examples=[["Before?", value]], **asked)
    assert heard[-1].messages[1].text == '{"n":1,"text":"a"}'


async def test_a_completion_may_have_a_prompt(ready: Bridge) -> None:
    heard: list[Request] = cast("Any", sys.modules["unspool_test_models"]).heard
    asked = {"lm": {"object": "unspool_test_models:listens"}, "schema": {"type": "unspool_test_models:Answer"}}
    for prompt in ("The e-mail.", [{"role": "user", "content": "The e-mail."}], ""):
        await all_events(ready, complete={"text": "a"}, prompt=prompt, **asked)
        assert heard[-1].messages[0].text.startswith("The e-mail.\n\nComplete" if prompt else "Complete")


@pytest.mark.parametrize(
    "wrong",
    [
        {"examples": 5},
        {"examples": [["q"]]},
        {"examples": [["q", {"text": 5}]]},
        {"examples": [[5, {"text": "", "n": 1}]]},
        {"repair": "again"},
        {"repair": {"answer": 5, "fault": ""}},
        {"repair": {"answer": ""}},
        {"items": ["text"]},
        {"items": 5},
        {"items": ["nowhere"]},
        {"maxDepth": 5000},
    ],
)
async def test_a_wrong_member_is_refused(ready: Bridge, wrong: dict[str, Any]) -> None:
    asked = {"prompt": "?", "lm": SCRIPT, "schema": {"type": "unspool_test_models:Answer"}, **wrong}
    assert refused(await ready.open(json.dumps(asked)))["code"] == "INVALID_OPTIONS"


async def test_a_list_that_the_type_has(ready: Bridge) -> None:
    for schema, path in (("Answers", []), ("Many", ["answers"])):
        await all_events(ready, schema={"type": f"unspool_test_models:{schema}"}, items=path)
    await all_events(ready, schema={"jsonSchema": {}}, items=["any", 0])


async def test_the_other_names_of_fields_are_told_once(ready: Bridge) -> None:
    """The page knows an answer by the names that it has there, and a path may be in the words of the class."""
    source = (
        "from pydantic import BaseModel, Field\nclass Box(BaseModel):\n    things: list[int] = Field(alias='many')\n"
    )
    assert ok(ready.register(json.dumps({"modules": {"unspool_test_boxes": source}}))) == {}
    model = {"provider": "scripted", "text": json.dumps({"many": list(range(1_000))}), "chunkChars": 900}
    for path in (["things"], ["many"]):
        call = await opened(ready, lm=model, schema={"type": "unspool_test_boxes:Box"}, items=path)
        batches = [ok(await ready.pull(call))]
        while not batches[-1]["done"]:
            batches.append(ok(await ready.pull(call)))
        names = {"things": ["many"], "many": ["things"]}
        assert [batch.get("names") for batch in batches] == [names, *[None] * (len(batches) - 1)]
        assert len(batches) > 1


def test_every_model_behind_http_is_reachable() -> None:
    made = {name for name in llms.__all__ if isinstance(getattr(llms, name), type)}
    behind_http = {name for name in made if issubclass(getattr(llms, name), llms.HttpModel)} - {"HttpModel"}
    assert set(module._HTTP.values()) == behind_http


TOOL_MODELS = """
import unspool as us

heard = []

def talks(request):
    heard.append(request)
    last = request.messages[-1]
    if last.role == "tool":
        return [f"It is {last.parts[0].text}"]
    size = "9007199254740993" if last.text == "big" else "1"
    call = {"index": 0, "id": "c1", "function": {"name": "weather", "arguments": '{"size": ' + size + "}"}}
    return [{"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}]

lm = us.llms.FunctionModel(talks)
"""
TOOLS = [{"name": "weather", "parameters": {"type": "object"}}]
ASKED = {"prompt": "?", "lm": {"object": "unspool_test_tools:lm"}}


@pytest.fixture
def tools(bridge: Bridge) -> Iterator[Bridge]:
    ok(bridge.register(json.dumps({"modules": {"unspool_test_tools": TOOL_MODELS}})))
    yield bridge
    sys.modules.pop("unspool_test_tools", None)


async def test_a_message_is_all_that_is_wanted(tools: Bridge) -> None:
    asked: dict[str, Any] = {**ASKED, "wants": "message", "options": {"tools": TOOLS, "toolChoice": "required"}}
    [end] = await all_events(tools, **asked, system="Be brief.")
    assert (end["type"], end["result"], end["finishReason"]) == ("generationComplete", None, "tool_calls")
    [call] = end["message"]["parts"]
    assert (call["type"], call["id"], json.loads(call["arguments"])) == ("toolCall", "c1", {"size": 1})
    result = {"role": "tool", "parts": [{"type": "toolResult", "callId": "c1", "text": "warm"}]}
    history = [{"role": "user", "content": "?"}, end["message"], result]
    [end] = await all_events(tools, **{**asked, "prompt": history, "options": {"tools": TOOLS}})
    assert end["message"]["parts"] == [{"type": "text", "text": "It is warm"}]
    heard: list[Request] = cast("Any", sys.modules["unspool_test_tools"]).heard
    assert [message.role for message in heard[0].messages] == ["system", "user"]
    assert heard[0].tool_choice == "required"
    assert [message.role for message in heard[1].messages] == ["user", "assistant", "tool"]


async def test_arguments_that_javascript_cannot_hold_end_the_call(tools: Bridge) -> None:
    [end] = await all_events(tools, **{**ASKED, "prompt": "big"}, wants="message", options={"tools": TOOLS})
    assert (end["type"], end["error"]["code"]) == ("generationFailed", "UNSAFE_INTEGER")
    assert "weather.size" in end["error"]["message"]
    assert end["error"]["partial"]["parts"][0]["type"] == "toolCall"


async def test_a_query_says_how_tools_are_called(tools: Bridge) -> None:
    end = (await all_events(tools, **ASKED, options={"tools": TOOLS}))[-1]
    assert (end["type"], end["error"]["code"]) == ("parsingFailed", "OUTPUT_INVALID")
    assert "use call() in place of a query" in end["error"]["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"wants": "value"},
        {"schema": {"jsonSchema": {}}},
        {"lenient": True},
        {"system": 1},
        {"options": {"tools": [{}]}},
    ],
)
async def test_a_call_takes_no_more_than_a_call(tools: Bridge, wrong: dict[str, Any]) -> None:
    asked = json.dumps({**ASKED, "wants": "message", **wrong})
    assert refused(await tools.open(asked))["code"] == "INVALID_OPTIONS"


ANSWER = {"type": "unspool_test_models:Answer"}


async def test_what_is_missing_is_filled_in(ready: Bridge) -> None:
    """What was given holds; the model is shown the rest as MISSING (P39)."""
    heard: list[Request] = cast("Any", sys.modules["unspool_test_models"]).heard
    listens = {"object": "unspool_test_models:listens"}
    repair = {"answer": "Answer(n=1)", "fault": "text is missing."}
    events = await all_events(ready, prompt="", complete={"n": 7}, schema=ANSWER, lm=listens, repair=repair)
    assert events[-1]["type"] == "parsingFailed"
    assert [message.role for message in heard[-1].messages] == ["user", "assistant", "user"]
    assert all(words in heard[-1].messages[0].text for words in ("Complete this", "n=7", "text=MISSING(str)"))
    assert heard[-1].messages[1].text == "Answer(n=1)"
    said = {"provider": "scripted", "text": 'Answer(text="a", n=1)'}
    events = await all_events(ready, complete={"n": 7}, schema=ANSWER, lm=said, returnsMessage=True)
    assert events[-1]["result"] == {"text": "a", "n": 7}
    assert events[-1]["message"]["parts"] == [{"type": "text", "text": said["text"]}]
    many = {"type": "unspool_test_models:Many"}
    said = {"provider": "scripted", "text": '{"answers":[{"text":"a","n":7},{"text":"x","n":2}]}'}
    known = {"answers": [{"n": 7}, {"text": "x"}]}
    events = await all_events(ready, complete=known, schema=many, lm=said, protocol="json")
    assert events[-1]["result"] == {"answers": [{"text": "a", "n": 7}, {"text": "x", "n": 2}]}


@pytest.mark.parametrize("protocol", ["python", "json", None])
async def test_no_model_is_asked_for_what_is_whole(ready: Bridge, protocol: str | None) -> None:
    broken = {"provider": "scripted", "text": "never read"}
    whole = {"text": "a\"'\\", "n": 1}
    events = await all_events(ready, complete=whole, schema=ANSWER, lm=broken, protocol=protocol, returnsMessage=True)
    assert events[-1]["result"] == whole
    assert "message" not in events[-1]


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        ({"schema": {"jsonSchema": {"type": "object"}}}, "UNSUPPORTED", ""),
        ({"schema": None}, "INVALID_OPTIONS", "give its type"),
        ({"complete": {"nme": 1}}, "INVALID_OPTIONS", "has 'nme', which is no field of Answer"),
        ({"complete": {"n": "x"}}, "INVALID_OPTIONS", "What is known cannot be completed. n: "),
        ({"complete": {"n": "x", "text": "a"}}, "INVALID_OPTIONS", "What is known cannot be completed."),
        ({"complete": 5}, "INVALID_OPTIONS", "what a value does not have yet"),
        ({"complete": []}, "INVALID_OPTIONS", "What is known cannot be completed."),
        ({"maxChars": 0}, "INVALID_OPTIONS", "max_chars"),
    ],
)
async def test_what_cannot_be_completed_is_told_at_once(ready: Bridge, wrong: Any, code: str, words: str) -> None:
    request = {"complete": {"n": 1}, "schema": ANSWER, "lm": SCRIPT, **wrong}
    error = refused(await ready.open(json.dumps(request)))
    assert error["code"] == code
    assert words in error["message"]
