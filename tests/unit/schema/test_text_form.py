"""The text forms of values, as pydantic's strict JSON mode reads them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pathlib
import re
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from pydantic import AnyUrl, SecretStr
from tests.support import named

from unspool.schema.text_form import text_form


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
    ],
    ids=named,
)
def test_values_without_one(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        text_form(value)
