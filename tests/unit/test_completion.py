"""complete: what was given always holds, in every protocol and through repairs (P39; P65: MISSING is never read)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    RootModel,
    field_validator,
    model_validator,
)
from tests.support import named

from unspool.completion import complete, completion_stream
from unspool.contracts import Request
from unspool.errors import CallCancelledError, ConfigError, OutputValidationError
from unspool.functions import query
from unspool.llms import FunctionModel
from unspool.messages import AssistantMessage, SystemMessage, UserMessage
from unspool.schema import Schema, format_value
from unspool.structured.events import GenerationComplete
from unspool.templates import Template
from unspool.testing import StaticResponse


class City(BaseModel):
    name: str
    people: int
    country: str = "Peru"


class Line(BaseModel):
    what: str
    qty: int


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Order(BaseModel):
    model_config = ConfigDict(frozen=True)
    number: str = Field(alias="no")
    due: date
    color: Color = Color.RED
    lines: list[Line]
    to: City | None
    notes: dict[str, Line] = {}


LIMA = City.model_construct(name="Lima")
LIMA_WHOLE = City(name="Lima", people=2)
PARIS = {
    "python": "City(name='Paris', people=2_000_000)",
    "json": '{"name":"Paris","people":2000000}',
    "native": '{"name":"Paris","people":2000000,"country":"France"}',
}


class Replies:
    """A model that gives one reply after another."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.lm = FunctionModel(self.answer)

    def answer(self, request: Request) -> str:
        self.requests.append(request)
        return self.replies.pop(0)


def shown_to(lm: StaticResponse) -> str:
    """What a model was shown, in one line."""
    return " ".join(lm.requests[0].messages[-1].text.split()).replace("( ", "(").replace(", )", ")")


@pytest.mark.parametrize("protocol", PARIS)
async def test_what_was_given_holds(protocol: Any) -> None:
    lm = StaticResponse(PARIS[protocol], chunk_chars=3)
    whole = await complete(LIMA, lm=lm, protocol=protocol)
    assert whole == City(name="Lima", people=2_000_000, country="Peru")
    assert "City(name='Lima', people=MISSING(int), country='Peru')" in shown_to(lm)
    assert LIMA.__dict__ == {"name": "Lima", "country": "Peru"}, "what goes in is not changed"


def order(**more: Any) -> Order:
    lines = [Line.model_construct(what="nut"), Line.model_construct(what="bolt", qty=4)]
    return Order.model_construct(no="7", color=Color.BLUE, lines=lines, to=City.model_construct(people=3), **more)


ORDER_JSON = (
    '{"no":"9","due":"2026-05-01","lines":[{"what":"nut","qty":2},{"what":"bolt","qty":4}],'
    '"to":{"name":"Oslo","people":5}}'
)
REPLIES = {
    "python": (
        "Order(number='9', due='2026-05-01', color=Color.RED, "
        "lines=[Line(what='nut', qty=2), Line(what='bolt', qty=4)], to=City('Oslo', people=5))"
    ),
    "json": ORDER_JSON,
    "native": ORDER_JSON,
}


@pytest.mark.filterwarnings("ignore:Order cannot be asked for strictly")
@pytest.mark.parametrize("protocol", REPLIES)
async def test_it_holds_deep_inside(protocol: Any) -> None:
    """Records in records and lists, aliases, members of Enum classes, in a frozen class."""
    whole = await complete(order(), lm=StaticResponse(REPLIES[protocol]), protocol=protocol)
    assert whole == Order(
        no="7",
        due=date(2026, 5, 1),
        color=Color.BLUE,
        lines=[Line(what="nut", qty=2), Line(what="bolt", qty=4)],
        to=City(name="Oslo", people=3),
    )


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("[Line('nut', 2)]", "a list of 2 items"),
        ("[Line('nut', 2), Line('bolt', 4), Line('screw', 1)]", "a list of 2 items"),
        ("[Line('bolt', 4), Line('nut', 2)]", r"lines\[0\]\.what"),
        ("[None, Line('bolt', 4)]", r"lines\[0\]: Input should be Line\(…\)"),
        ("None", "a list of 2 items"),
    ],
)
async def test_a_list_is_told_apart_by_places(lines: str, told: str) -> None:
    """Where laying over would mix two items, or lose one, the answer is invalid, and can be repaired."""
    wrong = REPLIES["python"].replace("[Line(what='nut', qty=2), Line(what='bolt', qty=4)]", lines)
    with pytest.raises(OutputValidationError, match=told) as caught:
        await complete(order(), lm=StaticResponse(wrong))
    assert caught.value.code == "OUTPUT_INVALID" and caught.value.problems
    replies = Replies(wrong, REPLIES["python"])
    whole, message = await complete(order(), lm=replies.lm, max_repairs=1, returns_message=True)
    assert [line.qty for line in whole.lines] == [2, 4] and message is not None
    assert "lines" in replies.requests[1].messages[-1].text


