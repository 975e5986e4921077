"""PyReplyMachine against the traces of 60 replies that were worked out by hand from the seed (P83 to P110).

The traces are a proposal. DIFFERENCES lists where ours is another one, and why; docs/parity.md quotes it. What needs a
schema (the terminal events `type`, `missing-field`, ...) is compared as far as the reply's syntax goes: there the value
must be complete.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support import splits

from unspool.errors import StreamError
from unspool.structured.events import ObjectEnd, ObjectStart, Progress, StringFieldDelta
from unspool.structured.py_values import PyObject, PySet
from unspool.structured.reply import PyReplyMachine

FIELDS = {
    "Step": ("text", "done"),
    "Answer": ("title", "count", "ok"),
    "Note": ("text", "path"),
    "Plan": ("steps", "meta", "best"),
    "Bag": ("name", "items", "extra"),
    "Foo": ("x",),
    "Bar": ("y",),
    "Mix": ("pair", "seen"),
}
"""Classes of the replies, and the fields of their positions; as the file defines them."""

KINDS = {
    "EMPTY_INPUT": "empty",
    "UNKNOWN_NAME": "unknown-name",
    "DUPLICATE_KEY": "duplicate-key",
    "DUPLICATE_FIELD": "duplicate-field",
    "TOO_MANY_POSITIONAL": "too-many-positional",
    "INVALID_VALUE": "value",
    "MAX_DEPTH_EXCEEDED": "limit",
    "MAX_BYTES_EXCEEDED": "limit",
}
"""Our codes in the words of the file (P73); all others are `syntax`."""

OF_THE_SCHEMA = frozenset({"type", "missing-field", "unexpected-field", "value"})
"""Kinds that only a schema can find."""

DIFFERENCES = {
    "bytes": "P97, P110: bytes are a value that a schema may ask for: wrong ones are shown as other wrong values are",
}
"""Where our trace is another one than the proposed one, and why."""


def encoded(value: Any) -> Any:
    """A neutral value as the file writes values."""
    if isinstance(value, PyObject):
        return {"$obj": value.name, "fields": {key: encoded(item) for key, item in value.fields.items()}}
    if isinstance(value, PySet):
        return {"$set": [encoded(item) for item in value.members]}
    if isinstance(value, tuple):
        return {"$tuple": [encoded(item) for item in value]}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        return {"$dict": [[encoded(key), encoded(item)] for key, item in value.items()]}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    return value


def exact(value: Any) -> str:
    """A value as text that tells 1 from 1.0 and True."""
    return json.dumps(value, ensure_ascii=False)


def normalized(events: list[Progress]) -> list[list[Any]]:
    """Events as the file normalizes them: containers other than constructors left out, neighbouring deltas joined."""
    out: list[list[Any]] = []
    for event in events:
        if isinstance(event, StringFieldDelta):
            if out and out[-1][:2] == [event.type, list(event.path)]:
                out[-1][2] += event.delta
                continue
            out.append([event.type, list(event.path), event.delta])
        elif isinstance(event, ObjectStart | ObjectEnd):
            if event.python_class is None:
                continue
            out.append([event.type, list(event.path), event.kind, event.python_class])
            if isinstance(event, ObjectEnd):
                out[-1].append(encoded(event.value))
        else:
            out.append([event.type, list(event.path)])  # type: ignore[union-attr]
            if event.type == "fieldEnd":
                out[-1].append(encoded(event.value))  # type: ignore[union-attr]
    return out


def known(schema: str) -> dict[str, tuple[str, ...]]:
    """The classes that a schema of the file lets a reply call."""
    wanted = {name for name in FIELDS if name in schema}
    if "Plan" in wanted:
        wanted.add("Step")
    return {name: FIELDS[name] for name in wanted}


def trace(pieces: list[str], classes: dict[str, tuple[str, ...]], max_depth: int) -> tuple[list[list[Any]], str, Any]:
    """Read a reply; gives the normalized events, and a kind of fault, or "" and the value."""
    machine = PyReplyMachine(classes=classes, names=("UNKNOWN",), max_depth=max_depth)
    events: list[Progress] = []
    for piece in pieces:
        events += machine.feed(piece)
    try:
        value = machine.finish()
    except StreamError as error:
        return normalized(events), KINDS.get(error.code, "syntax"), None
    return normalized(events), "", encoded(value)


def cases(shared_data: Path) -> list[dict[str, Any]]:
    file = json.loads((shared_data / "streaming_traces.json").read_text())
    found: list[dict[str, Any]] = file["cases"]
    return found


def differs(case: dict[str, Any]) -> str:
    """How our trace of a case differs from the proposed one; empty when it does not."""
    *proposed, terminal = case["normalized"]
    depth = case.get("options", {}).get("max_depth", 64)
    traces = [trace(pieces, known(case["schema"]), depth) for pieces in splits(case["response"])]
    for other in traces[1:]:
        assert exact(other) == exact(traces[0]), f"P105: the trace of {case['name']} depends on how the text was cut"
    events, kind, value = traces[0]
    if exact(events) != exact(proposed):
        return f"events {exact(events)} instead of {exact(proposed)}"
    if terminal[0] == "parsingFailed":
        wanted = "" if terminal[1] in OF_THE_SCHEMA and not kind else terminal[1]
        return "" if kind == wanted else f"kind {kind!r} instead of {wanted!r}"
    if kind:
        return f"kind {kind!r} instead of a value"
    return "" if _holds(value, terminal[1]) else f"value {exact(value)} instead of {exact(terminal[1])}"


def _holds(value: Any, result: Any) -> bool:
    """Whether a neutral value may be what a result was made of: fields with defaults may be absent."""
    if isinstance(value, dict) and "$obj" in value and isinstance(result, dict):
        fields: dict[str, Any] = result.get("fields", {})
        return value["$obj"] == result.get("$obj") and all(
            key in fields and _holds(item, fields[key]) for key, item in value["fields"].items()
        )
    if isinstance(value, dict) and "$set" in value and isinstance(result, dict):
        return sorted(map(exact, value["$set"])) == sorted(map(exact, result.get("$set", [])))
    if isinstance(value, list) and isinstance(result, list):
        return len(value) == len(result) and all(map(_holds, value, result))
    return exact(value) == exact(result)


def test_traces_agree_or_are_explained(shared_data: Path) -> None:
    """60 replies, each whole, by characters and at seeded cuts."""
    found = {case["name"]: difference for case in cases(shared_data) if (difference := differs(case))}
    assert {name: found.get(name, "") for name in found.keys() - DIFFERENCES.keys()} == {}
    assert not DIFFERENCES.keys() - found.keys(), "these agree by now"


def test_nothing_is_told_before_it_can_be_known(shared_data: Path) -> None:
    """Read by characters, each event comes where the reference has it, or later."""
    for case in cases(shared_data):
        if case["name"] in DIFFERENCES:
            continue
        machine = PyReplyMachine(classes=known(case["schema"]), max_depth=case.get("options", {}).get("max_depth", 64))
        ours: list[tuple[int, list[Any]]] = []
        for at, char in enumerate(case["response"], 1):
            ours += ((at, event) for event in normalized(machine.feed(char)))
        told = [
            (at, event) for at, event in case["characters"] if event[0] not in ("generationComplete", "parsingFailed")
        ]
        told = [(at, event) for at, event in told if not event[0].startswith("object") or event[2:4][1:] not in _PLAIN]
        early = [
            (at, event, reference)
            for (at, event), (reference, _) in zip(_last_of_runs(ours), _last_of_runs(told), strict=True)
            if at < reference
        ]
        assert not early, case["name"]


_PLAIN = (["list"], ["dict"], ["tuple"], ["set"], ["frozenset"])


def _last_of_runs(events: list[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
    """Of neighbouring deltas of one string only the last."""
    out: list[tuple[int, list[Any]]] = []
    for at, event in events:
        if out and event[0] == "stringFieldDelta" and out[-1][1][:2] == event[:2]:
            out.pop()
        out.append((at, event))
    return out


def test_all_cases_are_there(shared_data: Path) -> None:
    names = [case["name"] for case in cases(shared_data)]
    assert len(names) == len(set(names)) == 60
    assert sum("seed" in case for case in cases(shared_data)) == 12
    assert names[:1] == ["class"]
