"""Whatever a server puts in place of anything, in every dialect: one typed end, nothing lost in silence, no exception.

`ResponseMachine` makes a typed end of exceptions in decoders as well; here that is a fault: ours must have none.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools.dialects import ARGUMENTS, DIALECTS, REASONING, TEXT
from tests.wire import FIXTURES, assembled, chunks_of

import unspool as us
from unspool.contracts import ProviderDecoder, Request
from unspool.errors import StreamError, UnspoolError, WireError
from unspool.messages import Message, UserMessage
from unspool.providers.anthropic import AnthropicDecoder
from unspool.providers.bedrock import BedrockDecoder
from unspool.providers.cohere import CohereDecoder
from unspool.providers.gemini import GeminiDecoder
from unspool.providers.mistral import MistralDecoder
from unspool.providers.ollama import OllamaDecoder
from unspool.providers.openai_chat import OpenAIChatDecoder
from unspool.providers.openai_responses import OpenAIResponsesDecoder
from unspool.stream import ResponseMachine, SseDecoder
from unspool.stream.chunks import Chunk, Finish
from unspool.structured import strict_json
from unspool.testing import ScriptedTransport

type Make = Callable[[], ProviderDecoder]
type Place = tuple[str | int, ...]

DECODERS: dict[str, Make] = {
    "anthropic": AnthropicDecoder,
    "bedrock": BedrockDecoder,
    "cohere": CohereDecoder,
    "gemini": GeminiDecoder,
    "mistral": MistralDecoder,
    "ollama": OllamaDecoder,
    "openai_chat": OpenAIChatDecoder,
    "openai_responses": OpenAIResponsesDecoder,
}
ODD: tuple[Any, ...] = (None, [], {}, 0, -1, 2**70, "x", "", [None], {"a": {}}, "\ud800", [{"type": []}])
NO_TEXT: tuple[Any, ...] = (7, 1.5, True, [["x"]])
"""In the place of text these say something, which must not be lost in silence."""
GONE = object()
STEP = 5 if sys.platform == "emscripten" else 1
"""Pyodide is that much slower, and runs the same code."""
CONTENT = {*TEXT, *REASONING, *ARGUMENTS}


LISTS: dict[str, Any] = {
    "chat": {
        "data": [
            {
                "id": "m",
                "context_length": 1,
                "top_provider": {"max_completion_tokens": 1},
                "supported_parameters": ["reasoning"],
                "capabilities": {"vision": True},
                "architecture": {"input_modalities": ["image"]},
            }
        ]
    },
    "responses": {"data": [{"id": "m"}]},
    "anthropic": {"data": [{"id": "m", "max_tokens": 1, "capabilities": {"effort": {"low": {"supported": True}}}}]},
    "gemini": {
        "models": [{"name": "models/m", "inputTokenLimit": 1, "supportedGenerationMethods": ["generateContent"]}]
    },
    "ollama": {"models": [{"model": "m", "capabilities": ["vision"], "thinking": {"values": [True, "low"]}}]},
    "bedrock": {"modelSummaries": [{"modelId": "m", "inputModalities": ["IMAGE"]}]},
    "cohere": {"models": [{"name": "m", "endpoints": ["chat"], "features": ["vision"], "context_length": 1.0}]},
}
REFUSED: dict[str, Any] = {
    "error": {
        "message": "m",
        "code": "c",
        "status": "s",
        "innererror": {"code": "x"},
        "details": [{"retryDelay": "1s"}],
    },
    "message": "m",
    "detail": [{"msg": "x"}],
    "request_id": "r",
    "__type": "T",
}


def decoder_of(dialect: str) -> ProviderDecoder:
    lm = getattr(us.llms, DIALECTS[dialect].model)("m", base_url="https://h")
    decoder: ProviderDecoder = lm.adapter.decoder(Request("m", [UserMessage("Hi")]))
    return decoder


def body_of(dialect: str) -> bytes:
    return b"".join(step.frame for step in DIALECTS[dialect].steps)


def read(
    decoder: ProviderDecoder, slices: list[Any], content_type: str | None = None
) -> tuple[Message, UnspoolError | None]:
    chunks = chunks_of(ResponseMachine(decoder, content_type=content_type), slices)
    message, finish = assembled(chunks), chunks[-1]
    json.dumps(message.to_wire())
    assert isinstance(finish, Finish)
    if finish.error is not None:
        assert "could not be decoded" not in finish.error.message
        json.dumps(finish.error.to_wire())
    return message, finish.error


def content_of(message: Message) -> tuple[Any, ...]:
    return message.text, message.reasoning, [(call.name, call.arguments) for call in message.tool_calls]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Where anything stands in a value."""
    yield at
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*at, name))
    elif isinstance(value, list):
        for number, item in enumerate(value[:3]):
            yield from places(item, (*at, number))


def with_odd(value: Any, place: Place, odd: Any) -> Any:
    """Put something else at a place, or take away what stands there."""
    if not place:
        return None if odd is GONE else odd
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    changed = [
        (key, with_odd(item, place[1:], odd) if key == place[0] else item)
        for key, item in items
        if not (odd is GONE and place == (key,))
    ]
    return dict(changed) if isinstance(value, dict) else [item for _, item in changed]


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


