"""The scripted provider, asked by our own client over real HTTP: each scenario ends as its name says."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import httpx2 as httpx
import pytest
from pydantic import BaseModel, Field

import unspool as us
from unspool.cli.scripted import ANSWERS, SCENARIOS, TEXT, Answer, sample, scripted_provider, text_for
from unspool.cli.serve import running
from unspool.schema import Schema

pytestmark = pytest.mark.host


class City(BaseModel):
    city: str
    country: str
    continent: str
    known_for: str
    sights: list[str]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with running(scripted_provider(tokens_per_s=None)) as url:
        yield f"{url}/v1"


def model(base_url: str, name: str = "scripted") -> us.llms.OpenAIChat:
    return us.llms.OpenAIChat(name, base_url=base_url)


@pytest.mark.parametrize("protocol", ["native", "json"])
async def test_a_typed_answer(base_url: str, protocol: Any) -> None:
    city = await us.query("Tell me about Paris.", City, lm=model(base_url), protocol=protocol)
    assert city == City(**ANSWERS["City"])


async def test_usage_and_the_end(base_url: str) -> None:
    message = await model(base_url).call("Hi")
    assert (message.text, message.finish_reason) == (TEXT, "stop")
    assert message.usage is not None
    assert message.usage.total_tokens == (message.usage.input_tokens or 0) + (message.usage.output_tokens or 0)


async def test_the_limit_of_tokens_holds(base_url: str) -> None:
    message = await model(base_url).call("Hi", max_output_tokens=5)
    assert message.finish_reason == "length"
    assert TEXT.startswith(message.text)
    assert message.usage is not None
    assert message.usage.output_tokens == 5


@pytest.mark.parametrize(
    ("name", "code", "status"),
    [
        ("scripted-cut", "STREAM_TRUNCATED", None),
        ("scripted-broken", "NETWORK", None),
        ("scripted-error", "OVERLOADED", 529),
        ("scripted-refused", "AUTH", 401),
        ("scripted-busy", "RATE_LIMIT", 429),
        ("scripted-down", "OVERLOADED", 503),
        ("no-such-model", "MODEL_NOT_FOUND", 404),
    ],
)
async def test_failures(base_url: str, name: str, code: str, status: int | None) -> None:
    with pytest.raises(us.UnspoolError) as caught:
        await model(base_url, name).call("Hi")
    assert (caught.value.code, caught.value.status) == (code, status)
    if name == "scripted-busy":
        assert caught.value.retry_after_s == 7
    if name in ("scripted-cut", "scripted-broken", "scripted-error"):
        assert caught.value.partial is not None
        assert 0 < len(caught.value.partial.text) < len(TEXT)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("scripted-length", "OUTPUT_TRUNCATED"),
        ("scripted-invalid", "OUTPUT_INVALID"),
        ("scripted-text", "OUTPUT_INVALID"),
    ],
)
async def test_answers_that_are_no_value(base_url: str, name: str, code: str) -> None:
    with pytest.raises(us.UnspoolError) as caught:
        await us.query("Tell me about Paris.", City, lm=model(base_url, name), protocol="native")
    assert caught.value.code == code


async def test_an_endless_answer_ends_with_its_reader(base_url: str) -> None:
    count = 0
    async with model(base_url, "scripted-endless").stream("Hi") as stream:
        async for _ in stream:
            count += 1
            if count > 3 * len(TEXT):
                break
    assert count > len(TEXT)


async def test_the_pace_is_kept_and_a_reader_may_leave(base_url: str) -> None:
    with running(scripted_provider()) as url:
        stream = model(f"{url}/v1", "scripted-slow").stream("Hi")
        await stream.read()
        await asyncio.wait_for(stream.aclose(), 10)


def test_pages_of_any_origin_may_ask(base_url: str) -> None:
    headers = {
        "Origin": "http://page.test",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    preflight = httpx.options(f"{base_url}/chat/completions", headers=headers)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    models = httpx.get(f"{base_url}/models", headers={"Origin": "http://page.test"})
    assert models.headers["access-control-allow-origin"] == "*"
    assert [one["id"] for one in models.json()["data"]] == list(SCENARIOS)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages": "hi"}', b"[" * 5000])
def test_bad_requests(base_url: str, body: bytes) -> None:
    response = httpx.post(f"{base_url}/chat/completions", content=body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_an_answer_that_is_not_streamed(base_url: str) -> None:
    body = {"model": "scripted", "messages": [{"role": "user", "content": "Hi"}]}
    answer = httpx.post(f"{base_url}/chat/completions", json=body).json()
    assert answer["choices"][0]["message"]["content"] == TEXT


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Row(TypedDict):
    n: int
    note: NotRequired[str]


class Pair(NamedTuple):
    a: int
    b: str


@dataclass
class Part:
    """A part (of a trip)."""

    x: int
    names: list[str]


class Everything(BaseModel):
    """All of it."""

    city: str = Field(description="Where (a town): any.")
    n: Annotated[int, Field(ge=3, le=9)]
    share: float | None
    ok: bool
    kind: Literal["it's", 'b"c', 3]
    mood: Mood
    day: date
    at: datetime
    took: timedelta
    rows: list[Row]
    pair: Pair
    part: Part
    numbers: dict[str, int]
    unique: set[int]
    one: tuple[int]
    two: tuple[int, str]
    many: tuple[date, ...]
    three: Annotated[list[str], Field(min_length=3, max_length=4)]
    anything: Any
    maybe: Part | None = None
    tree: list[Everything] = []
    next: Everything | None = None


@pytest.mark.parametrize("protocol", ["json", "python", "native"])
@pytest.mark.parametrize(
    "kind",
    [City, list[City], int, float | None, Literal["a"], dict[str, list[int]], Everything, Mood, tuple[Part, ...], date],
    ids=str,
)
async def test_any_type_is_answered_in_any_protocol(base_url: str, kind: Any, protocol: Any) -> None:
    """`make serve` is there for pages of the reader's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of types that cannot be asked for strictly
        await us.query("Tell me about Paris.", kind, lm=model(base_url), protocol=protocol)


