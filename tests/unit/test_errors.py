"""The error tree: codes, wire form, redaction."""

from __future__ import annotations

import base64
import copy
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from unspool import errors
from unspool.errors import (
    BridgeError,
    CallCancelledError,
    ConfigError,
    NetworkError,
    OutputValidationError,
    ProviderError,
    RequestTimeoutError,
    StreamError,
    StreamTruncatedError,
    TransportError,
    UnspoolError,
    WireError,
    redact,
    shown_url,
    without,
)
from unspool.messages import (
    AssistantMessage,
)
from unspool.structured.py_values import PyName, PyObject, PySet


def _written(name: str, fields: Mapping[str, object]) -> Mapping[str, object]:
    return {"pythonClass": name, "fields": fields}


def test_every_error_is_an_unspool_error() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(classes) > 10
    assert all(issubclass(cls, UnspoolError) for cls in classes)


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (NetworkError("x"), "NETWORK", True),
        (NetworkError("x", retryable=False), "NETWORK", False),
        (RequestTimeoutError("x"), "TIMEOUT", True),
        (StreamTruncatedError("x"), "STREAM_TRUNCATED", True),
        (CallCancelledError(), "ABORTED", False),
    ],
)
def test_leaves_have_their_code(error: UnspoolError, code: str, retryable: bool) -> None:
    assert error.code == code
    assert error.retryable is retryable
    assert str(error).startswith(f"{code}: ")


def test_failures_of_the_way_are_told_apart_and_together() -> None:
    """F11: network failure, timeout and abort are three types; the first two share a branch."""
    assert issubclass(NetworkError, TransportError)
    assert issubclass(RequestTimeoutError, TransportError)
    assert not issubclass(CallCancelledError, TransportError)
    assert not issubclass(NetworkError, RequestTimeoutError)


def test_cancellation_of_a_task_is_not_ours() -> None:
    import asyncio

    assert not issubclass(CallCancelledError, asyncio.CancelledError)


def test_wire_form_leaves_out_what_is_not_known() -> None:
    assert NetworkError("x").to_wire() == {"code": "NETWORK", "message": "x", "retryable": True}
    error = ProviderError(
        "RATE_LIMIT",
        "slow down",
        retryable=True,
        retry_after_s=7.0,
        status=429,
        request_id="r",
        raw={"secret": object()},
    )
    error.partial = AssistantMessage("Hi")
    assert error.to_wire() == {
        "code": "RATE_LIMIT",
        "message": "slow down",
        "retryable": True,
        "retryAfterS": 7.0,
        "status": 429,
        "requestId": "r",
        "partial": {"role": "assistant", "parts": [{"type": "text", "text": "Hi"}]},
    }


def test_wire_form_of_scanner_and_validation_errors() -> None:
    scanner = StreamError("UNEXPECTED_TOKEN", "x", byte_offset=0, operation="push")
    assert scanner.to_wire()["byteOffset"] == 0
    assert scanner.to_wire()["operation"] == "push"
    session = StreamError("UNKNOWN_STREAM", "x", id="call_1", adapter="custom", event_type="delta").to_wire()
    assert (session["id"], session["adapter"], session["eventType"]) == ("call_1", "custom", "delta")
    assert "id" not in StreamError("UNKNOWN_STREAM", "x", id=("a",)).to_wire()
    validation = OutputValidationError("OUTPUT_INVALID", "x")
    assert validation.to_wire() == {"code": "OUTPUT_INVALID", "message": "x", "retryable": False}
    validation.text = "{"
    validation.partial_value = {}
    assert validation.to_wire()["text"] == "{"
    assert validation.to_wire()["partialValue"] == {}


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (b"\xff", "\xff"),
        ((1, [b"a", (None, 2.5)]), [1, ["a", [None, 2.5]]]),
        ({1: {None: "x"}, b"k": 10**30, "n": ()}, {"1": {"None": "x"}, "b'k'": 10**30, "n": []}),
        (PyObject("A", {0: b"x", "s": PySet([1, 1, (2,)])}), _written("A", {"0": "x", "s": {"pythonSet": [1, [2]]}})),
        ([{"a": PyObject("A", {})}, PyName("Color.RED")], [{"a": _written("A", {})}, {"pythonName": "Color.RED"}]),
    ],
    ids=["bytes", "tuple", "mapping", "constructor", "inside"],
)
def test_what_was_read_in_python_syntax_is_json_too(value: object, data: object) -> None:
    error = OutputValidationError("OUTPUT_INVALID", "x")
    error.partial_value = value
    assert json.loads(json.dumps(error.to_wire()["partialValue"], allow_nan=False)) == data


