from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from unspool.contracts import OutputSchema, Request
from unspool.messages import Image, Origin, Replay, ToolCall, Usage, UserMessage
from unspool.messages.projection import ImagePolicy
from unspool.providers.route import RetryPolicy

VALUES: list[Any] = [
    UserMessage(["a", Image(b"\x89PNG\r\n\x1a\n")]),
    ToolCall("a", "f", "{}", replay=Replay("gemini", {"id": ["a"]})),
    Usage(1, raw={"a": {"b": 1}}),
    Origin("gemini", "m", "r"),
    ImagePolicy(3, 4, image_quantum=2),
    RetryPolicy("always", max_attempts=3),
    OutputSchema("answer", {"type": "object"}),
    Request("m", [UserMessage("a")], tools=[{"name": "f"}], output_schema=OutputSchema("a", {}), extra={"a": [1]}),
]


def slots(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__slots__}


def shown(value: Any) -> Any:
    """What can be compared of it, of all that it holds."""
    if isinstance(value, OutputSchema | Request):
        return {name: shown(member) for name, member in slots(value).items()}
    return repr(value)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_nothing_changes(value: Any) -> None:
    before = slots(value)
    for name in type(value).__slots__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, None)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(value, name)
    assert slots(value) == before


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_copies_and_pickles(value: Any) -> None:
    """Middleware and workers copy what they keep."""
    assert copy.copy(value) is value
    assert copy.deepcopy({"kept": [value]})["kept"][0] is value
    again = pickle.loads(pickle.dumps(value))
    assert shown(again) == shown(value)
    with pytest.raises(AttributeError):
        setattr(again, type(value).__slots__[0], None)
