"""Native schemas against the rules that the SDKs' own code has for them."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.conftest import REPO
from tests.sdk_process import sdks_folder

from unspool.errors import ConfigError
from unspool.schema import Dialect, Schema, Unknown, native_schema

pytestmark = pytest.mark.host


class Leaf(BaseModel):
    """A leaf."""

    name: str = Field(min_length=2, description="its name")
    note: str | None = None
    n: Annotated[int, Field(ge=1, multiple_of=3)] = 3
    price: Annotated[Decimal, Field(gt=0)]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    born: dt.date


class Puppy(Dog):
    weeks: int | Unknown


class Zoo(BaseModel):
    best: Annotated[Cat | Dog, Field(discriminator="kind")]
    rest: list[Cat | Dog] = Field([], max_length=4)
    names: list[str] = Field(min_length=1)
    many: list[int] = Field(min_length=2)
    leaf: Leaf = Field(description="the one")
    mode: Literal[1, "a", None]
    tags: set[str] = set()


class Tree(BaseModel):
    label: str
    kids: list[Tree] = []


class Loose(BaseModel):
    pair: tuple[int, str]
    more: dict[str, int]
    any: Any = None


TYPES: dict[str, Any] = {
    "leaf": Leaf,
    "zoo": Zoo,
    "list": list[Leaf],
    "optional": Leaf | None,
    "number": int,
    "literal": Literal["a", "b"],
    "union": Cat | Dog,
    "recursive": Tree,
    "loose": Loose,
}
HELD: tuple[Dialect, ...] = ("openai", "anthropic", "gemini")


@pytest.fixture(scope="module")
def sdks() -> Path:
    """The folder that the SDKs are installed in."""
    return sdks_folder()


def held() -> list[tuple[str, Dialect, Any]]:
    """Every type in every dialect that can hold it."""
    found: list[tuple[str, Dialect, Any]] = []
    for name, wanted in {**TYPES, "family": Schema.of(Dog, subclasses=[Puppy])}.items():
        for dialect in HELD:
            try:
                native = native_schema(Schema.of(wanted), dialect)
            except ConfigError:
                continue
            if native.reason is None:
                found.append((name, dialect, native.schema))
    return found


def test_rules_of_the_sdks(sdks: Path) -> None:
    cases = held()
    assert {(name, dialect) for name, dialect, _ in cases} >= {(name, d) for name in ("leaf", "zoo") for d in HELD}
    assert ("loose", "gemini") in {(name, dialect) for name, dialect, _ in cases}
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.sdk_schema"],
        cwd=REPO,
        input=json.dumps([[dialect, schema] for _, dialect, schema in cases]),
        env={**os.environ, "PYTHONPATH": str(sdks)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    faults = json.loads(done.stdout)
    found = {f"{name} {dialect}": fault for (name, dialect, _), fault in zip(cases, faults, strict=True) if fault}
    assert found == {}
