"""Blocks of Bedrock, one by one. Whole answers: tests/conformance/test_wire_bedrock.py."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ProviderError, WireError
from unspool.messages import Image, ProviderPart, Replay
from unspool.providers.bedrock_block import BedrockBlock, events_of
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta, ToolArgumentsDelta


def chunks(*events: dict[str, Any], start: dict[str, Any] | None = None) -> list[Chunk]:
    out: list[Chunk] = []
    block = BedrockBlock(3)
    block.start(start or {}, out)
    for event in events:
        block.feed(event, out)
    block.finish(out)
    return out


def test_text() -> None:
    assert chunks({"text": "a"}, {"text": ""}, {"text": "b"}) == [
        BlockStart(3, "text"),
        TextDelta(3, "a"),
        TextDelta(3, "b"),
        BlockEnd(3),
    ]
    assert chunks() == [BlockStart(3, "text"), BlockEnd(3)]
    assert chunks({"text": None, "citation": {"title": "T"}}) == [
        BlockStart(3, "text"),
        BlockEnd(3, replay=Replay("bedrock", {"citations": [{"title": "T"}]})),
    ]


def test_reasoning() -> None:
    assert chunks({"reasoningContent": {"text": "a"}}, {"reasoningContent": {"signature": "s"}}) == [
        BlockStart(3, "reasoning"),
        ReasoningDelta(3, "a"),
        BlockEnd(3, replay=Replay("bedrock", {"signature": "s"})),
    ]
    [_, _, end] = chunks({"reasoningContent": {"text": "a"}}, {"reasoningContent": {"redactedContent": "YQ=="}})
    assert isinstance(end, BlockEnd)
    assert (end.part, end.replay) == (None, Replay("bedrock", {"redactedContent": "YQ=="}))


def test_calls() -> None:
    start = {"toolUse": {"toolUseId": "t", "name": "f"}}
    assert chunks({"toolUse": {"input": '{"x":'}}, {"toolUse": {"input": "1}"}}, start=start) == [
        BlockStart(3, "tool_call", "t", "f"),
        ToolArgumentsDelta(3, '{"x":'),
        ToolArgumentsDelta(3, "1}"),
        BlockEnd(3),
    ]
    for head in ({"name": "f"}, {"toolUseId": "t"}, {"toolUseId": "", "name": "f"}, {"toolUseId": 1, "name": "f"}):
        with pytest.raises(WireError):
            chunks(start={"toolUse": head})


def test_kinds_of_the_provider() -> None:
    [start, end] = chunks(start={"hologram": {"shape": "cube"}})
    assert start == BlockStart(3, "hologram")
    assert isinstance(end, BlockEnd)
    assert end.part == ProviderPart("hologram", Replay("bedrock", {"hologram": {"shape": "cube"}}))
    [start, _] = chunks(start={"toolUse": {"toolUseId": "t", "name": "n", "type": "text"}})
    assert start == BlockStart(3, "bedrock:text", name="n")


@pytest.mark.parametrize(
    "delta",
    [
        {"toolUse": {"input": "x"}},
        {"text": 1},
        {"text": "a", "reasoningContent": {"text": "b"}},
        {"image": {"source": {"bytes": "AAAA"}}},
        {"audio": {}},
    ],
)
def test_what_does_not_belong(delta: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        chunks({"text": "a"}, delta)


def test_image() -> None:
    start = {"image": {"format": "jpeg"}}
    [_, end] = chunks({"image": {"source": {"bytes": "/9j/"}}}, start=start)
    assert isinstance(end, BlockEnd)
    assert end.part == Image(b"\xff\xd8\xff", media_type="image/jpeg")
    with pytest.raises(ProviderError):
        chunks({"image": {"error": {"message": "no"}}}, start=start)
    for wrong in ("!", "é", "AAA"):
        with pytest.raises(WireError):
            chunks({"image": {"source": {"bytes": wrong}}}, start=start)


@pytest.mark.parametrize(
    ("block", "start", "deltas"),
    [
        ({"text": "a"}, {}, [{"text": "a"}]),
        ({"text": None, "unknown": 1}, {}, [{"text": None, "unknown": 1}]),
        ({"hologram": {"x": 1}}, {"hologram": {"x": 1}}, []),
        ({}, {}, []),
        (
            {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s"}}},
            {},
            [{"reasoningContent": {"text": "a"}}, {"reasoningContent": {"signature": "s"}}],
        ),
        (
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {"é": [1]}}},
            {"toolUse": {"toolUseId": "t", "name": "f"}},
            [{"toolUse": {"input": '{"é":[1]}'}}],
        ),
    ],
)
def test_blocks_of_whole_answers(block: dict[str, Any], start: Any, deltas: Any) -> None:
    assert events_of(block) == (start, deltas)
