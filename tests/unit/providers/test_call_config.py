"""What a call asks for is held against what its model can do, before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.routes import PICTURE, code_of, end_of, route, transport_of

from unspool.contracts import ModelFacts
from unspool.messages import AssistantMessage, File, Image, Message, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.messages.projection import ImagePolicy
from unspool.runtime import Runtime

THINKER = ModelFacts(
    "m",
    context_window=1000,
    max_output_tokens=100,
    default_output_tokens=50,
    reasoning_efforts=["low"],
    image_input=False,
)


@pytest.mark.parametrize(
    "options",
    [
        {"reasoning_effort": "high"},
        {"max_output_tokens": 101},
        {"tool_choice": "f"},
        {"tools": [{"name": "g"}], "tool_choice": "f"},
        {"temperature": -1},
        {"colour": "red"},
    ],
    ids=str,
)
async def test_what_the_model_does_not_take_is_refused_before_anything_is_sent(options: Any) -> None:
    used = route("p", models=[THINKER])
    runtime = Runtime(used)
    assert code_of(lambda: runtime.prepare("p", "m", "Hi", **options)) == "INVALID_OPTIONS"
    finish = await end_of(runtime.stream("p", "m", "Hi", **options))
    assert finish.error is not None and finish.error.code == "INVALID_OPTIONS"
    assert transport_of(used).requests == []


def test_an_effort_of_the_route_is_checked_too() -> None:
    runtime = Runtime(route("p", models=[THINKER], reasoning_effort="high"))
    assert code_of(lambda: runtime.prepare("p", "m", "Hi")) == "INVALID_OPTIONS"
    assert runtime.prepare("p", "m", "Hi", reasoning_effort="low").request.reasoning_effort == "low"
    assert runtime.prepare("p", "unknown", "Hi").request.reasoning_effort == "high"


def test_the_output_limit_is_filled_in() -> None:
    plain, capped = Runtime(route("p", models=[THINKER])), Runtime(route("p", models=[THINKER], max_output_tokens=500))
    assert plain.prepare("p", "m", "Hi").request.max_output_tokens == 50
    assert plain.prepare("p", "m", "Hi", max_output_tokens=100).request.max_output_tokens == 100
    assert plain.prepare("p", "x", "Hi").request.max_output_tokens is None
    assert capped.prepare("p", "m", "Hi").request.max_output_tokens == 100
    assert capped.prepare("p", "x", "Hi").request.max_output_tokens == 500


def test_images_and_files_are_projected_not_refused() -> None:
    runtime = Runtime(route("p", models=[THINKER]))
    prompt = [
        UserMessage(["Look:", PICTURE, File("a.txt", size_bytes=3)]),
        AssistantMessage(ToolCall("c", "f", "{}")),
        ToolMessage(ToolResult("c", [PICTURE])),
    ]
    blind = runtime.prepare("p", "m", prompt).request
    parts = [part for message in blind.messages for part in message.parts]
    assert not any(isinstance(part, Image | File) for part in parts)
    assert "a.txt" in blind.messages[0].text
    seeing = runtime.prepare("p", "other", prompt).request
    assert seeing.messages[0].images == (PICTURE,)
    few = Runtime(route("p", image_policy=ImagePolicy(max_images=1))).prepare("p", "x", prompt).request
    assert few.messages[0].images == ()
    assert prompt[0].images == (PICTURE,)


def test_pricing_of_images() -> None:
    runtime = Runtime(route("p", image_pricing=lambda model: (lambda _image: 85) if model == "m" else None), route("q"))
    price = runtime.image_pricing("p", "m")
    assert price is not None and price(PICTURE) == 85
    assert runtime.image_pricing("p", "n") is None
    assert runtime.image_pricing("q", "m") is None


def test_messages_stay_as_they_are() -> None:
    message = Message("user", "Hi")
    assert Runtime(route("p")).prepare("p", "m", message).request.messages[0] is message
