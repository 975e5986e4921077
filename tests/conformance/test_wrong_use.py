"""What a newcomer gets wrong ends in an error of ours that says what to do, never in one from inside the library."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, create_model

import unspool as us
from unspool import contracts
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.schema.partial_builder import PartialBuilder

# Wrong on purpose, so nothing here has a type.
wrong: Any = us
OPENAI = wrong.integrations.openai
HTTP_REQUEST: Any = contracts.HttpRequest


class City(BaseModel):
    name: str


def lm() -> Any:
    return us.testing.StaticResponse('{"name": "Paris"}')


def model(**options: Any) -> Any:
    return wrong.llms.OpenAI("m", **{"api_key": "k", **options})


async def something() -> str:
    return "x"


def coroutine() -> Any:
    waiting = something()
    waiting.close()  # of one that is never awaited Python warns
    return waiting


def open_pool() -> Any:
    pool: Any = us.StreamPool()
    pool.start("a")
    return pool


class Picture(BaseModel):
    """A value that holds an image."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    image: us.Image


def picture() -> Any:
    return us.Image("https://example.org/cat.png")


def filled(value: Any) -> Any:
    return us.Template("What is in {{picture}}?", picture=value).render()


def largest(country: str) -> City:
    """The largest city of {{country}}?"""
    raise AssertionError


def with_typo(country: str) -> City:
    """The largest city of {{contry}}?"""
    raise AssertionError


def with_filter(country: str) -> City:
    """The largest city of {{country}}, {{country|upper}}?"""
    raise AssertionError


def method_without_self() -> Any:
    class Guide:
        @us.LangFunc
        async def largest(country: str) -> City:  # pyright: ignore
            """The largest city of {{country}}?"""
            raise AssertionError

    return Guide


def waiting_for(given: Any) -> Any:
    ask: Any = us.LangFunc("hi", lm=lm(), transform_input=lambda messages: given)
    return ask.stream()


def partial() -> Any:
    return us.Partial(PartialBuilder(us.Schema.of(City)))


def events_of_chunks() -> Any:
    """A newcomer takes the `TextDelta` of queries for the one of chunks."""
    return us.TextDelta("x")


