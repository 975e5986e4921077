"""UNKNOWN: rules P65 and P66 of the reference notes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import BaseModel

from unspool.errors import OutputValidationError
from unspool.schema import UNKNOWN, Schema, Unknown
from unspool.structured.py_values import PyName, PyObject


class Town(BaseModel):
    name: str | Unknown
    people: int = 0
    more: Any = None


def test_there_is_one() -> None:
    assert Unknown() is UNKNOWN
    assert not UNKNOWN
    assert repr(UNKNOWN) == "UNKNOWN"
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
    assert UNKNOWN != None and UNKNOWN != False  # noqa: E711, E712


def test_in_python_syntax() -> None:
    schema = Schema.of(Town)
    value = PyObject("Town", {"name": PyName("UNKNOWN"), "more": [PyName("UNKNOWN")]})
    town = schema.validate(value, protocol="python")
    assert town.name is UNKNOWN
    assert town.more == [UNKNOWN]
    for wrong in (
        PyObject("Town", {"name": "n", "people": PyName("UNKNOWN")}),
        PyObject("Town", {"name": None}),
        PyName("UNKNOWN"),
    ):
        with pytest.raises(OutputValidationError):
            schema.validate(wrong, protocol="python")


def test_in_json() -> None:
    schema = Schema.of(Town)
    assert schema.validate({"name": {"unknown": True}}).name is UNKNOWN
    assert schema.dump_json(Town(name=UNKNOWN)) == '{"name":{"unknown":true},"people":0,"more":null}'
    for wrong in ({"unknown": False}, {"unknown": 1}, {"unknown": True, "x": 1}, {}):
        with pytest.raises(OutputValidationError):
            schema.validate({"name": wrong})
    assert schema.json_schema()["properties"]["name"]["anyOf"][1]["properties"] == {
        "unknown": {"const": True, "type": "boolean"}
    }
