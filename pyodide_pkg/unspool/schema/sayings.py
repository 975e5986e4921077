"""Sayings: what is said about a class and its fields, wherever Python and pydantic let one say it. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from unspool.schema.shape import Form, Record

Core = Mapping[str, Any]
"""A node of a core schema."""


class Sayings:
    """What is said about the fields of one class, wherever it is said."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._hints: Mapping[str, Any] | None = None

    def of(self, name: str, nodes: Sequence[Core]) -> str:
        """Give a field's description: of `Field(description=…)`, else a text or a `Doc` in its `Annotated`."""
        for node in nodes:
            said = metadata_of(node).get("pydantic_js_updates", {}).get("description")
            if said:
                return str(said)
        for item in self._annotated(name):
            said = item if isinstance(item, str) else getattr(item, "documentation", None)
            if isinstance(said, str) and said.strip():
                return said
        return ""

    def _annotated(self, name: str) -> Sequence[Any]:
        cls: Any = self._record.cls
        if self._record.form == "model":
            field = cls.model_fields.get(name)
            return field.metadata if field is not None else ()
        if self._hints is None:
            from typing import get_type_hints

            try:
                self._hints = get_type_hints(cls, include_extras=True)
            except Exception:  # a name that only pydantic could resolve
                self._hints = {}
        return getattr(self._hints.get(name), "__metadata__", ())


def metadata_of(node: Core) -> Mapping[str, Any]:
    """Give the metadata of a node."""
    return node.get("metadata") or {}


def docstring_of(cls: type, form: Form) -> str:
    """Give the docstring that somebody wrote on the class itself."""
    text = cls.__dict__.get("__doc__")
    if not isinstance(text, str):
        return ""
    fields: tuple[str, ...] = cls.__dict__.get("_fields", ())
    generated = form == "named-tuple" and text == f"{cls.__name__}{str(fields).replace("'", '')}"
    if form == "dataclass" and text.startswith(f"{cls.__name__}("):
        try:
            generated = text.replace(" -> None", "") == f"{cls.__name__}{inspect.signature(cls)}".replace(
                " -> None", ""
            )
        except (TypeError, ValueError):
            generated = True
    return "" if generated else inspect.cleandoc(text)
