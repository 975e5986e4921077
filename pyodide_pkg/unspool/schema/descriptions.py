"""Descriptions: what is said about a class and its fields, wherever Python and pydantic let one say it. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar
from typing import Annotated, Any, NotRequired, Required, TypeAliasType, cast, get_args, get_origin, get_type_hints

from unspool.schema.pydantic_nodes import Core, metadata_of
from unspool.schema.shape import Form, Record


class Descriptions:
    """What is said about the fields of one class, wherever it is said."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._hints: Mapping[str, Any] | None = None

    def of(self, name: str, nodes: Sequence[Core]) -> str:
        """Give a field's description: of `Field(description=…)`, else the last text or `Doc` in its `Annotated`.

        Source:
            PEP 727 for which of several counts.
        """
        for node in nodes:
            said = metadata_of(node).get("pydantic_js_updates", {}).get("description")
            if said:
                return str(said)
        for item in self._annotated(name):
            said = item if isinstance(item, str) else getattr(item, "documentation", None)
            if isinstance(said, str) and said.strip():
                return said
        return ""

    def _annotated(self, name: str) -> Iterator[Any]:
        if self._record.form == "model":
            field = cast("Any", self._record.cls).model_fields.get(name)
            if field is not None:
                yield from reversed(field.metadata)
        yield from _annotations(self.annotation_of(name))

    def annotation_of(self, name: str) -> Any:
        """Give a field's annotation; None when nobody but pydantic can tell."""
        cls: Any = self._record.cls
        if self._record.form == "model":
            field = cls.model_fields.get(name)
            return None if field is None else field.annotation
        if self._hints is None:
            try:
                self._hints = get_type_hints(cls, include_extras=True)
            except Exception:  # a name that only pydantic could resolve
                self._hints = {}
        return self._hints.get(name)


def _annotations(hint: Any) -> Iterator[Any]:
    """Give what `Annotated` says of a type, the last first, behind qualifiers (`NotRequired`) and names (`type`)."""
    from typing_extensions import ReadOnly  # pydantic needs them, and Python 3.12 has none

    while True:
        if get_origin(hint) is Annotated:
            yield from reversed(hint.__metadata__)
            hint = hint.__origin__
        elif get_origin(hint) in (Required, NotRequired, ReadOnly):
            hint = get_args(hint)[0]
        elif isinstance(hint, InitVar):
            hint = cast("Any", hint).type
        elif isinstance(hint, TypeAliasType):
            hint = hint.__value__
        else:
            return


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
