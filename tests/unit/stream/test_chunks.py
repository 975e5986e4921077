from __future__ import annotations

import typing

import pytest

from unspool.errors import WireError
from unspool.messages import Image, Origin, ProviderPart, ReasoningPart, Replay, TextPart, Usage
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
        (
            BlockEnd(0, replay=Replay("a", {"k": 1}), part=TextPart("x")),
            {
                "type": "block-end",
                "index": 0,
                "replay": {"type": "replay", "adapter": "a", "data": {"k": 1}},
                "part": {"type": "text", "text": "x"},
            },
        ),
        (UsageReport(Usage(1)), {"type": "usage", "usage": {"type": "usage", "inputTokens": 1}}),
        (Finish("stop", "end_turn"), {"type": "finish", "reason": "stop", "rawReason": "end_turn"}),
        (
            Finish("stop", origin=Origin("a", "m"), metadata={"k": 1}),
            {
                "type": "finish",
                "reason": "stop",
                "origin": {"type": "origin", "adapter": "a", "model": "m"},
                "metadata": {"k": 1},
            },
        ),
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


REPLAY = Replay("a", {})


@pytest.mark.parametrize(
    ("chunk", "token", "visible", "text"),
    [
        (BlockStart(0, "text"), False, False, False),
        (BlockStart(0, "tool_call", "a", "f"), False, True, False),
        (BlockStart(0, "web_search"), False, False, False),
        (TextDelta(0, "x"), True, True, True),
        (TextDelta(0, " \n"), True, True, False),
        (TextDelta(0, ""), False, False, False),
        (ReasoningDelta(0, "x"), True, False, False),
        (ReasoningDelta(0, ""), False, False, False),
        (chunks.ToolArgumentsDelta(0, "{"), True, False, False),
        (chunks.ToolArgumentsDelta(0, ""), False, False, False),
        (BlockEnd(0), False, False, False),
        (BlockEnd(0, replay=REPLAY), False, False, False),
        (BlockEnd(0, part=Image("https://x.y/z")), False, True, False),
        (BlockEnd(0, part=TextPart("x")), False, True, True),
        (BlockEnd(0, part=TextPart(" ")), False, True, False),
        (BlockEnd(0, part=TextPart("")), False, False, False),
        (BlockEnd(0, part=ReasoningPart("x")), False, False, False),
        (BlockEnd(0, part=ProviderPart("x", REPLAY)), False, False, False),
        (UsageReport(Usage(1)), False, False, False),
        (Finish("stop"), False, False, False),
    ],
    ids=str,
)
def test_questions_to_a_chunk(chunk: Chunk, token: bool, visible: bool, text: bool) -> None:
    """The seed's token and visibility rules."""
    assert chunks.is_token_delta(chunk) is token
    assert chunks.is_visible_chunk(chunk) is visible
    assert chunks.chunk_has_visible_text(chunk) is text


def test_words_of_providers_for_blocks() -> None:
    """One of ours would be taken for what it is not."""
    assert chunks.provider_kind("web_search", "a") == "web_search"
    for ours in ("text", "reasoning", "refusal", "tool_call", "image", "file"):
        assert chunks.provider_kind(ours, "a") == f"a:{ours}"
