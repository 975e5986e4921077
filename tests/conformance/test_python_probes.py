"""PyReplyMachine against 636 replies that google/langfun was seen to read or refuse (langfun_probes.json).

Nothing is evaluated (P40). The file's `port` outcomes are proposals with a P-number. What the syntax decides must
come out as proposed, or stand in DIFFERENCES with the reason; where only a schema can refuse a reply, its syntax must
be fine.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from tests.support import splits

from unspool.errors import StreamError
from unspool.structured.py_values import PyName, PyObject, PySet
from unspool.structured.reply import PyReplyMachine

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

_FIRST = (
    "P45, P46: refused all the same; ours names the first fault in the text, the unknown name, not the later syntax"
)
DIFFERENCES: dict[str, str] = {
    "int-py-44": _FIRST,
    "permissions-py-13": _FIRST,
    "assignment-py-14": _FIRST,
    "assignment-py-15": _FIRST,
    "set-py-13": "P56: refused all the same; a member that cannot be hashed is refused before its type is looked at",
}
"""Probes where ours is another outcome than the proposed one, and why."""


def vocabulary(feature: dict[str, Any]) -> tuple[dict[str, list[str]], list[str]]:
    """Constructors with the fields of their positions, and names that stand for values, of a feature's definition."""
    fields: dict[str, list[str]] = {}
    names = ["UNKNOWN"]
    for node in ast.walk(ast.parse(feature["definition"])):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
        own = [
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            if not item.target.id.startswith("_") and "exclude_from_prompt" not in ast.unparse(item)
        ]
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                own = [argument.arg for argument in item.args.args[1:]]
        if bases and bases[0] in ("Enum", "IntEnum"):
            members = [item.targets[0].id for item in node.body if isinstance(item, ast.Assign)]  # type: ignore[attr-defined]
            names += [f"{node.name}.{member}" for member in members]
            own = ["value"]
        fields[node.name] = [name for base in bases for name in fields.get(base, [])] + own
    if feature["name"] == "inheritance-leaf":
        del fields["Base"]  # P46: a base that is not printed cannot be called
    return fields, names


def outcome(pieces: list[str], classes: dict[str, list[str]], names: list[str]) -> tuple[str, Any]:
    machine = PyReplyMachine(classes=classes, names=names)
    try:
        for piece in pieces:
            machine.feed(piece)
        return "", machine.finish()
    except StreamError as error:
        return KINDS.get(error.code, "syntax"), error.byte_offset


def makes(value: Any, result: Any) -> bool:
    """Whether a result of the file can have been made of a neutral value."""
    if isinstance(result, dict):
        ((tag, content), *_) = result.items()
        if tag == "$obj":
            fields = result["fields"]
            return (
                isinstance(value, PyObject)
                and value.name == content
                and all(name in fields and makes(item, fields[name]) for name, item in value.fields.items())
            )
        if tag == "$tuple":
            return type(value) is tuple and len(value) == len(content) and all(map(makes, value, content))
        if tag in ("$set", "$frozenset"):
            return isinstance(value, PySet) and len(value.members) == len(content)
        if tag == "$dict":
            items = value.fields.items() if isinstance(value, PyObject) else value.items()
            return len(items) == len(content) and all(
                makes(key, wanted[0]) and makes(item, wanted[1])
                for (key, item), wanted in zip(items, content, strict=True)
            )
        if tag == "$enum":
            owner, _, _ = content.partition(".")
            return value == PyName(content) or isinstance(value, str | int) or value.name == owner
        if tag == "$marker":
            return value == PyName(content)
        return tag == "$int" and type(value) is int and str(value) == content
    if isinstance(result, list):
        return type(value) is list and len(value) == len(result) and all(map(makes, value, result))
    if isinstance(result, float):
        return type(value) in (int, float) and float(value) == result
    return type(value) is type(result) and value == result


def differs(feature: dict[str, Any], probe: dict[str, Any]) -> str:
    """How ours differs from the proposed outcome; empty when it does not."""
    classes, names = vocabulary(feature)
    found = [outcome(pieces, classes, names) for pieces in splits(probe["response"], rounds=2)]
    for other in found[1:]:
        assert repr(other) == repr(found[0]), f"{probe['id']} depends on how the text was cut"
    kind, value = found[0]
    port = probe["port"]
    if port["outcome"] == "value":
        if kind:
            return f"{kind} instead of a value"
        return "" if makes(value, port["value"]) else f"{value!r} instead of {port['value']!r}"
    wanted = port["kind"]
    if not kind:
        return "" if wanted in OF_THE_SCHEMA else f"{value!r} instead of {wanted}"
    return "" if kind == wanted else f"{kind} instead of {wanted}"


def probes(shared_data: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    file = json.loads((shared_data / "langfun_probes.json").read_text())
    return [
        (feature, probe)
        for feature in file["features"]
        for probe in feature["probes"]
        if probe.get("port", {}).get("outcome") in ("value", "reject")
    ]


def test_probes_agree_or_are_explained(shared_data: Path) -> None:
    """Each whole, by characters and at seeded cuts."""
    found = {probe["id"]: how for feature, probe in probes(shared_data) if (how := differs(feature, probe))}
    assert {name: how for name, how in found.items() if name not in DIFFERENCES} == {}
    assert DIFFERENCES.keys() - found.keys() == set(), "these agree by now"


def test_all_probes_are_there(shared_data: Path) -> None:
    assert len(probes(shared_data)) == 636
