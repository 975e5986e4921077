"""Shapes: what a type is made of, as the text for the model, the writing of values and the protocols need to know it.

A graph, in which each class stands once. `ShapeReader` makes it. Plain data; no IO.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from unspool.schema.problem import NOTHING

Form = Literal["model", "dataclass", "typed-dict", "named-tuple", "attrs"]


class Scalar:
    """A value of one piece: a number, a text, a bool or None."""

    __slots__ = ("content", "format", "name", "rules")

    def __init__(
        self, name: str, rules: Mapping[str, Any] | None = None, format: str | None = None, content: str = ""
    ) -> None:
        self.name = name
        """`int`, `float`, `bool`, `str` or `None`: how it is written."""
        self.rules = dict(rules or {})
        """Bounds, in pydantic's words: `ge`, `gt`, `le`, `lt`, `multiple_of`, `pattern`, `min_length`, `max_length`."""
        self.format = format
        """What a text means when it is more than text: `date`, `uuid`, …; as in JSON Schema."""
        self.content = content
        """Of JSON inside a text (`Json[T]`): its form."""


class LiteralShape:
    """One of some literal values, among them members of Enum classes."""

    __slots__ = ("enums", "values")

    def __init__(self, values: Sequence[Any], enums: Sequence[EnumShape] = ()) -> None:
        self.values = tuple(values)
        self.enums = tuple(enums)
        """The classes of those values that are members of one."""


class EnumShape:
    """A member of an Enum class."""

    __slots__ = ("cls", "members", "name")

    def __init__(self, cls: type, members: Sequence[Any]) -> None:
        self.cls = cls
        self.name = class_name(cls)
        self.members = tuple(members)
        """In the order of definition, without aliases."""

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of its members, aliases included."""
        return tuple(cast("Any", self.cls).__members__)


class AnyShape:
    """Any data."""

    __slots__ = ("written",)

    def __init__(self, written: str = "Any") -> None:
        self.written = written
        """What is known of it: `Any`, `list[Any]` or `dict[str, Any]`."""


class UnknownShape:
    """`UNKNOWN`."""

    __slots__ = ()


class CollectionShape:
    """Any number of items: a list, a set, a frozenset or a tuple of one kind."""

    __slots__ = ("items", "kind", "rules")

    def __init__(self, kind: str, items: Shape, rules: Mapping[str, Any] | None = None) -> None:
        self.kind = kind
        self.items = items
        self.rules = dict(rules or {})
        """`min_length` and `max_length`."""


class TupleShape:
    """A tuple of so many items, each of its own kind."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Shape]) -> None:
        self.items = tuple(items)


class MappingShape:
    """A dict with any keys."""

    __slots__ = ("keys", "rules", "values")

    def __init__(self, keys: Shape, values: Shape, rules: Mapping[str, Any] | None = None) -> None:
        self.keys = keys
        self.values = values
        self.rules = dict(rules or {})


class UnionShape:
    """A value of one of several shapes; flat, and `None` comes last."""

    __slots__ = ("members",)

    def __init__(self, members: Sequence[Shape]) -> None:
        self.members = tuple(members)


class AliasShape:
    """A type that contains itself and is no class: it is called by its name."""

    __slots__ = ("name", "shape")

    def __init__(self, name: str) -> None:
        self.name = name
        self.shape: Shape = AnyShape()
        """What it stands for."""


class Field:
    """One field of a class."""

    __slots__ = ("alias", "default", "description", "hidden", "name", "positional", "required", "shape")

    def __init__(
        self,
        name: str,
        shape: Shape,
        *,
        alias: str,
        required: bool,
        default: Any = NOTHING,
        description: str = "",
        hidden: bool = False,
        positional: bool = True,
    ) -> None:
        self.name = name
        self.shape = shape
        self.alias = alias
        """Its name in JSON."""
        self.required = required
        self.default = default
        """The default value; `NOTHING` when there is none, or a factory makes it."""
        self.description = description
        self.hidden = hidden
        """Kept out of everything that the model sees, and refused in its answers."""
        self.positional = positional
        """Whether a constructor may give it by position."""


class Record:
    """A class with fields. Classes may contain each other."""

    __slots__ = ("bytes_form", "cls", "doc", "extra", "fields", "form", "name", "subclasses")

    def __init__(self, cls: type, form: Form) -> None:
        self.cls = cls
        self.form: Form = form
        self.name = class_name(cls)
        """As constructors spell it."""
        self.bytes_form = "utf8"
        """How bytes in it are read from text: `utf8`, `base64` or `hex`."""
        self.fields: tuple[Field, ...] = ()
        self.extra: Shape | None = None
        """What further members may be; None when there are none."""
        self.doc = ""
        """Its own docstring, cleaned; neither inherited nor generated."""
        self.subclasses: tuple[Record, ...] = ()
        """Registered classes that may stand for it, deepest last; without itself."""

    @property
    def is_abstract(self) -> bool:
        """Whether Python makes no instance of it: it has abstract methods."""
        return bool(getattr(self.cls, "__abstractmethods__", ()))

    @property
    def family(self) -> tuple[Record, ...]:
        """The classes that may stand where it is asked for; it comes first, unless it is abstract."""
        return self.subclasses if self.is_abstract else (self, *self.subclasses)

    @property
    def shown(self) -> list[Field]:
        """The fields that a model is told of."""
        return [field for field in self.fields if not field.hidden]

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the fields that may be given by position, in order."""
        return tuple(field.name for field in self.shown if field.positional)

    @property
    def is_callable(self) -> bool:
        """Whether its fields can be named in a constructor: keys of a TypedDict may be any text."""
        return all(is_name(field.name) for field in self.shown)

    def __repr__(self) -> str:
        return f"Record({self.name})"


Shape = (
    Scalar
    | LiteralShape
    | EnumShape
    | AnyShape
    | UnknownShape
    | CollectionShape
    | TupleShape
    | MappingShape
    | UnionShape
    | AliasShape
    | Record
)


def is_name(text: str) -> bool:
    """Tell whether a text is a name in Python syntax, and as it stands: Python reads `ﬁ` as `fi`."""
    from keyword import iskeyword

    if not text.isidentifier() or iskeyword(text):
        return False
    if text.isascii():
        return True
    from unicodedata import is_normalized  # here, because hardly any name needs it

    return is_normalized("NFKC", text)


def class_name(cls: type) -> str:
    """Give the name of a class as constructors spell it: `Box[int]` is `Box_int`."""
    return plain_name(cls.__name__)


def plain_name(name: str) -> str:
    """Make a name of any text."""
    import re

    return name if name.isidentifier() else re.sub(r"\W+", "_", name).strip("_")


def parts(shape: Shape) -> tuple[Shape, ...]:
    """Give the shapes directly inside a shape; of a class, those of the fields that are shown."""
    match shape:
        case CollectionShape():
            return (shape.items,)
        case TupleShape():
            return shape.items
        case MappingShape():
            return (shape.keys, shape.values)
        case UnionShape():
            return shape.members
        case LiteralShape():
            return shape.enums
        case AliasShape():
            return (shape.shape,)
        case Record():
            extra = () if shape.extra is None else (shape.extra,)
            return (*(field.shape for field in shape.shown), *extra)
        case _:
            return ()
