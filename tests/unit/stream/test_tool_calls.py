"""Which tool calls may be executed. The limits are the seed's (langfx.js, TOOL_STREAMING)."""

from __future__ import annotations

import pytest

from unspool.errors import WireError
from unspool.stream.chunks import BlockStart, ToolArgumentsDelta
from unspool.stream.tool_calls import MAX_ARGUMENTS_CHARS, ToolCallCheck


def fault_of(*calls: str) -> WireError | None:
    check = ToolCallCheck()
    for index, text in enumerate(calls):
        check.begin(BlockStart(index, "tool_call", f"call_{index}", "f"))
        for character in text:
            check.add(ToolArgumentsDelta(index, character))
    return check.fault()


@pytest.mark.parametrize("text", ["", " ", "\n\t", "{}", ' {"a": [1, {"b": null}]} ', '{"a":' * 63 + "{}" + "}" * 63])
def test_arguments_that_can_be_used(text: str) -> None:
    """S65: no arguments at all stand for `{}`."""
    assert fault_of(text, "{}") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a":', "cannot be used"),
        ("[]", "no object"),
        ("1", "no object"),
        ("null", "no object"),
        ("{} {}", "cannot be used"),
        ('{"a":1,"a":2}', "cannot be used"),
        ('{"a":NaN}', "cannot be used"),
        ("{'a':1}", "cannot be used"),
        ('{"a":' * 65 + "{}" + "}" * 65, "cannot be used"),
        ("[" * 5_000, "cannot be used"),
    ],
    ids=range(10),
)
def test_arguments_that_cannot(text: str, says: str) -> None:
    """F37: nothing is repaired. Pyodide: deep nesting is fatal without the guard."""
    fault = fault_of("{}", text)
    assert fault is not None
    assert fault.code == "TOOL_ARGUMENTS_INVALID"
    assert says in fault.message


def test_ids_tell_calls_apart() -> None:
    """F34: results of two calls with one id could not be told apart. Calls without an id are the adapter's to name."""
    check = ToolCallCheck()
    check.begin(BlockStart(0, "tool_call", "a", "f"))
    check.begin(BlockStart(1, "tool_call", None, "f"))
    check.begin(BlockStart(2, "tool_call", "", "f"))
    with pytest.raises(WireError) as caught:
        check.begin(BlockStart(3, "tool_call", "a", "g"))
    assert caught.value.code == "PROTOCOL"


def test_arguments_are_bounded() -> None:
    check = ToolCallCheck()
    check.begin(BlockStart(0, "tool_call", "a", "f"))
    check.begin(BlockStart(1, "tool_call", "b", "f"))
    piece = " " * (MAX_ARGUMENTS_CHARS // 2)
    for index in (0, 1, 0, 1):  # for each call, not for all
        check.add(ToolArgumentsDelta(index, piece))
    assert check.fault() is None
    with pytest.raises(WireError) as caught:
        check.add(ToolArgumentsDelta(0, " "))
    assert caught.value.code == "BODY_TOO_LARGE"