@pytest.mark.parametrize(
    "reply", ["Order(number='7', due='2026-05-01', lines=[Line('nut', 2), Line('bolt', 4)], to=None)"]
)
async def test_a_part_is_not_exchanged_for_another(reply: str) -> None:
    """`to` may be None, but was given in part."""
    with pytest.raises(OutputValidationError, match=r"to: Input should be City\(…\), of which a part was given"):
        await complete(order(), lm=StaticResponse(reply))


class Shouted(BaseModel):
    """Each look of the validator changes the value."""

    word: str
    words: list[str]
    at: date
    count: int

    @field_validator("word")
    @classmethod
    def _louder(cls, word: str) -> str:
        return word + "!"

    @field_validator("words")
    @classmethod
    def _more(cls, words: list[str]) -> list[str]:
        return [*words, "!"]


@pytest.mark.parametrize("protocol", ["python", "json"])
async def test_a_validator_does_not_change_what_was_given(protocol: Any) -> None:
    known = Shouted.model_construct(word="a!", words=["b", "!"], at=date(2026, 1, 1))
    reply = format_value(Shouted.model_construct(word="x", words=[], at=date(2020, 1, 1), count=3), protocol)
    whole = await complete(known, lm=StaticResponse(reply), protocol=protocol)
    assert whole.model_dump() == {"word": "a!", "words": ["b", "!"], "at": date(2026, 1, 1), "count": 3}
    missing = Shouted.model_construct(count=3)
    whole = await complete(missing, lm=StaticResponse(reply), protocol=protocol)
    assert (whole.word, whole.words) == ("x!", ["!"]), "what the model wrote is validated once"


async def test_validators_of_the_whole_see_it_whole() -> None:
    class Bill(BaseModel):
        net: int
        tax: int
        total: int = 0

        @model_validator(mode="before")
        @classmethod
        def _seen(cls, data: Any) -> Any:
            assert {"net", "tax"} <= set(data)
            return data

        @model_validator(mode="after")
        def _sum(self) -> Bill:
            if self.tax > self.net:
                raise ValueError("more tax than net")
            self.total = self.net + self.tax
            return self

    known = Bill.model_construct(net=100)
    assert (await complete(known, Schema.of(Bill), lm=StaticResponse("Bill(net=1, tax=19)"))).total == 119
    with pytest.raises(OutputValidationError, match="more tax than net"):
        await complete(known, Schema.of(Bill), lm=StaticResponse("Bill(net=1_000, tax=500)"))


class Movie(TypedDict):
    title: str
    year: int
    stars: NotRequired[int]


@dataclass
class Pair:
    left: int
    right: Line


class Point(NamedTuple):
    x: int
    line: Line


class Box(BaseModel):
    movie: Movie
    movies: list[Movie] = []
    pair: Pair
    point: Point
    either: tuple[int, Line]


HALF = Line.model_construct(what="nut")
WHOLE = Line(what="nut", qty=2)
BOX = Box.model_construct(
    movie={"title": "Alien"},
    movies=[{"title": "Up", "year": 2009}],
    pair=Pair(1, HALF),
    point=Point(1, HALF),
    either=(1, HALF),
)
FULL = Box(
    movie={"title": "Alien", "year": 1979},
    movies=[{"title": "Up", "year": 2009}],
    pair=Pair(1, WHOLE),
    point=Point(1, WHOLE),
    either=(1, WHOLE),
)
OTHER = Box(
    movie={"title": "?", "year": 1979, "stars": 5},
    movies=[],
    pair=Pair(9, WHOLE),
    point=Point(9, WHOLE),
    either=(9, WHOLE),
)


