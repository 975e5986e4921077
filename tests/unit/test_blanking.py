"""A credential is nowhere in an error that a caller sees. Expected messages are written by hand."""

from __future__ import annotations

import json
import pickle

import pytest

from unspool.blanking import blank_out
from unspool.errors import OutputValidationError, ProviderError
from unspool.messages import (
    Image,
    Message,
    Origin,
    Part,
    ProviderPart,
    ReasoningPart,
    Replay,
    TextPart,
    ToolCall,
    Usage,
)


def test_a_message_that_failed_keeps_no_key() -> None:
    """What a server says of an answer may be what it was sent; the words of the model are left."""
    key = "PlainMarker_0123456789"
    origin = Origin("openai-chat", f"m {key}", key)
    error = ProviderError("PROVIDER", "x")
    error.partial = Message("assistant", "Hi", raw_finish_reason=key, origin=origin, metadata={"fingerprint": [key]})
    blank_out(error, key)
    assert key not in repr(error.to_wire())
    assert error.partial.text == "Hi"
    assert error.partial.origin == Origin("openai-chat", "m [redacted]", "[redacted]")
    left = error.partial
    blank_out(error, "another-key-0123456789")
    assert error.partial is left


def test_the_parts_of_a_message_that_failed_keep_no_key() -> None:
    """Ids, addresses and what a provider wants back; all is of the types that it was."""
    key = "PlainMarker_0123456789"
    like = "Zm9v-sk-IpXyz0123456789-YmFy"  # as any base64 of URLs may
    replay = Replay("openai", {"id": key, "list": [{key: f"a {key}"}], "n": 1, "signature": like})
    words = f"The model said {key}."
    parts: list[Part] = [
        TextPart(words, replay=replay),
        ReasoningPart(words, replay=replay),
        ToolCall(key, key, f'{{"a": "{key}"}}', replay=replay),
        ProviderPart(key, replay),
        Image(f"https://a.test/{key}.png", replay=replay),
        Image(b"GIF89a"),
    ]
    usage = Usage(3, raw={"of": key})
    error = ProviderError("PROVIDER", "x")
    error.partial = Message("assistant", parts, finish_reason="stop", usage=usage, metadata={"a": [key], "b": {}})
    blank_out(error, key)
    left = error.partial
    clean = Replay("openai", {"id": "[redacted]", "list": [{"[redacted]": "a [redacted]"}], "n": 1, "signature": like})
    assert left == Message(
        "assistant",
        [
            TextPart(words, replay=clean),
            ReasoningPart(words, replay=clean),
            ToolCall("[redacted]", "[redacted]", f'{{"a": "{key}"}}', replay=clean),
            ProviderPart("[redacted]", clean),
            Image("https://a.test/[redacted].png", replay=clean),
            parts[-1],
        ],
        finish_reason="stop",
        usage=Usage(3, raw={"of": "[redacted]"}),
        metadata={"a": ["[redacted]"], "b": {}},
    )
    assert left.parts[-1] is parts[-1]
    assert Message.from_wire(json.loads(json.dumps(left.to_wire()))) == left
    assert pickle.loads(pickle.dumps(left)) == left
    with pytest.raises(TypeError):
        left.metadata["c"] = 1
    with pytest.raises(TypeError):
        left.parts[0].replay.data["list"].append(1)  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["stop", "text", "openai", "assistant"])
def test_what_is_ours_of_a_message_is_no_key(key: str) -> None:
    error = ProviderError("PROVIDER", "x")
    error.partial = Message("assistant", [TextPart("text", replay=Replay("openai", {}))], finish_reason="stop")
    left = error.partial
    blank_out(error, key)
    assert error.partial is left


def test_what_only_looks_like_a_credential_stays_in_the_message() -> None:
    """Names of tools and models and a provider's ids are needed as they are; words about them are another matter."""
    error = ProviderError("PROVIDER", "x", raw={"hint": "sk-proj-abcDEF123456"})
    origin = Origin("openai-chat", "hf-internal-testing/tiny", "sess_1a2b3c4d5e6f7a8b9c")
    call = ToolCall("key-0123456789abcdef", "key_value_lookup", "{}")
    error.partial = Message("assistant", [call], origin=origin, metadata={"id": "sk-proj-abcDEF123456"})
    left = error.partial
    blank_out(error, "PlainMarker_0123456789")
    assert error.partial is left
    assert error.raw == {"hint": "[redacted]"}


@pytest.mark.parametrize("key", ["PlainMarker_0123456789", "sk-proj-abcDEF123456"])
def test_a_cause_that_shows_the_key_goes_with_it(key: str) -> None:
    for words, stays in ((f"bad {key}", False), ("bad sk-ant-zyxWVU654321", True)):
        error = ProviderError("PROVIDER", "x")
        error.__cause__ = cause = ValueError(words)
        blank_out(error, key)
        assert error.__cause__ is (cause if stays else None)


def test_of_a_wrong_answer_only_the_key_is_blanked_out() -> None:
    key = "PlainMarker_0123456789"
    error = OutputValidationError("OUTPUT_INVALID", f"Not basic dXNlcabcdef0123456789==, got {key}.")
    blank_out(error, key)
    assert error.message == str(error.args[0]) == "Not basic dXNlcabcdef0123456789==, got [redacted]."