Wrong = tuple[str, Callable[[], Any], str]
CASES: list[Wrong] = [
    # models
    ("a model by a number", lambda: wrong.llms.OpenAI(5), "named by a text"),
    ("a misspelled option of a model", lambda: model(apikey="k"), "'apikey'; there are api_key, base_url"),
    ("a key that is a number", lambda: model(api_key=5), "api_key must be a text"),
    ("a key that is bytes", lambda: model(api_key=b"key"), "api_key must be a text"),
    ("a coroutine as key", lambda: model(api_key=coroutine()), "not what it gives"),
    ("a class as adapter", lambda: model(adapter=OpenAIChatAdapter), "OpenAIChatAdapter()"),
    ("a name as adapter", lambda: model(adapter="openai"), "adapter must be an adapter"),
    ("a class as transport", lambda: model(transport=us.testing.ScriptedTransport), "an object"),
    ("a list as transport", lambda: model(transport=[b""]), "method open"),
    ("a text as time", lambda: model(timeout_s="5"), "timeout_s must be a number"),
    ("an unknown profile", lambda: wrong.llms.OpenAIChat("m", profile="nope"), "there are azure"),
    ("a text as function", lambda: wrong.llms.FunctionModel("hello"), "needs a function"),
    ("no key", lambda: wrong.llms.OpenAI("m").call("hi"), "give the model one as api_key"),
    ("an address without scheme", lambda: model(base_url="api.openai.com/v1").call("x"), "such as https://"),
    # calls
    ("no prompt", lambda: lm().call(None), "A prompt must be"),
    ("a dict as prompt", lambda: lm().call({"role": "user", "content": "x"}), "put it in a list"),
    ("a coroutine as prompt", lambda: lm().call(coroutine()), "A prompt must be"),
    ("a role that is none", lambda: lm().call([{"role": "bot", "content": "x"}]), "must be one of system"),
    ("an option of another library", lambda: lm().call("x", max_tokens=5), "(did you mean max_output_tokens?)"),
    ("a class to call with", lambda: lm().call(City), "The type comes second"),
    ("parameters that are a class", lambda: lm().call("x", tools=[{"name": "f", "parameters": City}]), "JSON Schema"),
    ("a text as temperature", lambda: lm().call("x", temperature="hot"), "temperature must be a number"),
    ("nested tools", lambda: lm().call("x", tools=[{"type": "function"}]), "not nested in `function`"),
    ("a text as signal", lambda: lm().call("x", signal="stop"), "asyncio.Event"),
    ("a class as signal", lambda: lm().call("x", signal=asyncio.Event), "asyncio.Event"),
    ("one prompt to sample", lambda: lm().sample("x"), "use call for one"),
    # queries
    ("a query without a model", lambda: wrong.query("x", City, lm=None), "us.llms.OpenAIChat"),
    ("the class of a model", lambda: wrong.query("x", City, lm=us.llms.OpenAI), "us.llms.OpenAIChat"),
    ("prompt and type swapped", lambda: wrong.query(City, "x", lm=lm()), "The type comes second: query(prompt, T)"),
    ("str first", lambda: wrong.query(str, "x", lm=lm()), "The type comes second"),
    ("a list type first", lambda: wrong.query(list[City], "x", lm=lm()), "The type comes second"),
    ("a name as type", lambda: wrong.query("x", "City", lm=lm()), "the type itself"),
    ("an unknown protocol", lambda: wrong.query("x", City, lm=lm(), protocol="yaml"), "'python', 'json'"),
    ("a misspelled option", lambda: wrong.query("x", City, lm=lm(), temprature=1), "(did you mean temperature?)"),
    (
        "an option of queries",
        lambda: wrong.query("x", City, lm=lm(), repairs=1),
        "max_depth, max_output_tokens, max_repairs",
    ),
    (
        "an option of queries alone",
        lambda: wrong.query("x", City, lm=lm(), returns=1),
        "(did you mean returns_message?)",
    ),
    ("a number of samples", lambda: wrong.sample("x", lm=lm(), count=2, counts=1), "(did you mean count?)"),
    (
        "repairs of a stream",
        lambda: wrong.query_stream("x", City, lm=lm(), max_repairs=1),
        "only query, complete and LangFunc take it",
    ),
    (
        "a message of a function",
        lambda: wrong.LangFunc("hi", returns_message=True),
        "a LangFunc has with_message",
    ),
    ("a text as repairs of a function", lambda: wrong.LangFunc("hi", max_repairs="2"), "whole number, from 0 to 8"),
    ("too many repairs of a function", lambda: wrong.LangFunc.of(max_repairs=9), "whole number, from 0 to 8"),
    ("a misspelled option of a function", lambda: wrong.LangFunc("hi", max_repair=2), "(did you mean max_repairs?)"),
    ("a dict to complete", lambda: wrong.complete({"name": "x"}, lm=lm()), "give its type, complete(value, T)"),
    ("a strange member", lambda: wrong.complete({"nme": "x"}, City, lm=lm()), "has 'nme', which is no field of City"),
    ("what is known is wrong", lambda: wrong.complete(City.model_construct(name=5), lm=lm()), "name: Input should be"),
    ("a date to complete", lambda: wrong.complete(date(2026, 1, 1), lm=lm()), "has no parts that could be missing"),
    ("a number to complete", lambda: wrong.complete(5, lm=lm()), "City.model_construct(…)"),
    ("a class to complete", lambda: wrong.complete(City, lm=lm()), "give it one, such as City.model_construct(…)"),
    ("a class as prompt of a function", lambda: wrong.LangFunc(City), "The type comes second: LangFunc(prompt, T)"),
    ("a number as prompt of a function", lambda: wrong.LangFunc(5), "or a typed function"),
    ("a text to decorate", lambda: wrong.LangFunc.of(lm=lm())("hi"), "make LangFunc(text, T)"),
    # types
    ("an instance as type", lambda: us.Schema.of(City(name="x")), "give the class, City."),
    ("a number as type", lambda: us.Schema.of(5), "give the class, int."),
    ("a list of a class", lambda: us.Schema.of([City]), "write list[City]."),
    (
        "a list of types",
        lambda: us.Schema.of([list[int], None, City, City(name="x")]),
        "write list[list[int] | NoneType | City].",
    ),
    ("a tuple of types", lambda: us.Schema.of((int, str)), "write tuple[int, str]."),
    ("a set of a class", lambda: us.Schema.of({City}), "write set[City]."),
    ("nothing but a list", lambda: us.Schema.of([]), "write list[…]."),
    ("a dict of types", lambda: us.Schema.of({"name": str}), "make a TypedDict or a model"),
    ("a number as name of a schema", lambda: wrong.Schema.of(City, name=5), "name of a schema must be a text"),
    ("a number as name of a JSON Schema", lambda: wrong.Schema.of({}, name=5), "name of a schema must be a text"),
    ("one class as subclasses", lambda: wrong.Schema.of(City, subclasses=City), "sequence of classes"),
    ("numbers as subclasses", lambda: wrong.Schema.of(City, subclasses=[5]), "sequence of classes"),
    ("no protocol to validate by", lambda: wrong.Schema.of(City).validate({"name": "x"}, protocol="x"), "'python'"),
    ("another value to dump", lambda: wrong.Schema.of(City).dump_json(5), "cannot be written as City"),
    ("what is no JSON to dump", lambda: us.Schema.of({}).dump_json(City), "cannot be written as Answer"),
    ("a number as path of a partial", lambda: partial().state(5), "such as ('items', 0)"),
    ("examples that are no pairs", lambda: wrong.query("x", City, lm=lm(), examples=["a"]), "pairs"),
    ("a list in a text", lambda: wrong.query_stream("x", City, lm=lm()).items("name"), "no list in City"),
    ("a number as path", lambda: wrong.query_stream("x", City, lm=lm()).items(5), "tuple of names"),
    ("bytes to parse", lambda: wrong.parse(b"{}", City, "json"), "must be a text"),
    ("a message to parse", lambda: wrong.parse(us.AssistantMessage("{}"), City, "json"), "`text`"),
    ("no value for a place", lambda: us.Template("hi {{a}}").render(), "needs a value for a"),
    ("a place that is not there", lambda: us.Template("hi").bind(b=1), "no place for b"),
    # prompts and what is filled in
    ("a filter beside a place", lambda: us.Template("{{a}} {{a|upper}}"), "without filters, calls and formats"),
    ("a call of a value", lambda: us.Template("{{a()}}", a=len), r"as text write \{{a()}}"),
    ("a format of a value", lambda: us.Template("{{a:.2f}}").render(a=1.5), "{{a:.2f}} is no place"),
    ("an image in a dict", lambda: filled({"cat": picture()}), "is a dict that holds a part of a message (Image)"),
    ("an image in a model", lambda: filled(Picture(image=picture())), "as in {{picture.picture}}"),
    ("a message in a dict", lambda: filled({"said": us.UserMessage("x")}), "(Message), which would be lost"),
    ("images that can be read once", lambda: filled(iter([picture()])), "give a list of it"),
    ("images of a generator", lambda: filled(picture() for _ in "ab"), "is a generator, which can be read only once"),
    ("the bytes of an image", lambda: filled(b"\x89PNG"), "give us.Image(…)"),
    ("a coroutine as value", lambda: filled(something()), "is a coroutine: await it first"),
    ("a method as value", lambda: filled(City.model_dump), "is a function: give what it returns"),
    ("what has no text as value", lambda: filled(object()), "has no text"),
    ("a place that is no parameter", lambda: wrong.LangFunc(with_typo), "(did you mean country?)"),
    ("a filter in a docstring", lambda: wrong.LangFunc(with_filter), "{{country|upper}} is no place"),
    ("a method without self", method_without_self, "call the first parameter of a method self"),
    ("a number as model of a function", lambda: wrong.LangFunc("hi", lm=5), "us.llms.OpenAIChat"),
    ("a class as model of a function", lambda: wrong.LangFunc("hi", lm=us.llms.OpenAI), "us.llms.OpenAIChat"),
    ("a number as transform", lambda: wrong.LangFunc("hi", transform=5), "transform must be a function of the value"),
    ("a number as transform_input", lambda: wrong.LangFunc("hi", transform_input=5), "a function of the messages"),
    ("a text as temperature of a function", lambda: wrong.LangFunc("hi", temperature="x"), "must be a number"),
    ("of without a call", lambda: wrong.LangFunc.of(largest), "@us.LangFunc.of(lm=…)"),
    ("a misspelled option of a decorator", lambda: wrong.LangFunc.of(temprature=1), "(did you mean temperature?)"),
    ("a type of a typed function", lambda: wrong.LangFunc(largest, City), "give no type"),
    ("an input that is lost", lambda: waiting_for(None), "transform_input of LangFunc must give messages"),
    # many providers
    ("a dict of providers", lambda: wrong.Runtime({"openai": 1}), "us.Runtime(us.Route("),
    ("a list of routes", lambda: wrong.Runtime([us.Route("a", OpenAIChatAdapter())]), "not list"),
    ("a model as route", lambda: wrong.Runtime(lm()), "not StaticResponse"),
    ("a text to declare", lambda: wrong.Runtime().declare("openai"), "us.Route"),
    ("one function as middleware", lambda: wrong.Runtime(middleware=lambda c, p: p()), "sequence of functions"),
    ("a model's class in a route", lambda: wrong.Route("a", us.llms.OpenAI), "needs an adapter"),
    ("an unknown provider", lambda: us.Runtime().prepare("openai", "m", "hi"), "not registered"),
    ("a text as efforts", lambda: wrong.ModelFacts("m", reasoning_efforts="low"), "list of texts"),
    # messages
    ("a dict as content", lambda: wrong.UserMessage({"type": "text", "text": "x"}), "content of a message"),
    ("words as role", lambda: wrong.Message("hi"), "must be one of system"),
    ("a text as result of a tool", lambda: wrong.ToolMessage("42"), "us.ToolResult(call.id"),
    ("a dict as usage", lambda: wrong.Message("assistant", "x", usage={}), "must be a Usage"),
    ("a path as image", lambda: us.Image("cat.png"), "bytes, an http(s) address"),
    ("a path object", lambda: wrong.File("a.txt", path=Path("x")), "path of a file must be a text"),
    ("arguments that are a dict", lambda: wrong.ToolCall("1", "f", {"a": 1}), "must be a text"),
    ("a conversation of dicts", lambda: wrong.messages.project([{"role": "user"}]), "Message.from_wire"),
    ("one message as conversation", lambda: wrong.messages.unnested(us.UserMessage("x")), "sequence of messages"),
    ("a text to name", lambda: wrong.messages.content_id("x"), "sequence of messages"),
    ("a request of dicts", lambda: wrong.Request("m", [{"role": "user"}]), "made of messages"),
    ("a request of one tool", lambda: wrong.Request("m", [], tools={"name": "f"}), "list of mappings"),
    ("no policy", lambda: wrong.messages.offloaded_image_prefix_count([1], None), "ImagePolicy"),
    ("a text as file", lambda: wrong.messages.file_line("x"), "must be a File"),
    ("a text as picture", lambda: wrong.messages.image_line("x", "y"), "must be an Image"),
    ("a request without headers", lambda: HTTP_REQUEST("GET", "https://e.org", None, b""), "headers"),
    # incremental text
    ("bytes to a stream", lambda: wrong.JsonStream().push(b"{}"), "must be text"),
    ("a text as path", lambda: us.JsonStream().field_state("name"), "('name',)"),
    ("a number as path of Python", lambda: wrong.PyStream().field_state(5), "('name',)"),
    ("a text as path of a pool", lambda: open_pool().field_state("a", "name"), "('name',)"),
    ("a stream that is not open", lambda: us.StreamPool().push("a", "x"), "No stream 'a' is open"),
    ("no integration", lambda: us.read_structured([]), "us.integrations.openai"),
    ("the name of an integration", lambda: wrong.read_structured([], integration="openai"), "us.integrations.openai"),
    (
        "the class of integrations",
        lambda: wrong.read_structured([], integration=us.integrations.Integration),
        "us.integrations.openai",
    ),
    (
        "a number to be told",
        lambda: wrong.read_structured([], integration=OPENAI, on_diagnostic=5),
        "on_diagnostic must be a function",
    ),
    ("one event", lambda: us.read_structured({}, integration=OPENAI).read(), "must be an iterable"),
    ("a misspelled limit", lambda: OPENAI(max_byte=5), "'max_byte'; there are duplicate_keys"),
    ("an asynchronous mapping", lambda: wrong.define_adapter(something), "not an async one"),
    ("an adapter that is none", lambda: wrong.testing.adapter_contract_tests(adapter=5, encode=5), "define_adapter"),
    # streams
    ("text to a decoder of bytes", lambda: wrong.stream.SseDecoder().feed("data: x\n\n"), "encode text"),
    ("a limit below one", lambda: us.stream.SseDecoder(max_event_bytes=-1), "1 or more"),
    ("a dict as chunk", lambda: wrong.stream.BlockAssembler().feed({"type": "text-delta"}), "unspool.stream.chunks"),
    (
        "an event as chunk",
        lambda: wrong.stream.BlockAssembler().feed(events_of_chunks()),
        "structured.events.TextDelta",
    ),
    ("an event in order", lambda: wrong.stream.ChunkOrder().accept(events_of_chunks()), "unspool.stream.chunks"),
    ("a text to record", lambda: wrong.stream.RecordWriter().feed("x", 1), "unspool.stream.chunks"),
    ("no records", lambda: wrong.stream.assemble_records(None), "RecordWriter"),
    ("one record", lambda: wrong.stream.has_visible_text({"type": "run"}), "RecordWriter"),
    (
        "records that cannot be read from the end",
        lambda: wrong.stream.last_chunk(iter([]), us.stream.chunks.Finish),
        "list",
    ),
    ("a word as kind of chunk", lambda: list(wrong.stream.chunks_of([], "text")), "class of unspool.stream.chunks"),
    ("a kind of text that is none", lambda: wrong.stream.joined_text([], "audio"), "'refusal'"),
    # doubles
    ("a value as answer", lambda: wrong.testing.StaticResponse({"a": 1}), "us.format_value"),
    ("one reply", lambda: wrong.testing.ScriptedTransport(b"x"), "one for each request"),
    ("no script", lambda: wrong.testing.ScriptedTransport(None), "one for each request"),
    ("a number in the script", lambda: wrong.testing.ScriptedTransport([5]), "HttpResponse"),
    ("text in the script", lambda: wrong.testing.ScriptedTransport([["data"]]), "encoded"),
    ("no function for requests", lambda: wrong.testing.ScriptedTransport(on_request=5), "is a function"),
    ("a text as status", lambda: wrong.testing.HttpResponse("200"), "number as status"),
    ("headers that are a list", lambda: wrong.testing.HttpResponse(200, ["a"]), "mapping as headers"),
]