@pytest.mark.filterwarnings("ignore:Box cannot be asked for strictly")
@pytest.mark.parametrize("protocol", ["python", "json", "native"])
async def test_all_kinds_of_classes(protocol: Any) -> None:
    """TypedDict, dataclass, NamedTuple and tuples, each with something missing inside."""
    reply = format_value(OTHER, "python" if protocol == "python" else "json")
    whole = await complete(BOX, lm=StaticResponse(reply), protocol=protocol)
    assert whole == FULL
    assert type(whole.point) is Point and type(whole.pair) is Pair


async def test_a_dict_stands_for_an_instance() -> None:
    """Of a TypedDict there is no other; its places are shown, what the type lets it leave out is not."""
    lm = StaticResponse("Movie(title='?', year=1979, stars=5)")
    assert await complete({"title": "Alien"}, Movie, lm=lm) == {"title": "Alien", "year": 1979}
    assert "Movie(title='Alien', year=MISSING(int))" in shown_to(lm)
    assert await complete({"name": "Lima"}, City, lm=StaticResponse(PARIS["python"])) == City(
        name="Lima", people=2_000_000
    )
    listed = await complete(
        [{"name": "Lima"}, LIMA],
        list[City],
        lm=StaticResponse("[City(name='Lima', people=1), City(name='Lima', people=2)]"),
    )
    assert listed == [City(name="Lima", people=1), City(name="Lima", people=2)]
    half = Order.model_construct(no="7", due=date(2026, 1, 1), lines=[], to={"name": "Oslo"})
    whole = await complete(half, lm=StaticResponse(REPLIES["python"]))
    assert whole.to == City(name="Oslo", people=5)
    for wrong, told in (({"nme": "x"}, "nme"), ({"name": "x", "mayor": "y"}, "mayor")):
        with pytest.raises(ConfigError, match=told):
            await complete(wrong, City, lm=StaticResponse(""))


async def test_a_dict_of_records_keeps_its_members() -> None:
    known = {"a": HALF, "b": WHOLE}
    T = dict[str, Line]
    good = StaticResponse('{"b":{"what":"x","qty":7},"a":{"what":"y","qty":2}}')
    assert await complete(known, T, lm=good, protocol="json") == {"a": WHOLE, "b": WHOLE}
    more = StaticResponse('{"a":{"what":"nut","qty":2},"b":{"what":"nut","qty":2},"c":{"what":"x","qty":7}}')
    with pytest.raises(OutputValidationError, match="these members and no others: 'a', 'b'"):
        await complete(known, T, lm=more, protocol="json")
    numbers = {1: HALF}
    assert await complete(numbers, dict[int, Line], lm=StaticResponse("{1: Line('?', 2)}")) == {1: WHOLE}
    assert await complete(numbers, dict[int, Line], lm=StaticResponse('{"1":{"qty":2}}'), protocol="json") == {1: WHOLE}


class Aliased(BaseModel):
    first: str = Field(validation_alias=AliasChoices("one", "eins"))
    second: int = Field(alias="two")
    third: int
    model_config = ConfigDict(populate_by_name=True)


@pytest.mark.parametrize(
    "reply",
    [
        '{"one":"?","two":9,"third":3}',
        '{"eins":"?","second":9,"third":3}',
        '{"first":"?","second":9,"third":3}',
        '{"third":3}',
        '{"one":"?","eins":"?","two":9,"second":9,"third":3}',
    ],
)
async def test_other_spellings_of_a_known_field(reply: str) -> None:
    known = Aliased.model_construct(second=2)
    known.first = "known"
    whole = await complete(known, lm=StaticResponse(reply), protocol="json")
    assert whole.model_dump() == {"first": "known", "second": 2, "third": 3}


class Animal(BaseModel):
    name: str


class Dog(Animal):
    tail: int


class Cat(Animal):
    lives: int


class Fish(BaseModel):
    kind: Literal["fish"] = "fish"
    name: str
    fins: int


class Bird(BaseModel):
    kind: Literal["bird"] = "bird"
    name: str
    wings: int


class Owner(BaseModel):
    pet: Animal


class Keeper(BaseModel):
    pet: Dog | Cat
    other: Annotated[Fish | Bird, Field(discriminator="kind")] | None = None


OWNERS: Any = Schema.of(Owner, subclasses=[Dog, Cat])


