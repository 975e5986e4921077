"""Our schemas beside langfun's, probe by probe (`langfun_probes.json`), and the table that docs/parity.md shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import IN_PYODIDE, REPO
from tests.parity.__main__ import BEGIN, END, main, written
from tests.parity.features import FILE, OURS, Feature, features_of, same
from tests.parity.table import REASONS, Row, reasons_of, tables

COMPUTED = "a name that may not be used is met before what it is computed with"
RANGE = "a number out of range, or a list that cannot be hashed, is a fault of the value: its syntax is Python's"
OTHER_KINDS = {
    "int-py-21": RANGE,
    "int-py-44": COMPUTED,
    "float-py-15": RANGE,
    "float-py-16": RANGE,
    "float-bounds-py-06": RANGE,
    "set-py-13": RANGE,
    "assignment-py-14": COMPUTED,
    "assignment-py-15": COMPUTED,
    "permissions-py-13": COMPUTED,
    "syntax-bombs-py-09": RANGE,
}
"""Refusals of another kind than the file proposes, and why."""

TEXTS_OF_OURS = {"list-length": "P15", "constrained-fields": "P15", "annotated-root": "P18"}
"""Features whose text is not the one proposed."""


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> list[Row]:
    return [Row(feature) for feature in features_of(shared_data)]


def test_the_39_categories(rows: list[Row]) -> None:
    """Of the five that langfx.js cannot represent, four are here; a callable is refused with its path."""
    matrix = {row.feature.name: row for row in rows if row.feature.in_matrix}
    assert len(matrix) == 39
    assert [name for name, row in matrix.items() if row.feature.schema is None] == ["callable"]
    assert matrix["callable"].feature.refusal == "No answer can be asked for: it is a callable."
    unrepresented = {n for n, r in matrix.items() if r.feature.data["seed"]["js_representation"] == "unsupported"}
    assert unrepresented == {"enum-class", "any-raw", "tuple-raw", "dict-int-key", "callable"}


def test_every_outcome_is_accounted_for(rows: list[Row]) -> None:
    assert [stray for row in rows for stray in row.strays] == []


def test_differences_on_purpose_are_needed(shared_data: Path, rows: list[Row]) -> None:
    """A difference that is gone must not stay on the list."""
    by_id = {probe["id"]: (row.feature, probe) for row in rows for probe in row.feature.data["probes"]}
    for name in OURS:
        feature, probe = by_id[name]
        assert not feature.outcome(probe["response"]).agrees(probe["port"]), name
    for name in OTHER_KINDS:
        feature, probe = by_id[name]
        assert probe["port"]["kind"] not in feature.outcome(probe["response"]).kinds, name
    assert reasons_of(json.loads((shared_data / FILE).read_text("utf-8"))) <= REASONS.keys()


def test_refusals_say_what_kind_they_are(rows: list[Row]) -> None:
    """P73."""
    strange = [
        f"{probe['id']}: {sorted(outcome.kinds)}, proposed {probe['port']['kind']}"
        for row in rows
        for probe, outcome in row.feature.probes()
        if outcome.outcome == probe["port"]["outcome"] == "reject"
        and probe["port"]["kind"] not in outcome.kinds
        and probe["id"] not in OTHER_KINDS
    ]
    assert strange == []


def test_texts(rows: list[Row]) -> None:
    """P1-P29: the text proposed for each feature, but for limits and descriptions that are told in comments."""
    others = {
        row.feature.name: row.text_rules[0]
        for row in rows
        if row.feature.schema is not None and row.feature.text != row.feature.proposed_text
    }
    assert others == TEXTS_OF_OURS
    refused = {row.feature.name for row in rows if row.feature.schema is None}
    assert refused == {"callable", "name-collision", "plain-class"}


@pytest.mark.skipif(IN_PYODIDE, reason="there is no docs folder")
def test_the_page_shows_the_table(rows: list[Row]) -> None:
    page = (REPO / "docs" / "parity.md").read_text("utf-8")
    assert written(page, tables(rows)) == page, "run make parity"


def test_command(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr()
    assert "| **all** | **38/39** |" in out.out
    assert out.err == ""


def test_command_without_data(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tests.parity.__main__.shared_data_folder", lambda: None)
    assert main([]) == 2
    assert "UNSPOOL_TEST_DATA" in capsys.readouterr().err


def test_strays_are_found() -> None:
    """The harness itself: an outcome that nobody accounts for is told."""
    probe = {"id": "x", "response": "1", "langfun": {"outcome": "value", "value": 2}, "port": {"outcome": "reject"}}
    data = {
        "name": "x", "group": "matrix", "definition": "SCHEMA = int", "probes": [probe],
        "langfun_construction": {"outcome": "ok"}, "port_schema_text": {"text": "int", "same_as_langfun": True},
    }  # fmt: skip
    row = Row(Feature(data, {"definition": ""}))
    assert (row.agreeing, row.as_proposed, row.total, row.text) == (0, 0, 1, "differs")
    assert len(row.strays) == 1


def test_values_are_compared_with_their_types() -> None:
    assert not same(1, 1.0) and not same(1, True) and not same([1], {"$tuple": [1]})
    assert same({"$set": [1, "a"]}, {"$set": ["a", 1]}) and same(
        {"$dict": [[1, 2], [3, 4]]}, {"$dict": [[3, 4], [1, 2]]}
    )


def test_place_of_the_table() -> None:
    assert written(f"a\n{BEGIN}\nold\n{END}\nb", "new") == f"a\n{BEGIN}\nnew\n{END}\nb"
    with pytest.raises(SystemExit):
        written("a", "new")
