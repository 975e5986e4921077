"""The event stream cases of the shared data: rules of WHATWG HTML 9.2.6, drawn from web-platform-tests."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import MISSING_DATA, shared_data_folder
from tests.support import feed_all, splits, two_slices

from unspool.stream import SseDecoder

FOLDER = shared_data_folder()
CASES: list[dict[str, Any]] = (
    json.loads((FOLDER / "sse-conformance.json").read_text(encoding="utf-8"))["cases"] if FOLDER else []
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    data = base64.b64decode(case["input_base64"]) if "input_base64" in case else case["input"].encode()
    for slices in (*splits(data), *two_slices(data)):
        decoder = SseDecoder()
        events = feed_all(decoder, slices)
        assert [event._asdict() for event in events] == case["expected"], slices
        assert decoder.retry_ms == case.get("retry"), slices
        if "last_event_id" in case:
            assert decoder.last_event_id == case["last_event_id"], slices


def test_cases_are_there(shared_data: Path) -> None:
    assert len(CASES) >= 60, MISSING_DATA