async def test_subclasses() -> None:
    known = Owner.model_construct(pet=Dog.model_construct(name="Rex"))
    assert await complete(known, OWNERS, lm=StaticResponse("Owner(pet=Dog(name='?', tail=1))")) == Owner(
        pet=Dog(name="Rex", tail=1)
    )
    with pytest.raises(OutputValidationError, match=r"pet: Input should be Dog\(…\)"):
        await complete(known, OWNERS, lm=StaticResponse("Owner(pet=Cat(name='Rex', lives=9))"))
    reply = '{"pet":{"class":"Cat","name":"?","tail":2}}'
    whole: Any = await complete(known, OWNERS, lm=StaticResponse(reply), protocol="json")
    assert whole.pet == Dog(name="Rex", tail=2)
    with pytest.raises(ConfigError, match="pet is of the class Dog, and Animal is asked for"):
        await complete(known, lm=StaticResponse(""))


async def test_unions() -> None:
    known = Keeper.model_construct(pet=Dog.model_construct(name="Rex"), other={"kind": "bird", "name": "Tweety"})
    whole = await complete(known, lm=StaticResponse("Keeper(pet=Dog('?', 1), other=Bird(name='?', wings=2))"))
    assert whole == Keeper(pet=Dog(name="Rex", tail=1), other=Bird(name="Tweety", wings=2))
    reply = '{"pet":{"name":"?","tail":1},"other":{"kind":"fish","name":"?","wings":2}}'
    assert await complete(known, lm=StaticResponse(reply), protocol="json") == whole
    cat = '{"pet":{"name":"?","lives":9},"other":{"kind":"fish","name":"?","wings":2}}'
    with pytest.raises(OutputValidationError, match=r"pet\.tail: Field required"):
        await complete(known, lm=StaticResponse(cat), protocol="json")
    unclear = Keeper.model_construct(pet={"name": "Rex"})
    with pytest.raises(ConfigError, match="pet may be one of Dog, Cat"):
        await complete(unclear, lm=StaticResponse(""))


class Lines(RootModel[list[Line]]):
    pass


class Parcel(BaseModel):
    lines: Lines
    others: Lines


async def test_root_models() -> None:
    known = Parcel.model_construct(lines=Lines.model_construct([HALF]), others=Lines.__new__(Lines))
    lm = StaticResponse("Parcel(lines=[Line('?', 2)], others=[Line('nut', 2)])")
    assert await complete(known, lm=lm) == Parcel(lines=Lines([WHOLE]), others=Lines([WHOLE]))
    assert "others=MISSING(Lines)" in shown_to(lm)
    nothing = Lines.__new__(Lines)
    assert await complete(nothing, lm=StaticResponse("[Line('nut', 2)]")) == Lines([WHOLE])


class Tree(BaseModel):
    name: str
    left: Tree | None = None


async def test_recursive_types_and_what_contains_itself() -> None:
    known = Tree.model_construct(name="a", left=Tree.model_construct(left=Tree(name="c")))
    whole = await complete(known, lm=StaticResponse("Tree('x', left=Tree('b', left=None))"))
    assert whole == Tree(name="a", left=Tree(name="b", left=Tree(name="c")))
    looped = Tree.model_construct(name="a")
    looped.left = looped
    with pytest.raises(ConfigError, match="contains it"):
        await complete(looped, lm=StaticResponse(""))
    deep = Tree.model_construct()
    for _ in range(200):
        deep = Tree.model_construct(left=deep)
    with pytest.raises(ConfigError, match="deeper than 128"):
        await complete(deep, lm=StaticResponse(""))


async def test_defaults_are_kept_and_not_judged() -> None:
    def counted(people: int) -> int:
        assert people >= 0
        return people

    class Odd(BaseModel):
        name: str
        people: Annotated[int, AfterValidator(counted)] = -1
        secret: str = Field("s", json_schema_extra={"exclude_from_prompt": True})

    known: Any = Odd.model_construct()
    known.secret = "given"
    whole: Any = await complete(known, lm=StaticResponse("Odd(name='a', people=7)"))
    assert whole.model_dump() == {"name": "a", "people": -1, "secret": "given"}
    assert whole.model_fields_set == {"name", "secret"}


# --- nothing missing, and what cannot be completed


def no_call(_request: Request) -> str:
    raise AssertionError("a model was asked")


