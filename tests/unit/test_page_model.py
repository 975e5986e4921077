"""A function of the page as a model, without the bridge; through it: tests/unit/test_bridge.py."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import OutputSchema
from unspool.errors import CallCancelledError, ConfigError, UnspoolError
from unspool.messages import Image, UserMessage
from unspool.page_model import page_model


class Page:
    """The page's end: what it is asked, and what it gives."""

    def __init__(self, *reads: Any, opening: Exception | None = None) -> None:
        self.reads = list(reads)
        self.opening = opening
        self.requests: list[Any] = []
        self.aborted: list[str] = []

    async def open(self, request: str) -> str:
        self.requests.append(json.loads(request))
        if self.opening is not None:
            raise self.opening
        return "s1"

    async def read(self, stream: str) -> Any:
        given = self.reads.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    def abort(self, stream: str) -> None:
        self.aborted.append(stream)


class PageError(Exception):
    def __init__(self, **members: Any) -> None:
        super().__init__("Error: of the page")
        for name, value in members.items():
            setattr(self, name, value)


async def test_the_page_sees_the_whole_request_and_nothing_that_was_not_said() -> None:
    page = Page('["a"]', None)
    tool = {"name": "f", "parameters": {"type": "object"}}
    message = await page_model(page, "mine").call(
        UserMessage(["Look:", Image(b"\x89PNG\r\n\x1a\n")]),
        temperature=0,
        max_output_tokens=5,
        stop="x",
        seed=7,
        reasoning_effort="low",
        tools=[tool],
        tool_choice="f",
        output_schema=OutputSchema("n", {"type": "object"}),
        extra={"a": [1]},
    )
    assert message.text == "a"
    await page_model(plain := Page('["a"]', None), "mine").call("Hi")
    assert page.requests == [
        {
            "model": "mine",
            "messages": [
                {
                    "role": "user",
                    "parts": [
                        {"type": "text", "text": "Look:"},
                        {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="},
                    ],
                }
            ],
            "temperature": 0,
            "maxOutputTokens": 5,
            "stop": ["x"],
            "seed": 7,
            "reasoningEffort": "low",
            "tools": [tool],
            "toolChoice": "f",
            "outputSchema": {"name": "n", "schema": {"type": "object"}, "strict": True},
            "extra": {"a": [1]},
        }
    ]
    assert sorted(plain.requests[0]) == ["messages", "model"]


@pytest.mark.parametrize("where", ["opening", "reading"])
@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (PageError(code="RATE_LIMIT", message="slow", retryable=True), "RATE_LIMIT", True),
        (PageError(code="not ours", message="x"), "PROVIDER", False),
        (PageError(code=5, message=None), "PROVIDER", False),
        (ValueError("x"), "PROVIDER", False),
    ],
)
async def test_failures_keep_their_code(where: str, error: Exception, code: str, retryable: bool) -> None:
    page = Page(opening=error) if where == "opening" else Page('["a"]', error)
    with pytest.raises(UnspoolError) as caught:
        await page_model(page, "mine").call("Hi")
    assert (caught.value.code, caught.value.retryable) == (code, retryable)


async def test_a_page_that_stops_is_no_failure_of_the_provider() -> None:
    with pytest.raises(CallCancelledError):
        await page_model(Page(PageError(code="ABORTED", message="stopped")), "mine").call("Hi")


@pytest.mark.parametrize("text", ["{", '["a"', "[" * 500 + "]" * 500, '[{"type":"finish","reason":"bored"}]'])
async def test_nonsense_is_typed_and_stops_the_page(text: str) -> None:
    page = Page(text, None)
    with pytest.raises(UnspoolError):
        await page_model(page, "mine").call("Hi")
    assert page.aborted == ["s1"]


async def test_leaving_stops_the_page() -> None:
    page = Page('["a"]', '["b"]', None)
    stream = page_model(page, "mine").stream("Hi")
    await stream.read()
    await stream.aclose()
    assert page.aborted == ["s1"]


@pytest.mark.parametrize(("page", "name"), [(None, "mine"), (Page(), None), (Page(), 5)])
def test_without_a_page_there_is_no_model(page: Any, name: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        page_model(page, name)
    assert caught.value.code == "UNSUPPORTED"
