"""What every dialect asks of a conversation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.contracts import Adapter, Request
from unspool.errors import ConfigError
from unspool.messages import (
    File,
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from unspool.providers.anthropic import AnthropicAdapter
from unspool.providers.conversation import (
    arguments_of,
    arguments_text,
    image_type,
    misplaced,
    own_replay,
    result_text,
    url_piece,
    with_pictures_shown,
    words_of,
)
from unspool.providers.gemini import GeminiAdapter
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.openai_responses import OpenAIResponsesAdapter

PICTURE = Image("https://example.com/a.png")
SHOWN = UserMessage(["Images of your answer above:", PICTURE])
REPLAY = Replay("a", {"id": "x"})


@pytest.mark.parametrize(
    ("after", "then"),
    [
        ([], [SHOWN]),
        ([UserMessage("u")], [SHOWN, UserMessage("u")]),
        (
            [Message("tool", ToolResult("c", "r")), UserMessage("u")],
            [Message("tool", ToolResult("c", "r")), SHOWN, UserMessage("u")],
        ),
    ],
)
def test_pictures_of_another_models_answer_are_shown_behind_it(after: list[Message], then: list[Message]) -> None:
    own = Image("https://example.com/b.png", replay=Replay("a", {}))
    call = ToolCall("c", "f", "{}")
    answer = Message("assistant", ["x", PICTURE, own, call])
    assert with_pictures_shown([answer, *after], "a") == [Message("assistant", ["x", own, call]), *then]
    assert with_pictures_shown([UserMessage(PICTURE)], "a") == [UserMessage(PICTURE)]


def test_pictures_of_tools_are_shown_behind_the_results() -> None:
    """Where results hold nothing but text. They follow their calls at once, and say what was taken out of them."""
    call = Message("assistant", [PICTURE, ToolCall("c", "f", "{}"), ToolCall("d", "f", "{}")])
    first = Message("tool", [ToolResult("c", ["x", PICTURE, "y"], is_error=True)])
    second = Message("tool", [ToolResult("d", [PICTURE]), ToolResult("e", "z")])
    conversation = [call, first, second, UserMessage("u")]
    assert with_pictures_shown(conversation, "a", in_results=False) == [
        call.with_parts(call.parts[1:]),
        Message("tool", [ToolResult("c", ["x", "y"], is_error=True)]),
        Message("tool", [ToolResult("d", "The result is shown below."), ToolResult("e", "z")]),
        SHOWN,
        UserMessage(["Images of the tool result c:", PICTURE]),
        UserMessage(["Images of the tool result d:", PICTURE]),
        UserMessage("u"),
    ]
    assert with_pictures_shown(conversation, "a")[1:3] == [first, second]
    file = ToolResult("c", [File("a.txt"), PICTURE])
    kept = with_pictures_shown([Message("tool", [file, "x"])], "a", in_results=False)
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        result_text(kept[0].parts[0], kept[0], "this API")  # type: ignore[arg-type]
    assert kept[0].parts[1] == TextPart("x")


def test_words_and_pieces() -> None:
    user = UserMessage(["a", Image("https://h/x.png", detail="low"), "b"])
    assert words_of(UserMessage(["a", "b"]), "this API") == "ab"
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        words_of(user, "this API")
    assert [url_piece(part, user, "this API") for part in user.parts] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "https://h/x.png", "detail": "low"}},
        {"type": "text", "text": "b"},
    ]
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        url_piece(ToolCall("c", "f", "{}"), user, "this API")


def test_media_types_of_pictures() -> None:
    for told, type in (("image/jpg", "image/jpeg"), ("IMAGE/PNG", "image/png"), ("image/webp", "image/webp")):
        assert image_type(Image(b"x", media_type=told), "It") == type
    with pytest.raises(ConfigError, match="UNSUPPORTED: It takes"):
        image_type(Image(b"x", media_type="image/svg+xml"), "It")


@pytest.mark.parametrize(
    "adapter", [AnthropicAdapter(), OpenAIResponsesAdapter(), OpenAIChatAdapter(), GeminiAdapter()]
)
def test_a_conversation_goes_on_with_pictures_of_any_model(adapter: Adapter) -> None:
    said = [UserMessage("Draw."), Message("assistant", ["Here:", PICTURE]), UserMessage("Bigger.")]
    sent = adapter.build(Request("m", said), api_key=None, base_url="https://h/v1")
    assert b"https://example.com/a.png" in sent.body


def test_replay_state_is_for_its_adapter() -> None:
    """F23, F33."""
    assert own_replay(REPLAY, "a") == {"id": "x"}
    assert own_replay(REPLAY, "b") is None
    assert own_replay(None, "a") is None


def test_arguments() -> None:
    """S65: blank ones stand for an empty object."""
    assert [arguments_text(ToolCall("i", "f", text)) for text in ("", " \n", '{"a": 1}', "{x")] == [
        "{}",
        "{}",
        '{"a": 1}',
        "{x",
    ]
    assert [arguments_of(ToolCall("i", "f", text)) for text in ("", '{"a": 1}')] == [{}, {"a": 1}]


@pytest.mark.parametrize("arguments", ["{x", "[1]", "1", "null", "[" * 5_000])
def test_arguments_that_are_no_object(arguments: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        arguments_of(ToolCall("i", "f", arguments))


@pytest.mark.parametrize("arguments", ["{}", '{"a":'])
def test_a_call_that_was_cut_is_never_sent(arguments: str) -> None:
    """F37."""
    call = ToolCall("i", "f", arguments, truncated=True)
    for read in (arguments_text, arguments_of):
        with pytest.raises(ConfigError, match="was cut"):
            read(call)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (TextPart("x"), "INVALID_OPTIONS"),
        (ReasoningPart("x"), "INVALID_OPTIONS"),
        (RefusalPart("x"), "INVALID_OPTIONS"),
        (ToolCall("i", "f", "{}"), "INVALID_OPTIONS"),
        (ToolResult("i", "x"), "INVALID_OPTIONS"),
        (ProviderPart("x", REPLAY), "INVALID_OPTIONS"),
        (Image("https://example.com/a.png"), "UNSUPPORTED"),
        (File("a.txt"), "UNSUPPORTED"),
    ],
)
def test_parts_in_the_wrong_place(part: Part, code: str) -> None:
    message: Message = UserMessage("x")
    error = misplaced(part, message, "the API")
    assert error.code == code
    assert part.type in error.message
    assert "user" in error.message


ADAPTERS: list[tuple[Adapter, str]] = [
    (AnthropicAdapter(), "claude-opus-4-5"),
    (GeminiAdapter(), "gemini-3-pro"),
    (OpenAIChatAdapter(), "m"),
    (OpenAIResponsesAdapter(), "m"),
]
WORDS = st.sampled_from(["", "x", "text", "thinking", "redacted_thinking", "message", "reasoning", "function_call"])
NAMES = st.sampled_from(
    [
        *(
            "type",
            "id",
            "after",
            "part",
            "item",
            "role",
            "content",
            "summary",
            "text",
            "signature",
            "thinking",
            "phase",
        ),
        *("thoughtSignature", "reasoning_details", "encrypted_content", "namespace", "input", "functionCall"),
    ]
)
TAMPERED = st.dictionaries(
    NAMES,
    st.recursive(
        st.none() | st.booleans() | st.integers() | WORDS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@st.composite
def answers(draw: st.DrawFn, adapter: str) -> Message:
    """An answer as a store, or a page, may give it back."""
    replay = st.builds(Replay, st.just(adapter), TAMPERED)
    part = st.one_of(
        st.builds(TextPart, WORDS, replay=replay | st.none()),
        st.builds(RefusalPart, WORDS, replay=replay | st.none()),
        st.builds(ReasoningPart, WORDS, redacted=st.booleans(), replay=replay | st.none()),
        st.builds(ToolCall, WORDS, WORDS, st.sampled_from(["", "{}", "[]", "{"]), replay=replay | st.none()),
        st.builds(ProviderPart, WORDS | st.just("reasoning_details"), replay),
        st.builds(Image, st.just("https://h/a.png"), replay=replay | st.none()),
    )
    return Message("assistant", draw(st.lists(part, max_size=4)))


@pytest.mark.parametrize(("adapter", "model"), ADAPTERS, ids=lambda value: getattr(value, "name", ""))
@given(st.data())
def test_state_that_was_tampered_with_is_sent_or_refused_with_a_code(
    adapter: Adapter, model: str, data: st.DataObject
) -> None:
    """F31: histories come back from stores and pages, which may have changed them."""
    history = [UserMessage("a"), data.draw(answers(adapter.name)), UserMessage("b")]
    try:
        adapter.build(Request(model, history), api_key=None, base_url=adapter.base_url)
    except ConfigError as error:
        assert error.code in ("INVALID_OPTIONS", "UNSUPPORTED")
