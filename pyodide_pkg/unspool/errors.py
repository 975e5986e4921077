"""Every error of ours: one tree, stable codes, a wire form, and redaction.

    UnspoolError
    ├── ConfigError          INVALID_OPTIONS, MISSING_CREDENTIAL, INVALID_CREDENTIAL, UNSUPPORTED, NO_ADAPTER,
    │                        DUPLICATE_ADAPTER
    ├── TransportError       (no leaf of its own: catch it for "the request did not get through")
    │   ├── NetworkError     NETWORK
    │   └── RequestTimeoutError  TIMEOUT
    ├── ProviderError        AUTH, RATE_LIMIT, OVERLOADED, CONTEXT_WINDOW_EXCEEDED, CONTENT_FILTERED, REFUSED,
    │                        INVALID_REQUEST, MODEL_NOT_FOUND, PROVIDER
    ├── WireError            SSE_EVENT_TOO_LARGE, BODY_TOO_LARGE, PROTOCOL, TOOL_ARGUMENTS_INVALID
    │   └── StreamTruncatedError  STREAM_TRUNCATED
    ├── StreamError          the codes of the text scanners and the pool (listed at the class)
    ├── OutputValidationError    OUTPUT_INVALID, OUTPUT_TRUNCATED, OUTPUT_TOO_LARGE
    ├── CallCancelledError   ABORTED
    └── BridgeError          BRIDGE_PROTOCOL, UNKNOWN_CALL, MODULE_ERROR, WORKER_DIED, UNSAFE_INTEGER, INTERNAL

Route on `code`, never on the message. docs/errors.md lists each code with its cause; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unspool.printable import printable

if TYPE_CHECKING:
    from unspool.messages import Message
    from unspool.schema.problem import Problem

__all__ = [
    "BridgeError",
    "CallCancelledError",
    "ConfigError",
    "NetworkError",
    "OutputValidationError",
    "ProviderError",
    "RequestTimeoutError",
    "StreamError",
    "StreamTruncatedError",
    "TransportError",
    "UnspoolError",
    "WireError",
]


def __dir__() -> list[str]:
    return sorted(__all__)


REDACTED = "[redacted]"

# Shapes of credentials that providers echo in error bodies and that people paste into URLs: OpenAI/Anthropic style
# keys, Google keys, bearer tokens, and key=… query parameters. What stands in a group must also look random: tools,
# models and plain words begin like that as well.
_SECRET = re.compile(
    r"\b(?P<prefix>(?:sk|pk|rk|gsk|xai|hf|sess|key)[-_])(?P<token>[A-Za-z0-9_\-*]{8,})"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?P<header>(?i:\bauthorization[\s\"']{0,3}[:=,][\s\"']{0,3}b?[\"']?))(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]+"
    r"|(?i:\b(?:bearer|basic)\s+)(?P<sent>[A-Za-z0-9._~+/=\-]{16,})"
    r"|(?i:(?<=[?&;\s])(?:api[-_]?key|key|token|access_token|sig|signature)=)[^&\s\"'<>]+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_DIGIT = re.compile(r"[0-9]")
_RUN = re.compile(r"[A-Za-z0-9]{8,}")
_RANDOM_CHARS = 16

_QUERY_VALUE = re.compile(r"(?<==)[^&#]+")
_PLAIN_PARAMETERS = re.compile(r"(?i)[?&](?:alt|api[-_]?version|page[-_]?size|limit)=$")
"""What addresses of providers carry beside credentials. All else is blanked out, whatever its name."""

_LONG_CHARS = 16
_TOLD_CHARS = 8
"""Fewer characters of a long credential tell nothing: many begin alike (`sk-proj-`)."""


def redact(text: str, *secrets: str) -> str:
    """Blank out credentials in text that will be shown, logged or sent on.

    Args:
        text: any text, such as a provider's error message or a URL.
        secrets: values to blank out as well; see `without`.
    Returns:
        The text with `[redacted]` in place of these, and of all else that looks like a credential.
    """
    return _SECRET.sub(_blanked, without(text, *secrets))


def without(text: str, *secrets: str) -> str:
    """Blank out known values in a text, and nothing else.

    Args:
        text: any text.
        secrets: such as the key that was sent; shorter than 4 characters: ignored. Of long ones also what a text that
            was cut shows of them, their percent-encoding and their base64.
    Returns:
        The text with each of them replaced by `[redacted]`.
    """
    for secret in secrets:
        if len(secret) >= _LONG_CHARS:
            text = _without_beginnings(text, _forms(secret))
        elif len(secret) >= 4:
            text = text.replace(secret, REDACTED)
    return text


def _blanked(match: re.Match[str]) -> str:
    token, sent = match["token"], match["sent"]
    if (token is not None and not _is_key(match["prefix"], token)) or (sent is not None and not _DIGIT.search(sent)):
        return match[0]
    return (match["header"] or "") + REDACTED


def _is_key(prefix: str, token: str) -> bool:
    """Whether it is more than words: random, masked, or behind what begins no word."""
    is_long = len(token) >= _RANDOM_CHARS
    if prefix in ("sk-", "gsk_"):
        is_coded = token.isalnum() or (is_long and _DIGIT.search(token) is not None)
        if is_coded or token.startswith(("ant-", "proj-")):
            return True
    runs = _RUN.findall(token) if is_long else []
    return "**" in token or any(map(_is_random, runs))


def _is_random(run: str) -> bool:
    """Whether no words are written so: letters with digits; or, as keys of Hugging Face are, many of both cases."""
    if _DIGIT.search(run):
        return not run.isdigit()
    return len(run) >= 2 * _RANDOM_CHARS and not (run.islower() or run.isupper())


def shown_url(url: str) -> str:
    """Give an address as it may be shown: what its query says is blanked out, whatever the parameters are called."""
    head, mark, query = url.partition("?")

    def blanked(match: re.Match[str]) -> str:
        whole = mark + query
        end = match.start() + len(mark)
        known = _PLAIN_PARAMETERS.match(whole, max(whole.rfind("&", 0, end), 0), end)
        return match[0] if known else REDACTED

    return redact(head) + mark + redact(_QUERY_VALUE.sub(blanked, query))


def _forms(secret: str) -> set[str]:
    from base64 import b64encode  # here, because only errors need them
    from urllib.parse import quote

    data = secret.encode("utf-8", "replace")
    return {secret, quote(data, safe=""), b64encode(data).decode().rstrip("=")}


def _without_beginnings(text: str, forms: set[str]) -> str:
    """Blank out a value in any of its forms, which may begin alike, or as much of it as stands there, in any case."""
    begins = re.compile("|".join(re.escape(form[:_TOLD_CHARS]) for form in forms), re.IGNORECASE)
    pieces: list[str] = []
    at = 0
    while match := begins.search(text, at):
        pieces += (text[at : match.start()], REDACTED)
        at = max(match.end(), *(match.start() + _same(text, match.start(), form) for form in forms))
    return "".join((*pieces, text[at:]))


def _same(text: str, at: int, form: str) -> int:
    """How many characters of a form stand at a place, in any case."""
    count = 0
    for expected in form:
        if text[at + count : at + count + 1].lower() != expected.lower():
            break
        count += 1
    return count


class UnspoolError(Exception):
    """The root of the tree. Never raised itself."""

    code: str
    """Stable UPPER_SNAKE category; never reused for another cause."""
    message: str
    """One or two sentences in one line that can be printed: what happened, what to do. Credentials are blanked out."""
    retryable: bool
    """Whether the same call may succeed later without a change."""
    retry_after_s: float | None
    """Seconds the provider asked to wait, when it said so."""
    status: int | None
    """HTTP status, when there was a response."""
    request_id: str | None
    """The provider's id of the request, for its support."""
    partial: Message | None = None
    """What had arrived before the failure."""
    text: str = ""
    """Of a typed query: the answer as text, as far as it came."""
    partial_value: object = None
    """Of a typed query: the value that could be read from that text, unvalidated; None when nothing could."""
    _quotes_strangers = True

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        self.code = code
        self.message = printable(redact(message) if self._quotes_strangers else message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.status = status
        self.request_id = request_id
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        # As exceptions do it by themselves, it would be made anew of the message alone.
        return _remade, (type(self), self.args, self.__dict__)

    def to_wire(self) -> dict[str, object]:
        """Give the error as JSON-safe data: `code`, `message`, `retryable` and what is known."""
        wire: dict[str, object] = {"code": self.code, "message": self.message, "retryable": self.retryable}
        for name, key in (("retry_after_s", "retryAfterS"), ("status", "status"), ("request_id", "requestId")):
            value = getattr(self, name)
            if value is not None:
                wire[key] = value
        if self.partial is not None:
            wire["partial"] = self.partial.to_wire()
        if self.text:
            wire["text"] = self.text
        if self.partial_value is not None:
            wire["partialValue"] = _json_safe(self.partial_value)
        return wire


def _json_safe(value: Any) -> Any:
    """Give what was read of an answer as data of JSON: in Python syntax it may say more than JSON can."""
    inner: Any = value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(key): _json_safe(item) for key, item in inner.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json_safe(item) for item in inner]
    written = getattr(inner, "to_wire", None)  # of constructors, sets and names as they were written
    return inner if written is None else written()


