"""What a scripted model is asked for in words: the form of a JSON answer, or a type in Python syntax, read back.

In: a prompt as `schema_prompt` ends it. Out: a JSON schema of what is asked for; None for words that are no such text.
Of Python syntax also how a value is written, since JSON has no constructors. Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unspool.errors import StreamError
from unspool.schema.subschemas import is_array, is_object
from unspool.structured import strict_json

_FORM = "JSON of this form, and with nothing else:\n"
_SCHEMA = "JSON that matches this JSON Schema, and with nothing else:\n"
_TYPE = "The type of your answer:\n"
_TOKEN = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d[\w.+-]*|any\ JSON\ value|[^\W\d][\w.]*|\.\.\.|[^\s\w])""",
    re.VERBOSE,
)
_DEFINITION = re.compile(r"([^\W\d]\w*): (?=[\[{\"\w-])")
_RANGE = re.compile(r"(?:up to (\d+)|(\d+)(?: to (\d+)| or more)?) ?(characters|items|members)?")
_BOUNDS: dict[str | None, tuple[str, str]] = {
    "characters": ("minLength", "maxLength"),
    "items": ("minItems", "maxItems"),
    "members": ("minProperties", "maxProperties"),
    None: ("minimum", "maximum"),
}
_CLASS = re.compile(r"class (\w+)(?:\((\w+)\))?:$")
_FIELD = re.compile(r"  (\w+)(?:: (.*)| = (.*))$")
_WORDS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "Any": {},
    "bytes": {"enum": ["b'some bytes'"], "written": True},
}
_ROWS = {"list": "[]", "set": "{}", "frozenset": "{}", "tuple": "()"}


class _NotReadError(Exception):
    """The words are no such text."""


def asked_in_words(prompt: str) -> tuple[dict[str, Any], bool] | None:
    """Read what a prompt asks for.

    Returns:
        A JSON schema, and whether the answer is to be written in Python syntax; None where nothing can be read.
    """
    at, mark = max((prompt.rfind(mark), mark) for mark in (_FORM, _SCHEMA, _TYPE))
    if at < 0:
        return None
    lines = prompt[at + len(mark) :].split("\n")
    try:
        if mark == _TYPE:
            return _python_schema(lines), True
        if mark == _FORM:
            return _form_schema(lines), False
        found: Any = strict_json.loads(lines[0])
        return (dict(found), False) if is_object(found) else None
    except (_NotReadError, StreamError, RecursionError, IndexError):
        return None


