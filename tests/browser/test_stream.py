"""Queries through the shim, the same with Python in a worker and with Python in the page."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.browser.client import ANSWER, KEY, VALUE, Client, last, query
from tests.tools.provider import END, Provider, pieces, sse


async def gone(provider: Provider, number: int = 0) -> None:
    """Wait until the client of a request has closed its connection."""
    request = await provider.request(number)
    async with asyncio.timeout(20):
        await request.gone.wait()
    assert not request.over.is_set()


@pytest.mark.parametrize("chars", [1, 7, 1000])
async def test_events_build_the_value_and_end_with_it(connected: Client, provider: Provider, chars: int) -> None:
    provider.say_text(ANSWER, chars)
    told = await connected.run(provider)
    assert last(told)["type"] == "generationComplete"
    assert last(told)["result"] == VALUE
    text = "".join(event["delta"] for event in told["events"] if event["type"] == "textDelta")
    assert text == ANSWER
    name = [e["delta"] for e in told["events"] if e["type"] == "stringFieldDelta" and e["path"] == ["name"]]
    assert "".join(name) == VALUE["name"]
    assert {"type": "fieldEnd", "path": ["tags", 1], "value": "b"} in told["events"]


async def test_the_request_is_what_the_provider_expects(connected: Client, provider: Provider) -> None:
    provider.say_text(ANSWER)
    await connected.run(provider, system="Be brief.", options={"temperature": 0, "maxOutputTokens": 50, "seed": 7})
    request = await provider.request()
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json["model"] == "m"
    assert request.json["stream"] is True
    assert request.json["temperature"] == 0
    assert request.json["seed"] == 7
    assert "Be brief." in json.dumps(request.json["messages"])


async def test_native_protocol_sends_the_schema(connected: Client, provider: Provider) -> None:
    provider.say_text(ANSWER)
    told = await connected.run(provider, protocol="native")
    assert last(told)["result"] == VALUE
    sent = (await provider.request()).json["response_format"]
    assert sent["type"] == "json_schema"
    assert set(sent["json_schema"]["schema"]["properties"]) == {"name", "tags"}


async def test_query_gives_the_value_alone(connected: Client, provider: Provider) -> None:
    provider.say_text(ANSWER)
    assert await connected.call("query", query(provider)) == {"value": VALUE}


async def test_text_without_a_schema(connected: Client, provider: Provider) -> None:
    provider.say_text("Just words: {not json")
    told = await connected.run(provider, schema=None)
    assert last(told)["result"] == "Just words: {not json"


async def test_an_answer_of_the_wrong_shape_keeps_text_and_value(connected: Client, provider: Provider) -> None:
    provider.say_text('{"name": "Ann", "tags": "none"}')
    event = last(await connected.run(provider))
    assert event["type"] == "parsingFailed"
    assert event["error"]["code"] == "OUTPUT_INVALID"
    assert event["error"]["text"] == '{"name": "Ann", "tags": "none"}'
    assert event["error"]["partialValue"] == {"name": "Ann", "tags": "none"}


async def test_a_cut_stream_is_a_typed_failure(connected: Client, provider: Provider) -> None:
    provider.say(*pieces('{"name": "Ann", "ta'))
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "STREAM_TRUNCATED"
    assert event["error"]["partialValue"] == {"name": "Ann"}
    assert event["error"]["text"] == '{"name": "Ann", "ta'


@pytest.mark.parametrize(
    ("status", "code", "retryable"), [(401, "AUTH", False), (404, "MODEL_NOT_FOUND", False), (429, "RATE_LIMIT", True)]
)
async def test_an_error_status_has_its_code(
    connected: Client, provider: Provider, status: int, code: str, retryable: bool
) -> None:
    kind = "model_not_found" if status == 404 else "x"
    body = json.dumps({"error": {"message": f"refused {KEY}", "type": "x", "code": kind}}).encode()
    provider.say(body, status=status, headers={"Content-Type": "application/json"})
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    assert (event["error"]["code"], event["error"]["status"]) == (code, status)
    assert event["error"]["retryable"] is retryable
    assert KEY not in json.dumps(event)


async def test_no_server_is_a_network_error(connected: Client, provider: Provider) -> None:
    model = {"provider": "openai-chat", "model": "m", "apiKey": KEY, "baseURL": "http://127.0.0.1:9/v1"}
    event = last(await connected.run(provider, lm=model))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "NETWORK"


async def test_abort_in_mid_stream_reaches_the_server(connected: Client, provider: Provider) -> None:
    provider.say(*pieces('{"name": "Ann", "tags": ["x'), asyncio.Event())
    await connected.call("open", "a", query(provider))
    await connected.call("until", "a", "fieldEnd")
    await connected.call("abort", "a")
    await gone(provider)
    told = await connected.call("drain", "a")
    assert last(told)["type"] == "cancelled"
    assert last(told)["error"]["code"] == "ABORTED"
    assert last(told)["error"]["partialValue"]["name"] == "Ann"


async def test_abort_before_the_headers_reaches_the_server(connected: Client, provider: Provider) -> None:
    provider.say(asyncio.Event())
    await connected.call("open", "b", query(provider))
    waiting = asyncio.ensure_future(connected.call("drain", "b"))
    await provider.request()
    await connected.call("abort", "b")
    await gone(provider)
    assert last(await waiting)["type"] == "cancelled"


async def test_leaving_early_reaches_the_server(connected: Client, provider: Provider) -> None:
    provider.say(*pieces(ANSWER), asyncio.Event())
    await connected.call("open", "c", query(provider))
    await connected.call("until", "c", "stringFieldDelta")
    await connected.call("leave", "c")
    await gone(provider)
    assert await connected.call("next", "c") == {"done": True}


async def test_a_reader_that_waits_still_gets_everything(connected: Client, provider: Provider) -> None:
    gate = asyncio.Event()
    provider.say(*pieces(ANSWER[:20]), gate, *pieces(ANSWER[20:]), END)
    await connected.call("open", "d", query(provider))
    await connected.call("until", "d", "stringFieldDelta")
    assert (await connected.call("partial", "d"))["value"]["name"]
    gate.set()
    await (await provider.request()).over.wait()
    assert last(await connected.call("drain", "d"))["result"] == VALUE


async def test_two_streams_at_once_do_not_mix(connected: Client, provider: Provider) -> None:
    other = ANSWER.replace("Zoë", "Bob")
    gate = asyncio.Event()
    provider.say(*pieces(ANSWER[:9]), gate, *pieces(ANSWER[9:]), END).say(*pieces(other), END)
    await connected.call("open", "one", query(provider))
    assert (await connected.call("next", "one"))["type"] == "textDelta"
    second = last(await connected.run(provider))
    gate.set()
    first = last(await connected.call("drain", "one"))
    assert (first["result"], second["result"]) == (VALUE, json.loads(other))


async def test_an_integer_that_javascript_cannot_hold_is_refused(connected: Client, provider: Provider) -> None:
    """Design, section 5: an integer beyond ±(2^53-1) fails with UNSAFE_INTEGER instead of losing digits."""
    provider.say_text("9007199254740993")
    told = await connected.run(provider, schema={"type": "integer"})
    assert "UNSAFE_INTEGER" in json.dumps(told)
    provider.say_text("9007199254740991")
    assert last(await connected.run(provider, schema={"type": "integer"}))["result"] == 9007199254740991


async def test_an_error_inside_a_good_status(connected: Client, provider: Provider) -> None:
    provider.say(*pieces('{"name": "A'), sse({"error": {"message": "out of memory", "code": 503}}))
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    assert "out of memory" in event["error"]["message"]
    assert event["error"]["partialValue"] == {"name": "A"}
