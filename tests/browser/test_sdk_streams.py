"""The npm SDKs in real browsers as sources of `readStructured`, with the recordings in place of their servers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route
from tests.browser.client import Client
from tests.conftest import REPO, shared_data_folder

PACKAGE = REPO / "web" / "test-sdks"
READ = {
    "openai": ("openai-responses", "openai"),
    "openai-chat": ("openai-chat", "openai-chat"),
    "anthropic": ("anthropic", "anthropic"),
    "anthropic beta": ("anthropic", "anthropic"),
    "gemini": ("gemini", "gemini"),
    "gemini interactions": ("gemini-interactions", "gemini"),
    "cohere": ("cohere", "cohere"),
    "mistral": ("mistral", "mistral"),
    "bedrock": ("bedrock", "bedrock"),
    "ag-ui": ("ag-ui", "ag-ui"),
    "ai ui messages": ("vercel-ui", "vercel-ai"),
    "assistant-ui": ("vercel-ui", "assistant-ui"),
}
"""Stream of the package → dialect of its recordings, integration."""
MADE = {
    "ai fullStream": "vercel-ai",
    "ai toUIMessageStream": "vercel-ai",
    "assistant-ui": "assistant-ui",
    "langchain": "langchain",
}
TYPES = {".sse": "text/event-stream", ".eventstream": "application/vnd.amazon.eventstream"}


@pytest.fixture(scope="module")
def bundle() -> bytes:
    """The SDKs in one file, as a page loads them."""
    if not (PACKAGE / "node_modules").is_dir():
        pytest.skip("the npm SDKs are not installed (make web/test-sdks/node_modules/.ready)")
    subprocess.run(["npm", "run", "--silent", "bundle"], cwd=PACKAGE, check=True, timeout=120)
    return (PACKAGE / "build" / "streams.js").read_bytes()


async def serve(client: Client, bundle: bytes) -> str:
    """Answer the page's requests for the bundle and for recordings; gives where the bundle is."""

    async def recorded(route: Route) -> None:
        folder = shared_data_folder()
        assert folder is not None
        dialect, name = route.request.url.partition("/recorded/")[2].split("/")[:2]
        file = folder / "wire" / dialect / name
        headers = {"content-type": TYPES[file.suffix], "x-vercel-ai-ui-message-stream": "v1"}
        await route.fulfill(body=file.read_bytes(), headers=headers)

    async def bundled(route: Route) -> None:
        await route.fulfill(body=bundle, content_type="text/javascript")

    await client.page.unroute_all()
    await client.page.route("**/recorded/**", recorded)
    await client.page.route("**/bundle/streams.js", bundled)
    return "/bundle/streams.js"


def recordings(shared_data: Path, dialect: str) -> list[dict[str, Any]]:
    files = json.loads((shared_data / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
    return [
        file
        for file in files
        if file["dialect"] == dialect
        and Path(file["file"]).suffix in TYPES
        and "/invoke-" not in file["file"]
        and file["expect"].get("tool_calls")
    ]


@pytest.mark.parametrize("name", READ)
async def test_recorded(connected: Client, bundle: bytes, shared_data: Path, name: str) -> None:
    dialect, integration = READ[name]
    at = await serve(connected, bundle)
    origin = await connected.page.evaluate("location.origin")
    found = recordings(shared_data, dialect)
    assert found
    for file in found:
        told = await connected.call("readSdk", at, name, f"{origin}/recorded/{file['file']}", integration)
        facts = file["expect"]
        assert ("threw" in told) == ("errors" in facts), (file["file"], told)
        wanted = [*facts["tool_calls"], *facts.get("server_tool_calls", [])]
        assert sorted(json.dumps([call["name"], call["value"]], sort_keys=True) for call in told["calls"]) == sorted(
            json.dumps([call["name"], call["arguments_json"]], sort_keys=True) for call in wanted
        ), file["file"]


@pytest.mark.parametrize("name", MADE)
async def test_made(connected: Client, bundle: bytes, name: str) -> None:
    at = await serve(connected, bundle)
    texts = {"call_1": '{"city":"San Francisco 👋","days":[1,2.5,true,null]}', "call_2": "{}"}
    calls = [{"id": id, "name": f"tool_{id}", "text": text} for id, text in texts.items()]
    told = await connected.call("readSdk", at, name, calls, MADE[name])
    assert told == {
        "calls": [{"id": id, "name": f"tool_{id}", "value": json.loads(text)} for id, text in texts.items()]
    }