@pytest.mark.parametrize("protocol", ["python", "json"])
async def test_nothing_is_asked_where_nothing_is_missing(protocol: Any) -> None:
    lm = FunctionModel(no_call)
    known = City.model_construct(name="Lima", people=1)
    whole, message = await complete(known, lm=lm, protocol=protocol, returns_message=True)
    assert whole == City(name="Lima", people=1) and whole is not known and message is None
    assert await complete(known, lm=lm, protocol=protocol, transform=lambda city: city.name) == "Lima"

    async def later(city: City) -> str:
        return city.name

    assert await complete(known, lm=lm, transform=later) == "Lima"
    loud = Shouted.model_construct(word="a!", words=["!"], at=date(2026, 1, 1), count=1)
    assert await complete(loud, lm=lm, protocol=protocol) == loud


@pytest.mark.parametrize("protocol", ["python", "json"])
@pytest.mark.parametrize(
    "known",
    [
        City.model_construct(people="many"),
        City.model_construct(name="Lima", people="many"),
        Order.model_construct(lines=[Line.model_construct(what=5)]),
        Order.model_construct(lines=[Line.model_construct(what="a", qty="b"), HALF], to=None),
        Order.model_construct(to=City.model_construct(name=None, people=3)),
    ],
    ids=named,
)
async def test_what_is_known_must_be_valid(known: Any, protocol: Any) -> None:
    """It is told with its path before anything is sent."""
    with pytest.raises(ConfigError, match=r"cannot be completed\..*(people|what|qty|name): Input should be"):
        await complete(known, lm=FunctionModel(no_call), protocol=protocol)


@pytest.mark.parametrize("value", [None, "x", 5, 1.5, True, b"x", City], ids=named)
async def test_what_has_no_parts_says_what_to_do(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"City\.model_construct\(…\)"):
        await complete(value, lm=FunctionModel(no_call))


@pytest.mark.parametrize("value", [date(2026, 1, 1), 1j, Color.RED], ids=named)
async def test_values_of_one_piece(value: Any) -> None:
    with pytest.raises(ConfigError, match="has no parts that could be missing"):
        await complete(value, lm=FunctionModel(no_call))


async def test_a_container_needs_its_type() -> None:
    for value in ({"name": "x"}, [LIMA], (LIMA,)):
        with pytest.raises(ConfigError, match=r"complete\(value, T\)"):
            await complete(value, lm=FunctionModel(no_call))
    with pytest.raises(ConfigError, match="JSON Schema"):
        await complete({"a": 1}, {"type": "object"}, lm=FunctionModel(no_call))


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    a: int
    b: int


async def test_parts_inside_a_set_cannot_be_told_apart() -> None:
    half: Any = Frozen.model_construct(a=1)
    with pytest.raises(ConfigError, match="set"):
        await complete([{half}], list[set[Frozen]], lm=FunctionModel(no_call), protocol="json")
    known: Any = ({"a!", "b"}, LIMA)
    T: Any = tuple[set[Annotated[str, AfterValidator(lambda word: word + "!")]], City]
    reply = StaticResponse("({'x'}, City('?', 3))")
    assert await complete(known, T, lm=reply) == ({"a!", "b"}, City(name="Lima", people=3))


def tagged(city: City) -> str:
    return f"<{city.name}>"


@pytest.mark.parametrize("known", [LIMA, City(name="Lima", people=1)], ids=["asked", "not asked"])
async def test_a_transform_is_the_same_where_nothing_is_missing(known: City) -> None:
    lm = StaticResponse(PARIS["python"])
    calls: list[City] = []

    def refuse(city: City) -> str:
        calls.append(city)
        raise ValueError("no such town")

    with pytest.raises(OutputValidationError, match="refused: ValueError: no such town"):
        await complete(known, lm=lm, transform=refuse)
    calls.clear()
    assert await complete(known, lm=lm, transform=refuse, default="none", max_repairs=0) == "none"
    assert len(calls) == 1

    stop = asyncio.Event()

    async def hangs(_city: City) -> str:
        stop.set()
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(CallCancelledError):
        await asyncio.wait_for(complete(known, lm=lm, transform=hangs, signal=stop), 30)


@pytest.mark.parametrize("protocol", ["python", "json", "native"])
async def test_limits_of_an_answer_are_none_of_what_was_given(protocol: Any) -> None:
    """Where nothing is missing; a list is wrapped for a provider, and not in what was given."""
    cities = [City(name="Lima", people=1)]
    lm = FunctionModel(no_call)
    assert await complete(cities, list[City], lm=lm, protocol=protocol, max_chars=1, max_depth=1) == cities


