"""The text of a type in Python syntax: its annotation, and a block of class definitions. The same to the byte for the
same type. Pure.

A reply calls the constructors that are shown here; they are no definitions that Python would take (`int(min=0)`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unspool.schema.shape import (
    AliasShape,
    AnyShape,
    CollectionShape,
    EnumShape,
    Field,
    LiteralShape,
    MappingShape,
    Record,
    Scalar,
    Shape,
    TupleShape,
    UnionShape,
    UnknownShape,
    parts,
)

if TYPE_CHECKING:
    from unspool.schema.python_type import PythonType

_CALLED = {
    "ge": "min",
    "gt": "gt",
    "le": "max",
    "lt": "lt",
    "multiple_of": "multiple_of",
    "pattern": "regex",
}
_ENUM_BASES = ("StrEnum", "IntEnum", "IntFlag", "Flag")


def python_text(typed: PythonType[Any], *, defaults: bool = False) -> str:
    """Write what a reply in Python syntax must be.

    Args:
        typed: the type.
        defaults: show short defaults, so that a model may leave out what it would repeat.
    Returns:
        The annotation of the answer; after a blank line a ```python block with the classes that it needs, if any. What
        a class needs stands before it.
    Raises:
        ConfigError: UNSUPPORTED when two classes have one name.
    """
    records = typed.records
    blocks = [_block(shape, records, defaults) for shape in ordered(typed.shape, records)]
    notes = [*_lines(typed.reader.description), *limits(typed.shape)]
    head = "\n".join([*(f"# {note}" for note in notes), annotation(typed.shape)])
    return "\n\n".join([head, f"```python\n{'\n\n'.join(blocks)}\n```"]) if blocks else head


def annotation(shape: Shape) -> str:
    """Write a shape as an annotation."""
    match shape:
        case Scalar():
            return "NoneType" if shape.name == "None" else _scalar(shape)
        case LiteralShape():
            return f"Literal[{', '.join(map(_literal, shape.values))}]"
        case AnyShape():
            return shape.written
        case UnknownShape():
            return "UNKNOWN"
        case CollectionShape(kind="tuple"):
            return f"tuple[{_inner(shape.items)}, ...]"
        case CollectionShape():
            return f"{shape.kind}[{_inner(shape.items)}]"
        case TupleShape():
            return f"tuple[{', '.join(map(_inner, shape.items)) or '()'}]"
        case MappingShape():
            keys = "str" if isinstance(shape.keys, AnyShape) else _inner(shape.keys)
            return f"dict[{keys}, {_inner(shape.values)}]"
        case UnionShape():
            return _alternatives(shape.members)
        case Record(is_abstract=True):
            return _alternatives(shape.subclasses)
        case Record() if not shape.is_callable:
            members = (f"{field.name!r}: {_inner(field.shape)}" for field in shape.shown)
            return f"{{{', '.join(members)}}}"
        case Record() | EnumShape() | AliasShape():
            return shape.name


def ordered(root: Shape, records: Sequence[Record]) -> list[Record | EnumShape | AliasShape]:
    """Give the classes below a shape so that what a class needs stands before it, and its bases and subclasses near it.

    Depth first, in the order of fields; a class that is met again while it waits for what it needs is put in there.
    """
    printed = {id(record): record for record in records}
    by_class = {record.cls: record for record in records}
    done: dict[int, Record | EnumShape | AliasShape] = {}
    waiting: set[int] = set()
    # Without recursion: a chain of classes may be long. A step is a shape to look at, or a class to put in.
    todo: list[tuple[Shape, bool]] = [(root, False)]
    while todo:
        shape, put = todo.pop()
        if id(shape) in done:
            continue
        if not isinstance(shape, Record | EnumShape | AliasShape):
            todo.extend((part, False) for part in reversed(parts(shape)))
        elif put or isinstance(shape, EnumShape) or id(shape) in waiting:
            done[id(shape)] = shape
            if isinstance(shape, Record):
                todo.extend((member, False) for member in reversed(shape.subclasses))
        else:
            waiting.add(id(shape))
            mro = shape.cls.__mro__[:0:-1] if isinstance(shape, Record) else ()
            bases = [by_class[base] for base in mro if base in by_class]
            todo.append((shape, True))
            todo.extend((part, False) for part in reversed(parts(shape)))
            todo.extend((base, False) for base in reversed(bases) if id(base) not in waiting)
    return [shape for key, shape in done.items() if key in printed or not isinstance(shape, Record)]


def limits(shape: Shape, what: str = "") -> list[str]:
    """Say in words what an annotation does not show: how many items or characters there may be."""
    notes: list[str] = []
    match shape:
        case Scalar(format="json"):
            notes += f"{what}JSON text of this form: {shape.content}".splitlines()
        case Scalar(name="str") | CollectionShape() | MappingShape():
            unit = "characters" if isinstance(shape, Scalar) else "items"
            if size := _size(shape.rules, unit):
                notes.append(f"{what}{size}.")
        case _:
            pass
    match shape:
        case CollectionShape():
            notes += limits(shape.items, f"{what}Each item: ")
        case MappingShape():
            notes += [*limits(shape.keys, f"{what}Each key: "), *limits(shape.values, f"{what}Each value: ")]
        case UnionShape():
            for member in shape.members:
                if not isinstance(member, Record):
                    notes += limits(member, what)
        case TupleShape():
            for i, item in enumerate(shape.items):
                if not isinstance(item, Record):
                    notes += limits(item, f"{what}Item {i + 1}: ")
        case _:
            pass
    return list(dict.fromkeys(notes))


def _size(rules: Mapping[str, Any], unit: str) -> str:
    least, most = rules.get("min_length") or None, rules.get("max_length")
    if least is None and most is None:
        return ""
    if least == most:
        return f"Exactly {least} {_of(least, unit)}"
    if most is None:
        return f"{least} {_of(least, unit)} or more"
    return f"{least} to {most} {unit}" if least is not None else f"Up to {most} {_of(most, unit)}"


def _of(number: Any, units: str) -> str:
    return units.removesuffix("s") if number == 1 else units


def _block(shape: Record | EnumShape | AliasShape, records: Sequence[Record], defaults: bool) -> str:
    if isinstance(shape, AliasShape):
        return "\n".join([*(f"# {note}" for note in limits(shape.shape)), f"{shape.name} = {_inner(shape.shape)}"])
    if isinstance(shape, EnumShape):
        lines = [f"{member.name} = {member.value!r}" for member in shape.members]
        return _indented(f"class {shape.name}({_enum_base(shape.cls)}):", [*_docstring(_own_doc(shape.cls)), *lines])
    names = _bases(shape, records)
    header = f"class {shape.name}({', '.join(names)}):" if names else f"class {shape.name}:"
    lines = [*_docstring(shape.doc)]
    for field in shape.shown:
        lines += [f"# {line}" for line in _said(field)]
        lines.append(f"{field.name}: {_field(field, shape, defaults)}")
    if shape.extra is not None:
        lines.append(f"# Other keyword arguments are allowed: {_inner(shape.extra)}")
    return _indented(header, lines if shape.shown else [*lines, "pass"])


def _said(field: Field) -> Iterator[str]:
    yield from _lines(field.description)
    yield from limits(field.shape)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _field(field: Field, record: Record, defaults: bool) -> str:
    text = _inner(field.shape)
    if record.form == "typed-dict" and not field.required:
        return f"NotRequired[{text}]"
    if defaults and not field.required:
        return f"{text} = {_default(field.default)}"
    return text


def _default(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    text = repr(value) if isinstance(value, str) and type(value) is str else "..."
    return text if len(text) <= 40 else "..."


def _bases(record: Record, records: Sequence[Record]) -> list[str]:
    """Name the nearest bases that are shown."""
    if record.form == "typed-dict":
        return ["TypedDict"]
    shown = {other.cls: other.name for other in records if other is not record}
    found = [base for base in record.cls.__mro__[1:] if base in shown]
    nearest = [base for base in found if not any(base is not other and issubclass(other, base) for other in found)]
    return [shown[base] for base in nearest]


def _enum_base(cls: type) -> str:
    import enum

    return next((name for name in _ENUM_BASES if issubclass(cls, getattr(enum, name))), "Enum")


def _own_doc(cls: type) -> str:
    import inspect

    text = cls.__dict__.get("__doc__")
    return inspect.cleandoc(text) if isinstance(text, str) and text != "An enumeration." else ""


def _docstring(text: str) -> list[str]:
    if not text:
        return []
    lines = text.replace("\\", "\\\\").replace('"""', '\\"""').split("\n")
    if lines[-1].endswith('"'):
        lines[-1] = f'{lines[-1][:-1]}\\"'
    return [f'"""{lines[0]}"""'] if len(lines) == 1 else [f'"""{lines[0]}', *lines[1:], '"""']


def _indented(header: str, lines: Sequence[str]) -> str:
    return "\n".join([header, *(f"  {line}" if line.strip() else "" for line in lines)])


def _inner(shape: Shape) -> str:
    return "None" if isinstance(shape, Scalar) and shape.name == "None" else annotation(shape)


def _alternatives(members: Sequence[Shape]) -> str:
    families = (shape.family if isinstance(shape, Record) and shape.is_abstract else (shape,) for shape in members)
    texts = list(dict.fromkeys(_inner(shape) for family in families for shape in family))
    if len(texts) == 1:
        return texts[0]
    if len(texts) == 2 and texts[1] == "None":
        return f"{texts[0]} | None"
    return f"Union[{', '.join(texts)}]"


def _scalar(shape: Scalar) -> str:
    if shape.format == "bytes":
        return "bytes"
    called = [f"{_CALLED[rule]}={_bound(value)}" for rule, value in shape.rules.items() if rule in _CALLED]
    if shape.format is not None:
        called.insert(0, f"format={shape.format!r}")
    return f"{shape.name}({', '.join(called)})" if called else shape.name


def _bound(value: Any) -> str:
    """Write a limit; of a Decimal as a number, of a date and the like as text."""
    from decimal import Decimal

    if isinstance(value, int | float | str):
        return repr(value)
    return str(value) if isinstance(value, Decimal) else repr(str(value))


def _literal(value: Any) -> str:
    from enum import Enum

    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
