"""One good answer in each dialect, event by event, and the words in which its vendor refuses.

Each answer has reasoning, text, a tool call and usage. What an event adds to the message stands beside it, written by
hand. Plain data for servers and for clients, in every realm.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

TEXT = ("Grü", "ße, мир ", "👋")
REASONING = ("Let me ", "think.")
ARGUMENTS = ('{"city":', '"Ulm"}')
CALL = ("weather", '{"city":"Ulm"}')
USAGE = (9, 12)
"""Tokens in and out."""
KEY = "unspool-marker-0123456789"


class Step(NamedTuple):
    """One event, as it is framed, and what it adds."""

    frame: bytes
    text: str = ""
    reasoning: str = ""
    ends: bool = False
    """Whether the vendor has said by now that the answer is over: what breaks later breaks nothing."""


class Refusal(NamedTuple):
    """An answer with an error status, and what it must become."""

    status: int
    body: bytes
    code: str
    retryable: bool = False
    headers: str = ""
    retry_after_s: float | None = None
    request_id: str | None = None
    type: str = "application/json"


def sse(data: bytes) -> bytes:
    """A server-sent event without a name."""
    return b"data: %s\n\n" % data


def line(data: bytes) -> bytes:
    """One of the lines that some servers send."""
    return data + b"\n"


def message(data: bytes, name: str = "contentBlockDelta", kind: str = "event") -> bytes:
    """A message of AWS's binary event stream."""
    return headed({f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}, data)


def headed(headers: dict[str, str], data: bytes) -> bytes:
    """A message with any headers that are texts."""
    told = b"".join(
        struct.pack(f">B{len(key)}sBH{len(value)}s", len(key), key.encode(), 7, len(value), value.encode())
        for key, value in headers.items()
    )
    prelude = struct.pack(">II", len(told) + len(data) + 16, len(told))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + told + data
    return body + struct.pack(">I", zlib.crc32(body))


class Framing(NamedTuple):
    """How the events of a stream are told apart."""

    type: str = "text/event-stream"
    frame: Callable[[bytes], bytes] = sse
    endless: bytes = b'data: {"x": "'
    """An event begins that will be too long."""
    too_long: str = "SSE_EVENT_TOO_LARGE"
    strays: str | None = None
    """What anything else among the events becomes; None: it is passed over."""


SSE = Framing()
LINES = Framing("application/x-ndjson", line, b'{"x": "', "BODY_TOO_LARGE", "PROTOCOL")
_TOO_LONG = struct.pack(">II", 0x00FFFFFF + 2, 9)
MESSAGES = Framing(
    "application/vnd.amazon.eventstream",
    message,
    _TOO_LONG + struct.pack(">I", zlib.crc32(_TOO_LONG)),
    "BODY_TOO_LARGE",
    "PROTOCOL",
)


class Dialect(NamedTuple):
    model: str
    """Name of the class in `unspool.llms`."""
    steps: list[Step]
    sentinel: bool
    """Whether the last event ends the response, also when more follows."""
    error: bytes
    """An event that reports an overloaded server in the middle of a stream."""
    refusals: dict[str, Refusal]
    framing: Framing = SSE


def _data(value: Any, name: str = "") -> bytes:
    named = b"event: %s\n" % name.encode() if name else b""
    return b"%sdata: %s\n\n" % (named, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _chat(delta: dict[str, Any] | None, reason: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764547200, "model": "m"}
    return _data({**head, "choices": choices, **more})


def _call(arguments: str, name: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {**(name or {}), "arguments": arguments}, **more}]}