class Recorded:
    """Keeps the events of a body as values, on their way to a decoder."""

    def __init__(self, decoder: ProviderDecoder) -> None:
        self.inner = decoder
        self.events: list[Any] = []

    def feed(self, name: str, data: str) -> Any:
        if data.strip() not in ("", "[DONE]"):
            value = strict_json.loads(data, duplicate_keys="last")
            self.events.append(value if name == "message" or type(self.inner) is not BedrockDecoder else {name: value})
        return self.inner.feed(name, data)

    def decode(self, event: Any) -> Any:
        self.events.append(event)
        return self.inner.decode(event)

    def finish(self) -> Any:
        return self.inner.finish()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_anything_in_place_of_anything(dialect: str) -> None:
    recorded = Recorded(decoder_of(dialect))
    whole, error = read(recorded, [body_of(dialect)], DIALECTS[dialect].framing.type)
    assert error is None and len(recorded.events) > 5
    for number, event in enumerate(recorded.events):
        for place in [*places(event)][::STEP]:
            says = at(event, place)
            # Compatible servers have many names for reasoning; what is no text under one of them is something else.
            says_content = isinstance(says, str) and says in CONTENT and place[-1] != "reasoning_content"
            for odd in (*ODD, *NO_TEXT, GONE):
                events = [*recorded.events]
                events[number] = with_odd(event, place, odd)
                message, error = read(decoder_of(dialect), [events])
                if says_content and odd in NO_TEXT:
                    assert error is not None or content_of(message) == content_of(whole)


def events_in(path: Path) -> list[Any]:
    """The events of a fixture that are JSON."""
    body = path.read_bytes()
    texts: list[str] = [body.decode("utf-8", "replace")]
    if path.suffix == ".sse":
        texts = [event.data for event in SseDecoder().feed(body + b"\n\n")]
    elif path.suffix in (".ndjson", ".jsonl"):
        texts = texts[0].splitlines()
    events: list[Any] = []
    for text in texts:
        try:
            events.append(strict_json.loads(text, duplicate_keys="last"))
        except StreamError:
            continue
    return events


@pytest.mark.parametrize("dialect", DECODERS)
def test_fixtures_with_something_odd_in_them(dialect: str) -> None:
    """Every hand-written answer, each time with one or two things at places of it that others took."""
    rng = random.Random(dialect)
    for path in sorted((FIXTURES / dialect).iterdir()):
        events = events_in(path)
        if not events or len(events) > 40:
            continue
        for _ in range(25 // STEP):
            changed = [*events]
            for _ in range(rng.randint(1, 2)):
                number = rng.randrange(len(events))
                place = rng.choice(list(places(changed[number]))[:60])
                changed[number] = with_odd(changed[number], place, rng.choice((*ODD, GONE)))
            read(DECODERS[dialect](), [changed])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_cut_at_every_byte(dialect: str) -> None:
    """F6: an answer that ends well is whole."""
    body, type = body_of(dialect), DIALECTS[dialect].framing.type
    whole, _ = read(decoder_of(dialect), [body], type)
    for end in range(0, len(body), STEP):
        message, error = read(decoder_of(dialect), [body[:end]], type)
        assert error is not None or content_of(message) == content_of(whole)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_bit_of_every_byte_is_wrong(dialect: str) -> None:
    """Text has no checksums, so that another text may come of it; messages have."""
    rng = random.Random(dialect)
    body, type = body_of(dialect), DIALECTS[dialect].framing.type
    for place in range(0, len(body), STEP):
        flipped = bytearray(body)
        flipped[place] ^= 1 << rng.randrange(8)
        _, error = read(decoder_of(dialect), [bytes(flipped)], type)
        assert error is not None or dialect != "bedrock"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_lists_of_models_and_refusals_with_anything_in_them(dialect: str) -> None:
    adapter = getattr(us.llms, DIALECTS[dialect].model)("m", base_url="https://h").adapter
    listed = LISTS[dialect]
    assert [facts.id for facts in adapter.models(listed)] == ["m"]
    for odd in (*ODD, *NO_TEXT, 10**400, float("inf"), "9" * 400, GONE):
        for place in places(listed):
            try:
                models = adapter.models(with_odd(listed, place, odd))
            except WireError as error:
                assert error.code == "PROTOCOL"
            else:
                assert all(isinstance(facts, us.ModelFacts) for facts in models)
        for place in places(REFUSED):
            body = json.dumps(with_odd(REFUSED, place, odd)).encode()
            for status in (400, 429, 500):
                json.dumps(adapter.failure(status, {"retry-after": "x", "date": "y"}, body).to_wire())


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_left_at_every_point_beside_another_answer(dialect: str) -> None:
    """Two answers of one model at once, of which one is left, by force or not, and the other is whole."""
    slices = [step.frame for step in DIALECTS[dialect].steps]
    whole, _ = read(decoder_of(dialect), slices, DIALECTS[dialect].framing.type)
    for point in range(len(slices)):
        transport = ScriptedTransport([slices, slices])
        lm = getattr(us.llms, DIALECTS[dialect].model)("m", base_url="https://h", transport=transport)
        left, kept = lm.stream("Hi"), lm.stream("Hi")
        told: list[Chunk] = []
        for _ in range(point):
            told += await left.read() or ()
            await kept.read()
        if point % 2:
            left.abort()
            told += await left.read() or ()
            assert isinstance(told[-1], Finish)
            assert told[-1].reason == "aborted" or content_of(left.message) == content_of(whole)
        else:
            await left.aclose()
        assert await left.read() is None
        assert whole.text.startswith(left.message.text)
        while await kept.read() is not None:
            pass
        assert kept.error is None and content_of(kept.message) == content_of(whole)
