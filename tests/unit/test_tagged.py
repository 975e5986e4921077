from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest

from unspool.tagged import Tagged, camel_case, snake_case


class Inner(Tagged):
    __slots__ = ("value",)
    type: ClassVar[Literal["inner"]] = "inner"

    def __init__(self, value: Any) -> None:
        self.value = value


class Outer(Tagged):
    __slots__ = ("finish_reason", "inner_part")
    type: ClassVar[Literal["outerPart"]] = "outerPart"

    def __init__(self, finish_reason: Any, inner_part: Any = None) -> None:
        self.finish_reason = finish_reason
        self.inner_part = inner_part


@pytest.mark.parametrize(
    ("name", "wire"),
    [("text", "text"), ("finish_reason", "finishReason"), ("raw_finish_reason", "rawFinishReason"), ("", "")],
)
def test_camel_case(name: str, wire: str) -> None:
    assert camel_case(name) == wire


def test_wire_form() -> None:
    assert Outer("x", Inner([1])).to_wire() == {
        "type": "outerPart",
        "finishReason": "x",
        "innerPart": {"type": "inner", "value": [1]},
    }
    assert Outer(False).to_wire() == {"type": "outerPart", "finishReason": False}
    assert next(iter(Outer("x").to_wire())) == "type"


def test_equality() -> None:
    assert Outer("x", Inner(1)) == Outer("x", Inner(1))
    assert Outer("x") != Outer("y")
    assert Inner("x") != Outer("x")
    assert Inner(1) != 1
    with pytest.raises(TypeError):
        hash(Inner(1))


def test_repr() -> None:
    assert repr(Outer("x", Inner(1))) == "Outer(finish_reason='x', inner_part=Inner(value=1))"


def test_no_other_attributes() -> None:
    """Slots keep thousands of chunks small."""
    with pytest.raises(AttributeError):
        Inner(1).other = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wire", "name"),
    [("text", "text"), ("finishReason", "finish_reason"), ("baseURL", "base_url"), ("modelURL", "model_url"), ("", "")],
)
def test_attribute_names(wire: str, name: str) -> None:
    assert snake_case(wire) == name
