"""Reading pydantic's core schemas. Expected: what `pydantic_core.core_schema` documents of the nodes."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypedDict

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from unspool.schema.pydantic_nodes import (
    allows_extra,
    choices_of,
    field_nodes,
    fields_node,
    metadata_of,
    refers,
    unwrapped,
)


class Model(BaseModel):
    a: int
    b: str | None = None


class Checked(Model):
    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _check(self) -> Checked:
        return self


@dataclasses.dataclass
class Data:
    a: int
    b: str | None = None


class Keys(TypedDict):
    a: int
    b: str | None


class Row(NamedTuple):
    a: int
    b: str | None = None


def core(T: Any) -> Any:
    return TypeAdapter(T).core_schema


def test_fields_of_every_kind_of_class() -> None:
    for T in (Model, Checked, Data, Keys, Row):
        assert [name for name, _ in field_nodes(core(T))] == ["a", "b"], T


def test_extra_members() -> None:
    assert allows_extra(core(Checked)["schema"], fields_node(core(Checked)))
    assert not allows_extra(core(Model), fields_node(core(Model)))


def test_choices() -> None:
    assert [choice["type"] for choice in choices_of(core(int | str))] == ["int", "str"]
    assert [choice["type"] for choice in choices_of({"type": "union", "choices": [({"type": "int"}, "label")]})] == [
        "int"
    ]
    assert choices_of({"type": "tagged-union", "choices": {"a": {"type": "int"}}}) == [{"type": "int"}]


def test_what_a_node_wraps() -> None:
    [_, field] = field_nodes(core(Model))
    assert [node["type"] for node in unwrapped(field[1]["schema"])] == ["default", "nullable", "str"]
    assert metadata_of({"type": "int"}) == metadata_of({"type": "int", "metadata": None}) == {}


def test_references() -> None:
    assert refers({"type": "list", "items_schema": {"type": "definition-ref", "schema_ref": "A"}})
    assert not refers(core(list[int]))