@dataclass
class _Answer:
    n: int


@pytest.mark.parametrize(
    "answer",
    ["_Answer(n={1, b'\\xff', (2,)}, ", "_Answer(n=0x" + "f" * 3000 + ", ", "_Answer(n=1e999, ", "_Answer(n={1: "],
)
async def test_errors_of_answers_in_python_syntax_are_json(answer: str) -> None:
    from unspool import query
    from unspool.testing import StaticResponse

    with pytest.raises(OutputValidationError) as caught:
        await query("Hi", _Answer, lm=StaticResponse(answer), protocol="python")
    assert caught.value.partial_value is not None
    assert json.loads(json.dumps(caught.value.to_wire(), allow_nan=False))["partialValue"]["pythonClass"] == "_Answer"


def test_status_zero_is_not_absent() -> None:
    assert WireError("PROTOCOL", "x", status=0).to_wire()["status"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcDEF123456.",
        "sk-ant-REDACTED",
        "key AIzaSyA0123456789abcdefghijk is wrong",
        "Authorization: Bearer abcdef0123456789",
        "https://h/v1?key=abcdef&alt=sse",
        "https://h/v1?alt=sse&api_key=abcdef",
        "https://user:abcdef@h/v1",
        "hf_abcdefGHIJ0123456789 and gsk_abcdefghijkl",
        "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",  # keys of Hugging Face are 34 letters
        "sess-abcdef0123456789 and key-0123456789abcdef, xai-abcdef0123456789abcdef",
        "sk-abcdef**********6789",
        'headers: {"Authorization": "Basic abcdef"}',
        "('authorization', b'bearer abcdef')",
        "sent basic dXNlcabcdef0123456789==",
    ],
)
def test_messages_have_credentials_blanked_out(text: str) -> None:
    message = NetworkError(text).message
    assert "abcdef" not in message.lower()
    assert "0123456789" not in message
    assert errors.REDACTED in message


def test_redact_takes_exact_values_but_no_short_ones() -> None:
    assert redact("the key is hunter22", "hunter22") == f"the key is {errors.REDACTED}"
    assert redact("abc", "a", "") == "abc"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no secret here",
        "https://h/v1/chat/completions",
        "max_tokens=5 is too small",
        "basic information, basic arithmetic and Bearer certificates; bearer authentication is needed",
        "tools: key_value_lookup, key_value_store_get, sess_based_login, pk_constraint_violation",
        "models: hf-internal-testing/tiny, hf_transformers, key-value-20240101-experiment, xai-grok-beta-2024",
    ],
)
def test_redact_leaves_ordinary_text(text: str) -> None:
    assert redact(text) == text


def test_what_is_known_is_blanked_out_and_nothing_else() -> None:
    like = "sk-proj-abcDEF123456"
    assert without(f"{LONG} is no {like}", LONG) == f"{errors.REDACTED} is no {like}"
    assert without(f"hunter22 {like}", "hunter22", "a") == f"{errors.REDACTED} {like}"


def test_what_is_wrong_with_an_answer_is_told_in_its_own_words() -> None:
    """The model is shown them in the turn that asks again; the answer itself stands beside them as it came."""
    words = 'Input should be "sk-proj-abcDEF123456", got "basic dXNlcabcdef0123456789=="'
    assert OutputValidationError("OUTPUT_INVALID", words).message == words
    assert NetworkError(words).message == 'Input should be "[redacted]", got "[redacted]"'


