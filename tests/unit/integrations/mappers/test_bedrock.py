"""Events of Bedrock's ConverseStream. B, S and F numbers: ../shared/reference."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import bedrock
from unspool.integrations.read import read_structured


def start(index: int | None, id: str | None) -> dict[str, Any]:
    tool = {"toolUseId": id, "name": "f"}
    return {"contentBlockStart": {"start": {"toolUse": tool}, "contentBlockIndex": index}}


def delta(index: int | None, piece: str) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": index}}


def stop(index: int | None) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def over(reason: str) -> dict[str, Any]:
    return {"messageStop": {"stopReason": reason}}


NOISE = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "{"}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "{"}}, "contentBlockIndex": 0}},
    {"contentBlockStart": {"start": {"toolResult": {"toolUseId": "r"}}, "contentBlockIndex": 9}},
    {"contentBlockStart": {"start": {}, "contentBlockIndex": 8}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"metadata": {"usage": {}}},
    {"$unknown": ["x", {}]},
]
END = over("tool_use")


def test_calls() -> None:
    """B1, B2: by the index of the block; block 0 is text."""
    events = [
        *NOISE,
        *(start(1, "a"), delta(1, '{"x":'), delta(1, "1}"), stop(1)),
        *(start(2, "b"), delta(2, "[]"), stop(2)),
        END,
    ]
    played = play_all(bedrock, events)
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.steps[:4] == [("start", "a"), ("update", "a"), ("update", "a"), ("complete", "a")]
    assert played.diagnostics == []


def test_end_of_events() -> None:
    """B1: calls complete at the end of the events too."""
    assert play_all(bedrock, [start(0, "a"), delta(0, "{}")]).texts == [("a", "{}")]


@pytest.mark.parametrize("pieces", [[], [""]])
@pytest.mark.parametrize("end", [[END], [over("end_turn")], [start(1, "b"), stop(1), END], []])
def test_no_arguments(pieces: list[str], end: list[Any]) -> None:
    """S65."""
    played = play_all(bedrock, [start(0, "a"), *(delta(0, piece) for piece in pieces), stop(0), *end])
    assert played.texts[0] == ("a", "{}")
    assert played.error is None


@pytest.mark.parametrize(
    "reason", ["max_tokens", "model_context_window_exceeded", "guardrail_intervened", "unheard_of"]
)
@pytest.mark.parametrize("pieces", [[], [""], ['{"a":"b']])
def test_a_cut_call_is_never_complete(reason: str, pieces: list[str]) -> None:
    """B1, F37."""
    events = [start(0, "w"), delta(0, "[]"), stop(0), start(1, "a"), *(delta(1, piece) for piece in pieces), stop(1)]
    played = play_all(bedrock, [*events, over(reason)])
    assert played.texts == [("w", "[]")]
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")


@pytest.mark.parametrize(
    "name",
    [
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    ],
)
def test_service_errors(name: str) -> None:
    """B3, B4."""
    raw = {"message": "Too many.", "originalStatusCode": 429}
    played = play_all(bedrock, [start(0, "a"), delta(0, "{}"), {name: raw}])
    assert played.texts == []
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "Too many.")
    assert (played.error.adapter, played.error.event_type) == ("bedrock", name)
    assert play(bedrock, [{name: raw}]).error.__cause__.raw == raw


async def test_errors_that_the_sdk_raises() -> None:
    """B3, S94: the source's own error passes as it is, and nothing is finished."""
    broken = OSError("An error occurred (throttlingException)")

    async def events() -> AsyncIterator[dict[str, Any]]:
        yield start(0, "a")
        yield delta(0, "{}")
        raise broken

    seen: list[str] = []
    with pytest.raises(OSError) as caught:
        async for update in read_structured(events(), integration=bedrock):
            seen.append(update.type)
    assert caught.value is broken
    assert seen == ["start", "update"]


def test_unknown_blocks() -> None:
    """S82, S106."""
    played = play_all(bedrock, [delta(3, "{}"), stop(3), start(4, None), delta(4, "{}"), stop(4)])
    assert played.steps == []
    assert played.unmatched == [None] * 3


def test_malformed_arguments() -> None:
    played = play_all(bedrock, [start(0, "a"), start(1, "b"), delta(1, "{]")])
    assert (played.error.code, played.error.id, played.error.event_type) == (
        "MISMATCHED_CLOSING",
        "b",
        "contentBlockDelta",
    )
