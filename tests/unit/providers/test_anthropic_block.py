from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.messages import ProviderPart, ReasoningPart, Replay
from unspool.providers.anthropic_block import AnthropicBlock
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta, ToolArgumentsDelta


def chunks(content: dict[str, Any], *deltas: dict[str, Any]) -> list[Chunk]:
    """All that a block gives."""
    block = AnthropicBlock(3, content)
    return [*block.start(), *(chunk for delta in deltas for chunk in block.feed(delta)), *block.finish()]


def test_text() -> None:
    assert chunks({"type": "text", "text": "a"}, {"type": "text_delta", "text": "b"}) == [
        BlockStart(3, "text"),
        TextDelta(3, "a"),
        TextDelta(3, "b"),
        BlockEnd(3),
    ]


def test_signature_of_a_text() -> None:
    """Servers before other models sign texts and calls; whatever is signed goes back."""
    end = chunks({"type": "text", "text": ""}, {"type": "signature_delta", "signature": "s"})[-1]
    assert end == BlockEnd(3, replay=Replay("anthropic", {"type": "text", "signature": "s"}))


def test_thinking() -> None:
    assert chunks(
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "thinking_delta", "thinking": "b", "estimated_tokens": 9},
        {"type": "signature_delta", "signature": "t"},
    ) == [
        BlockStart(3, "reasoning"),
        ReasoningDelta(3, "a"),
        ReasoningDelta(3, "b"),
        BlockEnd(3, replay=Replay("anthropic", {"type": "thinking", "signature": "st"})),
    ]


def test_redacted_thinking() -> None:
    block = {"type": "redacted_thinking", "data": "d"}
    assert chunks(block) == [
        BlockStart(3, "reasoning"),
        BlockEnd(3, part=ReasoningPart("", redacted=True, replay=Replay("anthropic", block))),
    ]


@pytest.mark.parametrize(
    ("input_", "deltas", "arguments"),
    [
        ({}, [], []),
        ({}, ["", ""], []),
        ({}, ['{"a"', "", ":1}"], ['{"a"', ":1}"]),
        ({"a": 1}, [], ['{"a": 1}']),
        ({"a": 1}, [""], ['{"a": 1}']),
        ({"a": 1}, ['{"b":2}'], ['{"b":2}']),
        ('{"a":1}', [], ['{"a":1}']),
        (None, [], []),
    ],
)
def test_arguments(input_: Any, deltas: list[str], arguments: list[str]) -> None:
    """A7, S65: as they come; given once where they stand whole in the start; nothing where there are none."""
    out = chunks(
        {"type": "tool_use", "id": "i", "name": "n", "input": input_},
        *({"type": "input_json_delta", "partial_json": text} for text in deltas),
    )
    assert out == [
        BlockStart(3, "tool_call", "i", "n"),
        *(ToolArgumentsDelta(3, text) for text in arguments),
        BlockEnd(3),
    ]


def test_call_with_more_members() -> None:
    out = chunks({"type": "tool_use", "id": "i", "name": "n", "input": {}, "caller": {"type": "direct"}, "x": None})
    assert out[-1] == BlockEnd(3, replay=Replay("anthropic", {"type": "tool_use", "caller": {"type": "direct"}}))


@pytest.mark.parametrize(
    ("pieces", "input_"),
    [([], {"q": 0}), (['{"q"', ":1}"], {"q": 1}), (["", " "], {"q": 0}), (['{"q":1,"q":2}'], {"q": 2})],
)
def test_block_of_the_provider(pieces: list[str], input_: dict[str, Any]) -> None:
    content: dict[str, Any] = {"type": "mcp_tool_use", "id": "i", "name": "n", "server_name": "s", "input": {"q": 0}}
    out = chunks(content, *({"type": "input_json_delta", "partial_json": text} for text in pieces))
    assert out == [
        BlockStart(3, "mcp_tool_use", "i", "n"),
        BlockEnd(3, part=ProviderPart("mcp_tool_use", Replay("anthropic", {**content, "input": input_}))),
    ]
    assert content["input"] == {"q": 0}


@pytest.mark.parametrize("text", ["{", "{x}", "[" * 65 + "]" * 65])
def test_input_that_cannot_be_read(text: str) -> None:
    block = AnthropicBlock(0, {"type": "server_tool_use", "id": "i", "name": "n", "input": {}})
    block.start()
    block.feed({"type": "input_json_delta", "partial_json": text})
    assert block.finish() == [BlockEnd(0)]