def test_redact_is_linear_in_long_text() -> None:
    """A page of a proxy may be long; no pattern may go quadratic over it."""
    for text in ("sk-" * 100_000, "key=" * 100_000, "://" * 100_000, "bearer " * 50_000, "a:" * 200_000):
        redact(text)
    for text in (
        "authorization" * 50_000,
        "authorization: " * 50_000,
        "key-" + "a" * 300_000,
        "basic " + "a" * 300_000,
    ):
        redact(text)


LONG = "Marker+key/0123456789abcdef=="


@pytest.mark.parametrize(
    "told",
    [
        LONG,
        LONG.lower(),  # a header value, as HTTP libraries give it
        LONG[:20],  # a text that was cut
        "Marker%2Bkey%2F0123456789abcdef%3D%3D",
        "marker%2bkey%2f0123456789abcdef",
        base64.b64encode(LONG.encode()).decode(),
    ],
)
def test_redact_knows_a_long_secret_in_every_form(told: str) -> None:
    for text in (f"bad key {told}", f"bad key {told}, really", told, f"{told} {told}"):
        shown = redact(text, LONG)
        assert errors.REDACTED in shown
        assert "0123" not in shown and base64.b64encode(b"Marker").decode()[:6] not in shown
        assert "really" not in text or shown.endswith(", really")


@pytest.mark.parametrize("told", ["Markerkey:/0123456789abcdef", "Markerkey%3A%2F0123456789abcdef"])
def test_redact_knows_forms_that_begin_alike(told: str) -> None:
    """What one of them is blanked out of must not hide the rest of another."""
    assert redact(f"bad key {told}, really", "Markerkey:/0123456789abcdef") == f"bad key {errors.REDACTED}, really"


def test_redact_leaves_what_only_begins_alike() -> None:
    assert redact("Marker pens", LONG) == "Marker pens"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/v1", "https://h/v1"),
        ("https://h/v1?code=abc", "https://h/v1?code=[redacted]"),
        ("https://h/v1?api-version=2024-10-21&x=a&alt=sse", "https://h/v1?api-version=2024-10-21&x=[redacted]&alt=sse"),
        ("https://h/v1?my-api-version=abc", "https://h/v1?my-api-version=[redacted]"),
        ("https://h/v1?flag&key=", "https://h/v1?flag&key="),
        ("https://h/v1?a=b=c", "https://h/v1?a=[redacted]"),
        ("https://user:pass@h/v1", "https://[redacted]@h/v1"),
    ],
)
def test_shown_url(url: str, shown: str) -> None:
    """Whatever a gateway calls its key, its value is not shown."""
    assert shown_url(url) == shown


def test_shown_url_is_linear_in_the_parameters() -> None:
    many = "&".join(["limit=5", "a=b"] * 50_000)
    assert shown_url(f"https://h/v1?{many}") == f"https://h/v1?{many.replace('=b', '=[redacted]')}"


ERRORS = [
    ConfigError("INVALID_OPTIONS", "x"),
    NetworkError("x", retryable=False),
    RequestTimeoutError("x"),
    ProviderError("RATE_LIMIT", "x", retryable=True, retry_after_s=2.5, status=429, request_id="r", raw={"a": [1]}),
    WireError("PROTOCOL", "x"),
    StreamTruncatedError("x"),
    StreamError("UNEXPECTED_TOKEN", "x", byte_offset=3, id="a", operation="push"),
    OutputValidationError("OUTPUT_INVALID", "x"),
    CallCancelledError(),
    BridgeError("INTERNAL", "x"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_are_copied_whole(error: UnspoolError, again: Callable[[UnspoolError], UnspoolError]) -> None:
    """Retry libraries and worker pools copy and pickle what they catch."""
    error.partial = AssistantMessage("so far")
    made = again(error)
    assert type(made) is type(error)
    assert (str(made), repr(made), vars(made)) == (str(error), repr(error), vars(error))
