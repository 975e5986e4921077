"""Requests to Bedrock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError, ProviderError
from unspool.llms import Bedrock
from unspool.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.providers.bedrock import BedrockAdapter
from unspool.testing import HttpResponse, ScriptedTransport

REGION = "eu-central-1"
RUNTIME = "https://bedrock-runtime.eu-central-1.amazonaws.com"
KEYS = "AKIDEXAMPLEXXXXX:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}
SPEC = {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": TOOL["parameters"]}}}
CALLED = (
    UserMessage("Hi"),
    AssistantMessage([ToolCall("a", "f", "{}")]),
    ToolMessage(ToolResult("a", "x")),
)


def build(
    request: Request,
    *,
    base_url: str = RUNTIME,
    api_key: str | None = None,
    region: str | None = REGION,
    **options: Any,
) -> HttpRequest:
    return BedrockAdapter(region, **options).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, **options: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(build(request, **options).body)
    return value


def ask(*messages: Message, model: str = "m", **options: Any) -> Request:
    return Request(model, messages or (UserMessage("Hi"),), **options)


def test_smallest_request() -> None:
    request = build(ask(model="us.amazon.nova-2-lite-v1:0"))
    assert (request.method, request.url) == ("POST", f"{RUNTIME}/model/us.amazon.nova-2-lite-v1%3A0/converse-stream")
    assert request.headers == {"content-type": "application/json"}  # F9
    assert json.loads(request.body) == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("anthropic.claude-x", "anthropic.claude-x"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab~1",
            "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fab~1",
        ),
        ("../../?a#b é", "..%2F..%2F%3Fa%23b%20%C3%A9"),
    ],
)
def test_model_stands_in_the_address(model: str, path: str) -> None:
    assert build(ask(model=model)).url == f"{RUNTIME}/model/{path}/converse-stream"
    assert (
        build(ask(model=model), base_url="http://h:1/aws/?a=1").url
        == f"http://h:1/aws/model/{path}/converse-stream?a=1"
    )


@pytest.mark.parametrize(
    ("region", "address"),
    [
        ("us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com"),
        ("us-gov-west-1", "https://bedrock-runtime.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
        (None, ""),
    ],
)
def test_region_makes_the_address(region: str | None, address: str) -> None:
    assert BedrockAdapter(region).base_url == address


@pytest.mark.parametrize("region", ["", "us-east", "us-east-1.evil.example/", "US-EAST-1", "us_east_1"])
def test_no_region(region: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        BedrockAdapter(region)


def test_bearer_token() -> None:
    headers = build(ask(), api_key="bedrock-api-key-YmVk&Version=1", headers={"X-A": "b", "Authorization": "c"}).headers
    assert headers == {
        "x-a": "b",
        "content-type": "application/json",
        "authorization": "Bearer bedrock-api-key-YmVk&Version=1",
    }
    with pytest.raises(ConfigError, match="INVALID_CREDENTIAL"):
        build(ask(), api_key="a b")


def test_signature() -> None:
    """The time is asked for at each request; the region is that of the address, where it says one."""
    times = iter((1_440_938_160.0, 1_440_938_161.0, 1_440_938_160.0, 1_440_938_160.0))
    asked = {"api_key": f"{KEYS}:token-0123456789", "clock": lambda: next(times)}
    first = build(ask(), **asked, headers={"x-a": "b"}).headers
    assert first["x-amz-date"] == "20150830T123600Z"
    assert first["x-amz-security-token"] == "token-0123456789"
    assert (
        "Credential=AKIDEXAMPLEXXXXX/20150830/eu-central-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-a;x-amz-date;x-amz-security-token, Signature="
    ) in first["authorization"]
    assert build(ask(), **asked).headers["x-amz-date"] == "20150830T123601Z"
    other = build(ask(), **asked, base_url="https://bedrock-runtime-fips.us-west-2.amazonaws.com", region=None)
    assert "/us-west-2/bedrock/" in other.headers["authorization"]
    assert f"/{REGION}/bedrock/" in build(ask(), **asked, base_url="https://proxy.example").headers["authorization"]
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        build(ask(), api_key=KEYS, base_url="https://proxy.example", region=None)
    with pytest.raises(ConfigError, match="INVALID_CREDENTIAL"):
        build(ask(), api_key="a:b")


def test_nothing_shows_the_keys() -> None:
    secret = KEYS.partition(":")[2]
    sent = build(ask(), api_key=f"{KEYS}:token-0123456789")
    lm = Bedrock("m", region=REGION, api_key=KEYS)
    for shown in (repr(sent), repr(lm), repr(lm.adapter), str(sent.headers), repr(sent.url)):
        assert secret not in shown
    for shown in (repr(sent), repr(lm)):
        assert "token-0123456789" not in shown
    assert "token-0123456789" in sent.credentials()  # and is so blanked out of errors


async def test_errors_do_not_show_the_keys() -> None:
    secret = KEYS.partition(":")[2]
    said = {"message": f"The token token-0123456789abcdef of {KEYS} is invalid: AWS4-HMAC-SHA256", "said": [secret]}
    transport = ScriptedTransport([HttpResponse(403, {}, json.dumps(said).encode())])
    lm = Bedrock("m", region=REGION, api_key=f"{KEYS}:token-0123456789abcdef", transport=transport)
    with pytest.raises(ProviderError) as caught:
        await lm.call("Hi")
    assert caught.value.code == "AUTH"
    for shown in (str(caught.value), str(caught.value.raw)):
        assert "token-0123456789abcdef" not in shown
        assert secret not in shown


def test_options() -> None:
    told = body(ask(SystemMessage("S."), UserMessage("Hi"), temperature=0, max_output_tokens=9, stop=["a"]))
    assert told["inferenceConfig"] == {"maxTokens": 9, "temperature": 0, "stopSequences": ["a"]}
    assert told["system"] == [{"text": "S."}]
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        body(ask(seed=1))


def test_extra_wins_member_by_member() -> None:
    told = body(
        ask(
            max_output_tokens=9,
            extra={
                "inferenceConfig": {"topP": 0.5},
                "additionalModelRequestFields": {"top_k": 3},
                "guardrailConfig": {"guardrailIdentifier": "g"},
                "system": [{"text": "x"}],
            },
        )
    )
    assert told["inferenceConfig"] == {"maxTokens": 9, "topP": 0.5}
    assert told["additionalModelRequestFields"] == {"top_k": 3}
    assert (told["guardrailConfig"], told["system"]) == ({"guardrailIdentifier": "g"}, [{"text": "x"}])


@pytest.mark.parametrize(
    ("choice", "told"),
    [("auto", {"auto": {}}), ("required", {"any": {}}), ("f", {"tool": {"name": "f"}}), (None, None)],
)
def test_tools(choice: str | None, told: dict[str, Any] | None) -> None:
    config = body(ask(tools=[TOOL], tool_choice=choice))["toolConfig"]
    assert (config["tools"], config.get("toolChoice")) == ([SPEC], told)


def test_odd_tools() -> None:
    tools = [{"name": "now", "description": ""}, {"type": "system", "name": "nova_grounding"}, {**TOOL, "strict": True}]
    assert body(ask(tools=tools))["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "now", "inputSchema": {"json": {"type": "object"}}}},
        {"systemTool": {"name": "nova_grounding"}},
        {"toolSpec": {**SPEC["toolSpec"], "strict": True}},
    ]


def test_tools_forbidden() -> None:
    """The API has no word for it: they are not shown, unless the conversation has called them."""
    assert "toolConfig" not in body(ask(tools=[TOOL], tool_choice="none"))
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        body(ask(*CALLED, tools=[TOOL], tool_choice="none"))
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        body(ask(tools=[TOOL], tool_choice="g"))


def test_cache_points() -> None:
    point = {"cachePoint": {"type": "default"}}
    told = body(ask(SystemMessage("S."), *CALLED, tools=[TOOL]), cache=True)
    assert told["toolConfig"]["tools"] == [SPEC, point]
    assert told["system"] == [{"text": "S."}, point]
    assert [turn["content"][-1] == point for turn in told["messages"]] == [False, False, True]
    told = body(ask(), cache=True)
    assert told == {"messages": [{"role": "user", "content": [{"text": "Hi"}, point]}]}


@pytest.mark.parametrize(
    ("model", "effort", "fields", "output"),
    [
        ("us.anthropic.claude-opus-4-6-v1", "max", {"thinking": {"type": "adaptive"}}, {"effort": "max"}),
        (
            "anthropic.claude-sonnet-4-20250514-v1:0",
            "low",
            {"thinking": {"type": "enabled", "budget_tokens": 1_024}},
            None,
        ),
        (
            "us.amazon.nova-2-lite-v1:0",
            "medium",
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
            None,
        ),
        ("us.amazon.nova-2-lite-v1:0", "none", {"reasoningConfig": {"type": "disabled"}}, None),
        ("openai.gpt-oss-120b-1:0", "high", {"reasoning_effort": "high"}, None),
        ("somebody.elses", "high", None, {"effort": "high"}),
    ],
)
def test_reasoning_effort(model: str, effort: str, fields: Any, output: Any) -> None:
    """Each maker's own words."""
    told = body(ask(model=model, reasoning_effort=effort))
    assert (told.get("additionalModelRequestFields"), told.get("outputConfig")) == (fields, output)
    more = body(ask(model=model, reasoning_effort=effort, extra={"additionalModelRequestFields": {"x": 1}}))
    assert more["additionalModelRequestFields"] == {**(fields or {}), "x": 1}


