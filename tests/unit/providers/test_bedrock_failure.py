"""Bedrock's exceptions in our codes. Names and statuses: the service model of botocore."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.providers.bedrock_failure import exception_failure, response_failure

NAMED = [
    (403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", "AUTH", False),
    (403, "ExpiredTokenException", "The security token included in the request is expired", "AUTH", False),
    (403, "InvalidSignatureException", "Signature expired: 20261130T120000Z is now earlier than …", "AUTH", False),
    (403, "UnrecognizedClientException", "The security token included in the request is invalid.", "AUTH", False),
    (400, "ValidationException", "The text field in the ContentBlock object is blank.", "INVALID_REQUEST", False),
    (400, "ValidationException", "Input is too long for requested model.", "CONTEXT_WINDOW_EXCEEDED", False),
    (400, "ValidationException", "The provided model identifier is invalid.", "MODEL_NOT_FOUND", False),
    (400, "ServiceQuotaExceededException", "Too many tokens per day", "RATE_LIMIT", False),
    (404, "ResourceNotFoundException", "Could not resolve the foundation model from …", "MODEL_NOT_FOUND", False),
    (408, "ModelTimeoutException", "Model has timed out in processing the request.", "PROVIDER", True),
    (424, "ModelErrorException", "The request failed.", "PROVIDER", True),
    (429, "ThrottlingException", "Too many requests, please wait before trying again.", "RATE_LIMIT", True),
    (429, "ModelNotReadyException", "Model is not ready for inference.", "OVERLOADED", True),
    (500, "InternalServerException", "An internal error", "PROVIDER", True),
    (503, "ServiceUnavailableException", "Unavailable", "OVERLOADED", True),
]


@pytest.mark.parametrize(("status", "name", "said", "code", "retryable"), NAMED)
def test_response(status: int, name: str, said: str, code: str, retryable: bool) -> None:
    """The name stands in a header, or in the body, in the forms of AWS's protocols."""
    header = {"x-amzn-errortype": f"{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
    cases: list[tuple[dict[str, str], dict[str, Any]]] = [
        (header, {"message": said}),
        ({"x-amzn-errortype": name}, {"Message": said}),
        ({}, {"__type": f"com.amazon.coral.service#{name}", "message": said}),
        ({}, {"code": name, "message": said}),
    ]
    for headers, body in cases:
        error = response_failure(status, {**headers, "x-amzn-requestid": "r"}, json.dumps(body).encode())
        assert (error.code, error.retryable, error.status, error.request_id) == (code, retryable, status, "r")
        assert said in error.message


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "INVALID_REQUEST", False),
        (403, "AUTH", False),
        (404, "MODEL_NOT_FOUND", False),
        (424, "PROVIDER", True),
        (429, "RATE_LIMIT", True),
        (500, "PROVIDER", True),
        (503, "OVERLOADED", True),
    ],
)
def test_response_without_a_name(status: int, code: str, retryable: bool) -> None:
    """A page may not see the header (CORS)."""
    for body in (b'{"message":"x"}', b'{"Message":"x"}', b"", b"<html>x</html>"):
        error = response_failure(status, {}, body)
        assert (error.code, error.retryable) == (code, retryable)


def test_unknown_name() -> None:
    error = response_failure(418, {"x-amzn-errortype": "TeapotException"}, b'{"message":"short and stout"}')
    assert (error.code, error.retryable) == ("INVALID_REQUEST", False)


@pytest.mark.parametrize(
    ("name", "code", "retryable"),
    [
        ("internalServerException", "PROVIDER", True),
        ("modelStreamErrorException", "PROVIDER", True),
        ("modelTimeoutException", "PROVIDER", True),
        ("serviceUnavailableException", "OVERLOADED", True),
        ("throttlingException", "RATE_LIMIT", True),
        ("validationException", "INVALID_REQUEST", False),
        ("accessDeniedException", "AUTH", False),
        ("somethingNewException", "PROVIDER", False),
    ],
)
def test_exception(name: str, code: str, retryable: bool) -> None:
    error = exception_failure(name, {"message": "why"})
    assert (error.code, error.retryable, "why" in error.message, name in error.message) == (code, retryable, True, True)


def test_exception_with_the_words_of_the_model() -> None:
    error = exception_failure("modelStreamErrorException", {"originalMessage": "boom", "originalStatusCode": 500})
    assert "boom" in error.message
    error = exception_failure("throttlingException", {"message": "Too many tokens, please wait before trying again."})
    assert error.code == "RATE_LIMIT"
    error = exception_failure("validationException", {"message": "Input is too long for requested model."})
    assert error.code == "CONTEXT_WINDOW_EXCEEDED"
