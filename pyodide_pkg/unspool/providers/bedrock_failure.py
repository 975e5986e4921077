"""What went wrong at Bedrock, in our codes: exceptions by their names, over HTTP and inside a stream. Pure.

Source: Amazon Bedrock API reference, "Converse" and "Common errors"; the service model of botocore.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from unspool.errors import ProviderError
from unspool.providers.failure import Kind, http_failure, stream_failure
from unspool.providers.fields import Fields, text_or_none

_AUTH: Kind = ("AUTH", False)
_KINDS: dict[str, Kind] = {
    "accessdenied": _AUTH,
    "expiredtoken": _AUTH,
    "incompletesignature": _AUTH,
    "invalidclienttokenid": _AUTH,
    "invalidsignature": _AUTH,
    "missingauthenticationtoken": _AUTH,
    "signaturedoesnotmatch": _AUTH,
    "unrecognizedclient": _AUTH,
    "throttling": ("RATE_LIMIT", True),
    "toomanyrequests": ("RATE_LIMIT", True),
    "servicequotaexceeded": ("RATE_LIMIT", False),
    "modelnotready": ("OVERLOADED", True),
    "serviceunavailable": ("OVERLOADED", True),
    "internalserver": ("PROVIDER", True),
    "modelerror": ("PROVIDER", True),
    "modelstreamerror": ("PROVIDER", True),
    "modeltimeout": ("PROVIDER", True),
    "resourcenotfound": ("MODEL_NOT_FOUND", False),
    "validation": ("INVALID_REQUEST", False),
}
"""By name, without the `Exception` at its end."""
_TOLD = ("CONTEXT_WINDOW_EXCEEDED", "CONTENT_FILTERED", "MODEL_NOT_FOUND")
"""Of what is not valid the words say more. Of nothing else: "Too many tokens" is also a rate."""
_NO_MODEL = re.compile(r"model identifier is invalid|could not resolve the foundation model", re.IGNORECASE)


def response_failure(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Turn a response with an error status into an error. `body` is bounded and may be cut."""
    # Some of AWS's layers write the member with a capital.
    error = http_failure(status, headers, body.replace(b'"Message":', b'"message":', 1))
    raw = error.raw or {}
    # In a page the header may be hidden (CORS): then the status has to do.
    name = headers.get("x-amzn-errortype") or text_or_none(raw, "__type") or text_or_none(raw, "code") or ""
    if not name:
        name = {404: "resourcenotfound", 424: "modelerror"}.get(status, "")
    return _refined(error, name)


def exception_failure(name: str, detail: Fields) -> ProviderError:
    """Turn an exception inside a stream into an error."""
    words = text_or_none(detail, "message") or text_or_none(detail, "originalMessage")
    return _refined(stream_failure({**detail, "message": words or "", "type": name}), name)


def _refined(error: ProviderError, name: str) -> ProviderError:
    """Say what an error is by its name, such as `ThrottlingException:http://…` or `com.amazon#ThrottlingException`."""
    known = name.partition(":")[0].rpartition("#")[2].lower().removesuffix("exception")
    kind = _KINDS.get(known)
    if _NO_MODEL.search(error.message):
        kind = ("MODEL_NOT_FOUND", False)
    if kind is not None and not (known == "validation" and error.code in _TOLD):
        error.code, error.retryable = kind
    return error
