"""A page asks llama.cpp's own server on another port: a real cross-origin client of a real model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.client import Client, last
from tests.tools.tiny_model import write_tiny_model

from unspool.cli.engines import llama_server

pytestmark = pytest.mark.engine

ANSWER = {
    "type": "object",
    "properties": {"kind": {"enum": ["city", "river", "lake"]}, "sure": {"type": "boolean"}},
    "required": ["kind", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")) as url:
        yield url


def ask(base_url: str, **options: Any) -> dict[str, Any]:
    lm = {"provider": "openai-chat", "model": "tiny", "baseURL": base_url}
    limits = {"maxOutputTokens": 100, "seed": 1, **options.pop("options", {})}
    return {"prompt": "Where?", "schema": ANSWER, "protocol": "native", "lm": lm, "options": limits, **options}


async def test_a_typed_query(connected: Client, base_url: str) -> None:
    event = last(await connected.call("run", ask(base_url)))
    assert event["type"] == "generationComplete", event
    assert event["result"]["kind"] in ("city", "river", "lake")
    assert event["usage"]["outputTokens"] > 0


async def test_a_prompt_that_is_too_long(connected: Client, base_url: str) -> None:
    event = last(await connected.call("run", ask(base_url, prompt="word " * 3000)))
    assert event["type"] == "generationFailed"
    assert (event["error"]["code"], event["error"]["status"]) == ("CONTEXT_WINDOW_EXCEEDED", 400)


async def test_a_request_that_is_wrong(connected: Client, base_url: str) -> None:
    wrong = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "nonsense"}}}}
    event = last(await connected.call("run", ask(base_url, options={"extra": wrong})))
    assert event["error"]["code"] == "INVALID_REQUEST"


async def test_stop_frees_the_server(connected: Client, base_url: str) -> None:
    """It has two slots: were the answers that were stopped still running, the last one could not begin."""
    for number in range(4):
        name = f"stop-{number}"
        query = ask(base_url, options={"maxOutputTokens": 1900, "extra": {"ignore_eos": True}})
        query.pop("schema")
        await connected.call("open", name, query)
        await connected.call("until", name, "textDelta", {"stop": True})
        assert last(await connected.call("drain", name))["type"] == "cancelled"
    assert last(await connected.call("run", ask(base_url)))["type"] == "generationComplete"
