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
    async for event in us.query_stream("?", Answer, lm=lm):
        if event.type == "generationComplete":
            assert_type(event.result, Answer)
        elif event.type == "stringFieldDelta":
            assert_type(event.delta, str)
        elif event.type == "fieldInvalid":
            assert_type(event, us.FieldInvalid)
    assert_type(await stream.read(), list[us.StructuredEvent[Answer]] | None)
    async for partial in us.query_stream("?", Answer, lm=lm, check="report").partials():
        assert_type(partial, us.Partial[Answer])
        assert_type(partial.value, Answer | Any)
        assert_type(partial.state("text"), Literal["absent", "growing", "complete"])
        assert_type(partial.invalid, tuple[us.FieldInvalid, ...])


async def chunks(lm: us.llms.OpenAIChat) -> None:
    async for chunk in lm.stream("?"):
        if chunk.type == "finish":
            assert_type(chunk, us.stream.chunks.Finish)
        elif chunk.type == "text-delta" or chunk.type == "tool-arguments-delta":
            assert_type(chunk.text, str)
    for call in (await lm.call("?")).tool_calls:
        assert_type(call.args, dict[str, Any])


async def tool_streams() -> None:
    async for update in us.read_structured([], integration=us.integrations.openai):
        assert_type(update, us.StreamProgress | us.StreamCompletion)
        assert_type(update.name, str | None)
        if update.type == "complete":
            assert_type(update, us.StreamCompletion)
        else:
            assert_type(update, us.StreamProgress)
    for update in us.integrations.anthropic().push_all({}):
        if isinstance(update, us.StreamCompletion):
            assert_type(update.text, str)
    pool = us.StreamPool()
    assert_type(pool.start("a", name="f"), us.StreamProgress)
    assert_type(pool.finish("a").type, Literal["complete"])
    assert_type(us.JsonStream().push("1"), us.StreamState)


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


class Guide:
    style = "short"

    @us.LangFunc
    async def capital(self, country: str) -> Answer:
        """{{self.style}}: the capital of {{country}}?"""
        raise NotImplementedError

    @us.LangFunc.of(protocol="python")
    async def largest(self, country: str, count: int = 1) -> list[Answer]:
        """The {{count}} largest cities of {{country}}?"""
        raise NotImplementedError

    @staticmethod
    @us.LangFunc
    async def river(country: str) -> Answer:
        """The longest river of {{country}}?"""
        raise NotImplementedError


@us.LangFunc
async def capital(country: str) -> Answer:
    """The capital of {{country}}?"""
    raise NotImplementedError


async def functions(lm: us.llms.OpenAIChat, guide: Guide) -> None:
    assert_type(await capital("Peru"), Answer)
    assert_type(await guide.capital("Peru"), Answer)
    assert_type(await guide.capital.using(lm=lm)(country="Peru"), Answer)
    assert_type(guide.capital.stream("Peru"), us.QueryStream[Answer])
    assert_type(await guide.largest("Peru", count=3), list[Answer])
    assert_type(await Guide.capital(guide, "Peru"), Answer)
    assert_type(await Guide.river("Peru"), Answer)
    assert_type(await us.LangFunc("{{a}}", Answer)(a=1), Answer)
    await guide.capital(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await guide.capital()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await guide.capital(guide, "Peru")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]


async def transforms(lm: us.llms.OpenAIChat) -> None:
    async def look_up(answer: Answer) -> str:
        return answer.text

    async def add(messages: list[us.Message]) -> list[us.Message]:
        return messages

    await us.query("?", Answer, lm=lm, transform=look_up, examples=[("?", Answer(text="!"))])
    us.LangFunc("?", Answer, lm=lm, transform_input=add)
    us.LangFunc("?", Answer, lm=lm, transform_input=lambda messages: messages)
