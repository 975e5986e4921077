"""What a protocol says of a failure, as the error that ends the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import ProviderError, StreamError
from unspool.integrations.fields import first, record, text

_DETAILS = ("type", "code", "status", "message", "reason", "param")


def failure(details: Any, otherwise: str) -> Exception:
    """Give the error to raise.

    Args:
        details: an error object, which is given back as it is; text; or anything with fields.
        otherwise: the message when `details` says none.
    Returns:
        StreamError INTEGRATION_ERROR with the message; its cause is a ProviderError that keeps the details as `raw`.
    """
    if isinstance(details, Exception):
        return details
    fields = record(details)
    message = text(details) or text(first(fields, "message", "detail")) or otherwise
    error = StreamError("INTEGRATION_ERROR", message)
    if isinstance(fields, Mapping):
        raw = cast("Mapping[str, Any]", fields)
    else:
        raw = {name: fields.get(name) for name in _DETAILS if fields.get(name) is not None}
    error.__cause__ = ProviderError("PROVIDER", message, raw=raw)
    return error