def test_effort_that_a_model_does_not_know() -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        body(ask(model="anthropic.claude-sonnet-4-20250514-v1:0", reasoning_effort="xhigh"))


def test_output_schema() -> None:
    """As text, beside an effort."""
    schema = {"type": "object", "properties": {"é": {"type": "integer"}}}
    told = body(ask(model="anthropic.claude-x", output_schema=OutputSchema("A b", schema), reasoning_effort="low"))
    assert told["outputConfig"]["effort"] == "low"
    form = told["outputConfig"]["textFormat"]
    assert form["type"] == "json_schema"
    assert form["structure"]["jsonSchema"]["name"] == "A_b"
    assert json.loads(form["structure"]["jsonSchema"]["schema"]) == schema


def test_models() -> None:
    adapter = BedrockAdapter(REGION)
    request = adapter.models_request(api_key="k", base_url=adapter.base_url)
    assert request.url == "https://bedrock.eu-central-1.amazonaws.com/foundation-models?byOutputModality=TEXT"
    assert (request.method, request.headers) == ("GET", {"authorization": "Bearer k"})
    assert adapter.models_request(api_key=None, base_url="https://h/x").url.startswith("https://h/x/foundation-models?")
    signed = adapter.models_request(api_key=KEYS, base_url=adapter.base_url)
    assert "SignedHeaders=host;x-amz-date," in signed.headers["authorization"]
    told = adapter.models(
        {
            "modelSummaries": [
                {"modelId": "amazon.nova-lite-v1:0", "inputModalities": ["TEXT", "IMAGE"]},
                {"modelId": "meta.llama", "inputModalities": ["TEXT"], "responseStreamingSupported": True},
                {"modelId": "old", "responseStreamingSupported": False},
                {"modelName": "nameless"},
                {"modelId": "bare"},
            ]
        }
    )
    assert [(facts.id, facts.image_input) for facts in told] == [
        ("amazon.nova-lite-v1:0", True),
        ("meta.llama", False),
        ("bare", None),
    ]
    with pytest.raises(Exception, match="PROTOCOL"):
        adapter.models({"message": "no"})


def test_facts() -> None:
    adapter = BedrockAdapter(REGION)
    facts = adapter.facts("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert facts is not None
    assert (facts.context_window, facts.image_input) == (200_000, True)
    assert adapter.facts("amazon.nova-lite-v1:0") is None


async def test_model() -> None:
    with pytest.raises(ConfigError, match="region"):
        Bedrock("m")
    with pytest.raises(ConfigError, match="not both"):
        Bedrock("m", region=REGION, adapter=BedrockAdapter(REGION))
    assert Bedrock("m", base_url="https://h").base_url == "https://h"
    with pytest.raises(ConfigError) as caught:
        await Bedrock("m", region=REGION).call("Hi")
    assert caught.value.code == "MISSING_CREDENTIAL"
    whole = {"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}
    transport = ScriptedTransport([json.dumps(whole).encode()])
    lm = Bedrock("m", adapter=BedrockAdapter(REGION, cache=True), api_key="k", transport=transport)
    assert (await lm.call("Hello")).text == "Hi"
    assert transport.requests[0].url == f"{RUNTIME}/model/m/converse-stream"
