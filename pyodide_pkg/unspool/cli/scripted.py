"""A scripted provider: real HTTP, real server-sent events, OpenAI chat completions at the pace of a small model.

Host only. What it answers fits what it is asked for, in any protocol (`text_for`); without a type it is prose. The name
of the model says how the answer fares (`SCENARIOS`). There is no randomness: the same request gets the same answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from unspool.cli.scripted_form import asked_in_words, written_python
from unspool.errors import StreamError
from unspool.structured import strict_json

SCENARIOS = {
    "scripted": "a good answer",
    "scripted-slow": "a good answer at a tenth of the pace",
    "scripted-endless": "an answer that ends only when its reader leaves",
    "scripted-cut": "the connection ends in the middle of the answer, as if it were over",
    "scripted-broken": "the connection breaks in the middle of the answer",
    "scripted-error": "an error object in the middle of the answer",
    "scripted-length": "an answer that is cut by the limit of output tokens",
    "scripted-invalid": "an answer of another shape",
    "scripted-text": "an answer that is no JSON",
    "scripted-refused": "status 401",
    "scripted-busy": "status 429, to be tried again in 7 seconds",
    "scripted-down": "status 503 with a page of HTML",
}
"""Names of models, and what becomes of an answer of theirs."""

STATUSES: dict[str, tuple[int, Mapping[str, str], str | dict[str, Any]]] = {
    "scripted-refused": (
        401,
        {},
        {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"},
    ),
    "scripted-busy": (
        429,
        {"Retry-After": "7"},
        {"message": "Rate limit reached.", "type": "requests", "code": "rate_limit_exceeded"},
    ),
    "scripted-down": (503, {}, "<!doctype html><title>503 Service Unavailable</title><h1>Service Unavailable</h1>"),
}

TEXT = (
    "A stream is a promise kept a little at a time. Each word arrives when it is ready, and nothing has to wait for "
    "the last one."
)

# What a small model would say to the schemas of the demo; by title, which is also the name of the schema on the wire.
ANSWERS: dict[str, dict[str, Any]] = {
    "City": {
        "city": "Paris",
        "country": "France",
        "continent": "Europe",
        "known_for": "Wide boulevards, small bookshops, and bridges over a slow river.",
        "sights": ["Eiffel Tower", "Louvre", "Sacré-Cœur"],
    },
    "Trip": {
        "city": "Kyoto",
        "days": 4,
        "sights": ["Fushimi Inari", "Kinkaku-ji", "Nishiki market"],
        "tip": "Start before eight, when the lanes are still empty.",
    },
    "Person": {
        "name": "Albert Einstein",
        "born": 1879,
        "country": "Germany",
        "fields": ["physics", "mathematics"],
        "known_for": "The theory of relativity.",
    },
    "Event": {
        "what": "Football",
        "who": ["Sam", "Kim", "Lee"],
        "day": "Sunday",
        "time": "15:00",
        "place": "The park",
    },
    "Story": {
        "title": "The Dragon Who Carried Water",
        "genre": "adventure",
        "characters": [
            {"name": "Ember", "role": "a dragon who is afraid of fire"},
            {"name": "Tove", "role": "a girl who keeps the village well"},
        ],
        "opening": "Ember had never told anyone why she slept beside the lake.",
    },
}

FORMATS = {
    "date": "2026-06-01",
    "date-time": "2026-06-01T15:00:00Z",
    "time": "15:00:00",
    "duration": "PT3H",
    "uuid": "3f2b8a52-6c1d-4e0b-9a57-2d1c0b9e8f70",
    "email": "sam@example.org",
    "uri": "https://example.org/",
}

TOKENS_PER_S = 28.0
FIRST_TOKEN_S = 0.35
_TOKEN = re.compile(r"\s*(?:[^\W\d_]{1,6}|\d{1,3}|.)|\s+", re.DOTALL)
_MAX_NESTING = 24
_DEEP = 3
"""Beyond it no more is answered than has to be, so that a type that contains itself ends."""


def scripted_provider(*, tokens_per_s: float | None = TOKENS_PER_S) -> Starlette:
    """Make the application: `/v1/chat/completions` and `/v1/models`, open to pages of every origin.

    Args:
        tokens_per_s: the pace; None streams without a pause.
    """

    async def models(_request: Request) -> Response:
        data = [
            {"id": name, "object": "model", "owned_by": "unspool", "description": SCENARIOS[name]} for name in SCENARIOS
        ]
        return JSONResponse({"object": "list", "data": data})

    async def chat(request: Request) -> Response:
        try:
            body = strict_json.loads(await request.body(), duplicate_keys="last")
        except StreamError as error:
            return _failure(400, error.message, "invalid_request_error")
        asked = _mapping(body)
        if not isinstance(asked.get("messages"), list):
            return _failure(400, "Expected 'messages' to be an array.", "invalid_request_error")
        name = str(asked.get("model", "scripted"))
        if name not in SCENARIOS:
            return _failure(404, f"The model {name!r} does not exist.", "invalid_request_error", "model_not_found")
        if name in STATUSES:
            status, headers, said = STATUSES[name]
            if isinstance(said, str):
                return Response(said, status, media_type="text/html", headers=headers)
            return JSONResponse({"error": said}, status, headers=headers)
        pace = None if tokens_per_s is None else tokens_per_s / (10 if name == "scripted-slow" else 1)
        answer = Answer(name, asked)
        if not asked.get("stream"):
            return JSONResponse(answer.whole())
        return StreamingResponse(_paced(answer, pace), media_type="text/event-stream")

    cors = Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])
    return Starlette(
        routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models)], middleware=[cors]
    )


def _failure(status: int, message: str, kind: str, code: str | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "type": kind, "code": code}}, status)


class Answer:
    """One answer of the provider, as text, tokens and events."""

    def __init__(self, scenario: str, request: Mapping[str, Any]) -> None:
        """Decide what to say to a chat request."""
        self.scenario = scenario
        self._request = request
        text = text_for(request)
        if scenario == "scripted-invalid":
            self.text = json.dumps({"answer": "something else"})
        else:
            self.text = TEXT if scenario == "scripted-text" or text is None else text
        self.tokens = _TOKEN.findall(self.text)
        limit = request.get("max_completion_tokens", request.get("max_tokens"))
        if scenario == "scripted-length":
            limit = len(self.tokens) // 2
        self.cut = isinstance(limit, int) and limit < len(self.tokens)
        if self.cut:
            self.tokens = self.tokens[: cast(int, limit)]

    def whole(self) -> dict[str, Any]:
        """The answer as one body."""
        message = {"role": "assistant", "content": "".join(self.tokens)}
        choice = {"index": 0, "message": message, "finish_reason": self._reason()}
        return {**self._frame("chat.completion"), "choices": [choice], "usage": self._usage()}

    def events(self) -> list[dict[str, Any] | str | None]:
        """The events of a stream: objects, or `[DONE]`; None where the connection breaks."""
        out: list[dict[str, Any] | str | None] = [self._delta({"role": "assistant", "content": ""})]
        tokens = self.tokens
        broken = self.scenario in ("scripted-cut", "scripted-broken", "scripted-error")
        if broken:
            tokens = tokens[: max(1, len(tokens) // 2)]
        out += [self._delta({"content": token}) for token in tokens]
        if self.scenario == "scripted-broken":
            return [*out, None]
        if self.scenario == "scripted-error":
            return [*out, {"error": {"message": "The model is overloaded.", "type": "overloaded_error", "code": 529}}]
        if broken:
            return out
        out.append(self._delta({}, self._reason()))
        if _mapping(self._request.get("stream_options")).get("include_usage"):
            out.append({**self._frame("chat.completion.chunk"), "choices": [], "usage": self._usage()})
        return [*out, "[DONE]"]

    def _delta(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**self._frame("chat.completion.chunk"), "choices": [choice]}

    def _frame(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": self.scenario}

    def _reason(self) -> str:
        return "length" if self.cut else "stop"

    def _usage(self) -> dict[str, int]:
        prompt = len(_TOKEN.findall(prompt_of(self._request)))
        count = len(self.tokens)
        return {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}


class _BrokenConnectionError(Exception):
    """Ends the answer in a way that its reader notices."""


async def _paced(answer: Answer, tokens_per_s: float | None) -> AsyncIterator[bytes]:
    if tokens_per_s is not None:
        await asyncio.sleep(FIRST_TOKEN_S)
    while True:
        for number, event in enumerate(answer.events()):
            if event is None:
                raise _BrokenConnectionError
            if answer.scenario == "scripted-endless" and (event == "[DONE]" or _is_end(event)):
                continue
            data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
            yield f"data: {data}\n\n".encode()
            # Tokens of real models do not come evenly: now and then one takes longer.
            await asyncio.sleep(0 if tokens_per_s is None else (1.9 if number % 7 == 3 else 0.85) / tokens_per_s)
        if answer.scenario != "scripted-endless":
            return


def _is_end(event: Mapping[str, Any] | str) -> bool:
    return isinstance(event, Mapping) and (not event["choices"] or event["choices"][0]["finish_reason"] is not None)


def prompt_of(request: Mapping[str, Any]) -> str:
    """All text of the conversation."""
    contents = [_mapping(message).get("content") for message in request["messages"]]
    return "\n".join(content for content in contents if isinstance(content, str))


def text_for(request: Mapping[str, Any]) -> str | None:
    """Decide on the text of an answer that holds a value.

    Returns:
        One that fits the JSON schema of `response_format`, or what the words of the prompt ask for: the form of a JSON
        answer, a JSON schema, or a type in Python syntax; None where nothing is asked for.
    """
    wanted = _mapping(_mapping(request.get("response_format")).get("json_schema"))
    if "schema" in wanted:
        return _json(sample({"title": wanted.get("name"), **_mapping(wanted["schema"])}))
    asked = asked_in_words(prompt_of(request))
    if asked is None:
        return None
    schema, is_python = asked
    value = sample(schema)
    return f"```python\n{written_python(value, schema)}\n```" if is_python else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def sample(schema: Mapping[str, Any]) -> Any:
    """Make a value that fits a JSON schema: a prepared one where there is one of these members, else the plainest.

    Args:
        schema: any JSON schema; keywords that are not known here are passed over.
    """
    return _sample(schema, schema, "", 0)


def _sample(schema: object, root: Mapping[str, Any], name: str, depth: int) -> Any:
    node = _mapping(schema)
    if depth > _MAX_NESTING:
        return None
    if isinstance(node.get("$ref"), str):
        found: Any = root
        for part in str(node["$ref"]).removeprefix("#").strip("/").split("/"):
            found = _mapping(found).get(part)
        return _sample(found, root, name, depth + 1)
    deep = depth > _DEEP
    for keyword in ("examples", "enum"):
        if node.get(keyword):
            return node[keyword][0]
    for keyword in ("const", "default"):
        if keyword in node:
            return node[keyword]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if node.get(keyword):
            if deep and {"type": "null"} in node[keyword]:
                return None
            return _sample(node[keyword][0], root, name, depth + 1)
    members = _mapping(node.get("properties"))
    prepared = next((value for value in ANSWERS.values() if members and value.keys() == members.keys()), None)
    if prepared is not None:
        return prepared
    match node.get("type", "object" if members else None):
        case "object":
            wanted = node.get("required", ()) if deep else members
            value = {key: _sample(inner, root, key, depth + 1) for key, inner in members.items() if key in wanted}
            rest = node.get("additionalProperties")
            if rest and not members and not deep:
                value["some name"] = _sample(rest, root, name, depth + 1)
            return value
        case "array" if node.get("prefixItems"):
            return [_sample(inner, root, name, depth + 1) for inner in node["prefixItems"]]
        case "array":
            most = 0 if deep else 1 if node.get("uniqueItems") else 2
            count = max(int(node.get("minItems", 0)), min(most, int(node.get("maxItems", most))))
            return [_sample(node.get("items", {"type": "string"}), root, name, depth + 1) for _ in range(count)]
        case "string":
            if node.get("format") in FORMATS:
                return FORMATS[node["format"]]
            return f"some {name.replace('_', ' ')}".strip()[: int(node.get("maxLength", 80))]
        case "integer":
            return int(node.get("minimum", node.get("maximum", 7)))
        case "number":
            return float(node.get("minimum", node.get("maximum", 1.5)))
        case "boolean":
            return True
        case _:
            return None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
