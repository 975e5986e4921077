"""Requests of the adapter, and whole conversations with it."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.wire import FIXTURES

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError, ProviderError
from unspool.functions import query
from unspool.llms import Gemini
from unspool.messages import Message, SystemMessage, ToolMessage, ToolResult, UserMessage
from unspool.providers.gemini import GeminiAdapter, GeminiDecoder
from unspool.stream.chunks import TextDelta
from unspool.testing import HttpResponse, ScriptedTransport

GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-3-flash-preview"


def build(request: Request, *, base_url: str = GOOGLE, api_key: str | None = None, **profile: Any) -> HttpRequest:
    return GeminiAdapter(**profile).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, **profile: Any) -> dict[str, Any]:
    value = json.loads(build(request, **profile).body)
    assert isinstance(value, dict)
    return value


def ask(*messages: Message, model: str = MODEL, **options: Any) -> Request:
    return Request(model, messages or (UserMessage("Hi"),), **options)


def config(**options: Any) -> Any:
    return body(ask(**options)).get("generationConfig")


def test_smallest_request() -> None:
    request = build(ask())
    assert (request.method, request.url) == (
        "POST",
        f"{GOOGLE}/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
    )
    assert json.loads(request.body) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


@pytest.mark.parametrize(
    ("base_url", "model", "url"),
    [
        (GOOGLE + "/", "models/x", f"{GOOGLE}/models/x:streamGenerateContent?alt=sse"),
        ("http://h:1/v1?k=1", "x", "http://h:1/v1/models/x:streamGenerateContent?k=1&alt=sse"),
        (
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
            "gemini-x",
            "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"
            "/models/gemini-x:streamGenerateContent?alt=sse",
        ),
    ],
)
def test_address(base_url: str, model: str, url: str) -> None:
    assert build(ask(model=model), base_url=base_url).url == url


def test_key_is_sent_as_header_only() -> None:
    """Addresses are logged and kept in histories."""
    request = build(ask(), api_key="AIza-1")
    assert request.headers == {"content-type": "application/json", "x-goog-api-key": "AIza-1"}
    assert "AIza" not in request.url
    assert "AIza" not in repr(request)
    assert b"AIza" not in request.body


@pytest.mark.parametrize(
    ("key", "profile", "names"),
    [
        (None, {}, ["content-type"]),
        (None, {"headers": {"Authorization": "Bearer t"}}, ["authorization", "content-type"]),
        ("k", {"headers": {"Content-Type": "x", "X-Goog-Api-Key": "y"}}, ["content-type", "x-goog-api-key"]),
    ],
)
def test_only_headers_that_are_needed(key: str | None, profile: dict[str, Any], names: list[str]) -> None:
    """F9: Google consents to these in a page; each further one it must consent to, too."""
    headers = build(ask(), api_key=key, **profile).headers
    assert sorted(headers) == names
    assert headers["content-type"] == "application/json"


def test_options() -> None:
    assert config(temperature=0, max_output_tokens=9, stop=["\n", "x"], seed=0) == {
        "temperature": 0,
        "maxOutputTokens": 9,
        "stopSequences": ["\n", "x"],
        "seed": 0,
    }
    assert config() is None


@pytest.mark.parametrize(
    ("effort", "include_thoughts", "wire"),
    [
        (None, None, None),
        (None, True, {"includeThoughts": True}),
        (None, False, None),
        ("low", None, {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("low", False, {"thinkingLevel": "LOW"}),
    ],
)
def test_thinking(effort: str | None, include_thoughts: bool | None, wire: Any) -> None:
    sent = body(ask(reasoning_effort=effort), include_thoughts=include_thoughts)
    assert sent.get("generationConfig", {}).get("thinkingConfig") == wire


def test_thinking_that_is_switched_off_is_not_shown() -> None:
    sent = body(ask(model="gemini-2.5-flash", reasoning_effort="none"))
    assert sent["generationConfig"] == {"thinkingConfig": {"thinkingBudget": 0}}


def test_output_schema() -> None:
    schema = {"type": "object", "properties": {"kind": {"const": "a"}}}
    assert config(output_schema=OutputSchema("Answer", schema)) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object", "properties": {"kind": {"enum": ["a"]}}},
    }


def test_tools() -> None:
    full = {"type": "object", "properties": {"x": {"oneOf": [{"type": "integer"}, {"type": "null"}]}}}
    tools = [
        {"name": "f", "description": "d", "parameters": full, "strict": True},
        {"name": "g", "description": "", "parameters": {"type": "object", "properties": {}}},
        {"name": "h", "parameters": {"type": "object", "additionalProperties": {"type": "string"}}},
        {"name": "i", "parameters": {"$ref": "#/$defs/A", "$defs": {"A": full}}},
    ]
    sent = body(ask(tools=tools))
    declared = {"type": "object", "properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
    assert sent["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "description": "d", "parametersJsonSchema": declared},
                {"name": "g"},
                {"name": "h", "parametersJsonSchema": {"type": "object", "additionalProperties": {"type": "string"}}},
                {"name": "i", "parametersJsonSchema": {"$ref": "#/$defs/A", "$defs": {"A": declared}}},
            ]
        }
    ]
    assert "toolConfig" not in sent


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        ("f", {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_tool_choice(choice: str, wire: dict[str, Any]) -> None:
    sent = body(ask(tools=[{"name": "f"}], tool_choice=choice))
    assert sent["toolConfig"] == {"functionCallingConfig": wire}


def test_extra_wins() -> None:
    """Member by member where both are objects, so that one more setting does not drop the others."""
    extra = {"generationConfig": {"temperature": 0, "topK": 4}, "safetySettings": [], "systemInstruction": None}
    sent = body(ask(SystemMessage("S"), UserMessage("Hi"), temperature=1, seed=3, extra=extra))
    assert sent["generationConfig"] == {"temperature": 0, "seed": 3, "topK": 4}
    assert (sent["safetySettings"], sent["systemInstruction"]) == ([], None)


@pytest.mark.parametrize(
    ("request_", "base_url", "key", "code"),
    [
        (ask(), "ftp://h/v1", None, "INVALID_OPTIONS"),
        (ask(), "h/v1", None, "INVALID_OPTIONS"),
        (ask(), GOOGLE, "", "INVALID_CREDENTIAL"),
        (ask(), GOOGLE, "k\n", "INVALID_CREDENTIAL"),
        (ask(model="a b"), GOOGLE, None, "INVALID_OPTIONS"),
        (ask(model="gemini-2.0-flash", reasoning_effort="low"), GOOGLE, None, "INVALID_OPTIONS"),
        (ask(SystemMessage("x")), GOOGLE, None, "INVALID_OPTIONS"),
        (ask(tool_choice="required"), GOOGLE, None, "INVALID_OPTIONS"),
        (ask(tools=[{"name": "f"}], tool_choice="g"), GOOGLE, None, "INVALID_OPTIONS"),
    ],
)
def test_requests_that_cannot_be_sent(request_: Request, base_url: str, key: str | None, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(request_, base_url=base_url, api_key=key)
    assert caught.value.code == code


def test_building_changes_nothing() -> None:
    """The same request gives the same bytes, for the cache and for a second attempt."""
    request = ask(extra={"a": 1}, tools=[{"name": "f"}], stop=["x"], reasoning_effort="low")
    assert build(request, api_key="k").body == build(request, api_key="k").body


def test_decoder_follows_the_profile() -> None:
    adapter = GeminiAdapter(candidate=1)
    decoder = adapter.decoder(ask())
    assert isinstance(decoder, GeminiDecoder)
    assert adapter.decoder(ask()) is not decoder
    candidates = [{"content": {"parts": [{"text": text}]}} for text in "ab"]
    out = decoder.decode({"candidates": candidates})
    assert [chunk.text for chunk in out if isinstance(chunk, TextDelta)] == ["b"]


def test_facts() -> None:
    facts = GeminiAdapter().facts("models/gemini-2.5-pro")
    assert facts is not None
    assert facts.image_input is True
    assert GeminiAdapter().facts("something") is None


def test_models_request() -> None:
    request = GeminiAdapter().models_request(api_key="k", base_url=GOOGLE)
    assert (request.method, request.url, request.body) == ("GET", f"{GOOGLE}/models?pageSize=1000", b"")
    assert request.headers == {"x-goog-api-key": "k"}
    assert [facts.id for facts in GeminiAdapter().models({"models": [{"name": "models/x"}]})] == ["x"]


def replies(*names: str) -> ScriptedTransport:
    return ScriptedTransport([(FIXTURES / "gemini" / f"{name}.sse").read_bytes() for name in names])


def sent_by(transport: ScriptedTransport, at: int) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = json.loads(transport.requests[at].body)["contents"]
    return contents


@pytest.mark.parametrize("saved", [False, True])
async def test_tools_over_several_turns(saved: bool) -> None:
    """F31, F34: signatures and order come through, also through a save of the history; ids of ours are not sent."""
    transport = replies("parallel-signed-first", "wire-ids", "signatures", "text")
    lm = Gemini(MODEL, transport=transport, tools=[{"name": "f"}])
    history: list[Message] = [UserMessage("Hi")]
    for _ in range(3):
        answer = await lm.call(history)
        assert answer.finish_reason == "tool_calls"
        results = [ToolResult(call.id, f"{call.name}{place}") for place, call in enumerate(answer.tool_calls)]
        history += [answer, ToolMessage(results)]
        if saved:
            history = [Message.from_wire(json.loads(json.dumps(message.to_wire()))) for message in history]
    assert (await lm.call(history)).text == "Grüße, мир 👋"
    assert sent_by(transport, 3) == [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "f", "args": {"city": "Paris"}}, "thoughtSignature": "QUJD"},
                {"functionCall": {"name": "f", "args": {"city": "Rome"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "f0"}}},
                {"functionResponse": {"name": "f", "response": {"output": "f1"}}},
            ],
        },
        {
            "role": "model",
            "parts": [
                # Nobody signed them, as no model of this generation leaves them.
                {
                    "functionCall": {"name": "f", "args": {"x": 1}, "id": "w1"},
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                {"functionCall": {"name": "f", "args": {"x": 2}, "id": "w2"}},
                {"functionCall": {"name": "f", "args": {"x": 3}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "f0"}, "id": "w1"}},
                {"functionResponse": {"name": "f", "response": {"output": "f1"}, "id": "w2"}},
                {"functionResponse": {"name": "f", "response": {"output": "f2"}}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "why", "thought": True, "thoughtSignature": "U0lHMQ=="},
                {"text": "a"},
                {"text": "b", "thoughtSignature": "U0lHMg=="},
                {"text": "c"},
                {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "U0lHMw=="},
                {"text": "", "thoughtSignature": "U0lHNA=="},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "f0"}}}]},
    ]


async def test_what_gemini_ran_and_drew_goes_back() -> None:
    transport = replies("code", "image", "text")
    lm = Gemini(MODEL, transport=transport)
    history: list[Message] = [UserMessage("Hi")]
    for question in ("And?", "Now?"):
        answer = await lm.call(history)
        history += [Message.from_wire(json.loads(json.dumps(answer.to_wire()))), UserMessage(question)]
    await lm.call(history)
    code, picture = sent_by(transport, 2)[1]["parts"], sent_by(transport, 2)[3]["parts"]
    assert code == [
        {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "e"}, "thoughtSignature": "QUJD"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n", "id": "e"}},
        {"brandNew": {"a": [1]}},
        {"text": "2"},
    ]
    assert [sorted(part) for part in picture] == [
        ["text"],
        ["inlineData", "thoughtSignature"],
        ["inlineData", "thought"],
        ["text"],
    ]


async def test_call_that_was_cut_is_not_sent_back() -> None:
    """F37."""
    lm = Gemini(MODEL, transport=replies("partial-by-length"))
    answer = await lm.call("Hi")
    assert answer.finish_reason == "length"
    with pytest.raises(ConfigError, match="was cut"):
        await lm.call([UserMessage("Hi"), answer])


async def test_key_is_needed_at_google_and_never_shown() -> None:
    with pytest.raises(ConfigError, match="MISSING_CREDENTIAL"):
        await Gemini(MODEL).call("Hi")
    key = "AIzaSyD-1234567890abcdefghijklmnopqrstuv"
    reply = HttpResponse(
        400,
        {"content-type": "application/json"},
        json.dumps(
            {"error": {"code": 400, "message": f"API key not valid: {key}", "status": "INVALID_ARGUMENT"}}
        ).encode(),
    )
    with pytest.raises(ProviderError) as caught:
        await Gemini(MODEL, api_key=key, transport=ScriptedTransport([reply])).call("Hi")
    assert caught.value.code == "AUTH"
    assert key not in str(caught.value)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int | None


class Dog(BaseModel):
    kind: Literal["dog"]


class Owner(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind", description="the pet")
    second: Cat = Field(description="another")


async def test_typed_query() -> None:
    """F36: the schema is in Gemini's words, and its answer is a value of the type."""
    answer = '{"pet": {"kind": "dog"}, "second": {"kind": "cat", "lives": null}}'
    reply = {"candidates": [{"content": {"parts": [{"text": answer}]}, "finishReason": "STOP"}]}
    transport = ScriptedTransport([b"data: %s\r\n\r\n" % json.dumps(reply).encode()])
    owner = await query("Who?", Owner, lm=Gemini(MODEL, transport=transport), protocol="native")
    assert owner == Owner(pet=Dog(kind="dog"), second=Cat(kind="cat", lives=None))
    sent = json.loads(transport.requests[0].body)["generationConfig"]
    assert sent["responseMimeType"] == "application/json"
    text = json.dumps(sent["responseJsonSchema"])
    assert not any(f'"{word}"' in text for word in ("const", "oneOf", "discriminator", "default"))
