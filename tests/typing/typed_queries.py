"""What editors and type checkers make of typed queries. Never run: mypy and pyright read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, assert_type

from pydantic import BaseModel

import unspool as us
from unspool.answer_stream import Transform
from unspool.partial_stream import Items
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


async def completions(lm: us.llms.OpenAIChat) -> None:
    known = Answer.model_construct()
    assert_type(await us.complete(known, lm=lm), Answer)
    assert_type(await us.complete(known, lm=lm, max_repairs=2, protocol="json", default=known), Answer)
    assert_type(await us.complete({"title": "Alien"}, Movie, lm=lm), Movie)
    assert_type(await us.complete([known], list[Answer], lm=lm), list[Answer])
    assert_type(await us.complete({"text": "!"}, us.Schema.of(Answer), lm=lm), Answer)
    assert_type(await us.complete(known, lm=lm, returns_message=True), tuple[Answer, us.Message | None])
    assert_type(await us.complete({}, Movie, lm=lm, returns_message=True), tuple[Movie, us.Message | None])
    assert_type(await us.complete(known, lm=lm, transform=str), str)
    assert_type(await us.complete({}, Movie, lm=lm, prompt="From this: …", transform=len), int)
    flag = bool(known.text)
    assert_type(await us.complete(known, lm=lm, returns_message=flag), Answer | tuple[Answer, us.Message | None])
    assert_type(await us.query("?", Answer, lm=lm, returns_message=flag), Answer | tuple[Answer, us.Message])


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
        assert_type(partial.value.text, str | Any)  # completed by editors, unlike `partial.text`
        assert_type(partial.state("text"), Literal["absent", "growing", "complete"])
        assert_type(partial.invalid, tuple[us.FieldInvalid, ...])
    assert_type(await stream.result(), Answer)
    assert_type(await us.query_stream("?", lm=lm).result(), str)
    answers = us.query_stream("?", list[Answer], lm=lm)
    assert_type(answers.items(), Items[Answer])
    assert_type(answers.items("0.text"), Items[Any])
    assert_type(us.query_stream("?", Answer, lm=lm).items("text"), Items[Any])
    assert_type(us.query_stream("?", {"type": "array"}, lm=lm).items(), Items[Any])
    async for answer in answers.items():
        assert_type(answer, Answer)


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

    def count(answer: Answer) -> int:
        return len(answer.text)

    example: tuple[str, Any] = ("?", Answer(text="!"))
    assert_type(await us.query("?", Answer, lm=lm, transform=look_up, examples=[example]), str)
    assert_type(await us.query("?", Answer, lm=lm, transform=count, max_repairs=1, default=0), int)
    assert_type(await us.query("?", int | None, lm=lm, transform=str), str)
    assert_type(await us.query("?", Answer, lm=lm, transform=count, returns_message=True), tuple[Any, us.Message])
    assert_type(await us.query("?", lm=lm, transform=len), Any)
    assert_type(us.query_stream("?", Answer, lm=lm, transform=look_up), us.QueryStream[str])
    assert_type(us.query_stream("?", Answer, lm=lm, transform=count, check="stop"), us.QueryStream[int])
    assert_type(await us.sample("?", Answer, lm=lm, count=2), list[Answer | us.UnspoolError])
    assert_type(await us.sample("?", Answer, lm=lm, count=2, transform=look_up), list[str | us.UnspoolError])
    assert_type(await us.sample("?", Answer, lm=lm, count=2, transform=count), list[int | us.UnspoolError])
    await us.query("?", Answer, lm=lm, transform=len)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
    await us.query("?", int, lm=lm, transform=look_up)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
    us.LangFunc("?", Answer, lm=lm, transform_input=add)
    us.LangFunc("?", Answer, lm=lm, transform_input=lambda messages: messages)
    assert_type(await us.LangFunc("?", list[Answer] | None)(), list[Answer] | None)
    assert_type(await us.LangFunc("?", Schema.of(Answer))(), Answer)
    assert_type(await us.LangFunc("?", Answer, transform=look_up)(), str)
    assert_type(await us.LangFunc("?", transform=len)(), int)
    assert_type(await capital.using(transform=look_up)("Peru"), str)
    assert_type(await capital.using(transform=lambda answer: answer.text)("Peru"), str)
    assert_type(await capital.using(temperature=0)("Peru"), Answer)
    await capital.using(transform=len)("Peru")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    @us.LangFunc.of(transform=look_up)
    async def river(country: str) -> Answer:
        """The longest river of {{country}}?"""
        raise NotImplementedError

    assert_type(await river("Peru"), str)
    assert_type(river.stream("Peru"), us.QueryStream[str])
    us.LangFunc("?", lm=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


async def transforms_that_may_be_left_out(
    lm: us.llms.OpenAIChat, any_: Transform | None, count: Callable[[Answer], int] | None
) -> None:
    assert_type(await us.query("?", Answer, lm=lm, transform=None), Answer)
    assert_type(await us.query("?", Answer, lm=lm, transform=any_), Answer | Any)
    assert_type(await us.query("?", Answer, lm=lm, transform=count), Answer | int)
    assert_type(us.query_stream("?", Answer, lm=lm, transform=count), us.QueryStream[Answer] | us.QueryStream[int])
    await us.query("?", lm=lm, transform=any_)
    await us.query("?", Answer, lm=lm, transform=any_, returns_message=True)
    await us.query("?", Schema.of(Answer), lm=lm, transform=any_)
    await us.query("?", {"type": "object"}, lm=lm, transform=any_)
    await us.sample("?", Answer, lm=lm, count=2, transform=any_)
    await us.complete(Answer(text="!"), lm=lm, transform=any_)
    us.query_stream("?", Answer, lm=lm, transform=any_)
    assert_type(await us.LangFunc("?", Answer, transform=count)(), Answer | int)
    assert_type(await us.LangFunc("?", Answer, transform=any_)(), Answer | Any)
    assert_type(await capital.using(transform=count)("Peru"), Answer | int)
    await us.query("?", int, lm=lm, transform=count)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]


async def functions_that_ask_again(lm: us.llms.OpenAIChat, known: Answer) -> None:
    def count(answer: Answer) -> int:
        return len(answer.text)

    @us.LangFunc.of(lm=lm, max_repairs=2)
    async def river(country: str) -> Answer:
        """The longest river of {{country}}?"""
        raise NotImplementedError

    @us.LangFunc.of(default=known)
    async def lake(country: str) -> Answer:
        """The largest lake of {{country}}?"""
        raise NotImplementedError

    @us.LangFunc.of(transform=count, default=0)
    async def length(country: str) -> Answer:
        """The longest river of {{country}}?"""
        raise NotImplementedError

    assert_type(await river("Peru"), Answer)
    assert_type(await lake("Peru"), Answer)
    assert_type(await lake.with_message("Peru"), tuple[Answer, us.Message])
    assert_type(await length("Peru"), int)
    assert_type(await us.LangFunc("?", Answer, max_repairs=2, default=known)(), Answer)
    assert_type(await us.LangFunc("?", Schema.of(Answer), default=known)(), Answer)
    assert_type(await us.LangFunc("?", Answer, default=None)(), Answer | None)
    assert_type(await us.LangFunc("?", default=None)(), str | None)
    assert_type(await us.LangFunc("?", default="")(), str)
    assert_type(await us.LangFunc("?", Answer, transform=count, default=0)(), int)
    assert_type(await river.using(max_repairs=1)("Peru"), Answer)
    assert_type(await river.using(default=known)("Peru"), Answer)
    assert_type(await river.using(default=None)("Peru"), Answer | None)
    assert_type(await river.using(transform=count, default=0)("Peru"), int)
    river.using(max_repairs="2")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    us.LangFunc("?", default=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


async def conversations(lm: us.llms.OpenAIChat) -> None:
    history = [{"role": "user", "content": "Hi"}]
    assert_type(await lm.call(history), us.Message)
    assert_type(await lm.call([us.AssistantMessage("Hello"), {"role": "user", "content": "Hi"}]), us.Message)
    assert_type(await us.query(history, int, lm=lm), int)
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert_type(await lm.sample([history, parts, "Hi", us.UserMessage("Hi")]), list[us.Message])