@pytest.mark.parametrize("check", ["stop", "report"])
@pytest.mark.parametrize("known", [LIMA, City(name="Lima", people=1)], ids=["asked", "not asked"])
async def test_parts_of_an_answer_are_not_judged(known: City, check: Any) -> None:
    """What was given holds whatever the answer says for it: a judge of its parts would refuse `name=5`."""
    lm = StaticResponse("City(name=5, people=2)")
    assert (await complete(known, lm=lm, check=None)).name == "Lima"
    asked = len(lm.requests)
    with pytest.raises(ConfigError, match="takes no check: parts of an answer") as caught:
        await complete(known, lm=lm, check=check)
    assert caught.value.code == "INVALID_OPTIONS"
    with pytest.raises(ConfigError, match="takes no check"):
        completion_stream(known, None, lm, check=check)
    assert len(lm.requests) == asked


async def test_a_stream_shows_no_parts() -> None:
    """They would be those of the answer, `name` "Paris" though "Lima" was given."""
    stream, _ = completion_stream(LIMA, None, StaticResponse(PARIS["python"], chunk_chars=4))
    with pytest.raises(ConfigError, match=r"partials\(\) cannot have it"):
        stream.partials()
    events = [event async for event in stream]
    assert isinstance(events[-1], GenerationComplete)
    assert events[-1].result == await stream.result() == City(name="Lima", people=2_000_000)


async def test_options() -> None:
    for wrong in ({"max_repairs": 9}, {"max_repairs": True}, {"protocol": "yaml"}, {"temprature": 1}):
        with pytest.raises(ConfigError):
            await complete(LIMA, lm=FunctionModel(no_call), **wrong)  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="lm must be a model"):
        await complete(LIMA, lm=no_call)  # type: ignore[call-overload]
    fallback = City(name="?", people=0)
    assert await complete(LIMA, lm=StaticResponse("No idea."), default=fallback) is fallback
    lenient = await complete(LIMA, lm=StaticResponse("{'people': 1,}"), protocol="json", lenient=True)
    assert lenient == City(name="Lima", people=1)
    example = (format_value(City(name="Oslo", people=1)), City(name="Oslo", people=1))
    assert (await complete(LIMA, lm=StaticResponse(PARIS["python"]), examples=[example])).name == "Lima"


@pytest.mark.parametrize("transform", [tagged, Schema.of(City).dump_json], ids=["function", "method"])
async def test_a_transform_is_given_the_whole(transform: Callable[[City], str]) -> None:
    assert "Lima" in await complete(LIMA, lm=StaticResponse(PARIS["python"]), transform=transform)


async def test_repair_shows_the_faults_and_keeps_what_is_known() -> None:
    replies = Replies("City(name='Paris', people=MISSING(int))", "City(name='Paris', people='many')", PARIS["python"])
    whole, message = await complete(LIMA, lm=replies.lm, max_repairs=2, returns_message=True)
    assert whole == City(name="Lima", people=2_000_000)
    assert message is not None and message.text == PARIS["python"]
    assert "MISSING" in replies.requests[1].messages[-1].text
    with pytest.raises(OutputValidationError) as caught:
        await complete(LIMA, lm=Replies("City(people='a')", "City(people='b')").lm, max_repairs=1)
    assert len(caught.value.attempts) == 1


async def test_json_in_place_of_python_says_how_to_ask() -> None:
    with pytest.raises(OutputValidationError, match='protocol="json"') as caught:
        await complete(LIMA, lm=StaticResponse(f"```json\n{PARIS['json']}\n```"))
    assert 'protocol="json"' in str(caught.value)
    replies = Replies(PARIS["json"], PARIS["json"])
    with pytest.raises(OutputValidationError):
        await complete(LIMA, lm=replies.lm, max_repairs=1)
    assert "protocol" not in replies.requests[1].messages[-1].text, "the hint is not for the model"
    with pytest.raises(OutputValidationError) as caught:
        await complete(LIMA, lm=StaticResponse("City(people='a')"))
    assert "protocol" not in caught.value.message


