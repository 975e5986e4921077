"""A conversation in Gemini's words."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.gemini_messages import NO_SIGNATURE, conversation_of

PNG = b"\x89PNG\r\n\x1a\n"
INLINE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"


def signed(text: str, **data: Any) -> Replay:
    return Replay("gemini", {"thoughtSignature": text, **data})


def call(id_: str, name: str = "f", arguments: str = "{}", replay: Replay | None = None) -> ToolCall:
    return ToolCall(id_, name, arguments, replay=replay)


def contents(*messages: Message, model: str = OLD) -> list[dict[str, Any]]:
    return conversation_of(messages, model)[1]


def parts(*messages: Message, model: str = OLD) -> list[list[dict[str, Any]]]:
    return [content["parts"] for content in contents(*messages, model=model)]


def test_roles() -> None:
    system, turns = conversation_of(
        [SystemMessage("A"), UserMessage("Hi"), AssistantMessage("Ho"), SystemMessage(["B", "C"]), UserMessage("x")],
        OLD,
    )
    assert system == {"parts": [{"text": "A"}, {"text": "B"}, {"text": "C"}]}
    assert turns == [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"text": "Ho"}]},
        {"role": "user", "parts": [{"text": "x"}]},
    ]
    assert conversation_of([UserMessage("Hi")], OLD)[0] is None


def test_turns_of_one_kind_are_merged() -> None:
    assert contents(UserMessage("a"), UserMessage("b"), AssistantMessage("c"), AssistantMessage("d")) == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "c"}, {"text": "d"}]},
    ]


def test_results_stay_apart_from_words() -> None:
    """What follows the calls must be their results, as many as there are calls; each in a message, or all in one."""
    turns = contents(
        UserMessage("Hi"),
        AssistantMessage([call("a"), call("b", "g")]),
        ToolMessage(ToolResult("a", "1")),
        ToolMessage(ToolResult("b", "2")),
        UserMessage("Go on"),
    )
    assert turns[2:] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "1"}}},
                {"functionResponse": {"name": "g", "response": {"output": "2"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "Go on"}]},
    ]


def test_empty_parts_are_left_out() -> None:
    """The API refuses them."""
    assert contents(UserMessage(["", "a"]), AssistantMessage(""), UserMessage("b")) == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}
    ]


@pytest.mark.parametrize("messages", [[], [SystemMessage("x")], [UserMessage("")]])
def test_nobody_says_anything(messages: list[Message]) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        conversation_of(messages, OLD)


@pytest.mark.parametrize(
    ("image", "wire"),
    [
        (Image(PNG), INLINE),
        (Image("data:image/webp;base64,QUJD"), {"inlineData": {"mimeType": "image/webp", "data": "QUJD"}}),
        (
            Image("https://x.example/a.JPG?x=1#y"),
            {"fileData": {"fileUri": "https://x.example/a.JPG?x=1#y", "mimeType": "image/jpeg"}},
        ),
        (Image("https://x.example/a"), {"fileData": {"fileUri": "https://x.example/a"}}),
        (
            Image("https://x.example/a", media_type="image/gif"),
            {"fileData": {"fileUri": "https://x.example/a", "mimeType": "image/gif"}},
        ),
    ],
)
def test_images(image: Image, wire: dict[str, Any]) -> None:
    assert parts(UserMessage(["a", image, "b"])) == [[{"text": "a"}, wire, {"text": "b"}]]


def test_answer_goes_back_as_it_came() -> None:
    """F31: signatures at the part that bore them, in the same order, an empty text as well."""
    code = {"executableCode": {"code": "1"}, "thoughtSignature": "RQ=="}
    answer = AssistantMessage(
        [
            ReasoningPart("why", replay=signed("QQ==")),
            ReasoningPart("summary"),
            TextPart("a"),
            TextPart("b", replay=signed("Qg==")),
            ProviderPart("executableCode", Replay("gemini", {"part": code})),
            Image(PNG, replay=signed("Rg==")),
            call("w1", arguments='{"x": 1.50}', replay=signed("Qw==", id="w1")),
            call("call_R_1", arguments=" "),
            TextPart("", replay=signed("RA==")),
        ]
    )
    assert parts(UserMessage("Hi"), answer, model=NEW)[1] == [
        {"text": "why", "thought": True, "thoughtSignature": "QQ=="},
        {"text": "a"},
        {"text": "b", "thoughtSignature": "Qg=="},
        code,
        {**INLINE, "thoughtSignature": "Rg=="},
        {"functionCall": {"name": "f", "args": {"x": 1.5}, "id": "w1"}, "thoughtSignature": "Qw=="},
        {"functionCall": {"name": "f", "args": {}}},
        {"text": "", "thoughtSignature": "RA=="},
    ]


def test_what_others_thought_stays_behind() -> None:
    other = Replay("anthropic", {"signature": "x", "thoughtSignature": "x", "id": "x", "part": {"text": "x"}})
    answer = AssistantMessage(
        [
            ReasoningPart("why", replay=other),
            ReasoningPart("", redacted=True, replay=other),
            ProviderPart("web_search", other),
            TextPart("a", replay=other),
            RefusalPart("No."),
            Image(PNG, replay=other),
            call("toolu_1", replay=other),
        ]
    )
    assert parts(UserMessage("Hi"), answer)[1] == [
        {"text": "a"},
        {"text": "No."},
        INLINE,
        {"functionCall": {"name": "f", "args": {}}},
    ]


def test_only_ids_of_the_provider_are_sent() -> None:
    """F34: an id of ours tells results apart here; on the wire names and order do."""
    turns = parts(
        UserMessage("Hi"),
        AssistantMessage([call("w1", replay=Replay("gemini", {"id": "w1"})), call("call_R_1"), call("call_R_2")]),
        ToolMessage([ToolResult("w1", "1"), ToolResult("call_R_1", "2"), ToolResult("call_R_2", "3")]),
    )
    assert [part["functionCall"].get("id") for part in turns[1]] == ["w1", None, None]
    assert [part["functionResponse"].get("id") for part in turns[2]] == ["w1", None, None]


def test_results_stand_in_the_order_of_their_calls() -> None:
    """F34: without ids their order is all that tells two results of one function apart."""
    turns = parts(
        UserMessage("Hi"),
        AssistantMessage([call("call_R_0"), call("call_R_1"), call("call_R_2")]),
        ToolMessage([ToolResult("call_R_2", "2"), ToolResult("call_R_0", "0")]),
        ToolMessage(ToolResult("call_R_1", "1")),
    )
    assert [part["functionResponse"]["response"]["output"] for part in turns[2]] == ["0", "1", "2"]


def test_name_of_a_result_is_that_of_the_call_before_it() -> None:
    """Ids may be used again in a later turn, where a response had none of its own."""
    turns = parts(
        UserMessage("Hi"),
        AssistantMessage([call("call_0", "f")]),
        ToolMessage(ToolResult("call_0", "1")),
        AssistantMessage([call("call_0", "g")]),
        ToolMessage(ToolResult("call_0", "broke", is_error=True)),
    )
    assert turns[2] == [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]
    assert turns[4] == [{"functionResponse": {"name": "g", "response": {"error": "broke"}}}]


def test_images_of_a_tool() -> None:
    """Inside the result, for models that take them there; else after all results. The API fetches none there."""
    history = [
        UserMessage("Hi"),
        AssistantMessage([call("a"), call("b", "g")]),
        ToolMessage(ToolResult("a", ["see", Image(PNG)])),
        ToolMessage(ToolResult("b", [Image("https://x.example/a.png")])),
        UserMessage("Well?"),
    ]
    uri = {"fileData": {"fileUri": "https://x.example/a.png", "mimeType": "image/png"}}
    new = parts(*history, model=NEW)
    assert new[2] == [
        {"functionResponse": {"name": "f", "response": {"output": "see"}, "parts": [INLINE]}},
        {"functionResponse": {"name": "g", "response": {"output": ""}}},
    ]
    assert new[3:] == [[{"text": "Images that the tool g gave:"}, uri], [{"text": "Well?"}]]
    old = contents(*history, model=OLD)
    assert old[2]["parts"][0] == {"functionResponse": {"name": "f", "response": {"output": "see"}}}
    assert old[3] == {
        "role": "user",
        "parts": [{"text": "Images that the tool f gave:"}, INLINE, {"text": "Images that the tool g gave:"}, uri],
    }
    assert contents(*history[:4], model=OLD) == old[:4]


@pytest.mark.parametrize(
    ("model", "is_needed"),
    [
        ("gemini-3-pro-preview", True),
        ("models/gemini-3.1-pro-preview", True),
        ("gemini-4-argon", True),
        ("gemini-flash-latest", True),
        ("gemini-2.5-pro", False),
        ("gemini-2.0-flash", False),
        ("gemma-4-26b-a4b-it", False),
    ],
)
def test_calls_that_nobody_signed(model: str, is_needed: bool) -> None:
    """Gemini 3 answers 400 to a turn of calls without signature, also to one that another model made."""
    answer = parts(UserMessage("Hi"), AssistantMessage(["a", call("a"), call("b")]), model=model)[1]
    assert answer[1].get("thoughtSignature") == (NO_SIGNATURE if is_needed else None)
    assert "thoughtSignature" not in answer[0]
    assert "thoughtSignature" not in answer[2]


@pytest.mark.parametrize(
    "answer",
    [
        ["a", call("a", replay=signed("QQ==")), call("b")],
        [TextPart("a", replay=signed("QQ==")), call("a"), call("b")],
        ["a"],
    ],
)
def test_nothing_is_signed_that_need_not_be(answer: list[Any]) -> None:
    wire = parts(UserMessage("Hi"), AssistantMessage(answer), model=NEW)[1]
    assert NO_SIGNATURE not in [part.get("thoughtSignature") for part in wire]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (UserMessage([call("a")]), "INVALID_OPTIONS"),
        (UserMessage([ReasoningPart("a")]), "INVALID_OPTIONS"),
        (UserMessage([ToolResult("a", "b")]), "INVALID_OPTIONS"),
        (UserMessage([ProviderPart("x", Replay("gemini", {"part": {}}))]), "INVALID_OPTIONS"),
        (SystemMessage([Image(PNG)]), "UNSUPPORTED"),
        (AssistantMessage([ToolResult("a", "b")]), "INVALID_OPTIONS"),
        (Message("tool", ["text"]), "INVALID_OPTIONS"),
        (ToolMessage(ToolResult("nobody", "b")), "INVALID_OPTIONS"),
        (AssistantMessage([ToolCall("a", "f", '{"x":', True)]), "INVALID_OPTIONS"),
        (AssistantMessage([call("a", arguments='{"x":')]), "INVALID_OPTIONS"),
        (AssistantMessage([call("a", arguments="[1]")]), "INVALID_OPTIONS"),
        (AssistantMessage([ProviderPart("x", Replay("gemini", {}))]), "INVALID_OPTIONS"),
        (UserMessage([File("a.pdf")]), "UNSUPPORTED"),
        (AssistantMessage([File("a.pdf")]), "UNSUPPORTED"),
    ],
)
def test_conversations_that_cannot_be_sent(message: Message, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        contents(UserMessage("Hi"), message)
    assert caught.value.code == code


def test_file_in_a_result() -> None:
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        contents(UserMessage("Hi"), AssistantMessage([call("a")]), ToolMessage(ToolResult("a", [File("a.pdf")])))