def written_python(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> str:
    """Write a value in Python syntax.

    Args:
        value, schema: as `sample` made it of a schema that was read from Python syntax.
        root: that of the whole.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return written_python(value, root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "anyOf" in schema:
        return written_python(value, schema["anyOf"][-1 if value is None else 0], root)
    if schema.get("written") and value in schema["enum"]:
        return str(value)
    if is_object(value):
        members: dict[str, Any] = schema.get("properties", {})
        inner = {
            name: written_python(item, members.get(name, schema.get("additionalProperties", {})), root)
            for name, item in value.items()
        }
        if "call" in schema:
            return f"{schema['call']}({', '.join(f'{name}={text}' for name, text in inner.items())})"
        return "{" + ", ".join(f"{name!r}: {text}" for name, text in inner.items()) + "}"
    if is_array(value):
        kinds = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        texts = [written_python(item, kind, root) for item, kind in zip(value, kinds, strict=False)]
        row: str = schema.get("row", "[]")
        opening, closing = row[0], row[1]
        if opening == "{" and not texts:
            return "set()"
        return opening + ", ".join(texts) + ("," if opening == "(" and len(texts) == 1 else "") + closing
    return repr(value)


class _Reader:
    """Reads one line of either syntax."""

    def __init__(self, line: str, defined: set[str]) -> None:
        self.line = line
        self.at = 0
        self.defined = defined

    def peek(self) -> str:
        found = _TOKEN.match(self.line, self.at)
        return found[1] if found else ""

    def take(self, wanted: str = "") -> str:
        found = _TOKEN.match(self.line, self.at)
        if found is None or (wanted and found[1] != wanted):
            raise _NotReadError
        self.at = found.end()
        return found[1]

    def skips(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.take()
        return True

    def known(self, name: str) -> dict[str, Any]:
        if name not in self.defined:
            raise _NotReadError
        return {"$ref": f"#/$defs/{name}"}

    def whole(self, node: dict[str, Any]) -> dict[str, Any]:
        if self.line[self.at :].strip():
            raise _NotReadError
        return node


class _Form(_Reader):
    """Reads the form of a JSON answer, as `json_form` writes it."""

    def form(self) -> dict[str, Any]:
        choices = [self._choice()]
        while self.skips("|"):
            choices.append(self._choice())
        if len(choices) == 1:
            return choices[0]
        return {"anyOf": choices, "optional": choices[-1].pop("optional", False)}

    def _choice(self) -> dict[str, Any]:
        node = self._plain(self.take())
        if self.peek() == "(" and self.line[self.at :].lstrip() != "(optional)":
            start = self.at + 1
            depth = 0
            while depth or self.at < start:
                token = self.take()
                depth += (token == "(") - (token == ")")
            rules = self.line[start : self.at - 1].strip(" (")
            if rules == "optional":
                return {**node, "optional": True}
            node = {**node, **_rules(rules)}
            if self.line.startswith(" (optional)", self.at):
                self.at += len(" (optional)")
                node["optional"] = True
        return node

    def _plain(self, token: str) -> dict[str, Any]:
        match token:
            case "{":
                return self._object()
            case "[":
                return self._array()
            case "string" | "integer" | "number" | "boolean":
                return {"type": token}
            case "null":
                return {"type": "null"}
            case "any JSON value":
                return {}
            case _ if token in self.defined:
                return self.known(token)
            case _:
                return {"const": strict_json.loads(token)}

    def _object(self) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "object", "properties": {}}
        required: list[str] = []
        while not self.skips("}"):
            name = self.take()
            self.take(":")
            member = self.form()
            if not name.startswith('"'):
                node["additionalProperties"] = member
                self.take(",")
                self.take("...")
                continue
            name = str(strict_json.loads(name))
            if not member.pop("optional", False):
                required.append(name)
            node["properties"][name] = member
            self.skips(",")
        return {**node, "required": required}

    def _array(self) -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        while not self.skips("]"):
            if self.skips("..."):
                self.take("]")
                row = {"type": "array", "items": items.pop()}
                return {**row, "prefixItems": items} if items else row
            items.append(self.form())
            self.skips(",")
        return {"type": "array", "prefixItems": items} if items else {"type": "array", "maxItems": 0}


def _rules(text: str) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for rule in text.split("; "):
        if found := _RANGE.fullmatch(rule):
            up_to, least, most, unit = found.groups()
            low, high = _BOUNDS[unit]
            if least is not None:
                rules[low] = int(least)
            if (end := up_to or most or (least if " " not in rule.removesuffix(f" {unit}") else None)) is not None:
                rules[high] = int(end)
        elif rule == "no two alike":
            rules["uniqueItems"] = True
        elif re.fullmatch(r"[a-z-]+", rule):
            rules["format"] = rule
    return rules


def _form_schema(lines: list[str]) -> dict[str, Any]:
    found = [match for line in lines[1:] if (match := _DEFINITION.match(line))]
    defined = {match[1] for match in found}
    reader = _Form(lines[0], defined)
    root = reader.whole(reader.form())
    defs: dict[str, Any] = {}
    for match in found:
        reader = _Form(match.string, defined)
        reader.at = match.end()
        try:
            defs.setdefault(match[1], reader.whole(reader.form()))
        except (_NotReadError, StreamError):  # what is said about a type, not what it is
            continue
    return {**root, "$defs": defs}


class _Type(_Reader):
    """Reads an annotation, as `python_text` writes it."""

    def type(self) -> dict[str, Any]:
        choices = [self._choice()]
        while self.skips("|"):
            choices.append(self._choice())
        return choices[0] if len(choices) == 1 else {"anyOf": choices}

    def _choice(self) -> dict[str, Any]:
        name = self.take()
        if name == "Literal":
            self.take("[")
            first = self.take()
            while self.skips(","):
                self.take()
            self.take("]")
            return {"enum": [first], "written": True}
        inner: list[dict[str, Any]] = []
        is_open = False
        if self.skips("["):
            while not self.skips("]"):
                if self.skips("..."):
                    is_open = True
                else:
                    inner.append(self.type())
                self.skips(",")
        node = self._of(name, inner, is_open)
        if self.skips("("):
            while not self.skips(")"):
                rule = self.take()
                self.take("=")
                value = self.take().strip("'\"")
                if rule == "format":
                    node = {**node, "format": value}
                elif rule in ("min", "max") and value.lstrip("-").isdigit():
                    node = {**node, f"{rule}imum": int(value)}
                self.skips(",")
        return node

    def _of(self, name: str, inner: list[dict[str, Any]], is_open: bool) -> dict[str, Any]:
        if name in ("NotRequired", "Required"):
            return inner[0]
        if name == "dict":
            return {"type": "object", "additionalProperties": inner[1] if len(inner) == 2 else {}}
        if name in _ROWS:
            row: dict[str, Any] = {"type": "array", "row": _ROWS[name], "uniqueItems": "set" in name}
            if name == "tuple" and not is_open:
                return {**row, "prefixItems": inner}
            return {**row, "items": inner[0] if inner else {}}
        return dict(_WORDS[name]) if name in _WORDS else self.known(name)


def _python_schema(lines: list[str]) -> dict[str, Any]:
    defined = {match[1] for line in lines if (match := _CLASS.match(line))}
    reader = _Type(lines[0], defined)
    root = reader.whole(reader.type())
    defs: dict[str, Any] = {}
    node: dict[str, Any] = {}
    name = ""
    rules: dict[str, Any] = {}
    for line in lines[1:]:
        if line == "```":
            break
        if match := _CLASS.match(line):
            name = match[1]
            node = {"type": "object", "properties": {}, "title": name}
            defs[name] = node
            if match[2] != "TypedDict":
                node["call"] = name
        elif match := _FIELD.match(line):
            if match[3] is not None and "enum" not in node and not node["properties"]:  # a member of an Enum
                node.update(enum=[f"{name}.{match[1]}"], written=True)
            elif match[2] is not None:
                reader = _Type(match[2].partition(" = ")[0], defined)
                node["properties"][match[1]] = {**reader.whole(reader.type()), **rules}
                rules = {}
        elif line.startswith("  # "):
            rules.update(_rules(line.removeprefix("  # ").removesuffix(".")))
    for node in defs.values():
        node["required"] = list(node.get("properties", ()))
    return {**root, "$defs": defs}
