"""Template: a prompt with places to fill in. Messages, images and files that are filled in keep their form.

In: text with `{{name}}` in it, or a t-string (Python 3.14). Out: a `Message`. No IO, no clock.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from inspect import iscoroutine, isroutine
from itertools import groupby
from typing import Any, TypeGuard, cast

from unspool.errors import ConfigError
from unspool.messages import ROLES, Message, Part, Role, TextPart, unnested
from unspool.messages.written_parts import noted, written_parts

_BRACES = re.compile(r"(\\?)\{\{(\s*([^\W\d]\w*)[^{}]*)\}\}")
# A name, and steps into its value: `{{user.name}}`, `{{rows[0].title}}`. Anything else between braces is text.
_PLACE = re.compile(r"\s*\w+((?:\.[^\W\d]\w*|\[\d{1,9}\])*)\s*")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_MAX_INSIDE = 32
"""Pyodide ends for good when calls nest too deep; RecursionError comes too late there."""


class _Braces(str):
    """Text that looks like a place and is none, such as a filter of Jinja."""

    name: str
    """What it begins with."""


class _Place:
    """A place in a template: a variable, steps into its value, and how to write it."""

    __slots__ = ("conversion", "format_spec", "name", "steps")

    def __init__(
        self, name: str, steps: tuple[str | int, ...] = (), conversion: str = "", format_spec: str = ""
    ) -> None:
        self.name = name
        self.steps = steps
        self.conversion = conversion
        self.format_spec = format_spec

    @property
    def path(self) -> str:
        name = self.name.partition(" #")[0]
        return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)

    def shown(self, step: str = "") -> str:
        inner = f"{{{self.path}{step}}}"
        return inner if " #" in self.name else f"{{{inner}}}"

    def fault(self, words: str) -> ConfigError:
        return ConfigError("INVALID_OPTIONS", f"The value for {self.shown()} in the template {words}")

    def value_in(self, values: Mapping[str, Any]) -> Any:
        value: Any = values[self.name]
        for step in self.steps:
            try:
                value = _inside(value, step)
            except (AttributeError, KeyError, IndexError, TypeError) as error:
                raise ConfigError(
                    "INVALID_OPTIONS", f"The value for {self.name!r} in the template has no {step!r}."
                ) from error
        return value

    def written(self, value: Any) -> tuple[str, list[object]]:
        """Write a value as a formatted string literal would; with it, the parts that would so become text."""
        if not self.conversion:
            _check_text(self, value)
        convert = _CONVERSIONS.get(self.conversion)
        try:
            text, found = written_parts(lambda: format(convert(value) if convert else value, self.format_spec))
        except (TypeError, ValueError) as error:
            raise self.fault(f"cannot be written: {error}.") from error
        return text, [part for part in found if isinstance(part, Template | Message | Part)]


_AS_IT_IS = "is sent as it is, not as text: leave conversion and format out."
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def _check_text(place: _Place, value: Any) -> None:
    """Refuse what has no text of its own, but an address in memory or the like."""
    kind = cast("Any", type(value))
    if isinstance(value, bytes | bytearray | memoryview):
        raise place.fault("is bytes: give us.Image(…) or us.File(…), or decode it.")
    if isroutine(value):
        raise place.fault("is a function: give what it returns.")
    if isinstance(value, type):
        raise place.fault("is a class: give an instance of it, or us.schema_text(…) to show what it is.")
    if kind.__str__ is not object.__str__ or kind.__format__ is not object.__format__:
        return
    if isinstance(value, Awaitable):
        if iscoroutine(cast("Any", value)):
            cast("Any", value).close()  # of one that is never awaited Python warns
        raise place.fault(f"is a {kind.__name__}: await it first.")
    if isinstance(value, Iterator | AsyncIterator):
        raise place.fault(f"is a {kind.__name__}, which can be read only once: give a list of it.")
    if kind.__repr__ is object.__repr__:
        raise place.fault(
            f"is a {kind.__name__}, which has no text: give it a __str__, or name what is meant, as in "
            f"{place.shown('.name')}."
        )


def _inside(value: Any, step: str | int) -> Any:
    if isinstance(step, int) or isinstance(value, Mapping):
        return cast("Any", value)[step]
    if step.startswith("_"):
        raise AttributeError(step)
    return getattr(value, step)


class Template:
    """A prompt with places to fill in.

    `{{name}}` is a place; `{{user.name}}` and `{{rows[0]}}` are places inside the value of a variable; `\\{{name}}` is
    the text `{{name}}`, and any other braces are text as they are. What is filled in is never searched for places.

    A value is written as `str` writes it, and None is nothing. But a part of a message (an image, a file) stands in its
    place as it is, a template is filled in with the same values, a message of the template's own role gives its parts,
    and a message of another role stays a message of its own (one of the system is moved to the front when it is sent).
    A list or tuple that holds any of these, itself or deeper, gives its items in order. What holds one in another way,
    or has no text, is refused: no image is sent as the name of its class.
    """

    __slots__ = ("_inside", "_pieces", "_values", "_variables", "role")

    role: Role
    _pieces: tuple[str | _Place, ...]
    _values: dict[str, Any]
    _variables: tuple[str, ...]
    _inside: int
    """How many templates stand inside each other in it, at most."""

    def __init__(self, text: Any, /, *, role: Role = "user", **values: Any) -> None:
        """Read a template.

        Args:
            text: text with places, a t-string, or a template (to be given another role or more values).
            role: whose words they are.
            values: what to fill in already; the rest is given to `bind` or `render`. A place may have any name; what
                belongs to one called `role` is given to these.
        Raises:
            ConfigError: INVALID_OPTIONS when it is neither, or a value belongs to no place.
        """
        if role not in ROLES:
            raise ConfigError("INVALID_OPTIONS", f"The role of a template must be one of {', '.join(ROLES)}.")
        known: dict[str, Any] = {}
        if isinstance(text, Template):
            self._pieces = text._pieces
            known.update(text._values)
        elif isinstance(text, str):
            self._pieces = tuple(_pieces_of(text))
        elif _is_t_string(text):
            self._pieces = tuple(_pieces_of_t_string(text, known))
        else:
            raise ConfigError("INVALID_OPTIONS", "A template must be made of a text or a t-string.")
        self.role = role
        self._fill({**known, **values})

    def _fill(self, values: dict[str, Any]) -> None:
        names: dict[str, None] = {}
        self._inside = 0
        for piece in self._pieces:
            if isinstance(piece, _Place):
                names[piece.name] = None
                value = values.get(piece.name)
                if _is_t_string(value):
                    value = values[piece.name] = Template(value, role=self.role)
                if isinstance(value, Template):
                    names.update(dict.fromkeys(value.variables))
                    self._inside = max(self._inside, value._inside + 1)
        if self._inside > _MAX_INSIDE:
            raise _too_deep()
        for piece in self._pieces:
            if isinstance(piece, _Braces) and (piece.name in names or piece.name in values):
                raise ConfigError(
                    "INVALID_OPTIONS",
                    f"{piece} is no place: that is a name with steps, such as {{{{{piece.name}[0].title}}}}, without "
                    f"filters, calls and formats. Give the value as it is to be shown; as text write \\{piece}.",
                )
        self._values = values
        self._variables = tuple(name for name in names if name not in values)
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ConfigError(
                "INVALID_OPTIONS",
                f"The template has no place for {', '.join(unknown)}; it has {', '.join(names) or 'none'}.",
            )

    @property
    def variables(self) -> tuple[str, ...]:
        """Names that are still to be filled in, in order of their first place; those of inner templates included."""
        return self._variables

    def bind(self, /, **values: Any) -> Template:
        """Give a template in which these values are filled in.

        Args:
            values: by the names of the places.
        Raises:
            ConfigError: INVALID_OPTIONS when a value belongs to no place.
        """
        other = Template(self, role=self.role)
        other._fill({**self._values, **values})
        return other

    def render(self, /, **values: Any) -> Message:
        """Fill in what is left.

        Args:
            values: by the names of the places.
        Raises:
            ConfigError: INVALID_OPTIONS when a value is missing, belongs to no place, or has not what a place names.
        """
        return (self.bind(**values) if values else self)._rendered(0)

    def _rendered(self, inside: int) -> Message:
        """
        Args:
            inside: how many templates it stands in.
        """
        if self.variables:
            raise ConfigError("INVALID_OPTIONS", f"The template needs a value for {', '.join(self.variables)}.")
        parts: list[Part | Message] = []
        for piece in self._pieces:
            if isinstance(piece, str):
                parts.append(TextPart(piece))
            else:
                self._add(piece.value_in(self._values), piece, parts, inside)
        return Message(self.role, _joined(parts))

    def _add(self, value: Any, place: _Place, parts: list[Part | Message], inside: int, is_item: bool = False) -> None:
        """
        Args:
            is_item: whether it stands in a list that is filled in item by item.
        """
        if _is_t_string(value):
            value = Template(value, role=self.role)
        if value is None and not place.conversion:
            return
        if isinstance(value, Template | Message | Part):
            if place.conversion or place.format_spec:
                raise place.fault(_AS_IT_IS)
            self._add_part(value, parts, inside)
            return
        is_row = _is_row(value)
        if not (is_row and is_item):
            text, found = place.written(value)
            if not found:
                parts.append(TextPart(text))
                return
            if not is_row:
                part, kind = type(found[-1]).__name__, type(value).__name__
                raise place.fault(
                    f"is a {kind} that holds a part of a message ({part}), which would be lost: give the part alone, a "
                    f"list of texts and parts, or name it, as in {place.shown('.picture')}."
                )
            if place.conversion:
                raise place.fault(_AS_IT_IS)
        if inside == _MAX_INSIDE:
            raise _too_deep()
        for item in cast("Sequence[Any]", value):
            self._add(item, place, parts, inside + 1, is_item=True)

    def _add_part(self, value: Template | Message | Part, parts: list[Part | Message], inside: int) -> None:
        if isinstance(value, Template):
            if inside == _MAX_INSIDE:  # a place of it may be filled in with itself
                raise _too_deep()
            value = value.bind(**_for(value, self._values))._rendered(inside + 1)
        if isinstance(value, Message) and value.role == self.role:
            parts.extend(value.parts)
        else:
            parts.append(value)

    def __repr__(self) -> str:
        text = "".join(piece if isinstance(piece, str) else f"{{{{{piece.path}}}}}" for piece in self._pieces)
        return noted(self, f"Template({text!r})")


def _too_deep() -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"More than {_MAX_INSIDE} templates or lists stand inside each other.")


def messages_from(prompt: Any, /, **values: Any) -> Any:
    """Give a prompt in which templates have been filled in; one without templates as it is.

    Raises:
        ConfigError: INVALID_OPTIONS, as `Template.render`.
    """
    if _is_t_string(prompt):
        prompt = Template(prompt)
    if isinstance(prompt, Template):
        return unnested([prompt.render(**values)])
    if _is_row(prompt) and any(isinstance(item, Template) or _is_t_string(item) for item in prompt):
        items = [Template(item) if _is_t_string(item) else item for item in prompt]
        return [item.render(**_for(item, values)) if isinstance(item, Template) else item for item in items]
    return prompt


def _is_row(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _for(template: Template, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in template.variables if name in values}


def _is_t_string(value: Any) -> bool:
    return hasattr(value, "interpolations") and hasattr(value, "strings")


def _pieces_of(text: str) -> list[str | _Place]:
    pieces: list[str | _Place] = []
    at = 0
    for match in _BRACES.finditer(text):
        escape, inner, name = match.groups()
        pieces.append(text[at : match.start()])
        if escape:
            pieces.append(match[0][1:])
        elif place := _PLACE.fullmatch(inner):
            found = _STEP.findall(place[1])
            pieces.append(_Place(name, tuple(int(index) if index else attribute for attribute, index in found)))
        else:
            braces = _Braces(match[0])
            braces.name = name
            pieces.append(braces)
        at = match.end()
    pieces.append(text[at:])
    return [piece for piece in pieces if piece != ""]


def _pieces_of_t_string(template: Any, known: dict[str, Any]) -> list[str | _Place]:
    """Its values are there already; each place gets a name that no variable of a text can have."""
    pieces: list[str | _Place] = []
    for number, text in enumerate(template.strings):
        pieces.append(text)
        if number < len(template.interpolations):
            hole = template.interpolations[number]
            name = f"{hole.expression} #{number}"
            known[name] = hole.value
            pieces.append(_Place(name, (), hole.conversion or "", hole.format_spec))
    return [piece for piece in pieces if piece != ""]


def _joined(parts: Sequence[Part | Message]) -> list[Part | Message]:
    """Join neighbouring texts: what was one text before it was filled in is one part."""
    joined: list[Part | Message] = []
    for is_text, run in groupby(parts, lambda part: isinstance(part, TextPart) and part.replay is None):
        if is_text:
            joined.append(TextPart("".join(cast("TextPart", part).text for part in run)))
        else:
            joined += run
    return joined
