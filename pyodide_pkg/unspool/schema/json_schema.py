"""JSON Schema as data: what is taken out of it before it is shown, and which of its unions take long to try. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from unspool.schema.subschemas import LISTS, MAPS, SINGLES, is_array, is_object, resolve, subschemas

WRAPPER = "value"
"""The one member of the object that is put around an answer whose root is no object."""


def without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the titles that only repeat a name, as pydantic writes them: they cost tokens and tell nothing."""

    def strip(node: Any, name: str | None) -> Any:
        if not is_object(node):
            return node
        clean = dict(node)
        if name is not None and clean.get("title") in (name, name.title().replace("_", " ")):
            del clean["title"]
        for keyword in MAPS:
            entries = clean.get(keyword)
            if is_object(entries):
                clean[keyword] = {key: strip(entry, key) for key, entry in entries.items()}
        for keyword in LISTS:
            entries = clean.get(keyword)
            if is_array(entries):
                clean[keyword] = [strip(entry, None) for entry in entries]
        for keyword in SINGLES:
            if keyword in clean:
                clean[keyword] = strip(clean[keyword], None)
        return clean

    title = schema.get("title")
    return cast("dict[str, Any]", strip(schema, title if isinstance(title, str) else None))


def without_hidden(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the members that are kept from the model: their fields are marked `exclude_from_prompt`."""

    def strip(node: Any) -> Any:
        if is_array(node):
            return [strip(item) for item in node]
        if not is_object(node):
            return node
        clean = {key: strip(value) for key, value in node.items()}
        properties = clean.get("properties")
        if is_object(properties):
            clean["properties"] = {
                name: entry
                for name, entry in properties.items()
                if not (is_object(entry) and entry.get("exclude_from_prompt") is True)
            }
        return clean

    return cast("dict[str, Any]", strip(schema))


def lookalikes(root: Mapping[str, Any]) -> tuple[int, int]:
    """Count the alternatives that a recursive union tries anew at each level: objects, and lists.

    Of alternatives that are told apart by no discriminator, pydantic reads each to its end. Where two of them contain
    the union again, the time doubles with each level of the value.

    Returns:
        The largest number of such alternatives that are objects, and that are lists; at least 1 each.
    """
    unions: list[list[Any]] = []
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        if is_object(node):
            todo.extend(entry for _, entry in subschemas(node))
            entries = [entry for entry in node.get("anyOf", ()) if _references(entry)]
            if len(entries) > 1:
                unions.append(entries)
    if not unions:  # as nearly always
        return 1, 1
    behind = _behind(root)
    recursive = {ref for ref, refs in behind.items() if ref in refs}
    repeating = {ref for ref, refs in behind.items() if refs & recursive}
    most = {"object": 1, "array": 1}
    for entries in unions:
        kinds = [
            (resolve(root, entry["$ref"]) if "$ref" in entry else entry).get("type")
            for entry in entries
            if _references(entry) & repeating
        ]
        most = {kind: max(count, kinds.count(kind)) for kind, count in most.items()}
    return most["object"], most["array"]


def _behind(root: Mapping[str, Any]) -> dict[str, set[str]]:
    """Give for each reference the references that are reached through it."""
    direct: dict[str, set[str]] = {}
    todo = list(_references(root))
    while todo:
        ref = todo.pop()
        if ref not in direct:
            direct[ref] = _references(resolve(root, ref))
            todo.extend(direct[ref])
    behind: dict[str, set[str]] = {}
    for ref in direct:
        reached: set[str] = set()
        ways = list(direct[ref])
        while ways:
            way = ways.pop()
            if way not in reached:
                reached.add(way)
                ways.extend(direct[way])
        behind[ref] = reached
    return behind


def _references(node: Any) -> set[str]:
    """Give the references in a part of a schema."""
    found: set[str] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if is_object(part):
            todo.extend(entry for _, entry in subschemas(part))
            if isinstance(part.get("$ref"), str):
                found.add(part["$ref"])
    return found
