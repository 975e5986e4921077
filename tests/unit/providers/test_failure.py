"""Error bodies are of the shapes in which vendors send them, shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.providers.failure import detail_in, error_detail, http_failure, said_in, stream_failure


def body(**members: Any) -> bytes:
    return json.dumps(members).encode()


OPENAI_429 = body(
    error={
        "message": "Rate limit reached for gpt-4o. Please try again in 1.2s.",
        "type": "tokens",
        "code": "rate_limit_exceeded",
    }
)
CASES: list[tuple[int, bytes, str, bool]] = [
    (
        401,
        body(
            error={
                "message": "Incorrect API key provided: sk-abc***.",
                "type": "invalid_request_error",
                "code": "invalid_api_key",
            }
        ),
        "AUTH",
        False,
    ),
    (403, body(error={"message": "Country not supported", "code": "unsupported_country"}), "AUTH", False),
    (402, body(error={"message": "Insufficient Balance", "type": "unknown_error"}), "RATE_LIMIT", False),
    (429, OPENAI_429, "RATE_LIMIT", True),
    (
        429,
        body(
            error={
                "message": "You exceeded your current quota",
                "type": "insufficient_quota",
                "code": "insufficient_quota",
            }
        ),
        "RATE_LIMIT",
        False,
    ),
    (429, b"", "RATE_LIMIT", True),
    (
        404,
        body(
            error={
                "message": "The model `x` does not exist or you do not have access to it.",
                "type": "invalid_request_error",
                "code": "model_not_found",
            }
        ),
        "MODEL_NOT_FOUND",
        False,
    ),
    (
        404,
        body(error={"message": 'model "x" not found, try pulling it first', "type": "api_error"}),
        "MODEL_NOT_FOUND",
        False,
    ),
    (
        404,
        body(error={"code": "DeploymentNotFound", "message": "The API deployment does not exist."}),
        "MODEL_NOT_FOUND",
        False,
    ),
    (404, body(error={"message": "model: claude-9", "type": "not_found_error"}), "MODEL_NOT_FOUND", False),
    (
        404,
        body(
            error={"code": 404, "message": "models/gemini-9 is not found for API version v1beta", "status": "NOT_FOUND"}
        ),
        "MODEL_NOT_FOUND",
        False,
    ),
    (404, body(error={"message": "models/gemini-1.0-pro is not supported for x"}), "MODEL_NOT_FOUND", False),
    (404, body(error={"message": "This model is no longer available to new users."}), "MODEL_NOT_FOUND", False),
    (400, body(error={"message": "x/y is not a valid model ID", "code": 400}), "MODEL_NOT_FOUND", False),
    (
        400,
        body(object="error", message="Invalid model: x", type="invalid_model", code="1500"),
        "MODEL_NOT_FOUND",
        False,
    ),
    (400, body(error={"message": "Model Not Exist", "code": "invalid_request_error"}), "MODEL_NOT_FOUND", False),
    (
        413,
        body(error={"message": "Request exceeds the maximum size", "type": "request_too_large"}),
        "INVALID_REQUEST",
        False,
    ),
    (
        413,
        body(
            error={
                "message": "Please reduce the length of the messages or completion.",
                "type": "invalid_request_error",
            }
        ),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(error={"message": "prompt is too long: 210000 tokens > 200000 maximum", "type": "invalid_request_error"}),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(error="This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(error={"message": "Output blocked by content filtering policy", "type": "invalid_request_error"}),
        "CONTENT_FILTERED",
        False,
    ),
    (498, body(error={"message": "Flex capacity exceeded", "type": "capacity_exceeded"}), "OVERLOADED", True),
    (529, body(type="error", error={"type": "overloaded_error", "message": "Overloaded"}), "OVERLOADED", True),
    (500, b"<html><body><h1>500</h1></body></html>", "PROVIDER", True),
    (502, b"<html><title>502 Bad Gateway</title></html>", "PROVIDER", True),
    (503, b"", "OVERLOADED", True),
    (524, b"<html>timeout</html>", "PROVIDER", True),
    (403, b"<html>Access denied</html>", "AUTH", False),
    (404, body(detail="Not Found"), "INVALID_REQUEST", False),
    (404, b"<html><title>404</title>", "INVALID_REQUEST", False),
    (
        400,
        body(
            error={
                "message": "This model's maximum context length is 8192 tokens.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
        ),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(
            object="error",
            message="This model's maximum context length is 2048 tokens. However, you requested 3000.",
            type="BadRequestError",
            code=400,
        ),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(
            error={
                "code": 400,
                "message": "request (600 tokens) exceeds the available context size (512 tokens), try increasing it",
                "type": "exceed_context_size_error",
            }
        ),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(
            error={
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "invalid_request_error",
            }
        ),
        "CONTEXT_WINDOW_EXCEEDED",
        False,
    ),
    (
        400,
        body(
            error={
                "message": "The response was filtered",
                "code": "content_filter",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        ),
        "CONTENT_FILTERED",
        False,
    ),
    (
        400,
        body(
            error={"message": "filtered", "code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}}
        ),
        "CONTENT_FILTERED",
        False,
    ),
    (
        400,
        body(
            error={
                "message": "Unsupported parameter: 'max_tokens'",
                "type": "invalid_request_error",
                "code": "unsupported_parameter",
            }
        ),
        "INVALID_REQUEST",
        False,
    ),
    (
        422,
        body(detail=[{"loc": ["body", "messages"], "msg": "field required", "type": "value_error"}]),
        "INVALID_REQUEST",
        False,
    ),
    (503, body(error={"code": 503, "message": "Loading model", "type": "unavailable_error"}), "OVERLOADED", True),
    (529, body(type="error", error={"type": "overloaded_error", "message": "Overloaded"}), "OVERLOADED", True),
    (500, body(error={"message": "The server had an error", "type": "server_error"}), "PROVIDER", True),
    (501, body(error={"message": "not supported", "type": "not_supported_error"}), "PROVIDER", False),
    (502, b"<html><head><title>502 Bad Gateway</title></head></html>", "PROVIDER", True),
    (504, b"upstream timeout", "PROVIDER", True),
    (408, b"", "PROVIDER", True),
    (400, b"[" * 5_000, "INVALID_REQUEST", False),  # Pyodide: fatal without the guard
    (418, b"\xff\xfe", "INVALID_REQUEST", False),
    (304, b"", "PROVIDER", False),
]


@pytest.mark.parametrize(("status", "content", "code", "retryable"), CASES, ids=range(len(CASES)))
def test_code(status: int, content: bytes, code: str, retryable: bool) -> None:
    error = http_failure(status, {}, content)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert str(status) in error.message
    assert len(error.message) < 700
    assert "<" not in error.message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (OPENAI_429, "Rate limit reached for gpt-4o. Please try again in 1.2s. (rate_limit_exceeded)"),
        (body(error="plain"), "plain"),
        (body(error={"message": {"detail": 1}}), '{"message": {"detail": 1}}'),
        (body(error={"message": "", "type": "x_error", "code": None}), "no message (x_error)"),
        (body(reason="Your credit is used up"), '{"reason": "Your credit is used up"}'),
        (body(error={"type": "x_error", "reason": "used\u0007up"}), '{"reason": "used\\u0007up"} (x_error)'),
        (body(error={"why": "y" * 5_000}), '{"why": "' + "y" * 491 + "…"),
        (body(key="sk-abcDEF123456789"), '{"key": "[redacted]"}'),
        (body(message="bare", error=None), "bare"),
        (body(message="said", error="Bad Request"), "said"),
        (body(detail=[{"msg": "field required"}]), "field required"),
        (body(errors=[{"message": "first"}, {"message": "second"}]), "first"),
        (
            json.dumps([{"error": {"code": 400, "message": "wrapped", "status": "INVALID_ARGUMENT"}}]).encode(),
            "wrapped",
        ),
        (b"<html><head><title>502 Bad Gateway</title></head><body><h1>x</h1></body></html>", "502 Bad Gateway"),
        (b'{"error": {"message": "cut in the mid', "cut in the mid"),
        (b"", "no message"),
        (b"{}", "no message"),
        (body(error={"message": "x" * 5_000}), "x" * 500 + "…"),
    ],
)
def test_message(content: bytes, says: str) -> None:
    assert says in http_failure(400, {}, content).message


def test_credentials_are_blanked_out() -> None:
    error = http_failure(401, {}, body(error={"message": "Incorrect API key provided: sk-proj-abcdefgh12345678."}))
    assert "sk-proj" not in str(error)


@pytest.mark.parametrize(
    ("headers", "content", "seconds"),
    [
        ({"retry-after": "20"}, b"", 20),
        ({"retry-after": " 1.5 "}, b"", 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, b"", 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}, b"", 30),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:00 GMT", "date": "Mon, 30 Nov 2026 12:00:30 GMT"}, b"", 0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, b"", None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": "today"}, b"", None),
        ({"retry-after": "soon", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}, b"", None),
        ({"retry-after": "-5"}, b"", None),
        ({"retry-after": "nan"}, b"", None),
        ({"retry-after": "1e999"}, b"", None),
        ({"retry-after": "9" * 50}, b"", None),
        ({}, OPENAI_429, 1.2),
        ({}, body(error={"message": "Please try again in 340ms."}), 0.34),
        ({}, body(error={"message": "try again in 1m30.5s"}), 90.5),
        ({}, body(error={"message": "Please retry after 12 seconds."}), 12),
        ({}, body(error={"message": "Please wait 3 sec"}), 3),
        ({}, body(error={"message": "try again in 5 minutes"}), None),
        ({}, body(error={"message": "slow", "details": [{"@type": "RetryInfo", "retryDelay": "7.5s"}]}), 7.5),
        ({}, body(error={"message": "slow", "retry_after": 4}), 4),
        ({}, body(error={"message": "slow", "retry_after": True}), None),
        ({}, b"", None),
    ],
)
def test_waiting_time(headers: dict[str, str], content: bytes, seconds: float | None) -> None:
    error = http_failure(429, headers, content)
    assert error.retry_after_s == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({"x-request-id": "req_1"}, "req_1"),
        ({"request-id": "req_2"}, "req_2"),
        ({"apim-request-id": "a"}, "a"),
        ({"x-request-id": "", "request-id": "b"}, "b"),
        ({"x-request-id": "z" * 1_000}, "z" * 200 + "…"),
        ({}, None),
    ],
)
def test_request_id(headers: dict[str, str], request_id: str | None) -> None:
    assert http_failure(500, headers, b"").request_id == request_id


@pytest.mark.parametrize(
    ("detail", "code", "retryable", "status"),
    [
        ({"code": 502, "message": "x"}, "PROVIDER", True, 502),  # F38
        ({"code": "429", "message": "x"}, "RATE_LIMIT", True, 429),
        (
            {"status_code": 400, "code": "tool_use_failed", "type": "invalid_request_error"},
            "INVALID_REQUEST",
            False,
            400,
        ),
        ({"code": "rate_limit_exceeded"}, "RATE_LIMIT", True, None),
        ({"type": "overloaded_error"}, "OVERLOADED", True, None),
        ({"type": "server_error"}, "PROVIDER", True, None),
        ({"type": "invalid_request_error"}, "INVALID_REQUEST", False, None),
        ({"type": "authentication_error"}, "AUTH", False, None),
        ({"status": "RESOURCE_EXHAUSTED"}, "RATE_LIMIT", True, None),
        ({"type": "exceed_context_size_error", "code": 500}, "CONTEXT_WINDOW_EXCEEDED", False, 500),
        ({"message": "?"}, "PROVIDER", False, None),
        ({"code": 1302, "message": "?"}, "PROVIDER", False, None),
        ({"code": True}, "PROVIDER", False, None),
    ],
)
def test_error_inside_a_stream(detail: dict[str, Any], code: str, retryable: bool, status: int | None) -> None:
    error = stream_failure(detail)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert error.raw == detail


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ({"error": {"message": "x", "code": 1}}, {"message": "x", "code": 1}),
        ({"error": "x", "code": 7, "choices": []}, {"error": "x", "code": 7, "choices": [], "message": "x"}),
        ({"object": "error", "message": "x"}, {"object": "error", "message": "x"}),
        ({"type": "error", "message": "x"}, {"type": "error", "message": "x"}),
        ([{"error": {"message": "x"}}], {"message": "x"}),
        ({"error": None}, None),
        ({"error": {}}, None),
        ({"error": ""}, None),
        ({"choices": []}, None),
        ([], None),
        ([[[{"error": 1}]]], None),
        (None, None),
        ("error", None),
    ],
)
def test_error_detail(value: object, detail: dict[str, Any] | None) -> None:
    assert error_detail(value) == detail


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=4), children, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["error", "message", "code", "type", "status", "details", "detail", "errors", "innererror", "retry_after"]
)


@given(st.dictionaries(NAMES, ANY_JSON | st.dictionaries(NAMES, ANY_JSON)), st.integers(100, 599))
def test_any_body_gives_an_error(value: dict[str, Any], status: int) -> None:
    error = http_failure(status, {}, json.dumps(value).encode())
    assert error.status == status
    assert error.code.isupper()
    assert isinstance(said_in(value), str)
    error.to_wire()


@given(
    st.binary(max_size=200),
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date", "x-request-id"]), st.text()),
)
def test_any_bytes_give_an_error(content: bytes, headers: dict[str, str]) -> None:
    assert http_failure(500, headers, content).code == "PROVIDER"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"error":{"message":"a"}}', {"message": "a"}),
        ('{"message":"a"}', {"message": "a"}),
        ("[1]", {"message": "[1]"}),
        ("busy", {"message": "busy"}),
        ("", {"message": ""}),
    ],
)
def test_the_error_object_of_a_text(text: str, detail: dict[str, str]) -> None:
    assert detail_in(text) == detail


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"retry_after": 3}, 3),
        ({"retry_after_seconds": "2.5"}, 2.5),
        ({"retry_after_ms": 1500}, 1.5),
        ({"metadata": {"retry_after_seconds": 7}}, 7),
        ({"details": [{"@type": "t", "reason": "r"}, {"@type": "RetryInfo", "retryDelay": "17s"}]}, 17),
        ({"retry_after": None, "metadata": "x", "details": 5}, None),
    ],
)
def test_wait_that_only_the_body_tells(error: dict[str, Any], seconds: float | None) -> None:
    """F52: CORS hides the header from pages."""
    assert http_failure(429, {}, body(error={"message": "Slow down.", **error})).retry_after_s == seconds


@pytest.mark.parametrize(
    ("headers", "said", "id_"),
    [
        ({"x-request-id": "a"}, body(request_id="b"), "a"),
        ({}, body(type="error", error={"message": "no"}, request_id="req_1"), "req_1"),
        ({}, body(error={"message": "no", "requestId": "r-2"}), "r-2"),
        ({}, body(error={"message": "Sorry. Contact us and include the request ID req_3 in your message."}), "req_3"),
        ({}, body(error={"message": "no", "request_id": 5}), None),
        ({}, b"<html>", None),
    ],
)
def test_request_id_that_only_the_body_tells(headers: dict[str, str], said: bytes, id_: str | None) -> None:
    """In a page only the body tells it: CORS hides the header."""
    assert http_failure(500, headers, said).request_id == id_
