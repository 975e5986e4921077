"""The text forms of values, as pydantic's strict JSON mode reads them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pathlib
import re
import threading
import uuid
import zoneinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from pydantic import AnyUrl, BaseModel, SecretStr
from pydantic_core import core_schema
from tests.support import named

from unspool.schema import format_value
from unspool.schema.text_form import text_form


class Word:
    """A class that tells pydantic itself how it is read and written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and other.text == self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        written = core_schema.plain_serializer_function_ser_schema(lambda word: word.text)
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema(), serialization=written)


class Odd:
    """A class that raises what it likes."""

    @property
    def is_finite(self) -> bool:
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.date(1, 2, 3), "0001-02-03"),
        (dt.datetime(2026, 11, 30, 1, 2, 3, 4, dt.UTC), "2026-11-30T01:02:03.000004Z"),
        (
            dt.datetime(2026, 11, 30, tzinfo=dt.timezone(dt.timedelta(hours=-5, minutes=-30))),
            "2026-11-30T00:00:00-05:30",
        ),
        (dt.time(1, 2), "01:02:00"),
        (dt.timedelta(days=-1, seconds=1), "-PT23H59M59S"),
        (Decimal("-1.50"), "-1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ipaddress.IPv6Network("::/8"), "::/8"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (re.compile("^a+$"), "^a+$"),
        (AnyUrl("http://a/b"), "http://a/b"),
        (b"\xc3\xa9", "é"),
        (Fraction(1, 3), "1/3"),
        (zoneinfo.ZoneInfo("UTC"), "UTC"),
        (dt.time(1, tzinfo=zoneinfo.ZoneInfo("UTC")), "01:00:00Z"),
        (Word("a"), "a"),
    ],
    ids=named,
)
def test_forms(value: Any, text: str) -> None:
    assert text_form(value) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=61))), "whole minutes"),
        (dt.time(1, tzinfo=dt.timezone(dt.timedelta(seconds=1))), "whole minutes"),
        (re.compile("a", re.IGNORECASE), "no flags"),
        (re.compile(b"a"), "no flags"),
        (Decimal("NaN"), "would not be read"),
        (Decimal("-Infinity"), "would not be read"),
        (SecretStr("s"), "secret"),
        (b"\xff", "bytes has no text form"),
        (object(), "object has no text form"),
        (range(3), "range has no text form"),
        (dt.timezone.utc, "a time zone is written by its key"),  # noqa: UP017
        (Odd(), r"Odd has no text form \(RuntimeError: not now\)"),
        (memoryview(b"a"), "memoryview has no text form"),
        (threading.Lock(), "lock has no text form"),
    ],
    ids=named,
)
def test_values_without_one(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        text_form(value)


@pytest.mark.parametrize(("form", "text"), [("utf8", "ab"), ("base64", "YWI="), ("hex", "6162")])
def test_bytes_as_they_are_read(form: str, text: str) -> None:
    assert text_form(b"ab", form) == text


class Zone(BaseModel):
    zone: zoneinfo.ZoneInfo
    word: Word
    words: list[Word] = []


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_they_come_back_in_whatever_they_stand(protocol: Any) -> None:
    zone = Zone.model_validate({"zone": "UTC", "word": "a", "words": ["b"]})
    text = format_value(zone, protocol, T=Zone, compact=True)
    assert text == (
        "Zone(zone='UTC', word='a', words=['b'])" if protocol == "python" else '{"zone":"UTC","word":"a","words":["b"]}'
    )
    assert format_value(zoneinfo.ZoneInfo("UTC"), protocol, T=zoneinfo.ZoneInfo) in ("'UTC'", '"UTC"')
    assert format_value(Word("a"), protocol, T=Word) in ("'a'", '"a"')
