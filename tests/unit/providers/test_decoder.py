"""What all dialects have in common, seen in one that has next to nothing of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unspool.errors import ProviderError, StreamError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.anthropic_decoder import AnthropicDecoder
from unspool.providers.cohere_decoder import CohereDecoder
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import Fields, count_of, text_of, text_or_none
from unspool.providers.gemini_decoder import GeminiDecoder
from unspool.providers.mistral import MistralDecoder
from unspool.providers.ollama_decoder import OllamaDecoder
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.providers.openai_responses_decoder import OpenAIResponsesDecoder
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta, UsageReport


class PlainDecoder(Decoder):
    """Its events: `{"type": "say", "text": …}`, then `{"type": "over", "why": …, "tokens": …}`."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        super().__init__("plain", "plain answer")
        self._texts = TextBlocks()

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        self._model = text_or_none(event, "model") or self._model
        match text_of(event, "type"):
            case "say":
                self._kept.add(self._size)
                self._texts.add("text", text_of(event, "text"), out)
            case "over":
                self._raw_reason = text_or_none(event, "why")
                self._usage = event
                out += self._end()
            case _ if error_detail(event) is not None:
                raise self._failure(event)
            case _:
                self._pass_over(event)

    def _is_answered(self) -> bool:
        return len(self._texts) > 0

    def _end_blocks(self, out: list[Chunk]) -> None:
        self._texts.close(out)

    def _counts(self, raw: Fields) -> Usage:
        return Usage(None, count_of(raw, "tokens"), None)

    def _reason(self) -> FinishReason:
        return "error" if self._raw_reason == "broken" else "stop"


DECODERS: list[Callable[[], Decoder]] = [
    PlainDecoder,
    AnthropicDecoder,
    CohereDecoder,
    GeminiDecoder,
    MistralDecoder,
    OllamaDecoder,
    OpenAIChatDecoder,
    OpenAIResponsesDecoder,
]


def fault_of(chunks: list[Chunk]) -> UnspoolError | None:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1].error


def test_an_answer() -> None:
    decoder = PlainDecoder()
    assert decoder.feed("message", ' {"type":"say","text":"a","model":"m"}\n') == [
        BlockStart(0, "text"),
        TextDelta(0, "a"),
    ]
    assert decoder.decode({"type": "over", "why": "enough", "tokens": 2}) == [
        BlockEnd(0),
        UsageReport(Usage(None, 2, None)),
        Finish("stop", "enough", origin=Origin("plain", "m", None)),
    ]


def test_nothing_comes_after_the_end() -> None:
    decoder = PlainDecoder()
    decoder.decode({"type": "over"})
    assert decoder.decode({"type": "say", "text": "a"}) == []
    assert decoder.feed("message", "nope") == decoder.feed("error", "x") == decoder.finish() == []


@pytest.mark.parametrize("data", ["", " \n", ":", ": OPENROUTER PROCESSING"])
def test_what_is_passed_over(data: str) -> None:
    """F5."""
    decoder = PlainDecoder()
    assert decoder.feed("message", data) == decoder.decode(None) == decoder.feed("message", "null") == []


def test_an_event_is_named_inside_or_outside() -> None:
    for name, data in (
        ("say", '{"text":"a"}'),
        ("say", '{"text":"a","type":null}'),
        ("other", '{"text":"a","type":"say"}'),
    ):
        assert PlainDecoder().feed(name, data)[1:] == [TextDelta(0, "a")]
    with pytest.raises(StreamError):
        PlainDecoder().feed("say", "{")
    assert isinstance(fault_of(PlainDecoder().feed("say", '{"type":0}')), WireError)
    assert isinstance(fault_of(PlainDecoder().feed("say", "[]")), WireError)


def test_the_body_ends_too_soon() -> None:
    decoder = PlainDecoder()
    decoder.decode({"type": "say", "text": "a"})
    chunks = decoder.finish()
    assert chunks[0] == BlockEnd(0)
    assert getattr(fault_of(chunks), "code", None) == "STREAM_TRUNCATED"


def test_done_ends_the_body() -> None:
    chunks = PlainDecoder().feed("message", " [DONE] ")
    assert getattr(fault_of(chunks), "code", None) == "STREAM_TRUNCATED"


