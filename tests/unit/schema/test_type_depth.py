"""How deep types may nest. Pyodide: fatal beyond; F35 and issue 5 ask for an error instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, Field, RootModel, TypeAdapter, create_model
from tests.support import named

from unspool.errors import ConfigError
from unspool.schema import Schema, format_value, native_schema, schema_text
from unspool.schema.json_schema import without_titles
from unspool.schema.type_depth import MAX_CLASS_DEPTH, MAX_TYPE_DEPTH, refuse_deep, shallow

type Named[T] = list[T]


class Box[X](BaseModel):
    v: X


def members(inner: Any) -> dict[str, Any]:
    return {"a": int} if inner is int else {"a": int, "n": inner}


BRACKETS: list[Callable[[Any, int], Any]] = [
    lambda T, i: list[T],
    lambda T, i: list[T] | None,
    lambda T, i: list[T] | str,
    lambda T, i: dict[str, T],
    lambda T, i: tuple[T, int],
    lambda T, i: Annotated[list[T], Field(max_length=3)],
    lambda T, i: Named[T],
    lambda T, i: dataclasses.make_dataclass(f"C{i}", members(T).items()),
    lambda T, i: TypedDict(f"C{i}", members(T)),  # type: ignore[operator]
    lambda T, i: NamedTuple(f"C{i}", members(T).items()),  # type: ignore[misc]
]
CLASSES: list[Callable[[Any, int], Any]] = [
    lambda T, i: create_model(f"C{i}", **{name: (kind, ...) for name, kind in members(T).items()}),  # type: ignore[call-overload]
    lambda T, i: create_model(f"C{i}", a=(int, ...), n=(Annotated[list[T] | None, Field(description="next")], None)),
    lambda T, i: Box[T],
]


def nested(make: Callable[[Any, int], Any], count: int) -> Any:
    T: Any = int
    for i in range(count):
        T = make(T, i)
    return T


@pytest.mark.parametrize("make", BRACKETS, ids=named)
def test_brackets_and_classes_that_pydantic_has_not_built(make: Any) -> None:
    Schema.of(nested(make, MAX_TYPE_DEPTH // 2 - 1))
    for count in (MAX_TYPE_DEPTH + 1, 300):
        with pytest.raises(ConfigError, match=f"more than {MAX_TYPE_DEPTH} types") as caught:
            Schema.of(nested(make, count))
        assert caught.value.code == "UNSUPPORTED"
        assert caught.value.message.split("asked for: ")[1][0] in "[{ni"  # the path


@pytest.mark.parametrize("make", CLASSES, ids=named)
def test_models_that_stand_in_each_other(make: Any) -> None:
    """Pydantic's own JSON Schema of 60 such models ends an interpreter in a page; a longer chain is refused."""
    schema: Schema[Any] = Schema.of(nested(make, MAX_CLASS_DEPTH))
    assert len(schema.json_schema()["$defs"]) >= MAX_CLASS_DEPTH - 1
    assert schema_text(schema, "python").count("class ") == MAX_CLASS_DEPTH
    assert schema_text(schema, "json")
    for dialect in ("openai", "gemini", "ollama"):
        assert native_schema(schema, dialect).schema  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=f"more than {MAX_CLASS_DEPTH} classes") as caught:
        Schema.of(nested(make, MAX_CLASS_DEPTH + 1))
    assert caught.value.code == "UNSUPPORTED"


def test_values_of_a_long_chain() -> None:
    T = nested(CLASSES[0], MAX_CLASS_DEPTH - 1)
    value: Any = {"a": 1}
    for _ in range(MAX_CLASS_DEPTH - 2):
        value = {"a": 1, "n": value}
    made = Schema.of(T).validate(value)
    assert format_value(made, "python", T=T).count("C") == MAX_CLASS_DEPTH - 1
    assert format_value(made, "json", T=T).count('"a"') == MAX_CLASS_DEPTH - 1


@pytest.mark.parametrize("make", CLASSES[:2], ids=named)
@pytest.mark.parametrize("count", [1, 5, 20])
def test_json_schema_is_the_one_of_pydantic(make: Any, count: int) -> None:
    """Classes that were moved out are where pydantic puts them itself."""
    T = nested(make, count)
    assert Schema.of(T).json_schema() == without_titles(TypeAdapter(T).json_schema())


def test_lists_deep_in_a_class_that_pydantic_has_built() -> None:
    wrong = create_model("Wrong", deep=(nested(BRACKETS[0], 100), ...))
    with pytest.raises(ConfigError, match=r"deep\[\].* steps deep") as caught:
        Schema.of(wrong)
    assert caught.value.code == "UNSUPPORTED"


def test_recursive_types_are_not_deep() -> None:
    type Json = list[Json] | dict[str, Json] | str
    refuse_deep(Json)
    Schema.of(Json)

    class Tree(RootModel[list["Tree"]]):
        pass

    Tree.model_rebuild()
    refuse_deep(Tree)
    Schema.of(Tree)


def test_shallow_leaves_the_most_as_they_are() -> None:
    core = TypeAdapter(nested(CLASSES[0], 3)).core_schema
    assert shallow(core) is core


def test_names_that_are_not_there_are_left_to_pydantic() -> None:
    @dataclasses.dataclass
    class Odd:
        x: Nowhere  # type: ignore[name-defined]  # noqa: F821

    refuse_deep(Odd)
    with pytest.raises(ConfigError, match="Nowhere"):
        Schema.of(Odd)
