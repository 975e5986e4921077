"""Reads streams of real SDKs through `read_structured`. Run as a program, in a process that has the SDKs.

In, on standard input: a JSON list of cases, each with the SDK to use. Out: one line of JSON a case.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from unspool import integrations
from unspool.integrations.read import read_structured
from unspool.structured.pool import StreamCompletion

ASK = [{"role": "user", "content": "x"}]


async def openai_responses(url: str) -> Any:
    client = importlib.import_module("openai").AsyncOpenAI(api_key="k", base_url=url, max_retries=0)
    return await client.responses.create(model="m", input="x", stream=True)


async def openai_chat(url: str) -> Any:
    client = importlib.import_module("openai").AsyncOpenAI(api_key="k", base_url=url, max_retries=0)
    return await client.chat.completions.create(model="m", messages=ASK, stream=True)


async def anthropic(url: str) -> Any:
    client = importlib.import_module("anthropic").AsyncAnthropic(api_key="k", base_url=url, max_retries=0)
    return await client.messages.create(model="m", max_tokens=9, messages=ASK, stream=True)


async def anthropic_beta(url: str) -> Any:
    client = importlib.import_module("anthropic").AsyncAnthropic(api_key="k", base_url=url, max_retries=0)
    return await client.beta.messages.create(model="m", max_tokens=9, messages=ASK, stream=True)


def _gemini(url: str) -> Any:
    return importlib.import_module("google.genai").Client(api_key="k", http_options={"base_url": url})


async def gemini(url: str) -> Any:
    return await _gemini(url).aio.models.generate_content_stream(model="m", contents="x")


async def gemini_interactions(url: str) -> Any:
    return await _gemini(url).aio.interactions.create(model="m", input="x", stream=True)


async def mistral(url: str) -> Any:
    client = importlib.import_module("mistralai.client").Mistral(api_key="k", server_url=url)
    return await client.chat.stream_async(model="m", messages=ASK)


async def cohere(url: str) -> Any:
    client = importlib.import_module("cohere").AsyncClientV2(api_key="k", base_url=url)
    return client.chat_stream(model="m", messages=ASK)


async def bedrock(url: str) -> Any:
    client = importlib.import_module("boto3").client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="k",
        aws_secret_access_key="k",
    )
    return client.converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "x"}]}])["stream"]


SDKS: dict[str, tuple[Callable[[str], Any], Any]] = {
    "openai-responses": (openai_responses, integrations.openai),
    "openai-chat": (openai_chat, integrations.openai_chat),
    "anthropic": (anthropic, integrations.anthropic),
    "anthropic-beta": (anthropic_beta, integrations.anthropic),
    "gemini": (gemini, integrations.gemini),
    "gemini-interactions": (gemini_interactions, integrations.gemini),
    "mistral": (mistral, integrations.mistral),
    "cohere": (cohere, integrations.cohere),
    "bedrock": (bedrock, integrations.bedrock),
}


def langchain_events(events: Iterable[Any]) -> Iterable[Any]:
    """The objects that LangChain's own classes make of what it wrote down."""
    messages = importlib.import_module("langchain_core.messages")
    for event in events:
        if isinstance(event, list) and event[0].get("id", [""])[-1] == "AIMessageChunk":
            yield messages.AIMessageChunk(**event[0]["kwargs"]), event[1]


def ag_ui_events(events: Iterable[Any]) -> Iterable[Any]:
    """The objects of the protocol's Python classes; of other events some recordings are not as the protocol says."""
    core = importlib.import_module("ag_ui.core")
    adapter = importlib.import_module("pydantic").TypeAdapter(core.Event)
    types = {"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_ERROR"}
    for event in events:
        yield adapter.validate_python(event) if event["type"] in types else event


OBJECTS = {
    "langchain": (langchain_events, integrations.langchain),
    "ag-ui": (ag_ui_events, integrations.ag_ui),
}


async def run(case: dict[str, Any]) -> dict[str, Any]:
    """Read one stream, and tell what came."""
    told: dict[str, Any] = {"file": case["file"], "steps": [], "texts": [], "values": [], "names": [], "error": None}
    sdk = case["sdk"]
    try:
        if sdk in SDKS:
            open_stream, integration = SDKS[sdk]
            events = await open_stream(case["url"])
        else:
            make, integration = OBJECTS[sdk]
            events = make(case["events"])
        told["stream"] = type(events).__module__
        async for update in read_structured(events, integration=integration):
            told["steps"].append([update.type, update.id])
            if isinstance(update, StreamCompletion):
                told["texts"].append([update.id, update.text])
                told["values"].append([update.id, update.value])
                told["names"].append([update.id, update.name])
    except Exception as error:
        said = getattr(error, "message", None)
        told["error"] = {"type": type(error).__name__, "message": said if isinstance(said, str) else str(error)}
    return told


async def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        told = await asyncio.wait_for(run(case), 60)
        print(json.dumps(told, default=str), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