def test_what_else_was_said_tells_why_nothing_came() -> None:
    decoder = PlainDecoder()
    assert decoder.decode({"message": "Under maintenance"}) == decoder.decode({"x": 1}) == []
    fault = fault_of(decoder.finish())
    assert isinstance(fault, WireError)
    assert fault.message == "The response is no plain answer, but says: Under maintenance"
    decoder = PlainDecoder()
    decoder.decode({"x": 1})
    decoder.decode({"type": "say", "text": "a"})
    assert getattr(fault_of(decoder.finish()), "code", None) == "STREAM_TRUNCATED"


@pytest.mark.parametrize("make", DECODERS)
@pytest.mark.parametrize(
    ("name", "data"),
    [("ping", "{}"), ("heartbeat", "{}"), ("ping", '{"type":"ping"}'), ("keepalive", '{"type":null,"message":null}')],
)
def test_a_ping_says_nothing(make: Callable[[], Decoder], name: str, data: str) -> None:
    """Only words of an event tell why nothing else came: its name does not, wherever it stands."""
    decoder = make()
    assert decoder.feed(name, data) == []
    fault = fault_of(decoder.finish())
    assert fault is not None
    assert (fault.code, fault.retryable) == ("STREAM_TRUNCATED", True)


@pytest.mark.parametrize("make", DECODERS)
def test_words_after_a_ping_are_told(make: Callable[[], Decoder]) -> None:
    decoder = make()
    decoder.feed("ping", "{}")
    decoder.feed("message", '{"note":"Under maintenance"}')
    fault = fault_of(decoder.finish())
    assert isinstance(fault, WireError)
    assert (fault.code, "but says: " in fault.message) == ("PROTOCOL", True)


@pytest.mark.parametrize("make", DECODERS)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"reason":"Your credit is used up"}', '{"reason": "Your credit is used up"}'),
        ('{"error":{"msg":"used up","type":"credit"}}', '{"msg": "used up"} (credit)'),
        ('{"error_message":"key sk-abcDEF123456789"}', '{"error_message": "key [redacted]"}'),
        ('["used up"]', '["used up"]'),
    ],
)
def test_an_error_in_words_that_nobody_knows_is_shown_as_it_came(
    make: Callable[[], Decoder], data: str, said: str
) -> None:
    fault = fault_of(make().feed("error", data))
    assert isinstance(fault, ProviderError)
    assert fault.message == f"The provider reported an error: {said}"


@pytest.mark.parametrize(
    "data",
    [
        '{"error":{"message":"Overloaded","type":"overloaded_error"}}',
        '{"message":"Overloaded"}',
        '[{"error":{"message":"Overloaded"}}]',
        "Overloaded",
    ],
)
def test_events_named_error(data: str) -> None:
    fault = fault_of(PlainDecoder().feed("error", data))
    assert isinstance(fault, ProviderError)
    assert (fault.code, "Overloaded" in fault.message) == ("OVERLOADED", True)


@pytest.mark.parametrize("event", [{"error": {"message": "m"}}, [{"error": {"message": "m"}}]], ids=["object", "list"])
def test_errors_in_events(event: Any) -> None:
    decoder = PlainDecoder()
    decoder.decode({"type": "say", "text": "a"})
    chunks = decoder.decode(event)
    assert chunks[0] == BlockEnd(0)
    assert isinstance(fault_of(chunks), ProviderError)


@pytest.mark.parametrize("event", [5, "x", [], [1], True], ids=repr)
def test_events_that_are_no_objects(event: Any) -> None:
    fault = fault_of(PlainDecoder().decode(event))
    assert isinstance(fault, WireError)
    assert (fault.code, type(event).__name__ in fault.message) == ("PROTOCOL", True)


def test_a_reason_that_is_an_error() -> None:
    chunks = PlainDecoder().decode({"type": "over", "why": "broken"})
    assert isinstance(chunks[-1], Finish)
    assert (chunks[-1].reason, chunks[-1].raw_reason) == ("error", "broken")
    fault = fault_of(chunks)
    assert isinstance(fault, ProviderError)
    assert (fault.retryable, "broken" in fault.message) == (True, True)


def test_what_is_kept_is_measured_by_the_text_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.providers.kept_chars.MAX_KEPT_CHARS", 30)
    decoder = PlainDecoder()
    for _ in range(9):
        decoder.decode({"type": "say", "text": "a" * 99})  # a value was counted by whoever made it
    decoder.feed("message", '{"type":"say","text":"a"}')
    fault = fault_of(decoder.feed("message", '{"type":"say","text":"a"}'))
    assert getattr(fault, "code", None) == "BODY_TOO_LARGE"
