"""ShapeReader: pydantic's core schema of a type in, its shape out.

Core schemas are documented by pydantic (`pydantic_core.core_schema`) but grow; a node that is not known here is read by
the JSON Schema that pydantic makes of it, so that a new one costs detail, not correctness.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from unspool.errors import ConfigError
from unspool.schema.defaults import fault_of_default
from unspool.schema.descriptions import Descriptions, docstring_of
from unspool.schema.json_schema import without_hidden, without_titles
from unspool.schema.json_text import json_form
from unspool.schema.open_types import refuse_open, variables_of
from unspool.schema.problem import NOTHING
from unspool.schema.pydantic_nodes import (
    FUNCTIONS,
    MAPPINGS,
    RECORDS,
    Core,
    alias_paths,
    allows_extra,
    choices_of,
    field_nodes,
    fields_node,
    metadata_of,
    name_in_json,
    unwrapped,
)
from unspool.schema.schema_generator import schema_generator
from unspool.schema.shape import (
    AliasShape,
    AnyShape,
    CollectionShape,
    EnumShape,
    Field,
    Form,
    LiteralShape,
    MappingShape,
    Record,
    Scalar,
    Shape,
    TupleShape,
    UnionShape,
    UnknownShape,
    class_name,
    plain_name,
)
from unspool.schema.type_depth import MAX_CLASS_DEPTH, too_deep

_SCALARS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "none": "None"}
_FORMATS = {
    "bytes": "bytes",
    "date": "date",
    "datetime": "date-time",
    "decimal": "decimal",
    "multi-host-url": "uri",
    "time": "time",
    "timedelta": "duration",
    "url": "uri",
    "uuid": "uuid",
    "complex": "complex",
}
_RULES = ("ge", "gt", "le", "lt", "multiple_of", "pattern", "min_length", "max_length")
_NEVER = {
    "callable": "a callable",
    "generator": "an Iterable or Generator, which would be validated only when it is read; ask for a list",
    "is-subclass": "a class itself",
    "is-instance": "an object that only Python can make",
}
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}


class ShapeReader:
    """Reads the core schema of one type."""

    def __init__(self, core: Core, *, asked: bool = True) -> None:
        """
        Args:
            core: of the type.
            asked: whether an answer is asked for as it; else values are written that are there already.
        """
        self.definitions: dict[str, Core] = {}
        """Nodes by reference."""
        self.records: dict[str, Record] = {}
        """Classes by the reference of their node."""
        self.nodes: dict[Record, Core] = {}
        """For each class its node, with the validators around it."""
        self.by_fields: dict[int, Record] = {}
        """Classes by the identity of the node that lists their fields."""
        self.enums: dict[type, EnumShape] = {}
        """The Enum classes that are met."""
        self._asked = asked
        self._aliases: dict[str, AliasShape] = {}
        self._reading: set[str] = set()
        self.may_be_unknown = False
        """Whether `UNKNOWN` is an answer somewhere."""
        self.needs_care = False
        """Whether pydantic's own strict JSON mode would take more than the type says: `true` for 1, a hidden field; or
        less, below a validator that sees the data first; or longer than it should, over numbers whose hashes are equal.
        """
        while core["type"] == "definitions":
            self.definitions.update({node["ref"]: node for node in core["definitions"]})
            core = core["schema"]
        self.core = core

    @property
    def description(self) -> str:
        """What is said about the answer as a whole."""
        said = (metadata_of(node).get("pydantic_js_updates", {}).get("description") for node in unwrapped(self.core))
        return next((str(text) for text in said if text), "")

    def read(self) -> Shape:
        """Give the shape of the type.

        Raises:
            ConfigError: INVALID_OPTIONS, with the path, for what no answer can be asked for.
        """
        return self._read(self.core, "")

    def read_first(self) -> Shape:
        """Give the shape of the first item of a tuple of types, which becomes the type; the others are read as well."""
        first, *others = self.core["items_schema"]
        shape = self._read(first, "")
        for node in others:
            self._read(node, "")
        self.core = first
        return shape

    def _read(self, node: Core, path: str) -> Shape:
        kind: str = node["type"]
        metadata = metadata_of(node)
        if metadata.get("unspool") == "unknown":
            self.may_be_unknown = True
            return UnknownShape()
        if kind in RECORDS or (kind in FUNCTIONS and self.record_node(node) is not None):
            return self._record(node, path)
        match kind:
            case "definition-ref":
                return self._definition(node["schema_ref"], path)
            case "nullable":
                return _alternatives([self._read(node["schema"], path), Scalar("None")])
            case "union" | "tagged-union":
                return _alternatives([self._read(choice, path) for choice in choices_of(node)])
            case "default" | "custom-error":
                return self._read(node["schema"], path)
            case "json-or-python":
                return self._formatted(node, self._read(node["json_schema"], path))
            case "lax-or-strict":
                return self._formatted(node, self._read(node["strict_schema"], path))
            case "function-before" | "function-wrap" | "function-after":
                self._note_function(node)
                return self._formatted(node, self._read(node["schema"], path))
            case "chain":
                return self._read(node["steps"][0], path)
            case "any":
                return AnyShape()
            case "literal":
                return self._choice(node["expected"])
            case "enum":
                return self._members(node["cls"])
            case "list":
                return CollectionShape(kind, self._items(node, path), _rules(node))
            case "set" | "frozenset":
                items = self._items(node, path)
                self._hash(items)
                return CollectionShape(kind, items, _rules(node))
            case "tuple":
                return self._tuple(node, path)
            case _ if kind in MAPPINGS:
                keys = self._read(node["keys_schema"], f"{path}{{}}") if "keys_schema" in node else AnyShape()
                values = self._read(node["values_schema"], f"{path}{{}}") if "values_schema" in node else AnyShape()
                if not isinstance(keys, AnyShape):  # else they stay text
                    self._hash(keys)
                return MappingShape(keys, values, _rules(node))
            case "missing-sentinel":
                return UnionShape(())
            case _ if kind in _SCALARS:
                return Scalar(_SCALARS[kind], _rules(node))
            case "json":
                self.needs_care = True  # a text of the model's, which the guarded door has to read
                return self._json(node, path)
            case _ if kind in _FORMATS:
                self.needs_care = self.needs_care or kind == "decimal"  # a number may have lost digits of it
                return Scalar("str", _rules(node), _FORMATS[kind])
            case "function-plain" if _is_import(node):
                raise ConfigError(
                    "INVALID_OPTIONS", f"No answer can be asked for: {path or 'it'} is imported by what a model writes."
                )
            case _ if kind in _NEVER:
                raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for: {path or 'it'} is {_NEVER[kind]}.")
            case _ if "items_schema" in node:
                return CollectionShape("list", self._items(node, path), _rules(node))
            case _:
                return self._by_json_schema(node, path)

    def _note_function(self, node: Core) -> None:
        # Below such a function, strict mode takes what it gives for Python's, and text for no date.
        self.needs_care = self.needs_care or node["type"] in ("function-before", "function-wrap")

    @property
    def is_plain(self) -> bool:
        """Whether pydantic's own strict JSON mode validates the type."""
        return not (self.needs_care or any(record.subclasses for record in self.records.values()))

    def _definition(self, ref: str, path: str) -> Shape:
        node = self.definitions[ref]
        if self.record_node(node) is not None:
            return self._record(node, path)
        if ref in self._aliases:
            return self._aliases[ref]
        if ref in self._reading:  # it contains itself
            cls = node.get("cls")
            self._aliases[ref] = AliasShape(class_name(cls) if cls else _alias_name(ref))
            return self._aliases[ref]
        self._reading.add(ref)
        shape = self._read(node, path)
        self._reading.discard(ref)
        if ref not in self._aliases:
            return shape
        self._aliases[ref].shape = shape
        return self._aliases[ref]

    def _choice(self, expected: Sequence[Any]) -> LiteralShape:
        from enum import Enum

        classes = dict.fromkeys(type(value) for value in expected if isinstance(value, Enum))
        self.needs_care = self.needs_care or not all(isinstance(value, str) for value in expected)
        return LiteralShape(expected, [self._members(cls) for cls in classes])

    def _members(self, cls: Any) -> EnumShape:
        if cls not in self.enums:
            self.enums[cls] = EnumShape(cls, list(cls))
            self.needs_care = self.needs_care or not all(isinstance(member.value, str) for member in cls)
        return self.enums[cls]

    def _hash(self, shape: Shape) -> None:
        """Note that values become members of a set, or keys. The hashes of texts are salted, others can be chosen."""
        is_text = isinstance(shape, Scalar) and shape.name == "str" and shape.format is None
        self.needs_care = self.needs_care or not (is_text or isinstance(shape, LiteralShape | EnumShape))

    def _items(self, node: Core, path: str) -> Shape:
        return self._read(node["items_schema"], f"{path}[]") if "items_schema" in node else AnyShape()

    def _tuple(self, node: Core, path: str) -> Shape:
        items = [self._read(item, f"{path}[{i}]") for i, item in enumerate(node["items_schema"])]
        if node.get("variadic_item_index") == 0 and len(items) == 1:
            return CollectionShape("tuple", items[0], _rules(node))
        return TupleShape(items)

    def _json(self, node: Core, path: str) -> Shape:
        inner: Core = node.get("schema", {"type": "any"})
        self._read(inner, path)
        described = self._json_schema(inner, whole=True)
        content = json_form(described) or json.dumps(described, ensure_ascii=False, separators=(",", ":"))
        return Scalar("str", {}, "json", content)

    def _formatted(self, node: Core, shape: Shape) -> Shape:
        """Let a type that is a text with a meaning of its own, such as a path or an e-mail address, say so."""
        if isinstance(shape, Scalar) and shape.name == "str" and "pydantic_js_functions" in metadata_of(node):
            described = self._json_schema(node)
            if "format" in described:
                return Scalar("str", shape.rules, described["format"])
        return shape

    def _by_json_schema(self, node: Core, path: str) -> Shape:
        try:
            described = self._json_schema(node)
        except Exception as error:  # pydantic's, or the type's own
            reason = " ".join(str(error).split())[:200]
            raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for: {path or 'it'}: {reason}") from error
        kind = described.get("type")
        if "enum" in described or "const" in described:
            return LiteralShape(described.get("enum", [described.get("const")]))
        if isinstance(kind, str) and kind in _TYPES:
            return Scalar(_TYPES[kind], {}, described.get("format"))
        return AnyShape({"object": "dict[str, Any]", "array": "list[Any]"}.get(str(kind), "Any"))

    def _json_schema(self, node: Core, *, whole: bool = False) -> dict[str, Any]:
        core: Any = {"type": "definitions", "schema": node, "definitions": list(self.definitions.values())}
        described = schema_generator()().generate(core if self.definitions else cast("Any", node))
        if whole:
            return without_titles(without_hidden(described))
        ref = described.get("$ref", "").removeprefix("#/$defs/")
        return described["$defs"][ref] if ref else described

    def record_node(self, node: Core) -> Core | None:
        """Give the node of a class behind the validators of that class itself; None when the node is of no class.

        Those have the reference of the class; validators that a field adds around it have none.
        """
        if node["type"] in FUNCTIONS and "ref" not in node:
            return None
        while node["type"] in FUNCTIONS:
            node = node["schema"]
        return node if node["type"] in RECORDS and not node.get("root_model") else None

    def record_of(self, node: Core) -> Record:
        """Give the class of a node that has one; it has been read."""
        return self.records[self._key_of(node)]

    def _key_of(self, node: Core) -> str:
        # Pydantic takes the reference away where it puts a class in its only place; that of attrs classes is kept.
        return metadata_of(node).get("ref") or node.get("ref") or str(id(node))

    def _record(self, node: Core, path: str) -> Shape:
        inner = self.record_node(node)
        if inner is None:  # a root model is what it holds
            return self._read(node["schema"], path)
        key = self._key_of(node)
        if key in self.records:
            self.by_fields[id(fields_node(inner))] = self.records[key]
            return self.records[key]
        if path.count(".") >= MAX_CLASS_DEPTH - 1:
            raise too_deep(path, f"stands in more than {MAX_CLASS_DEPTH} classes")
        cls = inner["function"] if inner["type"] == "call" else inner.get("cls")
        form: Form = "attrs" if metadata_of(inner).get("unspool") == "attrs" else RECORDS[inner["type"]]
        if cls is None or (inner["type"] == "call" and form != "attrs" and not _is_named_tuple(cls)):
            raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for: {path or 'it'} is a call of {cls!r}.")
        record = self.records[key] = Record(cls, form)
        self.nodes[record] = node
        self.by_fields[id(fields_node(inner))] = record
        around = node
        while around["type"] in ("model", "dataclass", *FUNCTIONS):
            self._note_function(around)
            around = around["schema"]
        record.doc = docstring_of(cls, record.form)
        record.bytes_form = str(inner.get("config", {}).get("val_json_bytes", "utf8"))
        record.fields = tuple(self._fields(record, inner, path))
        record.extra = self._extra(inner, path)
        return record

    def _fields(self, record: Record, inner: Core, path: str) -> Iterator[Field]:
        said = Descriptions(record)
        variables = variables_of(record.cls)
        config = inner.get("config", {})
        finished = _is_finished(record, self.nodes[record])
        for name, node in field_nodes(inner):
            if node.get("init") is False:
                continue
            here = f"{path}.{name}" if path else name
            if self._asked:
                refuse_open(said.annotation_of(name), here, filled=variables)
            value: Core = node["schema"]
            default = next((part for part in unwrapped(value) if part["type"] == "default"), None)
            required = node.get("required", default is None)
            hidden = any(_is_hidden(part) for part in (node, *unwrapped(value)))
            self.needs_care = self.needs_care or hidden
            if hidden and required:
                raise ConfigError("INVALID_OPTIONS", f"{here} is kept out of the prompt, so it needs a default.")
            shape = self._read(value, here)
            fault = fault_of_default(value, self, config) if self._asked and not finished else None
            if fault:
                raise ConfigError("INVALID_OPTIONS", f"The default of {here} is no value of its type: {fault}")
            alias = name_in_json(name, node, config)
            # Where only paths inside the answer are read, the name that is shown has to be read as well.
            self.needs_care = self.needs_care or [alias] not in (alias_paths(node) or [[alias]])
            yield Field(
                name,
                shape,
                alias=alias,
                required=required,
                default=NOTHING if default is None else default.get("default", NOTHING),
                description=said.of(name, (node, *unwrapped(value))),
                hidden=hidden,
                positional=_is_positional(node),
            )

    def _extra(self, inner: Core, path: str) -> Shape | None:
        fields = fields_node(inner)
        if not allows_extra(inner, fields):
            return None
        extras = fields.get("extras_schema")
        return AnyShape() if extras is None else self._read(extras, f"{path}{{}}")