def _remade(kind: type[UnspoolError], args: tuple[Any, ...], members: Mapping[str, Any]) -> UnspoolError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class ConfigError(UnspoolError):
    """The call cannot be made as it was asked for: a wrong option, or a credential that is absent or malformed."""


class TransportError(UnspoolError):
    """The request did not get through, or its body broke off below the protocol."""


class NetworkError(TransportError):
    """No response: no network, a refused connection, CORS, mixed content or a content security policy."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        """
        Args:
            message: what happened.
            retryable: False when another try would end the same way.
        """
        super().__init__("NETWORK", message, retryable=retryable)


class RequestTimeoutError(TransportError):
    """Our own limit on waiting ran out."""

    def __init__(self, message: str) -> None:
        """
        Args:
            message: which limit ran out.
        """
        super().__init__("TIMEOUT", message, retryable=True)


class ProviderError(UnspoolError):
    """The provider answered with an error: an HTTP status, or an error object inside a stream."""

    raw: Mapping[str, Any] | None
    """The provider's own error object as it came, when there was one. May hold anything: not part of the wire form."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        request_id: str | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            code, message, retryable, retry_after_s, status, request_id: as of `UnspoolError`.
            raw: the provider's own error object.
        """
        super().__init__(
            code,
            message,
            retryable=retryable,
            retry_after_s=retry_after_s,
            status=status,
            request_id=request_id,
        )
        self.raw = raw


class WireError(UnspoolError):
    """The bytes do not follow the protocol they claim to follow, or pass a limit."""


class StreamTruncatedError(WireError):
    """The body ended cleanly, but before the provider said that the answer was over."""

    def __init__(self, message: str = "The response ended before the provider said that it was complete.") -> None:
        """
        Args:
            message: what is missing.
        """
        super().__init__("STREAM_TRUNCATED", message, retryable=True)


class StreamError(UnspoolError):
    """Incremental text or a tool-call stream is at fault.

    Codes: UNEXPECTED_TOKEN, MISMATCHED_CLOSING, TRAILING_DATA, EMPTY_INPUT, INCOMPLETE_JSON, INVALID_JSON,
    DUPLICATE_KEY, NON_FINITE_NUMBER, MAX_BYTES_EXCEEDED, MAX_DEPTH_EXCEEDED, MAX_ACTIVE_STREAMS_EXCEEDED,
    DUPLICATE_STREAM, UNKNOWN_STREAM, STREAM_DISPOSED, INVALID_CHUNK, INVALID_OPTIONS, INTEGRATION_ERROR;
    of text in Python syntax also INVALID_PYTHON, INCOMPLETE_PYTHON, UNKNOWN_NAME, DUPLICATE_FIELD,
    TOO_MANY_POSITIONAL, INVALID_VALUE.
    """

    byte_offset: int | None
    """Zero-based offset of the fault in the UTF-8 bytes of the whole text, for faults found by a scanner."""
    id: object
    """The pool's id of the stream, when known."""
    operation: str | None
    """start, push, finish or field_state; of a wrong operation of an adapter, its type."""
    adapter: str | None
    """Name of the integration, when one was at work."""
    event_type: str | None
    """Type of the event at fault, when known."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        byte_offset: int | None = None,
        id: object = None,
        operation: str | None = None,
        adapter: str | None = None,
        event_type: str | None = None,
    ) -> None:
        """
        Args:
            code, message: as of `UnspoolError`.
            byte_offset, id, operation, adapter, event_type: where it happened, as far as that is known.
        """
        super().__init__(code, message)
        self.byte_offset = byte_offset
        self.id = id
        self.operation = operation
        self.adapter = adapter
        self.event_type = event_type

    def to_wire(self) -> dict[str, object]:
        wire = super().to_wire()
        known = {
            "byteOffset": self.byte_offset,
            "operation": self.operation,
            "adapter": self.adapter,
            "eventType": self.event_type,
        }
        wire.update({name: value for name, value in known.items() if value is not None})
        if isinstance(self.id, str | int | float):
            wire["id"] = self.id
        return wire


class OutputValidationError(UnspoolError):
    """The model's answer is not a value of the type asked for. The cause is kept in `__cause__`."""

    problems: tuple[Problem, ...] = ()
    """What is wrong with it, each with its path (`unspool.schema.problem`), when it could be read at all."""
    attempts: tuple[OutputValidationError, ...] = ()
    """What was wrong with the answers before it, when the model was asked again."""
    _quotes_strangers = False  # but the model, which is told of it, and the types of the application


class CallCancelledError(UnspoolError):
    """The caller stopped the call through its signal. (A cancelled task sees `asyncio.CancelledError`, as always.)"""

    def __init__(self, message: str = "The call was stopped by its caller.") -> None:
        """
        Args:
            message: what stopped it.
        """
        super().__init__("ABORTED", message)


class BridgeError(UnspoolError):
    """A message between the page and Python is wrong, or the worker is gone."""