async def test_a_schema_in_the_prompt_is_answered(base_url: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "w": {"type": "string"}}, "minProperties": 1}
    for more in ({}, {"not": {"required": ["x"]}}):  # what has no form is shown as a JSON Schema
        assert await us.query("?", {**schema, **more}, lm=model(base_url)) == {"n": 7, "w": "some w"}


def test_every_prepared_answer_fits_the_type_of_the_demo(repo: Any) -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location("demo_models", repo / "web" / "demo" / "models.py")
    assert spec is not None
    assert spec.loader is not None
    models = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(models)
    of_pyscript = {"Trip"}  # tests/browser/test_pyscript.py asks for it
    for name in ANSWERS.keys() - of_pyscript:
        getattr(models, name).model_validate(ANSWERS[name])


@pytest.mark.parametrize(
    "kind",
    [
        dict[str, int],
        list[int],
        int | None,
        tuple[int, str],
        City,
        list[City],
    ],
)
def test_a_sample_fits_its_schema(kind: Any) -> None:
    schema = Schema.of(kind)
    schema.validate(sample(schema.json_schema()))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["b", "a"]}, "b"),
        ({"const": 3}, 3),
        ({"type": "string", "default": "x"}, "x"),
        ({"type": ["null", "integer"], "minimum": 4}, None),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 3}, [True, True, True]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "maximum": 2}}}, 2),
        ({"$ref": "#/$defs/missing"}, None),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, None),
        ({}, None),
    ],
)
def test_samples(schema: dict[str, Any], value: Any) -> None:
    assert sample(schema) == value


def test_tokens_join_to_the_text() -> None:
    for answer in ANSWERS.values():
        schema = {"json_schema": {"name": "x", "schema": {"const": answer}}}
        made = Answer("scripted", {"messages": [], "response_format": schema})
        assert json.loads("".join(made.tokens)) == answer
        assert max(map(len, made.tokens)) <= 10


def test_without_a_hint_the_answer_is_text() -> None:
    assert text_for({"messages": [{"role": "user", "content": "Hi"}, "odd", {"content": ["odd"]}]}) is None
