"""Function calls by themselves; whole responses are in tests/conformance/test_wire_gemini.py."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import WireError
from unspool.messages import Replay
from unspool.providers.gemini_tool_calls import GeminiToolCalls
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta


def feed(*calls: Any, response_id: str | None = "R", signature: str | None = None) -> list[Chunk]:
    """All chunks of some calls, each of which came in a part of its own."""
    numbers = iter(range(1_000))
    tools = GeminiToolCalls(lambda: next(numbers))
    out: list[Chunk] = []
    for call in calls:
        tools.feed(call, signature, response_id, out)
    return out + tools.finish()


def ids(*calls: Any, **context: Any) -> list[str | None]:
    return [chunk.id for chunk in feed(*calls, **context) if isinstance(chunk, BlockStart)]


def arguments(*calls: Any) -> str:
    return "".join(chunk.text for chunk in feed(*calls) if isinstance(chunk, ToolArgumentsDelta))


def test_whole_call() -> None:
    assert feed({"name": "f", "args": {"x": 1}}, signature="QQ==") == [
        BlockStart(0, "tool_call", "call_R_0", "f"),
        ToolArgumentsDelta(0, '{"x":1}'),
        BlockEnd(0, replay=Replay("gemini", {"thoughtSignature": "QQ=="})),
    ]


def test_call_without_arguments_has_no_deltas() -> None:
    """S65."""
    assert feed({"name": "f"}) == [BlockStart(0, "tool_call", "call_R_0", "f"), BlockEnd(0)]


def test_replay_holds_what_the_provider_gave() -> None:
    end = feed({"name": "f", "id": "w"}, signature="QQ==")[-1]
    assert end == BlockEnd(0, replay=Replay("gemini", {"id": "w", "thoughtSignature": "QQ=="}))
    assert feed({"name": "f", "id": ""})[-1] == BlockEnd(0)


@pytest.mark.parametrize(
    ("response_id", "id_"),
    [
        ("n1P6abvRFaKdz7IPkcuQ2Aw", "call_n1P6abvRFaKdz7IPkcuQ2Aw_0"),
        (None, "call_0"),
        ("a b/ü", "call_ab_0"),
        ("x" * 500, f"call_{'x' * 24}_0"),
    ],
)
def test_ids_of_ours_are_fit_for_others(response_id: str | None, id_: str) -> None:
    """Should the conversation go on elsewhere: letters, digits, `_` and `-`, at most 40."""
    assert ids({"name": "f"}, response_id=response_id) == [id_]
    assert len(id_) <= 40


def test_ids_of_ours_are_unique() -> None:
    """F34; a server may also have used such an id itself."""
    calls = [{"name": "f", "id": "call_R_1"}, {"name": "f"}, {"name": "f"}, {"name": "f", "id": "w"}, {"name": "f"}]
    given_ids = ids(*calls)
    assert given_ids == ["call_R_1", "call_R_2", "call_R_3", "w", "call_R_4"]
    assert given_ids == ids(*calls)


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ([{"name": "f", "willContinue": True}, {}], "{}"),
        ([{"name": "f", "willContinue": True}, {"willContinue": True}, {"name": "f"}], "{}"),
        ([{"name": "f", "willContinue": True}, {"args": {"x": 1}}], '{"x":1}'),
        (
            [{"name": "f", "args": {"x": 1}, "willContinue": True}, {"args": {"y": 2}, "willContinue": True}, {}],
            '{"x":1,"y":2}',
        ),
        ([{"name": "f", "partialArgs": [{"jsonPath": "$.x", "boolValue": True}]}], '{"x":true}'),
    ],
)
def test_calls_in_parts(calls: list[Any], text: str) -> None:
    assert arguments(*calls) == text


def test_signature_may_come_with_any_part() -> None:
    numbers = iter(range(9))
    tools = GeminiToolCalls(lambda: next(numbers))
    out: list[Chunk] = []
    tools.feed({"name": "f", "willContinue": True}, None, "R", out)
    assert tools.is_cut
    tools.feed({"willContinue": True}, "QQ==", "R", out)
    tools.feed({}, None, "R", out)
    assert out[-1] == BlockEnd(0, replay=Replay("gemini", {"thoughtSignature": "QQ=="}))
    assert (tools.is_cut, tools.count) == (False, 1)


def test_parts_tell_calls_apart_by_id() -> None:
    chunks = feed(
        {"name": "f", "id": "a", "willContinue": True},
        {"name": "f", "id": "a", "willContinue": True},
        {"name": "f", "id": "b", "willContinue": True},
        {"id": "b"},
    )
    assert [chunk.id for chunk in chunks if isinstance(chunk, BlockStart)] == ["a", "b"]


def test_end_said_again() -> None:
    assert feed({}) == []


@pytest.mark.parametrize(
    "call",
    [
        None,
        5,
        [],
        "f",
        {"name": 5},
        {"name": "f", "id": 5},
        {"name": "f", "args": []},
        {"name": "f", "args": "{}"},
        {"name": "f", "partialArgs": {}},
        {"name": "f", "partialArgs": [5]},
        {"name": "f", "partialArgs": [{}]},
        {"name": "f", "partialArgs": [{"jsonPath": 5}]},
        {"name": "f", "partialArgs": [{"jsonPath": "$.x", "stringValue": []}]},
        {"name": "f", "partialArgs": [{"jsonPath": "x", "numberValue": 1}]},
        {"args": {"x": 1}},
        {"partialArgs": [{"jsonPath": "$.x"}]},
        {"willContinue": True},
    ],
)
def test_what_cannot_be_meant(call: Any) -> None:
    with pytest.raises(WireError) as caught:
        feed(call)
    assert caught.value.code == "PROTOCOL"


def test_arguments_without_json_form() -> None:
    """Cannot come from JSON, but from a model in the page."""
    with pytest.raises(WireError, match="no JSON form"):
        feed({"name": "f", "args": {"x": float("nan")}})
    deep: Any = {}
    for _ in range(300):
        deep = {"x": deep}
    with pytest.raises(WireError):
        feed({"name": "f", "args": deep})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4))
def test_any_arguments_come_through(args: dict[str, Any]) -> None:
    assert json.loads(arguments({"name": "f", "args": args})) == args
    assert json.loads(arguments({"name": "f", "args": args, "willContinue": True}, {})) == args
