"""The seams: what a request refuses and hides, and what counts as a signal."""

from __future__ import annotations

import asyncio

import pytest

from unspool.contracts import OutputSchema, Request, Signal
from unspool.errors import ConfigError
from unspool.messages import File, Image, UserMessage

KEY = "unspool-marker-0123456789"


def test_repr_of_a_call_is_short_and_shows_no_secret() -> None:
    asked = [UserMessage("a"), UserMessage(f"Where is it? sk-{KEY} " + "x" * 10_000)]
    request = Request(
        "m",
        asked,
        temperature=0,
        stop=["END"],
        tools=[{"name": "weather", "description": "x" * 999}],
        output_schema=OutputSchema("answer", {"type": "object"}),
        extra={"user": KEY, "api": {"key": KEY}},
    )
    said = "Where is it? [redacted] " + "x" * 36
    assert repr(request) == (
        f"Request('m', 2 message(s), the last by user: {said!r}, extra=['api', 'user'], output_schema='answer', "
        "stop=('END',), temperature=0, tools=['weather'])"
    )
    picture = UserMessage(Image(b"\x89PNG\r\n\x1a\n"))
    assert repr(Request("m", [picture])) == "Request('m', 1 message(s))"
    assert repr(Request("m", [])) == "Request('m', 0 message(s))"


def test_request_keeps_its_own_copies() -> None:
    extra = {"a": 1}
    messages = [UserMessage("Hi")]
    request = Request("m", messages, extra=extra, stop=["x"])
    extra["b"] = 2
    messages.clear()
    assert request.extra == {"a": 1}
    assert len(request.messages) == 1
    assert request.stop == ("x",)


def test_output_schema_is_strict_by_default() -> None:
    assert OutputSchema("n", {}).strict is True


def test_an_event_is_a_signal() -> None:
    assert isinstance(asyncio.Event(), Signal)
    assert not isinstance(object(), Signal)


def test_projected_request() -> None:
    request = Request("m", [UserMessage("a")], temperature=0.5, tools=[{"name": "f"}])
    assert request.projected() is request
    with_file = request.replaced(messages=[UserMessage(["a", File("b")])])
    projected = with_file.projected()
    assert projected.messages == (UserMessage(["a", '\n[File "b"]']),)
    assert (projected.temperature, projected.tools) == (0.5, [{"name": "f"}])
    assert with_file.messages == (UserMessage(["a", File("b")]),)


def test_requests_are_frozen_through_and_through() -> None:
    """Whoever is handed one, and whoever made it, cannot change what will be sent."""
    parameters = {"type": "object"}
    extra = {"a": [1]}
    request = Request("m", [UserMessage("a")], tools=[{"name": "f", "parameters": parameters}], extra=extra)
    parameters["type"] = "array"
    extra["a"].append(2)
    assert (request.tools[0]["parameters"], request.extra) == ({"type": "object"}, {"a": [1]})
    with pytest.raises(AttributeError):
        request.model = "x"
    with pytest.raises(TypeError):
        request.tools.append({})
    with pytest.raises(TypeError):
        request.extra["a"].append(3)
    for wrong in ({"extra": {"x": b""}}, {"tools": [{"f": float("nan")}]}):
        with pytest.raises(ConfigError):
            Request("m", [], **wrong)  # pyright: ignore[reportArgumentType]


def test_messages_inside_messages_are_taken_out() -> None:
    inner = UserMessage("b")
    assert Request("m", [UserMessage(["a", inner])]).messages == (UserMessage("a"), inner)