async def test_what_a_validator_makes_of_the_whole_stays() -> None:
    T: Any = Annotated[City, AfterValidator(tagged)]
    assert await complete(LIMA, T, lm=StaticResponse(PARIS["python"])) == "<Lima>"


async def test_any_takes_instances_in_python_syntax_alone() -> None:
    class Holder(BaseModel):
        city: City
        thing: Any

    known = Holder.model_construct(thing=LIMA)
    reply = "Holder(city=City('Rome', 1), thing=City('Paris', 2))"
    assert (await complete(known, lm=StaticResponse(reply))).thing == City(name="Lima", people=2)
    plain = '{"city":{"name":"Rome","people":1},"thing":5}'
    things: list[Any] = [City(name="Lima", people=2), date(2026, 1, 1), {"a": (1, {2})}, [City(name="a", people=1)]]
    for thing in things:
        protocols: list[tuple[Any, str]] = [("python", reply), ("json", plain)]
        for protocol, text in protocols:
            given: Any = Holder.model_construct(thing=thing)
            whole: Any = await complete(given, lm=StaticResponse(text), protocol=protocol)
            assert whole.thing == thing and isinstance(whole.thing, type(thing))
    with pytest.raises(ConfigError, match="thing is of the class City where the type says Any"):
        await complete(known, lm=StaticResponse(""), protocol="json")


@pytest.mark.parametrize("protocol", ["python", "json"])
async def test_any_keeps_what_no_answer_could_say(protocol: Any) -> None:
    """Instances of classes that the type does not name: nobody is asked for them, and validators see them."""
    seen: list[Any] = []

    class Holder(BaseModel):
        number: int
        thing: Any = Field()

        @field_validator("thing")
        @classmethod
        def see(cls, thing: Any) -> Any:
            seen.append(thing)
            return thing

    replies = {"python": "Holder(number=1, thing=None)", "json": '{"number":1,"thing":null}'}
    things: list[Any] = [[LIMA_WHOLE], {"a": LIMA_WHOLE}, LIMA_WHOLE, Color.RED]
    for thing in things:
        known = Holder.model_construct(thing=thing)
        lm = StaticResponse(replies[protocol])
        whole = await complete(known, lm=lm, protocol=protocol)
        assert whole.number == 1 and whole.thing is thing
        whole = await complete(Holder.model_construct(number=2, thing=thing), lm=lm, protocol=protocol)
        assert whole.number == 2 and whole.thing is thing and len(lm.requests) == 1
        if protocol == "python":
            assert seen[-1] == thing
            shown = lm.requests[0].messages[-1].text
            assert f"thing={format_value(thing, compact=True)!r}" in shown


async def test_private_attributes_stay() -> None:
    class Counted(BaseModel):
        x: int
        y: str = ""
        _seen: int = PrivateAttr(5)
        _made: list[int] = PrivateAttr(default_factory=list[int])

        def model_post_init(self, _context: Any) -> None:
            self._made = [getattr(self, "x", 0)]

    class Around(BaseModel):
        inner: Counted
        z: int

    inner: Any = Counted.model_construct(y="a")
    inner._seen, inner._made = 77, []
    lm = StaticResponse("Around(inner=Counted(x=3), z=1)")
    whole: Any = await complete(Around.model_construct(inner=inner), lm=lm)
    assert (whole.inner.x, whole.inner.y, whole.inner._seen) == (3, "a", 77)
    assert whole.inner._made == [3], "what was not set is what the class makes of it"
    given: Any = Counted(x=1)
    given._seen = 8
    assert (await complete(given, lm=FunctionModel(no_call)))._seen == 8


@dataclass
class Meter:
    x: int
    y: str


@dataclass
class Mile:
    x: int
    y: str


class Way(BaseModel):
    part: Meter | Mile
    parts: list[Meter | Mile]


@pytest.mark.parametrize("protocol", ["json", "native"])
async def test_of_classes_with_the_same_fields_the_known_one_decides(protocol: Any) -> None:
    """JSON does not say which of them it means."""
    mile: Any = object.__new__(Mile)
    mile.x = 1
    lm = StaticResponse('{"part":{"x":5,"y":"q"},"parts":[{"x":1,"y":"r"},{"x":2,"y":"s"}]}')
    known = Way.model_construct(part=mile, parts=[mile, Meter(2, "s")])
    whole = await complete(known, lm=lm, protocol=protocol, max_repairs=3)
    assert whole == Way.model_construct(part=Mile(1, "q"), parts=[Mile(1, "r"), Meter(2, "s")])
    assert len(lm.requests) == 1
    with pytest.raises(OutputValidationError, match=r"parts\[0\]\.y"):
        wrong = StaticResponse('{"part":{"x":5,"y":"q"},"parts":[{"x":1,"y":7},{"x":2,"y":"s"}]}')
        await complete(known, lm=wrong, protocol=protocol)


