"""What a protocol says of a failure, as an error. O7, V6, S85."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from unspool.errors import ProviderError, StreamError
from unspool.integrations.fields import record
from unspool.integrations.mappers.failure import failure


@pytest.mark.parametrize(
    ("details", "message", "raw"),
    [
        ("It broke.", "It broke.", {}),
        ({"message": "It broke.", "more": 1}, "It broke.", {"message": "It broke.", "more": 1}),
        ({"detail": "It broke."}, "It broke.", {"detail": "It broke."}),
        ({"message": None, "code": 5}, "otherwise", {"message": None, "code": 5}),
        ({"message": {"deep": 1}}, "otherwise", {"message": {"deep": 1}}),
        (SimpleNamespace(message="It broke.", code=5, other=6), "It broke.", {"message": "It broke.", "code": 5}),
        (record(SimpleNamespace(message="It broke.")), "It broke.", {"message": "It broke."}),
        (None, "otherwise", {}),
        ("", "otherwise", {}),
        (5, "otherwise", {}),
        ([1], "otherwise", {}),
    ],
)
def test_details(details: Any, message: str, raw: dict[str, Any]) -> None:
    error = failure(details, "otherwise")
    assert isinstance(error, StreamError)
    assert (error.code, error.message) == ("INTEGRATION_ERROR", message)
    cause = error.__cause__
    assert isinstance(cause, ProviderError)
    assert (cause.code, cause.message, cause.raw) == ("PROVIDER", message, raw)


def test_an_error_object_is_itself() -> None:
    original = OSError("x")
    assert failure(original, "otherwise") is original


def test_credentials_are_blanked_out() -> None:
    assert "sk-abcdefghijkl" not in failure("Wrong key sk-abcdefghijkl", "otherwise").args[0]
