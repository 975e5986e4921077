"""A tool that a model asks for: run by the page, and its result sent back."""

from __future__ import annotations

from tests.browser.client import Client, query
from tests.tools.provider import Provider, sse

TOOLS = [{"name": "weather", "description": "Now.", "parameters": {"type": "object"}}]
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Köln"}'}}
ASKS = sse({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]}, "[DONE]")


async def test_a_round_trip(connected: Client, provider: Provider) -> None:
    provider.say(ASKS).say_text("It is 21 °C.")
    told = await connected.call("roundTrip", query(provider, schema=None, tools=TOOLS), "21 °C")
    assert told == {
        "calls": [{"id": "c1", "name": "weather", "truncated": False, "args": {"city": "Köln"}}],
        "text": "It is 21 °C.",
    }
    assert (await provider.request(0)).json["tool_choice"] == "required"
    turns = (await provider.request(1)).json
    assert "tool_choice" not in turns
    assert [turn["role"] for turn in turns["messages"]] == ["user", "assistant", "tool"]
    assert turns["messages"][2]["tool_call_id"] == "c1"