def _alias_name(ref: str) -> str:
    """Name an alias by its reference, without modules and addresses: `module.Pair:140123[int:140124]` is `Pair_int`."""
    return plain_name(re.sub(r":\d+", "", re.sub(r"[\w.<>]+\.", "", ref)))


def _is_finished(record: Record, node: Core) -> bool:
    """Tell whether code of the application may replace the defaults before anybody sees the instance."""
    around = node
    while around["type"] in ("model", "dataclass", *FUNCTIONS):
        if around["type"] in FUNCTIONS or around.get("post_init") or around.get("custom_init"):
            return True
        around = around["schema"]
    fields: Any = getattr(record.cls, "__attrs_attrs__", ()) if record.form == "attrs" else ()
    return hasattr(record.cls, "__attrs_post_init__") or any(field.converter is not None for field in fields)


def _is_hidden(node: Core) -> bool:
    extra = metadata_of(node).get("pydantic_js_extra")
    return isinstance(extra, Mapping) and cast("Mapping[str, Any]", extra).get("exclude_from_prompt") is True


def _is_import(node: Core) -> bool:
    """Tell pydantic's `ImportString`: its validator imports the module that the text names."""
    function = node["function"]["function"]
    name, module = getattr(function, "__name__", ""), str(getattr(function, "__module__", ""))
    return name == "import_string" and module.startswith("pydantic.")


def _is_positional(field: Core) -> bool:
    if field.get("type") == "dataclass-field":
        return not field.get("kw_only", True)
    return field.get("type") != "typed-dict-field" and field.get("mode") != "keyword_only"


def _rules(node: Core) -> dict[str, Any]:
    rules = {name: node[name] for name in _RULES if node.get(name) is not None}
    if "pattern" in rules and not isinstance(rules["pattern"], str):
        rules["pattern"] = rules["pattern"].pattern
    return rules


def _alternatives(shapes: Sequence[Shape]) -> Shape:
    flat: list[Shape] = []
    for shape in shapes:
        flat.extend(shape.members if isinstance(shape, UnionShape) else (shape,))
    nones = [shape for shape in flat if isinstance(shape, Scalar) and shape.name == "None"]
    rest = [shape for shape in flat if shape not in nones]
    members = [*dict.fromkeys(rest), *nones[:1]]
    return members[0] if len(members) == 1 else UnionShape(members)


def _is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cast("type[Any]", cls), tuple) and "_fields" in cls.__dict__
