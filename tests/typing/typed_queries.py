"""What editors and type checkers make of typed queries. Never run: mypy and pyright read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, assert_type

from pydantic import BaseModel

import unspool as us
from unspool.schema import Schema


class Answer(BaseModel):
    text: str


class Movie(TypedDict):
    title: str


class Point(NamedTuple):
    x: int


@dataclass
class Pair:
    left: int


class Color(Enum):
    RED = "red"


async def queries(lm: us.llms.OpenAIChat) -> None:
    assert_type(await us.query("?", Answer, lm=lm), Answer)
    assert_type(await us.query("?", list[Answer], lm=lm), list[Answer])
    assert_type(await us.query("?", dict[str, Answer], lm=lm), dict[str, Answer])
    assert_type(await us.query("?", int, lm=lm), int)
    assert_type(await us.query("?", int | str, lm=lm), int | str)
    assert_type(await us.query("?", Answer | None, lm=lm), Answer | None)
    assert_type(await us.query("?", Literal["a", "b"], lm=lm), Literal["a", "b"])
    assert_type(await us.query("?", Annotated[int, "even"], lm=lm), int)
    assert_type(await us.query("?", tuple[int, str], lm=lm), tuple[int, str])
    assert_type(await us.query("?", Movie, lm=lm), Movie)
    assert_type(await us.query("?", Point, lm=lm), Point)
    assert_type(await us.query("?", Pair, lm=lm), Pair)
    assert_type(await us.query("?", Color, lm=lm), Color)
    assert_type(await us.query("?", None, lm=lm), None)
    assert_type(await us.query("?", Schema.of(Answer), lm=lm), Answer)
    assert_type(await us.query("?", {"type": "object"}, lm=lm), Any)
    assert_type(await us.query("?", Answer, lm=lm, returns_message=True), tuple[Answer, us.Message])
    assert_type(await us.query("?", Answer | None, lm=lm, returns_message=True), tuple[Answer | None, us.Message])
    assert_type(
        await us.query("?", Answer, lm=lm, protocol="native", temperature=0, system="s", max_chars=9, max_depth=3),
        Answer,
    )


async def streams(lm: us.llms.OpenAIChat) -> None:
    stream = us.query_stream("?", Answer, lm=lm)
    assert_type(stream, us.QueryStream[Answer])
    assert_type(us.query_stream("?", list[Answer] | None, lm=lm), us.QueryStream[list[Answer] | None])
    assert_type(us.query_stream("?", Schema.of(int), lm=lm), us.QueryStream[int])
    assert_type(us.query_stream("?", {"type": "object"}, lm=lm), us.QueryStream[Any])
    assert_type(us.query_stream("?", lm=lm), us.QueryStream[str])
    async for event in stream:
        match event:
            case us.GenerationComplete(result, usage):
                assert_type(result, Answer)
                assert_type(usage, us.Usage | None)
            case us.ParsingFailed(error):
                assert_type(error, us.OutputValidationError)
            case us.GenerationFailed(error):
                assert_type(error, us.UnspoolError)
            case us.Cancelled(error):
                assert_type(error, us.CallCancelledError)
            case us.StringFieldDelta(path, delta):
                assert_type(path, tuple[str | int, ...])
                assert_type(delta, str)
            case _:
                pass
    assert_type(await stream.read(), list[us.StructuredEvent[Answer]] | None)
    async for partial in us.query_stream("?", Answer, lm=lm, check="report").partials():
        assert_type(partial, us.Partial[Answer])
        assert_type(partial.value, Answer | Any)
        assert_type(partial.state("text"), Literal["absent", "growing", "complete"])
        assert_type(partial.invalid, tuple[us.FieldInvalid, ...])


def schemas() -> None:
    assert_type(Schema.of(Answer), Schema[Answer])
    assert_type(Schema.of(list[int] | None), Schema[list[int] | None])
    assert_type(Schema.of(Schema.of(int)), Schema[int])
    assert_type(Schema.of({"type": "string"}), Schema[Any])
    assert_type(Schema.of(Literal["a"]).validate("a"), Literal["a"])


async def wrong(lm: us.llms.OpenAIChat) -> None:
    await us.query("?", Answer, lm=lm, temprature=1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await us.query("?", Answer)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await us.query("?", Answer, lm=lm, protocol="yaml")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