async def test_what_a_class_raises_while_it_is_copied_is_a_refused_answer() -> None:
    class Stubborn(Shouted):
        def model_copy(self, **_options: Any) -> Any:
            raise RuntimeError("no copies")

    known = Stubborn.model_construct(word="a", words=[], at=date(2026, 1, 1))
    with pytest.raises(OutputValidationError, match="RuntimeError: no copies") as caught:
        await complete(known, lm=StaticResponse("Stubborn(count=1)"))
    assert caught.value.text == "Stubborn(count=1)"


async def test_what_is_left_of_an_answer_that_broke_off_can_be_completed() -> None:
    """Plain data of an error, or the snapshot of a `Partial`, is a dict that stands for an instance."""
    with pytest.raises(OutputValidationError) as caught:
        await query("?", Order, lm=StaticResponse('{"no":"7","to":{"name":"Oslo"},"lines":['))
    left = caught.value.partial_value
    assert left == {"no": "7", "to": {"name": "Oslo"}, "lines": []}
    reply = StaticResponse('{"no":"9","due":"2026-05-01","lines":[],"to":{"people":5}}')
    whole = await complete(left, Order, lm=reply, protocol="json")
    assert (whole.number, whole.to) == ("7", City(name="Oslo", people=5))


@pytest.mark.parametrize("protocol", ["python", "json", "native"])
async def test_as_a_stream(protocol: Any) -> None:
    lm = StaticResponse(PARIS[protocol])
    stream, is_asked = completion_stream(LIMA, None, lm, protocol=protocol)
    assert await stream.result() == City(name="Lima", people=2_000_000)
    assert is_asked and len(lm.requests) == 1
    whole = City(name="Lima", people=9)
    stream, is_asked = completion_stream(whole, City, lm, protocol=protocol)
    assert await stream.result() == whole
    assert not is_asked and len(lm.requests) == 1
    with pytest.raises(ConfigError, match=r"cannot be completed.*people"):
        completion_stream({"name": "Lima", "people": "many"}, City, lm, protocol=protocol)


@pytest.mark.parametrize("protocol", ["python", "json", "native"])
@pytest.mark.parametrize("kind", ["text", "message", "template", "conversation", "of a model"])
async def test_a_prompt_says_what_to_fill_it_in_from(protocol: Any, kind: str) -> None:
    mail = "Lima has 10 million {{people}}."
    prompts: dict[str, Any] = {
        "text": mail,
        "message": UserMessage(mail),
        "template": Template("{{mail}}", mail=mail),
        "conversation": [SystemMessage("Be exact."), UserMessage(mail)],
        "of a model": [UserMessage("Hi"), AssistantMessage(mail)],
    }
    lm = StaticResponse("{}" if protocol != "python" else "City(name='', people=1)")
    with contextlib.suppress(OutputValidationError):
        await complete(LIMA, lm=lm, protocol=protocol, prompt=prompts[kind])
    [request] = lm.requests
    said = "\n\n".join(message.text for message in request.messages[-2:])
    assert request.messages[-1].role == "user"
    assert said.index(mail) < said.index("Complete this") < said.index("MISSING(int)")
    if kind == "conversation":
        assert [message.role for message in request.messages] == ["system", "user"]


async def test_a_prompt_is_checked_also_where_nobody_is_asked() -> None:
    lm = StaticResponse("")
    wrong: list[tuple[Any, str]] = [
        (5, "A prompt must be"),
        (Template("{{mail}}"), "needs a value for mail"),
        ([], "A prompt must be"),
    ]
    for prompt, told in wrong:
        for known in (LIMA, City(name="Lima", people=1)):
            with pytest.raises(ConfigError, match=told):
                await complete(known, lm=lm, prompt=prompt)
    assert await complete(City(name="Lima", people=1), lm=lm, prompt="An e-mail.") == City(name="Lima", people=1)
    assert lm.requests == []
