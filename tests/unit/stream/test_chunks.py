from __future__ import annotations

import typing

import pytest

from unspool.errors import WireError
from unspool.messages import Usage
from unspool.stream import chunks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ReasoningDelta, TextDelta, UsageReport


@pytest.mark.parametrize(
    ("chunk", "wire"),
    [
        (BlockStart(0, "text"), {"type": "block-start", "index": 0, "kind": "text"}),
        (
            BlockStart(1, "tool_call", "a", "f"),
            {"type": "block-start", "index": 1, "kind": "tool_call", "id": "a", "name": "f"},
        ),
        (TextDelta(0, "x"), {"type": "text-delta", "index": 0, "text": "x"}),
        (ReasoningDelta(0, "x"), {"type": "reasoning-delta", "index": 0, "text": "x"}),
        (chunks.ToolArgumentsDelta(0, "{"), {"type": "tool-arguments-delta", "index": 0, "text": "{"}),
        (BlockEnd(0), {"type": "block-end", "index": 0}),
        (UsageReport(Usage(1)), {"type": "usage", "usage": {"type": "usage", "inputTokens": 1}}),
        (Finish("stop", "end_turn"), {"type": "finish", "reason": "stop", "rawReason": "end_turn"}),
        (
            Finish("error", error=WireError("PROTOCOL", "x")),
            {"type": "finish", "reason": "error", "error": {"code": "PROTOCOL", "message": "x", "retryable": False}},
        ),
    ],
)
def test_wire_form(chunk: Chunk, wire: dict[str, object]) -> None:
    assert chunk.to_wire() == wire


def test_union_is_closed_and_tagged() -> None:
    members = typing.get_args(Chunk)
    assert len({member.type for member in members}) == len(members) == 7


def test_matching() -> None:
    match TextDelta(3, "x"):
        case TextDelta(index, text):
            assert (index, text) == (3, "x")
