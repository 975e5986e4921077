"""partials() and items() of a query stream. F17, F18, F21, F22; the rules of QueryStream hold for both."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import json
from itertools import pairwise, takewhile
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, WrapValidator, model_validator
from tests.support import splits

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
        if end == "is cancelled":  # and somebody reads on
            with pytest.raises(CallCancelledError, match="left"):
                await anext(partials)
        assert [more async for more in partials] == []
        assert partial.snapshot() == shown and not partial.complete
        assert partial.title is None or "Six".startswith(partial.title)
        assert transport.responses[0].closed


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


ITEMS = '{"title":"t","items":[{"name":"a"},{"name":1},{"name":"c"},{"name":"d"}]}'
"""Whose second item is not valid."""


@pytest.mark.parametrize("check", [None, "report"])
async def test_items_behind_one_that_is_not_valid_come_as_they_close(check: Any) -> None:
    """The rest of the answer is paid for: the reader gets what it is worth, and then the error."""
    for chars in (1, 5, len(ITEMS)):
        stream = query_stream("?", Report, lm=StaticResponse(ITEMS, chars), check=check)
        came: list[tuple[str, Item]] = []
        with pytest.raises(OutputValidationError, match=r"items\[1\]\.name") as caught:
            async for item in stream.items("items"):
                came.append((stream.text, item))
        assert [item.name for _, item in came] == ["a", "c", "d"]
        assert caught.value.text == ITEMS
        if chars < 5:
            assert [text for text, _ in came] == [ITEMS[: ITEMS.index(f'"{name}"') + 4] for name in "acd"]


@given(st.lists(st.one_of(st.integers(0, 99), st.sampled_from(["x", None, 1.5, [], {}]))), st.integers(1, 9))
async def test_items_are_the_valid_ones_wherever_the_others_stand(values: list[Any], chars: int) -> None:
    """As each is judged by itself; the answer is what `query` gives, or fails as it does."""
    valid = [value for value in values if type(value) is int]
    for check, given_items in (
        (None, valid),
        ("report", valid),
        ("stop", list(takewhile(lambda value: type(value) is int, values))),
    ):
        stream = query_stream("?", list[int], lm=StaticResponse(json.dumps(values), chars), check=check)  # type: ignore[arg-type]
        came: list[int] = []
        failed = False
        try:
            async for item in stream.items():
                came.append(item)
        except OutputValidationError:
            failed = True
        assert (came, failed) == (given_items, valid != values)
        if not failed:
            assert await stream.result() == values


async def test_stop_ends_items_with_the_first_fault_and_aborts_the_request() -> None:
    """The same items, whether what is behind the fault has arrived with it or not."""
    fault = ITEMS.index("1}") + 1
    lm, transport = wire(delta(ITEMS[:fault]), delta(ITEMS[fault:-9]), asyncio.Event())
    for lm_of_cut in (lm, StaticResponse(ITEMS, 1), StaticResponse(ITEMS)):
        came: list[Item] = []
        with pytest.raises(OutputValidationError, match=r"items\[1\]\.name"):
            async for item in query_stream("?", Report, lm=lm_of_cut, check="stop").items("items"):
                came.append(item)
        assert came == [Item(name="a")]
    assert transport.responses[0].aborted


async def test_a_fault_elsewhere_stops_the_items_behind_it() -> None:
    text = '{"title":1,"items":[{"name":"a"}]}'
    for chars in (1, len(text)):
        for check, names in ((None, ["a"]), ("report", ["a"]), ("stop", list[str]())):
            came: list[str] = []
            with pytest.raises(OutputValidationError, match="title"):
                async for item in query_stream("?", Report, lm=StaticResponse(text, chars), check=check).items("items"):  # type: ignore[arg-type]
                    came.append(item.name)
            assert came == names


async def test_items_of_an_answer_that_breaks_off_come_before_its_error() -> None:
    came: list[Item] = []
    with pytest.raises(OutputValidationError):
        async for item in query_stream("?", Report, lm=StaticResponse(ITEMS[:-15], 5)).items("items"):
            came.append(item)
    assert [item.name for item in came] == ["a", "c"]


class Seen(BaseModel):
    """Its validator sees the data first, and may put right what is not."""

    name: str

    @model_validator(mode="before")
    @classmethod
    def named(cls, data: Any) -> Any:
        return {"name": "none"} if data == {} else data


async def test_items_that_a_validator_makes_valid_are_valid() -> None:
    stream = query_stream(
        "?", list[Seen], lm=StaticResponse('[{"name":"a"},{},{"name":"c"},{"nam":1},{"name":"e"}]', 3)
    )
    came: list[str] = []
    with pytest.raises(OutputValidationError):
        async for item in stream.items():
            came.append(item.name)
    assert came == ["a", "none", "c", "e"]


async def test_an_item_that_only_the_whole_can_judge_holds_back_those_behind_it() -> None:
    """Until the answer is valid, or cannot be any more; none is lost, and their order stays."""

    def lenient(value: Any, handler: Any, info: Any) -> Any:
        if info.context is not None and value == 2:
            raise RuntimeError("not before the end")
        return handler(value)

    Number = Annotated[int, WrapValidator(lenient)]
    for text, held, then in (
        ("[1,2,3,4]", "1", "2 3 4"),
        ("[1,2,3,x", "1", "3"),
        ('[1,2,3,"y",5]', "1", "3 5"),
    ):
        stream = query_stream("?", list[Number], lm=StaticResponse(text, 1))
        came: list[tuple[bool, int]] = []
        with contextlib.suppress(OutputValidationError):
            async for item in stream.items():
                came.append((len(stream.text) < 5, item))
        early = [number for is_early, number in came if is_early]
        assert " ".join(map(str, early)) == held, text
        assert " ".join(str(number) for is_early, number in came if not is_early) == then, text


async def test_a_list_that_another_spelling_may_replace_comes_at_the_end() -> None:
    class Spelled(BaseModel):
        items: list[int] = Field(validation_alias=AliasChoices("items", "things"))

    stream = query_stream("?", Spelled, lm=StaticResponse('{"things":[7,8,9],"items":[1,2]}', 3))
    assert [item async for item in stream.items("items")] == [1, 2]


@pytest.mark.parametrize("transform", [lambda value: [*value, 99], lambda value: None], ids=["longer", "nothing"])
async def test_items_are_those_of_the_answer_not_of_what_is_made_of_it(transform: Any) -> None:
    kinds = (list[int], Annotated[list[int], BeforeValidator(lambda value: value)])
    for kind in kinds:  # the items of the second come at the end
        stream = query_stream("?", kind, lm=StaticResponse("[1,2,3]", 2), transform=transform)
        assert [item async for item in stream.items()] == [1, 2, 3]
        assert await stream.result() == transform([1, 2, 3])


async def test_items_of_what_an_application_refuses_are_given_before_its_reason() -> None:
    def refuse(value: Any) -> Any:
        raise ValueError("not these")

    kind = Annotated[list[int], BeforeValidator(lambda value: value)]
    came: list[int] = []
    with pytest.raises(OutputValidationError, match="not these"):
        async for item in query_stream("?", kind, lm=StaticResponse("[1,2]", 2), transform=refuse).items():
            came.append(item)
    assert came == [1, 2]


class Left(BaseModel):
    kind: Literal["left"]
    items: list[Item]


class Right(BaseModel):
    kind: Literal["right"]
    items: list[int]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"kind":"left","items":[{"name":"a"},{"name":"b"}]}', [Item(name="a"), Item(name="b")]),
        ('{"items":[1,2],"kind":"right"}', [1, 2]),
        ('{"kind":"right","items":[1,"x",3]}', [1, 3]),
    ],
)
async def test_items_of_a_union(text: str, items: list[Any]) -> None:
    """F18: known by its discriminator from where that has closed; before, at the end."""
    wanted = Annotated[Left | Right, Field(discriminator="kind")]
    for chars in (1, len(text)):
        came: list[Any] = []
        with contextlib.suppress(OutputValidationError):
            async for item in query_stream("?", wanted, lm=StaticResponse(text, chars)).items("items"):
                came.append(item)
        assert came == items


async def test_a_bad_item_of_a_set_and_of_python_syntax() -> None:
    for wanted, text, protocol in (
        (set[int], '[1,"x",2]', "json"),
        (tuple[int, int, int], '[1,"x",2]', "json"),
        (list[int], '[1, "x", 2]', "python"),
    ):
        came: list[Any] = []
        with pytest.raises(OutputValidationError):
            async for item in query_stream("?", wanted, lm=StaticResponse(text, 2), protocol=protocol).items():  # type: ignore[call-overload]
                came.append(item)
        assert came == [1, 2], wanted


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


class Aliased(BaseModel):
    things: list[Item] = Field(alias="theThings")


@pytest.mark.parametrize("path", ["things", "theThings", ("theThings",)])
@pytest.mark.parametrize("protocol", ["json", "native", "python"])
async def test_items_by_both_names_of_a_field(path: Any, protocol: Any) -> None:
    value = Aliased(theThings=VALUE.items)
    text = format_value(value, "python") if protocol == "python" else value.model_dump_json(by_alias=True)
    stream = query_stream("?", Aliased, lm=StaticResponse(text, 9), protocol=protocol)
    assert [item async for item in stream.items(path)] == VALUE.items


def test_text_has_no_items() -> None:
    with pytest.raises(ConfigError, match="no list in text"):
        list_path("", None)


@pytest.mark.parametrize("text", ['true"t":"x","p":[],"d":{}}', '12 [1]"a"', '"" {"n":1}', '"a" {"n":1}'])
async def test_partials_are_the_same_with_and_without_events(text: str) -> None:
    """A number or such at the root, which no event tells of, hides no value that comes after it."""
    seen: list[Any] = []
    for options in ({}, {"check": "report"}):
        stream: Any = query_stream("q", list[int], lm=StaticResponse(text, chunk_chars=1), **options)  # type: ignore[call-overload]
        with pytest.raises(OutputValidationError) as caught:
            seen.append(shown := [])
            async for partial in stream.partials():
                shown.append((partial.snapshot(), len(partial.invalid)))
        shown.append((caught.value.message, caught.value.partial_value))
    assert seen[0] == seen[1]
