"""Nothing that comes from outside kills the interpreter. Deep nesting would: in Pyodide that is fatal, no exception."""

from __future__ import annotations

import json

import pytest
from tests.browser.client import ANSWER, VALUE, Client, last
from tests.tools.provider import END, Provider, pieces, sse

DEEP = 100_000
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}


async def still_answers(client: Client, provider: Provider) -> None:
    provider.say_text(ANSWER)
    assert last(await client.run(provider))["result"] == VALUE
    assert await client.python("6 * 7") == 42


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
async def test_deep_nesting_in_an_sse_payload(connected: Client, provider: Provider, opening: str) -> None:
    provider.say(*pieces('{"name": "Ann"'), sse('{"choices":' + opening * DEEP), END)
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    assert event["error"]["code"] == "PROTOCOL"
    assert event["error"]["partialValue"] == {"name": "Ann"}
    await still_answers(connected, provider)


@pytest.mark.parametrize("status", [400, 500])
async def test_deep_nesting_in_an_error_body(connected: Client, provider: Provider, status: int) -> None:
    provider.say(b'{"error":' + b"[" * DEEP, status=status, headers={"Content-Type": "application/json"})
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    assert event["error"]["status"] == status
    await still_answers(connected, provider)


async def test_deep_nesting_in_a_whole_json_body(connected: Client, provider: Provider) -> None:
    provider.say(b'{"choices":' + b"[" * DEEP, headers={"Content-Type": "application/json"})
    event = last(await connected.run(provider))
    assert event["type"] == "generationFailed"
    await still_answers(connected, provider)


@pytest.mark.parametrize("chars", [16, DEEP])
@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, "-" * DEEP, '"' + "\\" * DEEP], ids=lambda text: text[:5])
async def test_deep_nesting_in_the_answer(connected: Client, provider: Provider, text: str, chars: int) -> None:
    provider.say_text(text[: chars * 2000], chars)
    event = last(await connected.run(provider, schema=TREE))
    assert event["type"] == "parsingFailed"
    assert event["error"]["code"] in {"OUTPUT_INVALID", "OUTPUT_TOO_LARGE"}
    await still_answers(connected, provider)


async def test_the_deepest_answer_that_is_allowed(connected: Client, provider: Provider) -> None:
    """64 levels by default, and each of them arrives."""
    value: list[object] = []
    for _ in range(63):
        value = [value]
    provider.say_text(json.dumps(value))
    assert last(await connected.run(provider, schema=TREE))["result"] == value
    provider.say_text(json.dumps([value]))
    assert last(await connected.run(provider, schema=TREE))["type"] == "parsingFailed"
    await still_answers(connected, provider)


HOSTILE = {
    "brackets": "[" * DEEP,
    "constructors": "list(" * DEEP,
    "mixed": "[(" * DEEP,
    "signs": "-" * DEEP,
    "commas": "[" + "," * 1_000_000,
    "string": '["' + "x" * 1_000_000,
    "backslashes": '["' + "\\" * 1_000_000,
    "adjacent": "[" + "'a' " * 5_000,  # one event each, all of them brought out of the page
    "fences": "```\n" * 200_000,
    "digits": "[" + "9" * 900_000,
    "parentheses in a fence": "```python\n" + "(" * DEEP,
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_replies_in_python_syntax(connected: Client, provider: Provider, name: str) -> None:
    provider.say_text(HOSTILE[name], 50_000)
    event = last(await connected.run(provider, schema="builtins:list", protocol="python"))
    assert event["type"] == "parsingFailed"
    assert event["error"]["code"] in {"OUTPUT_INVALID", "OUTPUT_TOO_LARGE"}
    await still_answers(connected, provider)


async def test_an_answer_in_python_syntax(connected: Client, provider: Provider) -> None:
    provider.say_text("```python\n['a', (1, 2), {'k': None}]\n```", 3)
    told = await connected.run(provider, schema="builtins:list", protocol="python")
    assert last(told)["result"] == ["a", [1, 2], {"k": None}]
    starts = [event for event in told["events"] if event["type"] == "objectStart"]
    assert [event.get("pythonKind") for event in starts] == [None, "tuple", None]
