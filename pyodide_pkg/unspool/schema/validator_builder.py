"""ValidatorBuilder: pydantic's core schema of a type, built anew to take values of a protocol and to guess nothing.

In: the shapes of a type and the core schema they were read from. Out: a pydantic validator for values of the Python
protocol, or for JSON data with more care than pydantic's own strict mode takes. Each class is made by its constructor's
name, once, and the application's validators run as they always do. What is not known here is validated as JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from unspool.schema import validators
from unspool.schema.constructors import Constructors
from unspool.schema.pydantic_nodes import (
    FUNCTIONS,
    MAPPINGS,
    RECORDS,
    Core,
    alias_paths,
    allows_extra,
    choices_of,
    metadata_of,
    name_in_json,
    numbers_first,
    refers,
)
from unspool.schema.shape import Record
from unspool.schema.shape_reader import ShapeReader
from unspool.schema.unknown import UNKNOWN
from unspool.schema.validators import JsonChoices, LazyValidator
from unspool.structured.py_values import PyName

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

ValueProtocol = Literal["json", "python"]

_STRICT = ("int", "float", "bool", "str", "none")
_ANYTHING: Core = {"type": "any"}
_LAX: dict[str, Any] = {"strict": False}
"""Of a collection that is made of judged items: strict mode would take one that is made already, and nothing else."""


class ValidatorBuilder:
    """Builds the validator of one type for one protocol."""

    def __init__(self, reader: ShapeReader, protocol: ValueProtocol) -> None:
        self._reader = reader
        self._python = protocol == "python"
        self._definitions: dict[str, Any] = {}
        self._configs: list[Core] = [{}]
        self._types: set[type] = set()
        self._named: dict[str, SchemaValidator] = {}
        self._constructors: Constructors | None = None

    def validator(self, node: Core | None = None, config: Core | None = None) -> SchemaValidator:
        """Build it. Its results are values of the type; a fault is pydantic's ValidationError.

        Args:
            node: of the type's core schema; all of it when left out.
            config: of the class that the node is in.
        """
        if config:
            self._configs.append(config)
        return self._compiled(self._node(self._reader.core if node is None else node), config)

    def _compiled(self, root: Any, config: Core | None = None) -> SchemaValidator:
        whole: Any = {"type": "definitions", "schema": root, "definitions": list(self._definitions.values())}
        return compiled(whole if self._definitions else root, self._types, config)

    def _node(self, node: Core, loose: bool = False) -> dict[str, Any]:
        """Build a node anew.

        Args:
            node: of the type's own core schema.
            loose: take plain dicts for classes too: the value comes from a validator of the application.
        """
        rebuilt = self._rebuilt(node, loose)
        if "ref" in rebuilt:  # it may be built more than once
            del rebuilt["ref"]
        return rebuilt

    def _rebuilt(self, node: Core, loose: bool) -> dict[str, Any]:
        kind: str = node["type"]
        if metadata_of(node).get("unspool") == "unknown":
            return _plain(validators.unknown)
        if (kind in RECORDS or kind in FUNCTIONS) and self._reader.record_node(node) is not None:
            return self._record(node, loose)
        match kind:
            case "definition-ref":
                return self._reference(node["schema_ref"], loose)
            case "union" | "tagged-union" if self._python or kind == "union":
                return self._union(node, loose)
            case "tagged-union":
                # JSON spells members of an Enum class by their values.
                choices = {
                    tag.value if isinstance(tag, Enum) else tag: self._node(choice, loose)
                    for tag, choice in node["choices"].items()
                }
                return {**node, "choices": choices}
            case "default":
                return self._default(node, loose)
            case "nullable" | "custom-error" | "function-after":
                return {**node, "schema": self._node(node["schema"], loose)}
            case "model":  # a root model
                self._types.add(node["cls"])
                return {**node, "strict": False, "schema": self._node(node["schema"], loose)}
            case "function-before" | "function-wrap":  # the application's own
                return {**node, "schema": self._node(node["schema"], True)}
            case "model-fields" | "dataclass-args" | "typed-dict" | "arguments" | "named-tuple":
                return self._fields(node, loose)
            case "json-or-python":
                return self._node(node["json_schema"], loose)
            case "lax-or-strict":
                return self._node(node["strict_schema"], loose)
            case "chain":
                return {**node, "steps": [self._node(node["steps"][0], loose), *map(self._step, node["steps"][1:])]}
            case "any":
                return self._anything() if self._python else dict(node)
            case "literal" if not self._python:
                return _plain(JsonChoices(node["expected"]).take)
            case "literal":
                return _plain(partial(validators.literal, validators.literals(node["expected"])))
            case "enum" if not self._python:
                return _plain(JsonChoices(node["cls"], node["cls"]).take)
            case "enum":
                return _plain(partial(validators.member, node["cls"], validators.members(node["cls"])))
            case "list":
                return {**node, "strict": True, **self._items(node, loose)}
            case "set" | "frozenset":
                return self._set(node, loose)
            case "tuple":
                items = [self._node(item, loose) for item in node["items_schema"]]
                rebuilt = {**node, "strict": True, "items_schema": items}
                return rebuilt if self._python else _before(validators.json_tuple, rebuilt)
            case "dict":
                return self._dict(node, loose)
            case _ if kind in MAPPINGS:
                made = {"type": kind, **_LAX}
                return {"type": "chain", "steps": [self._dict({**node, "type": "dict"}, loose), made]}
            case "function-plain":
                return dict(node)
            case "json":
                return {"type": "chain", "steps": [_plain(validators.json_inside), self._json(node)]}
            case _ if kind in _STRICT:
                return {**node, "strict": True}
            case _ if "items_schema" in node:
                return _before(validators.json_list, {**node, **_LAX, **self._items(node, loose)})
            case _:
                return self._leaf(node, loose)

    def _items(self, node: Core, loose: bool) -> dict[str, Any]:
        if "items_schema" in node:
            return {"items_schema": self._node(node["items_schema"], loose)}
        return {"items_schema": self._anything()} if self._python else {}

    def _reference(self, ref: str, loose: bool) -> dict[str, Any]:
        name = f"{ref}?" if loose else ref
        if name not in self._definitions:
            self._definitions[name] = {}  # its place: it may contain itself
            node = self._node(self._reader.definitions[ref], loose)
            self._definitions[name] = {**node, "ref": name}
        return {"type": "definition-ref", "schema_ref": name}

    def _default(self, node: Core, loose: bool) -> dict[str, Any]:
        rebuilt = {**node, "schema": self._node(node["schema"], loose)}
        if not (node.get("validate_default") or self._config("validate_default")):
            return rebuilt
        # A default is a value of Python's, not one of a protocol: what validates it is the schema as it was.
        own = LazyValidator(self._whole(node["schema"]), self._configs[-1])
        made: Any = rebuilt.pop("default_factory", None) or partial(_itself, rebuilt.pop("default"))
        factory = partial(validators.default_of, own, made)
        return {**rebuilt, "default_factory": factory, "validate_default": False}

    def _record(self, node: Core, loose: bool) -> dict[str, Any]:
        record = self._reader.record_of(node)
        if not record.subclasses:
            return self._own(record, node, loose)
        family = {member.name: self._member(member, loose) for member in record.family}
        return {
            "type": "tagged-union",
            "discriminator": self._discriminator(record, family),
            "choices": {f"<{name}>": choice for name, choice in family.items()},
            "custom_error_type": "wrong_class",
            "custom_error_message": f"Input should be {' or '.join(f'{name}(…)' for name in family)}",
        }

    def _discriminator(self, record: Record, family: Mapping[str, Any]) -> Callable[[Any], str | None]:
        if self._python:
            return _filled(validators.name_of, frozenset(family), None)
        return _filled(validators.tag_of, None if record.is_abstract else record.name)

    def _member(self, record: Record, loose: bool) -> dict[str, Any]:
        """Refer to a class itself, without its subclasses."""
        name = f"unspool:{record.name}{'?' if loose else ''}"
        if name not in self._definitions:
            self._definitions[name] = {}
            self._definitions[name] = {**self._own(record, self._reader.nodes[record], loose), "ref": name}
        return {"type": "definition-ref", "schema_ref": name}

    def _own(self, record: Record, node: Core, loose: bool) -> dict[str, Any]:
        """Build a class with the validators around it; a constructor is taken apart before the first of them."""
        if self._python:
            rebuilt = _before(_filled(validators.arguments, record, loose), self._around(record, node, loose))
            if node["type"] not in FUNCTIONS:
                return rebuilt
            # What was made already has been through the application's validators.
            ready = _plain(partial(validators.made, record))
            return {
                "type": "tagged-union",
                "discriminator": validators.is_made,
                "choices": {"<made>": ready, "<>": rebuilt},
            }
        rebuilt = self._around(record, node, loose)
        return _before(validators.untagged, rebuilt) if record.subclasses or self._is_sub(record) else rebuilt

    def _is_sub(self, record: Record) -> bool:
        return any(record in other.subclasses for other in self._reader.records.values())

    def _around(self, record: Record, node: Core, loose: bool) -> dict[str, Any]:
        if node["type"] == "definition-ref":
            node = self._reader.definitions[node["schema_ref"]]
        kind: str = node["type"]
        if kind in FUNCTIONS:
            return {**node, "schema": self._around(record, node["schema"], loose)}
        self._types.add(record.cls)
        own: Core = node.get("config", {})
        # A model or dataclass has nothing of the configuration around it.
        self._configs.append(own if kind in ("model", "dataclass") else {**self._configs[-1], **own})
        try:
            match kind:
                case "typed-dict" | "named-tuple":
                    return self._fields(node, loose)
                case "call":
                    return {**node, "arguments_schema": self._node(node["arguments_schema"], loose)}
                case _:
                    # Strict mode would take instances only.
                    return {**node, "strict": False, "schema": self._node(node["schema"], loose)}
        finally:
            self._configs.pop()

    def _fields(self, node: Core, loose: bool) -> dict[str, Any]:
        """Build the list of fields of a class."""
        record = self._reader.by_fields.get(id(node))
        hidden = {field.name for field in record.fields if field.hidden} if record else set[str]()

        def field(name: str, field_node: Core) -> dict[str, Any]:
            value: Core = field_node["schema"]
            rebuilt = {**field_node, "schema": _hidden(value) if name in hidden else self._node(value, loose)}
            paths = alias_paths(field_node)
            if self._python:  # constructors spell names, not aliases
                rebuilt.pop("validation_alias", None)
                rebuilt.pop("alias", None)
            elif paths is not None:  # among them the name that the model was shown
                rebuilt["validation_alias"] = [[name_in_json(name, field_node, {})], *paths]
            return rebuilt

        rebuilt: dict[str, Any] = {**node}
        key = "arguments_schema" if node["type"] == "arguments" else "fields"
        fields: Any = node[key]
        if isinstance(fields, Mapping):
            members = cast("Mapping[str, Core]", fields)
            rebuilt[key] = {name: field(name, value) for name, value in members.items()}
        else:
            rebuilt[key] = [field(value["name"], value) for value in fields]
        if node["type"] in ("named-tuple", "arguments"):
            return rebuilt
        if "extras_schema" in node:
            rebuilt["extras_schema"] = self._node(node["extras_schema"], loose)
        if self._python:
            if not allows_extra({"config": self._configs[-1]}, node):
                rebuilt["extra_behavior"] = "forbid"
            elif "extras_schema" not in node:
                rebuilt["extras_schema"] = self._anything()
        return rebuilt

    def _union(self, node: Core, loose: bool) -> dict[str, Any]:
        """Build a union. In Python syntax, a constructor's name says which class is meant; only that one is tried."""
        if not self._python:
            return {**node, "choices": [self._node(choice, loose) for choice in numbers_first(choices_of(node))]}
        by_name: dict[str, list[dict[str, Any]]] = {}
        others: list[dict[str, Any]] = []
        todo = numbers_first(choices_of(node))
        while todo:
            choice = todo.pop(0)
            target = self._reader.definitions[choice["schema_ref"]] if choice["type"] == "definition-ref" else choice
            if target["type"] in ("union", "tagged-union"):
                todo[:0] = choices_of(target)
                continue
            if self._reader.record_node(target) is None:
                others.append(self._node(choice, loose))
                continue
            record = self._reader.record_of(target)
            for member in record.family:
                by_name.setdefault(member.name, []).append(self._node(choice, loose))
            if record.form == "typed-dict" or loose:
                others.append(self._node(choice, loose))
        if not by_name:
            return _either(others)
        choices = {f"<{name}>": _either(options) for name, options in by_name.items()}
        names = " or ".join(f"{name}(…)" for name in by_name)
        if others:
            choices["<>"] = _either(others)
        return {
            "type": "tagged-union",
            "discriminator": _filled(validators.name_of, frozenset(by_name), "<>" if others else None),
            "choices": choices,
            "custom_error_type": "wrong_class",
            "custom_error_message": f"Input should be {names}",
        }

    def _json(self, node: Core) -> dict[str, Any]:
        """Build what is inside a text: JSON, whatever the text stands in."""
        inner: Core = node.get("schema", _ANYTHING)
        if not self._python:
            return self._node(inner)
        return _plain(ValidatorBuilder(self._reader, "json").validator(inner, self._configs[-1]).validate_python)

    def _set(self, node: Core, loose: bool) -> dict[str, Any]:
        """Build a set: each item is judged as it was written, because `{1, True}` would lose the second unseen."""
        items = {"type": "list", "strict": True, **self._items(node, loose)}
        sizes = {key: node[key] for key in ("min_length", "max_length", "fail_fast") if key in node}
        take = partial(validators.set_items, node["type"]) if self._python else validators.json_list
        steps = [_plain(take), items, _plain(validators.distinct), {"type": node["type"], **_LAX, **sizes}]
        return {"type": "chain", "steps": steps}

    def _dict(self, node: Core, loose: bool) -> dict[str, Any]:
        rebuilt: dict[str, Any] = {**node, "strict": True}
        for key in ("keys_schema", "values_schema"):
            if key in node:
                rebuilt[key] = self._node(node[key], loose)
            elif self._python:
                rebuilt[key] = self._anything()
        kind = "str" if self._python else node.get("keys_schema", _ANYTHING)["type"]
        if kind in ("literal", "enum"):
            cls = node["keys_schema"].get("cls")
            choices = JsonChoices(node["keys_schema"]["expected"] if cls is None else cls, cls)
            rebuilt["keys_schema"] = _plain(choices.take_key)
        elif kind not in ("str", "any"):
            keys = LazyValidator(self._whole({"type": "dict", "keys_schema": node["keys_schema"]}), self._configs[-1])
            rebuilt["keys_schema"] = _plain(partial(validators.json_key, keys))
            return _before(partial(validators.keyed, keys), rebuilt)
        return rebuilt

    def constructors(self) -> Constructors:
        """Give what makes instances by name."""
        if self._constructors is None:
            enums = self._reader.enums.values()
            names: dict[PyName, Any] = {
                PyName(f"{shape.name}.{member.name}"): member for shape in enums for member in shape.members
            }
            names[PyName("UNKNOWN")] = UNKNOWN
            instances = {record.name for record in self._reader.records.values() if record.form != "typed-dict"}
            self._constructors = Constructors(self._by_name, names, instances=instances)
        return self._constructors

    def _by_name(self, name: str) -> SchemaValidator | None:
        """Give the validator of one class; built when it is first called for."""
        if name not in self._named:
            record = next((record for record in self._reader.records.values() if record.name == name), None)
            if record is None:
                return None
            self._named[name] = self._compiled(self._member(record, False))
        return self._named[name]

    def _anything(self) -> dict[str, Any]:
        return _plain(self.constructors().data)

    def _step(self, node: Core) -> dict[str, Any]:
        """Build a further step of a chain: it is given what has been validated, and has the classes as they were."""
        if not refers(node):
            return dict(node)
        own = LazyValidator(self._whole(node), self._configs[-1])
        return _plain(partial(validators.as_it_is, own))

    def _leaf(self, node: Core, loose: bool) -> dict[str, Any]:
        """Build what pydantic reads from the text forms of JSON: dates, UUID, Decimal, URLs, …"""
        take = validators.as_bytes if self._python and node["type"] == "bytes" else validators.as_json
        if node["type"] == "decimal" and not loose:
            take = validators.as_decimal
        return _plain(partial(take, LazyValidator(self._whole(node), self._configs[-1])))

    def _whole(self, node: Core) -> Any:
        return whole_node(node, self._reader)

    def _config(self, name: str) -> Any:
        return self._configs[-1].get(name)


