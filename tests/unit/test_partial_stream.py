"""partials() and items() of a query stream. F17, F18, F21, F22; the rules of QueryStream hold for both."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
from itertools import pairwise
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field
from tests.support import splits

import unspool as us
from unspool.contracts import Request
from unspool.errors import CallCancelledError, ConfigError, OutputValidationError, ProviderError, UnspoolError
from unspool.functions import query_stream
from unspool.llms import FunctionModel, OpenAIChat
from unspool.partial_stream import list_path
from unspool.schema import Schema, format_value
from unspool.testing import ScriptedTransport, StaticResponse


class Item(BaseModel):
    name: str
    age: int = 0


class Report(BaseModel):
    title: str
    items: list[Item]


VALUE = Report(title="Six", items=[Item(name="a", age=1), Item(name="b"), Item(name="c", age=3)])
TEXT = VALUE.model_dump_json()
SOURCE = format_value(VALUE, "python")


async def watch(stream: Any) -> list[Any]:
    return [partial.snapshot() async for partial in stream.partials()]


@pytest.mark.parametrize(("protocol", "text"), [("json", TEXT), ("native", TEXT), ("python", SOURCE)])
async def test_all_ways_of_asking_grow_alike(protocol: Any, text: str) -> None:
    """F22: the same granularity whether asked in words or natively; the last partial is the result."""
    stream = query_stream("?", Report, lm=StaticResponse(text, chunk_chars=5), protocol=protocol)
    partials = stream.partials()
    shown = []
    async for partial in partials:
        shown.append(partial.snapshot())
    assert len(shown) > len(text) // 10
    assert partial.complete and partial.value == VALUE
    assert shown[-1] == VALUE
    titles = [value["title"] for value in shown[:-3] if isinstance(value, dict) and "title" in value]
    assert all(after.startswith(before) for before, after in pairwise(titles))


async def test_one_partial_for_each_slice_that_changed_anything() -> None:
    lm = FunctionModel(lambda request: ["Here it is: ", '{"title":"S', "ix", "", '","items":[]}'])
    assert await watch(query_stream("?", Report, lm=lm)) == [
        {"title": "S"},
        {"title": "Six"},
        Report(title="Six", items=[]),
        Report(title="Six", items=[]),
    ]


async def test_a_partial_is_one_live_view() -> None:
    partials = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=7)).partials()
    seen = [partial async for partial in partials]
    assert all(partial is seen[0] for partial in seen)
    assert seen[0].value == VALUE


async def test_plain_text_grows() -> None:
    assert await watch(query_stream("?", lm=StaticResponse("Six times", chunk_chars=4))) == [
        "Six ",
        "Six time",
        "Six times",
        "Six times",
    ]


async def test_a_native_list_is_seen_without_its_wrapper() -> None:
    stream = query_stream("?", list[Item], lm=StaticResponse('{"value":[{"name":"a"},', 4), protocol="native")
    shown = []
    with pytest.raises(OutputValidationError):
        async for partial in stream.partials():
            shown.append(partial.snapshot())
    assert shown[-1] == [Item(name="a")]


async def test_a_failed_answer_raises_at_the_end_and_keeps_what_came() -> None:
    partials = query_stream("?", Report, lm=StaticResponse('{"title":"Six","items":[{"na', 6)).partials()
    shown = []
    with pytest.raises(OutputValidationError) as caught:
        async for partial in partials:
            shown.append(partial.snapshot())
    assert shown[-1] == {"title": "Six", "items": [{}]}
    assert caught.value.partial_value == {"title": "Six", "items": [{}]}
    assert partial.title == "Six" and not partial.complete
    assert [again async for again in partials] == []


async def test_an_invalid_part_is_in_the_partial_and_the_error_comes_at_the_end() -> None:
    text = '{"title":"Six","items":[{"name":1},{"name":"b"}]}'
    stream = query_stream("?", Report, lm=StaticResponse(text, 8))
    with pytest.raises(OutputValidationError, match=r"items\[0\]\.name"):
        async for partial in stream.partials():  # noqa: B007 - read below
            pass
    assert [fault.path for fault in partial.invalid] == [("items", 0, "name")]


async def test_a_failed_provider_raises() -> None:
    def broken(request: Request) -> Any:
        yield '{"title":"S'
        raise ProviderError("PROVIDER", "gone")

    partials = query_stream("?", Report, lm=FunctionModel(broken)).partials()
    shown = []
    with pytest.raises(UnspoolError):
        async for partial in partials:
            shown.append(partial.snapshot())
    assert shown == [{"title": "S"}]


async def test_abort_raises_what_cancelled_means() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5))
    partials = stream.partials()
    await anext(partials)
    stream.abort()
    with pytest.raises(CallCancelledError):
        await anext(partials)
    with pytest.raises(StopAsyncIteration):
        await anext(partials)


def delta(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


def wire(*slices: Any) -> tuple[OpenAIChat, ScriptedTransport]:
    transport = ScriptedTransport([list(slices)])
    return OpenAIChat("m", base_url="https://api.test/v1", transport=transport), transport


async def test_leaving_early_aborts_the_request() -> None:
    lm, transport = wire(delta('{"title":"Six'), asyncio.Event())
    async for partial in query_stream("?", Report, lm=lm).partials():
        assert partial.title == "Six"
        break
    gc.collect()
    assert transport.responses[0].aborted


async def test_aclose_releases() -> None:
    lm, transport = wire(delta('{"title":"Six'), asyncio.Event())
    partials = query_stream("?", Report, lm=lm).partials()
    await anext(partials)
    await partials.aclose()
    assert transport.responses[0].closed


async def test_events_can_be_read_as_well() -> None:
    """Both share one place in the stream."""
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5))
    partials = stream.partials()
    partial = await anext(partials)
    async for event in stream:
        last = event
    assert isinstance(last, us.GenerationComplete)
    assert partial.complete and partial.value is last.result


async def test_partials_after_reading_are_refused() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5))
    await stream.read()
    with pytest.raises(ConfigError, match="before reading"):
        stream.partials()
    await stream.aclose()


async def test_items_are_asked_for_once_and_before_reading() -> None:
    """The faults that `check` tells do not keep a list in view."""
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5))
    items = stream.items("items")
    with pytest.raises(ConfigError, match="once, and before reading"):
        stream.items("items")
    assert [item async for item in items] == VALUE.items
    for check in (None, "report"):
        stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5), check=check)  # type: ignore[arg-type]
        await stream.read()
        with pytest.raises(ConfigError, match="before reading"):
            stream.items("items")
        await stream.aclose()


async def test_partials_after_reading_are_given_where_faults_are_told() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5), check="report")
    await stream.read()
    *_, last = [partial async for partial in stream.partials()]
    assert last.complete and last.value == VALUE


@pytest.mark.parametrize("end", ["fails", "is aborted", "is cancelled", "is signalled"])
async def test_an_answer_that_ends_anywhere_keeps_what_came(end: str) -> None:
    """After each character. What was shown stays readable, nothing is complete, and there is nothing more."""
    for cut in range(1, len(TEXT)):
        stop = asyncio.Event()
        last = ProviderError("PROVIDER", "gone") if end == "fails" else asyncio.Event()
        lm, transport = wire(delta(TEXT[:cut]), last)
        stream = query_stream("?", Report, lm=lm, signal=stop)
        partials = stream.partials()
        partial = await anext(partials)
        shown = copy.deepcopy(partial)
        if end == "is cancelled":
            reader = asyncio.ensure_future(anext(partials))
            await asyncio.sleep(0)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
        else:
            stop.set() if end == "is signalled" else stream.abort() if end == "is aborted" else None
            with pytest.raises(UnspoolError) as caught:
                await anext(partials)
            assert caught.value.text == TEXT[:cut]
        assert [more async for more in partials] == []
        assert partial.snapshot() == shown and not partial.complete
        assert partial.title is None or "Six".startswith(partial.title)
        assert transport.responses[0].closed


async def test_two_readers_take_turns() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5))
    first, second = stream.partials(), stream.partials()
    shown = []
    while True:
        try:
            shown.append((await anext(first)).snapshot())
            shown.append((await anext(second)).snapshot())
        except StopAsyncIteration:
            break
    assert shown == await watch(query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=5)))


async def test_an_error_in_the_body_of_the_loop_aborts_the_request() -> None:
    lm, transport = wire(delta('{"title":"Six'), asyncio.Event())
    with pytest.raises(ZeroDivisionError):
        async for _ in query_stream("?", Report, lm=lm).partials():
            _ = 1 / 0
    gc.collect()
    assert transport.responses[0].aborted


async def test_a_reader_that_is_slow_holds_the_answer_back() -> None:
    given = []

    def answer(request: Request) -> Any:
        for at in range(0, len(TEXT), 5):
            given.append(at)
            yield TEXT[at : at + 5]

    partials = query_stream("?", Report, lm=FunctionModel(answer)).partials()
    for _ in range(3):
        await anext(partials)
        before = len(given)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(given) == before
    await partials.aclose()


@pytest.mark.parametrize(
    "text",
    [
        f'<think>Is it {{"title": 3}}?</think>\nSure:\n```json\n{TEXT}\n```\nOr {{"title": 1}}.',
        f"{TEXT} Or rather {{}}.",
        f"\ufeff {TEXT}",
        f'Not {{"title": no}}:\n~~~\n{TEXT}\n~~~',
    ],
    ids=["thought and fence", "prose behind", "byte order mark", "another value before"],
)
async def test_the_last_partial_is_the_result_whatever_is_around_it(text: str) -> None:
    """F19, F20."""
    for chars in (1, 4, len(text)):
        *_, last = [partial async for partial in query_stream("?", Report, lm=StaticResponse(text, chars)).partials()]
        assert last.complete and last.value == VALUE and last.invalid == ()


async def test_transform_gives_the_last_value() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(TEXT), transform=lambda report: report.title)
    async for partial in stream.partials():  # noqa: B007 - read below
        pass
    assert partial.value == "Six"


# items


@pytest.mark.parametrize("path", ["items", ("items",), ["items"]])
async def test_items_come_as_each_closes(path: Any) -> None:
    came: list[tuple[str, Item]] = []
    stream = query_stream("?", Report, lm=StaticResponse(TEXT, chunk_chars=3))
    async for item in stream.items(path):
        assert type(item) is Item
        came.append((stream.text, item))
    assert [item for _, item in came] == VALUE.items
    assert [text[: text.rindex("}") + 1].count("}") for text, _ in came[:2]] == [1, 2]


@pytest.mark.parametrize(
    ("wanted", "text", "path", "items"),
    [
        (list[int], "[1,2,3]", (), [1, 2, 3]),
        (list[Item], '[{"name":"a"}]', "", [Item(name="a")]),
        (dict[str, list[str]], '{"a":["x"],"b":["y","z"]}', "b", ["y", "z"]),
        (list[Report], f"[{TEXT},{TEXT}]", "1.items", VALUE.items),
        (tuple[int, str], '[1,"a"]', (), [1, "a"]),
        (set[int], "[1,2]", (), [1, 2]),
        (list[int] | None, "null", (), []),
        (list[int] | None, "[4]", (), [4]),
        ({"type": "object"}, '{"a":[1,{"b":2}]}', "a", [1, {"b": 2}]),
        (list[list[int] | list[str]], '[[1],["a"]]', (), [[1], ["a"]]),
        (list[list[int] | list[str]], '[[1],["a"]]', "0", [1]),
        (list[Annotated[list[int], BeforeValidator(lambda value: value[1:])]], "[[9,1,2]]", "0", [1, 2]),
    ],
)
async def test_items_of_lists_of_all_kinds(wanted: Any, text: str, path: Any, items: list[Any]) -> None:
    for slices in splits(text, rounds=1):
        stream = query_stream("?", wanted, lm=FunctionModel(lambda request, slices=slices: [*slices, " "]))
        assert [item async for item in stream.items(path)] == items


async def test_items_of_python_syntax() -> None:
    stream = query_stream("?", Report, lm=StaticResponse(SOURCE, 4), protocol="python")
    assert [item async for item in stream.items("items")] == VALUE.items


async def test_items_stop_at_one_that_is_not_valid() -> None:
    text = '{"title":"t","items":[{"name":"a"},{"name":1},{"name":"c"}]}'
    came = []
    with pytest.raises(OutputValidationError):
        async for item in query_stream("?", Report, lm=StaticResponse(text, 5)).items("items"):
            came.append(item)
    assert came == [Item(name="a")]


class Nested(BaseModel):
    reports: list[Report]
    by_name: dict[str, Report] = Field(default_factory=dict)
    other: Any = None


class Numbered(Nested):
    by_number: dict[int, Report]
    pair: tuple[int, list[int]]


@pytest.mark.parametrize("path", ["reports", "reports.0.items", "by_name.x.items", "other", "other.x.y"])
def test_paths_of_lists(path: str) -> None:
    assert list_path(path, Schema.of(Nested))


@pytest.mark.parametrize("path", ["", "report", "reports.items", "reports.0.title", "reports.0.title.x", "by_name"])
def test_paths_that_lead_to_no_list(path: str) -> None:
    with pytest.raises(ConfigError, match="no list"):
        list_path(path, Schema.of(Nested))


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("reports.0.items", ("reports", 0, "items")),
        ("by_name.1.items", ("by_name", "1", "items")),
        (("by_name", "1", "items"), ("by_name", "1", "items")),
        ("by_number.1.items", ("by_number", 1, "items")),
        ("pair.1", ("pair", 1)),
        ("other.0.x", ("other", 0, "x")),
    ],
)
def test_numbers_in_paths_are_what_the_type_has_there(path: Any, steps: Any) -> None:
    assert list_path(path, Schema.of(Numbered)) == steps


async def test_items_of_a_list_behind_a_key_of_digits() -> None:
    report = VALUE.model_dump()
    text = json.dumps({"reports": [], "by_name": {"1": report}, "by_number": {"1": report}, "pair": [1, []]})
    for path in ("by_name.1.items", "by_number.1.items"):
        stream = query_stream("?", Numbered, lm=StaticResponse(text, 9))
        assert [item async for item in stream.items(path)] == VALUE.items


def test_text_has_no_items() -> None:
    with pytest.raises(ConfigError, match="no list in text"):
        list_path("", None)
