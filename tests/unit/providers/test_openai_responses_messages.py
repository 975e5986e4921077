"""Conversations as input items. What may be sent: tests/conformance asks the vendor's own types."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire import FIXTURES, message_of

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.messages.parts import Replay
from unspool.providers.openai_responses import OpenAIResponsesDecoder
from unspool.providers.openai_responses_messages import conversation_of

PNG = "data:image/png;base64,iVBORw0KGgo="


def items(*messages: Message, stored: bool = False) -> list[dict[str, Any]]:
    return conversation_of(messages, stored=stored)[1]


def own(**data: Any) -> Replay:
    return Replay("openai-responses", data)


def answer_of(name: str) -> Message:
    """What was made of a response of the wire."""
    return message_of((FIXTURES / "openai_responses" / f"{name}.sse").read_bytes(), OpenAIResponsesDecoder)[0]


def reasoning(id: str = "rs_1", text: str = "", part: str | None = None, **data: Any) -> ReasoningPart:
    kept = {"id": id, "encrypted_content": "gAAAA", **({"part": part} if part else {}), **data}
    return ReasoningPart(text, redacted=not text, replay=own(**kept))


def call(id: str = "fc_1", after: str | None = None, **options: Any) -> ToolCall:
    replay = own(id=id, **({"after": after} if after else {}))
    return ToolCall("c", "f", "{}", replay=replay, **options)


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


def test_roles() -> None:
    instructions, sent = conversation_of(
        [
            SystemMessage("One."),
            SystemMessage(["T", "wo."]),
            UserMessage(["Hi", " there"]),
            AssistantMessage("Hello"),
            SystemMessage("Now briefly."),
            UserMessage(()),
        ],
        stored=False,
    )
    assert instructions == "One.\n\nTwo."
    assert sent == [
        {"role": "user", "content": "Hi there"},
        {"role": "assistant", "content": "Hello"},
        {"role": "system", "content": "Now briefly."},
        {"role": "user", "content": ""},
    ]


def test_nothing_but_instructions() -> None:
    """An input must not be empty."""
    assert conversation_of([SystemMessage("One.")], stored=False) == (None, [{"role": "system", "content": "One."}])


def test_pictures() -> None:
    message = UserMessage(["See", Image(PNG, detail="low"), Image("https://example.org/a.png")])
    assert items(message) == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": PNG, "detail": "low"},
                {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"},
            ],
        }
    ]


def test_results_of_tools() -> None:
    message = ToolMessage(
        [ToolResult("a", "ok"), ToolResult("b", ["see", Image(PNG)]), ToolResult("c", "no", is_error=True)]
    )
    assert items(message) == [
        {"type": "function_call_output", "call_id": "a", "output": "ok"},
        {
            "type": "function_call_output",
            "call_id": "b",
            "output": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": PNG, "detail": "auto"},
            ],
        },
        {"type": "function_call_output", "call_id": "c", "output": "no"},
    ]


def test_answer_of_another_provider() -> None:
    """F33: its reasoning and its own blocks stay behind; words and calls are told plainly."""
    other = Replay("anthropic", {"signature": "s", "id": "x"})
    message = AssistantMessage(
        [
            ReasoningPart("hm", replay=other),
            ReasoningPart("mm"),
            TextPart("a", replay=other),
            TextPart("b"),
            ProviderPart("server_tool_use", other),
            RefusalPart("c"),
            TextPart(""),
            ToolCall("c", "f", " ", replay=other),
        ]
    )
    assert items(message) == [{"role": "assistant", "content": "abc"}, CALL]


def test_encrypted_reasoning_goes_back_as_it_came() -> None:
    assert items(answer_of("encrypted-reasoning")) == [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA-whole"},
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "call_1",
            "name": "weather",
            "arguments": '{"city":"Ulm"}',
        },
    ]


def test_summary_and_phase_go_back() -> None:
    assert items(answer_of("reasoning-summary")) == [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [
                {"type": "summary_text", "text": "**Looking**\n\nFirst."},
                {"type": "summary_text", "text": "Then."},
            ],
            "encrypted_content": "gAAAA-1",
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}],
            "phase": "final_answer",
        },
    ]


def test_raw_reasoning_goes_back() -> None:
    """F33: open models want their own words."""
    first = items(answer_of("raw-reasoning"))[0]
    assert first["content"] == [{"type": "reasoning_text", "text": "We count: 1, 2."}]
    assert first["summary"] == []


def test_parts_of_one_message_stay_together() -> None:
    [item] = items(answer_of("parts-of-one-message"))
    assert item["content"] == [
        {"type": "output_text", "text": "One.", "annotations": []},
        {"type": "refusal", "refusal": "No."},
        {"type": "output_text", "text": "Two.", "annotations": []},
    ]


def test_items_of_the_provider_go_back() -> None:
    sent = items(answer_of("web-search"))
    assert [item["type"] for item in sent] == ["web_search_call", "message"]
    assert sent[0]["action"] == {"type": "search", "query": "tallest"}


def test_generated_picture_goes_back() -> None:
    message = answer_of("image")
    sent = items(message)
    assert [item["type"] for item in sent] == ["reasoning", "image_generation_call"]
    assert sent[1] == {
        "id": "ig_1",
        "type": "image_generation_call",
        "result": message.images[0].base64,
        "status": "completed",
    }


def test_messages_survive_json() -> None:
    """A conversation that was kept and read again is sent alike."""
    for name in ("encrypted-reasoning", "reasoning-summary", "web-search", "image", "interleaved-tool-calls"):
        message = answer_of(name)
        assert items(Message.from_wire(message.to_wire())) == items(message)


FC = {"id": "fc_1", **CALL}
RS = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}
CHAIN = [reasoning("rs_0"), reasoning("rs_1", after="rs_0"), call(after="rs_1")]


@pytest.mark.parametrize(
    ("parts", "sent"),
    [
        ([reasoning(), call(after="rs_1")], [RS, FC]),
        (CHAIN, [{**RS, "id": "rs_0"}, RS, FC]),
        ([reasoning()], []),  # nothing follows: it was cut off
        ([reasoning(), TextPart("cut")], [{"role": "assistant", "content": "cut"}]),
        ([reasoning(), call("fc_2")], [{**FC, "id": "fc_2"}]),  # what it led to was taken out
        ([call(after="rs_1")], [CALL]),  # it was taken out
        (CHAIN[1:], [CALL]),
        ([reasoning("rs_9"), call(after="rs_1")], [CALL]),
        ([call(), reasoning(), TextPart("cut")], [FC, {"role": "assistant", "content": "cut"}]),
        ([TextPart("a", replay=own(id="m", after="rs_1")), call()], [{"role": "assistant", "content": "a"}, CALL]),
        ([call(after="rs_1"), ProviderPart("x", own(id="x", item={"type": "x", "id": "x"}))], [CALL]),
        ([call(after="rs_1"), Image(PNG, replay=own(id="ig"))], [CALL]),
        ([TextPart("", replay=own(id="m", after="rs_1"))], []),
        ([RefusalPart("no", replay=own(id="m", after="rs_1"))], [{"role": "assistant", "content": "no"}]),
    ],
)
def test_reasoning_and_what_it_led_to(parts: list[Part], sent: list[dict[str, Any]]) -> None:
    """Half of a pair is refused (400: "was provided without its required following item"), so both or neither go."""
    assert items(AssistantMessage(parts)) == sent


def test_reasoning_that_holds_nothing() -> None:
    """Without the encrypted text an id means something only where responses are stored."""
    message = AssistantMessage([ReasoningPart("", redacted=True, replay=own(id="rs_1")), call(after="rs_1")])
    assert items(message) == [CALL]
    assert items(message, stored=True) == [{"id": "rs_1", "type": "reasoning", "summary": []}, FC]


def test_reasoning_without_ids() -> None:
    """Some servers give none; each block is an item then."""
    parts: list[Part] = [ReasoningPart(text, replay=own(part="reasoning_text")) for text in ("a", "b")]
    sent = items(AssistantMessage([*parts, call()]))
    assert [item.get("content", [{}])[0].get("text") for item in sent] == ["a", "b", None]
    assert "id" not in sent[0]


def test_kept_members_of_a_call() -> None:
    part = ToolCall("c", "f", "{}", replay=own(id="fc_1", namespace="n", caller={"type": "direct"}, odd=1))
    assert items(AssistantMessage(part)) == [{**FC, "namespace": "n", "caller": {"type": "direct"}}]


@pytest.mark.parametrize(
    "data", [{}, {"id": 5}, {"id": "", "part": 5}, {"item": 5}, {"encrypted_content": 5, "id": []}]
)
def test_replay_state_that_was_tampered_with(data: dict[str, Any]) -> None:
    """It may come from JSON that anyone wrote: nothing is raised."""
    kept = Replay("openai-responses", data)
    parts: list[Part] = [ReasoningPart("r", replay=kept), TextPart("t", replay=kept), ProviderPart("x", kept)]
    assert isinstance(items(AssistantMessage(parts)), list)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Message("system", Image(PNG)), "UNSUPPORTED"),
        (Message("system", ToolCall("c", "f", "{}")), "INVALID_OPTIONS"),
        (Message("user", ToolResult("c", "x")), "INVALID_OPTIONS"),
        (Message("user", [Image(PNG), ReasoningPart("x")]), "INVALID_OPTIONS"),
        (Message("user", File("a.txt")), "UNSUPPORTED"),
        (Message("assistant", ToolResult("c", "x")), "INVALID_OPTIONS"),
        (Message("assistant", File("a.txt")), "UNSUPPORTED"),
        (Message("tool", TextPart("x")), "INVALID_OPTIONS"),
        (Message("tool", ToolResult("c", File("a.txt"))), "UNSUPPORTED"),
        (Message("assistant", ToolCall("c", "f", '{"x":', truncated=True)), "INVALID_OPTIONS"),
    ],
)
def test_what_cannot_be_sent(message: Message, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        items(UserMessage("Hi"), message)
    assert caught.value.code == code