@pytest.mark.parametrize(("call", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_a_mistake_is_told_where_it_is_made(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((us.ConfigError, us.StreamError)) as raised:
        result = call()
        if inspect.isawaitable(result):
            await result
    assert words in raised.value.message
    assert raised.value.code in (
        "INVALID_OPTIONS",
        "MISSING_CREDENTIAL",
        "NO_ADAPTER",
        "INVALID_CHUNK",
        "UNKNOWN_STREAM",
    )


async def test_a_script_that_gives_no_reply_says_so() -> None:
    transport: Any = us.testing.ScriptedTransport(on_request=lambda request: "text")  # type: ignore[arg-type, return-value]
    with pytest.raises(us.ConfigError, match="must be bytes"):
        await model(transport=transport).call("x")


async def test_a_stream_is_read_once() -> None:
    """The second time there is nothing left, as with any asynchronous iterator."""
    stream = us.query_stream("x", City, lm=lm())
    assert [event async for event in stream]
    assert [event async for event in stream] == []
    assert await stream.read() is None


async def test_a_stream_that_was_left_gives_nothing() -> None:
    stream = us.query_stream("x", City, lm=lm())
    await stream.aclose()
    assert await stream.read() is None
    assert [event async for event in stream] == []


def test_a_class_without_a_schema_is_not_told_to_take_instances() -> None:
    class Plain: ...

    with pytest.raises(us.ConfigError, match="Plain") as raised:
        us.Schema.of(Plain)
    assert "arbitrary_types_allowed" not in raised.value.message


def test_a_partial_is_read_only() -> None:
    with pytest.raises(AttributeError, match="read only; 'name'"):
        partial().name = "x"


def test_a_class_name_that_python_reads_otherwise_has_no_constructor() -> None:
    """PEP 3131: identifiers are NFKC-normalised while they are read."""
    ligature = create_model("ﬁ", name=str)
    assert us.Schema.of(ligature).validate({"name": "x"}) == ligature(name="x")
    with pytest.raises(us.ConfigError, match="none in Python syntax"):
        _ = us.Schema.of(ligature).classes


@pytest.mark.parametrize("name", ["query", "query_stream", "sample", "complete"])
def test_help_names_each_option_and_shows_no_address(name: str) -> None:
    function = getattr(us, name)
    signature = inspect.signature(function)
    assert isinstance(function.__signature__, inspect.Signature)
    assert {"protocol", "check", "temperature", "lm"} <= set(signature.parameters)
    assert "options" not in signature.parameters
    assert " at 0x" not in str(signature)


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [("", "OpenAI", "us.llms.OpenAI"), ("", "quary", None), ("llms", "OpenAi", None), ("stream", "SseDecode", None)],
)
def test_a_name_that_is_not_there_is_an_attribute_error_that_python_can_help_with(
    module: str, name: str, hint: str | None
) -> None:
    """With `name` and `obj` Python's traceback asks "Did you mean …?"."""
    where = getattr(us, module) if module else us
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as raised:
        getattr(where, name)
    assert (raised.value.name, raised.value.obj) == (name, where)
    assert hint is None or hint in str(raised.value)