@pytest.mark.parametrize("kind", ["image", "file", "reasoning", "refusal", "tool_call"])
def test_names_of_ours_stay_ours(kind: str) -> None:
    """A block of the provider's that is named like one of ours is still the provider's."""
    assert chunks({"type": kind})[0] == BlockStart(3, f"anthropic:{kind}")


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"type": None},
        {"type": 1},
        {"type": ""},
        {"type": "tool_use", "name": "n"},
        {"type": "tool_use", "id": "i", "name": 1},
        {"type": "tool_use", "id": None, "name": "n"},
    ],
)
def test_blocks_that_cannot_be_meant(content: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        AnthropicBlock(0, content)


@pytest.mark.parametrize(
    ("type_", "delta"),
    [
        ("text", {"type": "thinking_delta", "thinking": "x"}),
        ("text", {"type": "text_delta", "text": 1}),
        ("text", {"type": "input_json_delta", "partial_json": "x"}),
        ("thinking", {"type": "text_delta", "text": "x"}),
        ("thinking", {"type": "signature_delta", "signature": {}}),
        ("redacted_thinking", {"type": "text_delta", "text": "x"}),
        ("tool_use", {"type": "text_delta", "text": "x"}),
        ("tool_use", {"type": "input_json_delta", "partial_json": {}}),
        ("server_tool_use", {"type": "text_delta", "text": "x"}),
    ],
)
def test_deltas_that_do_not_belong(type_: str, delta: dict[str, Any]) -> None:
    block = AnthropicBlock(0, {"type": type_, "id": "i", "name": "n"})
    block.start()
    with pytest.raises(WireError):
        block.feed(delta)


def test_members_in_pieces_cost_their_size() -> None:
    """A server may cut as small as it likes; joined at each delta these would take minutes."""
    count, piece = 20_000, "s" * 400
    sign, cite = {"type": "signature_delta", "signature": piece}, {"type": "citations_delta", "citation": 1}
    grow = {"type": "compaction_delta", "content": piece, "parts": [1]}
    thought = chunks({"type": "thinking", "thinking": ""}, *[sign] * count)[-1]
    assert isinstance(thought, BlockEnd) and thought.replay is not None
    assert thought.replay.data["signature"] == piece * count
    text = chunks({"type": "text", "text": "", "citations": [0]}, *[cite] * count)[-1]
    assert isinstance(text, BlockEnd) and text.replay is not None
    assert text.replay.data["citations"] == [0] + [1] * count
    own = chunks({"type": "compaction", "content": "a"}, *[grow] * count)[-1]
    assert isinstance(own, BlockEnd) and isinstance(own.part, ProviderPart)
    assert own.part.replay.data == {"type": "compaction", "content": "a" + piece * count, "parts": [1] * count}


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ([1, "a", "b"], "ab"),
        (["a", 1, "b"], "b"),
        (["a", ["b"], "c"], "c"),
        ([["a"], ["b"]], ["a", "b"]),
        ([["a"], {"b": 1}], {"b": 1}),
        (["a", None, "b"], "ab"),
        (["", ""], ""),
    ],
)
def test_members_that_change_their_type(values: list[Any], whole: Any) -> None:
    """Only like goes on with like; else the last one counts."""
    first, *more = values
    end = chunks({"type": "own", "x": first}, *({"type": "own_delta", "x": value} for value in more))[-1]
    assert isinstance(end, BlockEnd) and isinstance(end.part, ProviderPart)
    assert end.part.replay.data["x"] == whole


@pytest.mark.parametrize("kind", [None, "", "unheard_of"])
def test_delta_of_no_known_type(kind: Any) -> None:
    assert chunks({"type": "text", "text": "a"}, {"type": kind, "text": "b"}) == chunks({"type": "text", "text": "a"})


@pytest.mark.parametrize("odd", [1, True, [], {"a": 1}])
def test_what_must_be_text(odd: Any) -> None:
    """To pass over it could lose a part of the answer."""
    for start, delta in (("a", {"type": odd, "text": "b"}), (odd, {}), ("a", {"type": "text_delta", "text": odd})):
        with pytest.raises(WireError, match="PROTOCOL"):
            chunks({"type": "text", "text": start}, delta)
