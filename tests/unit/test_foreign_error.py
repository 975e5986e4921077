"""What is blamed for an exception, and which words stay."""

from __future__ import annotations

import pytest

from unspool.errors import ConfigError, NetworkError, UnspoolError, WireError
from unspool.foreign_error import typed


@pytest.mark.parametrize(("blame", "code"), [(NetworkError, "NETWORK"), (WireError, "PROTOCOL")])
def test_a_foreign_exception_is_the_cause(blame: type[UnspoolError], code: str) -> None:
    cause = ZeroDivisionError("by nought")
    error = typed(cause, blame)
    assert (error.code, error.retryable, error.__cause__) == (code, False, cause)
    assert "(ZeroDivisionError: by nought)" in error.message


@pytest.mark.parametrize("blame", [NetworkError, WireError])
def test_an_error_of_ours_stays(blame: type[UnspoolError]) -> None:
    refused, lost = ConfigError("UNSUPPORTED", "No."), NetworkError("Gone.")
    assert typed(refused, blame) is refused
    assert typed(lost, blame, may_refuse=False) is lost


def test_what_cannot_be_the_callers_fault() -> None:
    error = typed(ConfigError("INVALID_OPTIONS", "It holds a key that is no text."), WireError, may_refuse=False)
    assert (type(error), error.code, error.message) == (WireError, "PROTOCOL", "It holds a key that is no text.")
