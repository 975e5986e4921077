from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import WireError
from unspool.providers.kept_chars import MAX_KEPT_CHARS
from unspool.providers.openai_reasoning import MAX_DETAILS, ReasoningDetails


def details(*events: object) -> list[dict[str, Any]]:
    machine = ReasoningDetails()
    for event in events:
        machine.add(event)
    return machine.whole()


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "text": words, "format": "anthropic-claude-v1", "index": 0, **more}


def test_pieces_of_one_detail_are_joined() -> None:
    """F23: the signature comes after the text, once, and is neither lost nor doubled."""
    sent = [text("", signature=""), text("This"), text(" is"), text("", signature="ErUBx9==")]
    assert details(*([piece] for piece in sent)) == [text("This is", signature="ErUBx9==")]
    assert details(sent) == details(*([piece] for piece in sent))


def test_details_of_other_numbers_and_types_are_apart() -> None:
    summary = {"type": "reasoning.summary", "summary": "s", "index": 1}
    encrypted = {"type": "reasoning.encrypted", "data": "x", "id": "rs_1", "index": 0}
    other = {"type": "reasoning.encrypted", "data": "y", "id": "rs_2", "index": 0}
    sent = [text("a"), text("b", index=1), summary, summary | {"index": 2}, encrypted, other, text("c")]
    assert details(sent) == sent


def test_encrypted_data_is_never_joined() -> None:
    sent = {"type": "reasoning.encrypted", "data": "x"}
    assert details([sent], [sent]) == [sent, sent]


def test_nulls_do_not_undo() -> None:
    assert details([text("a", id="r", signature="s")], [text("b", id=None, signature=None, format=None)]) == [
        text("ab", id="r", signature="s")
    ]


@pytest.mark.parametrize("nothing", [None, 5, "x", {}, [], [5, None, "x", []]])
def test_what_is_no_detail_is_passed_over(nothing: object) -> None:
    assert details(nothing) == []


@given(st.lists(st.text(max_size=5), min_size=1, max_size=20))
def test_text_is_the_same_however_it_is_cut(words: list[str]) -> None:
    assert details(*([text(word)] for word in words)) == [text("".join(words))]


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([[{"type": "t"}] * (MAX_DETAILS + 1)], "PROTOCOL"),
        ([[{"data": "x" * MAX_KEPT_CHARS}], [{"data": "x"}]], "BODY_TOO_LARGE"),
        ([[{"data": float("nan")}]], "PROTOCOL"),
    ],
)
def test_limits(events: list[Any], code: str) -> None:
    with pytest.raises(WireError) as caught:
        details(*events)
    assert caught.value.code == code
