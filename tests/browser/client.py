"""The shim in a page, driven from a test: `served/harness.mjs` seen from Python."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal, cast

from playwright.async_api import Page
from tests.tools.provider import Provider

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
ANSWER = '{"name": "Zoë 👩‍🚀", "tags": ["a", "b"]}'
VALUE = {"name": "Zoë 👩‍🚀", "tags": ["a", "b"]}
TERMINAL = {"generationComplete", "parsingFailed", "generationFailed", "cancelled"}
KEY = "sk-test-0123456789abcdef"

CALL_TIMEOUT_S = 180.0
"""Playwright lets a page's promise hang for ever."""

Where = Literal["worker", "page", "default"]
REALMS: list[Where] = ["worker", "page"]


class Client:
    """One connection of the shim. Every answer is plain data."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def call(self, name: str, *arguments: object) -> Any:
        """Call a function of the harness."""
        script = """async ([name, args]) => (await (await import("/harness.mjs"))[name](...args)) ?? null"""
        async with asyncio.timeout(CALL_TIMEOUT_S):
            return await self.page.evaluate(script, [name, list(arguments)])

    async def start(self, where: Where, **options: object) -> dict[str, Any]:
        """Start Python; give its versions, or what `connect` threw."""
        return cast(dict[str, Any], await self.call("start", where, options))

    async def run(self, provider: Provider, **options: object) -> dict[str, Any]:
        """Stream a whole query: `events`, and `threw` or `done`."""
        return cast(dict[str, Any], await self.call("run", query(provider, **options)))

    async def python(self, code: str) -> Any:
        """Evaluate a Python expression where Python is; its value must be JSON-safe."""
        script = f"pyodide.runPython({json.dumps(f'import json; json.dumps({code})')})"
        return json.loads(await self.call("probe", script))

    async def proxies(self) -> dict[str, int]:
        """The PyProxy objects that are alive, counted by where they were made."""
        script = """
        (() => {
          const counts = {};
          for (const stack of pyodide._module.pyproxy_alloc_map.values()) counts[stack] = (counts[stack] ?? 0) + 1;
          return counts;
        })()
        """
        return cast(dict[str, int], await self.call("probe", script))


def query(provider: Provider, **options: object) -> dict[str, object]:
    """A query of a person from the scripted provider; an option that is None is left out."""
    model = {"provider": "openai-chat", "model": "m", "apiKey": KEY, "baseURL": provider.base_url}
    asked = {"prompt": "Who?", "schema": PERSON, "lm": model, **options}
    return {name: value for name, value in asked.items() if value is not None}


def last(told: dict[str, Any]) -> dict[str, Any]:
    """The one terminal event of a stream that ended as it should."""
    assert "threw" not in told, told
    terminal = [event for event in told["events"] if event["type"] in TERMINAL]
    assert len(terminal) == 1, told
    assert told["events"][-1] is terminal[0]
    return cast(dict[str, Any], terminal[0])