def _either(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return choices[0] if len(choices) == 1 else {"type": "union", "choices": choices}


def whole_node(node: Core, reader: ShapeReader) -> Any:
    """Give a node of the type with the definitions that it refers to."""
    if not refers(node):
        return dict(node)
    return {"type": "definitions", "schema": node, "definitions": list(reader.definitions.values())}


def _plain(function: Callable[[Any], Any]) -> dict[str, Any]:
    return {"type": "function-plain", "function": {"type": "no-info", "function": function}}


def _before(function: Callable[[Any], Any], schema: Any) -> dict[str, Any]:
    return {"type": "function-before", "function": {"type": "no-info", "function": function}, "schema": schema}


def _filled(function: Callable[..., Any], *args: Any) -> Callable[[Any], Any]:
    """Fill in arguments; pydantic asks a discriminator for its name, which a `partial` does not have."""

    def filled(value: Any) -> Any:
        return function(*args, value)

    return filled


def _itself(value: Any) -> Any:
    return value


def _hidden(node: Core) -> dict[str, Any]:
    """Keep the default of a field and refuse any value for it."""
    while node["type"] != "default":
        node = node["schema"]
    return {**node, "schema": _plain(validators.hidden), "validate_default": False}


def compiled(core: Any, types: Collection[type], config: Any = None) -> SchemaValidator:
    """Compile a core schema in which classes have other nodes than those that pydantic compiled for them."""
    from pydantic_core import SchemaValidator

    try:
        return SchemaValidator(core, config, _use_prebuilt=False)
    except TypeError:  # pydantic 2.12 has no word for it, but takes nothing ready-made from a class that is incomplete
        pass
    complete = {cls: cls.__dict__["__pydantic_complete__"] for cls in types if "__pydantic_complete__" in cls.__dict__}
    try:
        for cls in complete:
            setattr(cls, "__pydantic_complete__", False)  # noqa: B010
        return SchemaValidator(core, config)
    finally:
        for cls, value in complete.items():
            setattr(cls, "__pydantic_complete__", value)  # noqa: B010