CHAT = [
    Step(_chat({"role": "assistant", "content": ""})),
    *(Step(_chat({"reasoning_content": text}), reasoning=text) for text in REASONING),
    *(Step(_chat({"content": text}), text) for text in TEXT),
    Step(_chat(_call("", {"name": CALL[0]}, id="call_1", type="function"))),
    *(Step(_chat(_call(text))) for text in ARGUMENTS),
    Step(_chat({}, "tool_calls"), ends=True),
    Step(_chat(None, usage={"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}), ends=True),
    Step(b"data: [DONE]\n\n", ends=True),
]


def _response(kind: str, **more: Any) -> bytes:
    return _data({"type": f"response.{kind}", **more}, f"response.{kind}")


def _whole(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": status, "model": "m", "output": [], "usage": None, **more}


_REASONING_ITEM = {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAA"}
_SUMMARY = {"type": "summary_text", "text": "".join(REASONING)}
_MESSAGE_ITEM = {"id": "msg_1", "type": "message", "role": "assistant"}
_PART = {"type": "output_text", "text": "".join(TEXT), "annotations": []}
_CALL_ITEM = {"id": "fc_1", "type": "function_call", "call_id": "call_r", "name": CALL[0]}
_RS = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
_MSG = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
_FC = {"item_id": "fc_1", "output_index": 2}
_OUTPUT = [
    {**_REASONING_ITEM, "summary": [_SUMMARY]},
    {**_MESSAGE_ITEM, "status": "completed", "content": [_PART]},
    {**_CALL_ITEM, "status": "completed", "arguments": CALL[1]},
]
_USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 12,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 21,
}

RESPONSES = [
    Step(_response("created", response=_whole("in_progress"))),
    Step(_response("in_progress", response=_whole("in_progress"))),
    Step(_response("output_item.added", output_index=0, item={**_REASONING_ITEM, "summary": []})),
    Step(_response("reasoning_summary_part.added", **_RS, part={"type": "summary_text", "text": ""})),
    *(Step(_response("reasoning_summary_text.delta", **_RS, delta=text), reasoning=text) for text in REASONING),
    Step(_response("reasoning_summary_text.done", **_RS, text="".join(REASONING))),
    Step(_response("reasoning_summary_part.done", **_RS, part=_SUMMARY)),
    Step(_response("output_item.done", output_index=0, item=_OUTPUT[0])),
    Step(_response("output_item.added", output_index=1, item={**_OUTPUT[1], "status": "in_progress", "content": []})),
    Step(_response("content_part.added", **_MSG, part={**_PART, "text": ""})),
    *(Step(_response("output_text.delta", **_MSG, delta=text), text) for text in TEXT),
    Step(_response("output_text.done", **_MSG, text="".join(TEXT))),
    Step(_response("content_part.done", **_MSG, part=_PART)),
    Step(_response("output_item.done", output_index=1, item=_OUTPUT[1])),
    Step(_response("output_item.added", output_index=2, item={**_OUTPUT[2], "status": "in_progress", "arguments": ""})),
    *(Step(_response("function_call_arguments.delta", **_FC, delta=text)) for text in ARGUMENTS),
    Step(_response("function_call_arguments.done", **_FC, arguments=CALL[1])),
    Step(_response("output_item.done", output_index=2, item=_OUTPUT[2])),
    Step(_response("completed", response=_whole("completed", output=_OUTPUT, usage=_USAGE)), ends=True),
]


def _anthropic(kind: str, **more: Any) -> bytes:
    return _data({"type": kind, **more}, kind)


def _delta(index: int, kind: str, name: str, text: str) -> bytes:
    return _anthropic("content_block_delta", index=index, delta={"type": f"{kind}_delta", name: text})


def _start(index: int, **block: Any) -> Step:
    return Step(_anthropic("content_block_start", index=index, content_block=block))


def _stop(index: int) -> Step:
    return Step(_anthropic("content_block_stop", index=index))


_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}

ANTHROPIC = [
    Step(_anthropic("message_start", message={**_MESSAGE, "usage": {"input_tokens": 9, "output_tokens": 1}})),
    _start(0, type="thinking", thinking="", signature=""),
    Step(_anthropic("ping")),
    *(Step(_delta(0, "thinking", "thinking", text), reasoning=text) for text in REASONING),
    Step(_delta(0, "signature", "signature", "ErUB")),
    _stop(0),
    _start(1, type="text", text=""),
    *(Step(_delta(1, "text", "text", text), text) for text in TEXT),
    _stop(1),
    _start(2, type="tool_use", id="toolu_1", name=CALL[0], input={}),
    *(Step(_delta(2, "input_json", "partial_json", text)) for text in ARGUMENTS),
    _stop(2),
    Step(_anthropic("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 12}), ends=True),
    Step(_anthropic("message_stop"), ends=True),
]


def _gemini(*parts: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return _data({"candidates": [candidate], **more, "modelVersion": "m", "responseId": "R1"}).replace(b"\n", b"\r\n")


GEMINI = [
    *(Step(_gemini({"text": text, "thought": True}), reasoning=text) for text in REASONING),
    *(Step(_gemini({"text": text}), text) for text in TEXT),
    Step(_gemini({"functionCall": {"name": CALL[0], "args": {"city": "Ulm"}}, "thoughtSignature": "U0lH"})),
    Step(_gemini({"text": ""}, reason="STOP"), ends=True),
    Step(
        _data(
            {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "thoughtsTokenCount": 3}}
            | {"modelVersion": "m", "responseId": "R1"}
        ).replace(b"\n", b"\r\n"),
        ends=True,
    ),
]


def _cohere(kind: str, index: int | None = None, **message: Any) -> bytes:
    return _data({"type": kind, "index": index, "delta": {"message": message}}, kind)


_C_CALL = {"id": "weather_1", "type": "function", "function": {"name": CALL[0], "arguments": ""}}
_C_USAGE = {"billed_units": {"input_tokens": 3}, "tokens": {"input_tokens": 9, "output_tokens": 12}}

COHERE = [
    Step(_data({"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}}, "message-start")),
    Step(_cohere("content-start", 0, content={"type": "thinking", "thinking": ""})),
    *(Step(_cohere("content-delta", 0, content={"thinking": text}), reasoning=text) for text in REASONING),
    Step(_cohere("content-end", 0)),
    Step(_cohere("content-start", 1, content={"type": "text", "text": ""})),
    *(Step(_cohere("content-delta", 1, content={"text": text}), text) for text in TEXT),
    Step(_cohere("content-end", 1)),
    Step(_cohere("tool-call-start", 0, tool_calls=_C_CALL)),
    *(Step(_cohere("tool-call-delta", 0, tool_calls={"function": {"arguments": text}})) for text in ARGUMENTS),
    Step(_cohere("tool-call-end", 0)),
    Step(
        _data({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": _C_USAGE}}, "message-end")
        + b"data: [DONE]\n\n",
        ends=True,
    ),
]


def _openai_error(message: str, type: str, code: str | None) -> bytes:
    return _json({"error": {"message": message, "type": type, "param": None, "code": code}})


_LONG = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens."
OPENAI_REFUSALS = {
    "400": Refusal(
        400,
        _openai_error("Invalid value for 'tools'.", "invalid_request_error", "invalid_value"),
        "INVALID_REQUEST",
        headers="x-request-id: req_1\r\n",
        request_id="req_1",
    ),
    "400-context": Refusal(
        400, _openai_error(_LONG, "invalid_request_error", "context_length_exceeded"), "CONTEXT_WINDOW_EXCEEDED"
    ),
    "401": Refusal(
        401, _openai_error(f"Incorrect API key provided: {KEY}.", "invalid_request_error", "invalid_api_key"), "AUTH"
    ),
    "403": Refusal(
        403,
        _openai_error("Country not supported", "request_forbidden", "unsupported_country_region_territory"),
        "AUTH",
    ),
    "404": Refusal(
        404,
        _openai_error("The model `m` does not exist.", "invalid_request_error", "model_not_found"),
        "MODEL_NOT_FOUND",
    ),
    "413": Refusal(413, b"<html><h1>413 Request Entity Too Large</h1></html>", "INVALID_REQUEST", type="text/html"),
    "429": Refusal(
        429,
        _openai_error("Rate limit reached. Please try again in 1.5s.", "tokens", "rate_limit_exceeded"),
        "RATE_LIMIT",
        True,
        "retry-after-ms: 1400\r\nretry-after: 2\r\n",
        retry_after_s=1.4,
    ),
    "429-quota": Refusal(
        429,
        _openai_error("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
        "RATE_LIMIT",
    ),
    "500": Refusal(500, _openai_error("The server had an error.", "server_error", None), "PROVIDER", True),
    "503": Refusal(
        503, _openai_error("The engine is currently overloaded.", "server_error", "overloaded"), "OVERLOADED", True
    ),
    "529": Refusal(529, b"", "OVERLOADED", True, type="text/plain"),
}


def _anthropic_error(type: str, message: str) -> bytes:
    return _json({"type": "error", "error": {"type": type, "message": message}, "request_id": "req_1"})


def _refused(status: int, type: str, message: str, code: str, *more: Any, **named: Any) -> Refusal:
    return Refusal(status, _anthropic_error(type, message), code, *more, request_id="req_1", **named)


ANTHROPIC_REFUSALS = {
    "400": _refused(400, "invalid_request_error", "messages.0: `tool_use` ids must be unique", "INVALID_REQUEST"),
    "400-context": _refused(
        400,
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "CONTEXT_WINDOW_EXCEEDED",
    ),
    "401": _refused(401, "authentication_error", f"invalid x-api-key {KEY}", "AUTH"),
    "403": _refused(403, "permission_error", "Your API key does not have permission.", "AUTH"),
    "404": _refused(404, "not_found_error", "model: claude-9", "MODEL_NOT_FOUND"),
    "413": _refused(413, "request_too_large", "Request exceeds the maximum size", "INVALID_REQUEST"),
    "429": _refused(
        429,
        "rate_limit_error",
        "This request would exceed your rate limit",
        "RATE_LIMIT",
        True,
        "retry-after: 7\r\n",
        retry_after_s=7.0,
    ),
    "500": _refused(500, "api_error", "Internal server error", "PROVIDER", True),
    "503": Refusal(503, b"upstream connect error", "OVERLOADED", True, type="text/plain"),
    "529": _refused(529, "overloaded_error", "Overloaded", "OVERLOADED", True),
}


def _google_error(status: int, name: str, message: str, *details: Any) -> bytes:
    return _json({"error": {"code": status, "message": message, "status": name, "details": list(details)}})


_WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
_WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}

GEMINI_REFUSALS = {
    "400": Refusal(400, _google_error(400, "INVALID_ARGUMENT", "Unable to submit request."), "INVALID_REQUEST"),
    "400-key": Refusal(
        400, _google_error(400, "INVALID_ARGUMENT", "API key not valid.", _WRONG_KEY), "AUTH"
    ),  # its word for 401
    "400-context": Refusal(
        400,
        _google_error(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        "CONTEXT_WINDOW_EXCEEDED",
    ),
    "401": Refusal(401, _google_error(401, "UNAUTHENTICATED", f"Invalid credential {KEY}."), "AUTH"),
    "403": Refusal(403, _google_error(403, "PERMISSION_DENIED", "Method doesn't allow this caller."), "AUTH"),
    "404": Refusal(
        404,
        b"[" + _google_error(404, "NOT_FOUND", "models/m is not found for API version v1beta.") + b"]",
        "MODEL_NOT_FOUND",
    ),
    "413": Refusal(413, b"<!DOCTYPE html><title>Error 413</title>", "INVALID_REQUEST", type="text/html"),
    "429": Refusal(
        429,
        _google_error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", _WAIT),
        "RATE_LIMIT",
        True,
        retry_after_s=34.5,
    ),
    "429-day": Refusal(429, _google_error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", _DAY), "RATE_LIMIT"),
    "500": Refusal(500, _google_error(500, "INTERNAL", "An internal error has occurred."), "PROVIDER", True),
    "503": Refusal(503, _google_error(503, "UNAVAILABLE", "The model is overloaded."), "OVERLOADED", True),
    "529": Refusal(529, b"", "OVERLOADED", True, type="text/plain"),
}


def _cohere_refused(status: int, message: str, code: str, *more: Any, **named: Any) -> Refusal:
    return Refusal(status, _json({"id": "e-1", "message": message}), code, *more, request_id="e-1", **named)


COHERE_REFUSALS = {
    "400": _cohere_refused(400, "invalid request: all elements in history must have a message.", "INVALID_REQUEST"),
    "400-context": _cohere_refused(
        400,
        "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
        "CONTEXT_WINDOW_EXCEEDED",
    ),
    "401": _cohere_refused(401, f"invalid api token {KEY}", "AUTH"),
    "403": _cohere_refused(403, "forbidden", "AUTH"),
    "404": _cohere_refused(404, "model 'm' not found, make sure the correct model ID was used", "MODEL_NOT_FOUND"),
    "413": Refusal(413, b"<html><h1>413 Request Entity Too Large</h1></html>", "INVALID_REQUEST", type="text/html"),
    "429": _cohere_refused(
        429,
        "You are using a Trial key, which is limited to 20 API calls / minute.",
        "RATE_LIMIT",
        True,
        "retry-after: 7\r\n",
        retry_after_s=7.0,
    ),
    "429-month": _cohere_refused(
        429, "You are using a Trial key, which is limited to 1000 API calls / month.", "RATE_LIMIT"
    ),
    "498": _cohere_refused(498, "invalid token", "AUTH"),
    "499": _cohere_refused(499, "streaming error", "PROVIDER", True),
    "500": _cohere_refused(500, "internal server error", "PROVIDER", True),
    "503": _cohere_refused(503, "the service is unavailable", "OVERLOADED", True),
    "529": Refusal(529, b"", "OVERLOADED", True, type="text/plain"),
}


def _ollama(message: dict[str, Any], **more: Any) -> bytes:
    head = {"model": "m", "created_at": "2026-11-30T12:00:00.1Z", "message": {"role": "assistant", **message}}
    return line(json.dumps({**head, "done": False, **more}, ensure_ascii=False, separators=(",", ":")).encode())


_TOOL_CALL = {"id": "call_o", "function": {"index": 0, "name": CALL[0], "arguments": {"city": "Ulm"}}}

OLLAMA = [
    *(Step(_ollama({"content": "", "thinking": text}), reasoning=text) for text in REASONING),
    *(Step(_ollama({"content": text}), text) for text in TEXT),
    Step(_ollama({"content": "", "tool_calls": [_TOOL_CALL]})),
    Step(_ollama({"content": ""}, done=True, done_reason="stop", prompt_eval_count=9, eval_count=12), ends=True),
]


def _ollama_error(status: int, message: str, code: str, retryable: bool = False) -> Refusal:
    return Refusal(status, _json({"error": message}), code, retryable)


_BUSY = "server busy, please try again.  maximum pending requests exceeded"

OLLAMA_REFUSALS = {
    "400": _ollama_error(400, "registry.ollama.ai/library/m:latest does not support tools", "INVALID_REQUEST"),
    "400-context": _ollama_error(400, "the input length exceeds the context length", "CONTEXT_WINDOW_EXCEEDED"),
    "401": _ollama_error(401, f"unauthorized {KEY}", "AUTH"),
    "403": Refusal(403, b"", "AUTH", type="text/plain"),  # another origin than OLLAMA_ORIGINS names
    "404": _ollama_error(404, "model 'm' not found", "MODEL_NOT_FOUND"),
    "413": Refusal(413, b"<html><h1>413 Request Entity Too Large</h1></html>", "INVALID_REQUEST", type="text/html"),
    "429": _ollama_error(429, "you've reached your hourly usage limit", "RATE_LIMIT", True),
    "500": _ollama_error(500, "model runner has unexpectedly stopped", "PROVIDER", True),
    "503": _ollama_error(503, _BUSY, "OVERLOADED", True),
    "529": Refusal(529, b"", "OVERLOADED", True, type="text/plain"),
}


def _bedrock(name: str, **members: Any) -> bytes:
    return message(json.dumps({**members, "p": "abcdefg"}, ensure_ascii=False).encode(), name)


def _block(index: int, **delta: Any) -> bytes:
    return _bedrock("contentBlockDelta", contentBlockIndex=index, delta=delta)


def _over(index: int) -> Step:
    return Step(_bedrock("contentBlockStop", contentBlockIndex=index))


_CALLED = {"toolUse": {"toolUseId": "tooluse_1", "name": CALL[0]}}

BEDROCK = [
    Step(_bedrock("messageStart", role="assistant")),
    *(Step(_block(0, reasoningContent={"text": text}), reasoning=text) for text in REASONING),
    Step(_block(0, reasoningContent={"signature": "RXVC"})),
    _over(0),
    *(Step(_block(1, text=text), text) for text in TEXT),
    _over(1),
    Step(_bedrock("contentBlockStart", contentBlockIndex=2, start=_CALLED)),
    *(Step(_block(2, toolUse={"input": text})) for text in ARGUMENTS),
    _over(2),
    Step(_bedrock("messageStop", stopReason="tool_use"), ends=True),
    Step(_bedrock("metadata", usage={"inputTokens": 9, "outputTokens": 12, "totalTokens": 21}), ends=True),
]


def _aws_error(
    status: int, name: str, message: str, code: str, retryable: bool = False, in_body: bool = False
) -> Refusal:
    """The name stands in a header, which pages may not see."""
    body = {"__type": name, "message": message} if in_body else {"message": message}
    header = "" if in_body else f"x-amzn-errortype: {name}:http://internal.amazon.com/coral/\r\n"
    headers = f"{header}x-amzn-requestid: req_1\r\n"
    return Refusal(status, _json(body), code, retryable, headers, request_id="req_1")


BEDROCK_REFUSALS = {
    "400": _aws_error(400, "ValidationException", "messages.0: text is blank", "INVALID_REQUEST"),
    "400-context": _aws_error(
        400, "ValidationException", "Input is too long for requested model.", "CONTEXT_WINDOW_EXCEEDED"
    ),
    "401": _aws_error(401, "UnrecognizedClientException", f"The token {KEY} is invalid.", "AUTH"),
    "403": Refusal(403, _json({"Message": "You don't have access to the model."}), "AUTH"),
    "404": _aws_error(404, "ResourceNotFoundException", "This Model is legacy.", "MODEL_NOT_FOUND"),
    "413": Refusal(413, b"<html><h1>413</h1></html>", "INVALID_REQUEST", type="text/html"),
    "424": _aws_error(424, "ModelErrorException", "Processing failed.", "PROVIDER", True),
    "429": _aws_error(429, "ThrottlingException", "Too many tokens per day, please wait.", "RATE_LIMIT", True),
    "500": _aws_error(500, "InternalServerException", "The system met an error.", "PROVIDER", True),
    "503": _aws_error(503, "ServiceUnavailableException", "Bedrock is unable to process.", "OVERLOADED", True, True),
    "529": Refusal(529, b"", "OVERLOADED", True, type="text/plain"),
}

_OVERLOADED = {"message": "Our servers are overloaded.", "type": "server_error", "code": "server_is_overloaded"}

DIALECTS = {
    "chat": Dialect("OpenAIChat", CHAT, True, _data({"error": _OVERLOADED}), OPENAI_REFUSALS),
    "responses": Dialect("OpenAI", RESPONSES, True, _data({"type": "error", **_OVERLOADED}, "error"), OPENAI_REFUSALS),
    "anthropic": Dialect(
        "Anthropic",
        ANTHROPIC,
        True,
        _data({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error"),
        ANTHROPIC_REFUSALS,
    ),
    "gemini": Dialect(
        "Gemini",
        GEMINI,
        False,
        _data({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
        GEMINI_REFUSALS,
    ),
    "ollama": Dialect("Ollama", OLLAMA, True, line(_json({"error": _BUSY})), OLLAMA_REFUSALS, LINES),
    "bedrock": Dialect(
        "Bedrock",
        BEDROCK,
        True,
        message(_json({"message": "Try again."}), "serviceUnavailableException", "exception"),
        BEDROCK_REFUSALS,
        MESSAGES,
    ),
    "cohere": Dialect(
        "Cohere",
        COHERE,
        True,
        _data({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "The model is overloaded."}}),
        COHERE_REFUSALS,
    ),
}


def told_after(steps: list[Step]) -> tuple[str, str]:
    """Text and reasoning of these events."""
    return "".join(step.text for step in steps), "".join(step.reasoning for step in steps)
