"""The generator of pydantic's JSON Schemas, where what it writes would mislead a model. Pure; pydantic comes lazily.

Source: pydantic, `pydantic.json_schema.GenerateJsonSchema`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum, Flag
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.assertions import DECIMAL, INTEGERS, NUMBERS
from unspool.schema.pydantic_nodes import MAPPINGS, RECORDS, Core, field_nodes, metadata_of, name_in_json
from unspool.schema.subschemas import is_object, resolve, subschemas
from unspool.schema.type_depth import shallow

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema

_NO_NAMES = ("none", "list", "tuple", "set", "frozenset", *RECORDS, *MAPPINGS)
_SPELLED = (str, int, float)
_ANY: Core = {"type": "any"}
_LIMITS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


@cache
def schema_generator() -> type[GenerateJsonSchema]:
    """Give the class that generates the JSON Schema of an answer.

    Returns:
        Pydantic's own, also for classes that stand deep in others, with these corrections: an Enum class lists each
        value once, though aliases repeat it, and one of flags takes their sums; a NamedTuple is an object, for a model
        has to know the names (its list is read as well); what keys must be is told of keys that are no texts too;
        fields that a dataclass takes no argument for are left out; a Decimal is asked for as text, because a number
        loses digits (it is read as well); and the member that tells the classes of a union apart is required, because
        pydantic asks for it even where it has a default.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class AnswerJsonSchema(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # pydantic's own name
        _has_tags = False

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._nodes: dict[str, Any] = {}

        def definitions_schema(self, schema: Any) -> dict[str, Any]:
            self._nodes.update({node["ref"]: node for node in schema["definitions"]})
            return super().definitions_schema(schema)

        def named_tuple_schema(self, schema: Any) -> dict[str, Any]:
            return _as_object(schema, super().named_tuple_schema(schema))

        def call_schema(self, schema: Any) -> dict[str, Any]:  # how pydantic 2.12 spells a NamedTuple
            made = super().call_schema(schema)
            return made if made.get("type") == "object" else _as_object(schema, made)

        def decimal_schema(self, schema: Any) -> dict[str, Any]:
            return {**_limits(schema), "type": "string", "format": DECIMAL, "pattern": _digits(schema)}

        def dict_schema(self, schema: Any) -> dict[str, Any]:
            return self._with_names(schema, super().dict_schema(schema))

        def frozendict_schema(self, schema: Any) -> dict[str, Any]:
            return self._with_names(schema, super().frozendict_schema(schema))

        def ordered_dict_schema(self, schema: Any) -> dict[str, Any]:
            return self._with_names(schema, super().ordered_dict_schema(schema))

        def counter_schema(self, schema: Any) -> dict[str, Any]:
            return self._with_names(schema, super().counter_schema(schema))

        def _with_names(self, schema: Any, made: dict[str, Any]) -> dict[str, Any]:
            names = _names(schema.get("keys_schema", _ANY), self._nodes)
            if names and "patternProperties" in made:  # of the text of a Decimal
                [made["additionalProperties"]] = made.pop("patternProperties").values()
            if "patternProperties" in made:
                made.setdefault("additionalProperties", False)
            return made if names is None else {**made, "propertyNames": names}

        def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
            self._has_tags = True
            made = super().tagged_union_schema(schema)
            if "discriminator" not in made and "oneOf" in made:  # a function tells them apart, and no member need to
                made["anyOf"] = made.pop("oneOf")
            return made

        def enum_schema(self, schema: Any) -> dict[str, Any]:
            members = list(dict.fromkeys(schema["members"]))
            made = super().enum_schema(cast("Any", {**schema, "members": members}))
            return _sums(made, members) if issubclass(schema["cls"], Flag) else made

        def generate_inner(self, schema: Any) -> dict[str, Any]:
            # What a class says of itself, pydantic puts over what is made of it.
            return super().generate_inner(_told_flags(schema) if schema["type"] == "enum" else schema)

        def dataclass_args_schema(self, schema: Any) -> dict[str, Any]:
            fields = [field for field in schema["fields"] if field.get("init", True)]
            return super().dataclass_args_schema(cast("Any", {**schema, "fields": fields}))

        def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
            root = super().generate(shallow(schema), mode)
            if self._has_tags:
                _require_tags(root)
            return root

        def generate_definitions(self, inputs: Any) -> Any:
            shallows = [(key, mode, shallow(schema)) for key, mode, schema in inputs]
            schemas, definitions = super().generate_definitions(shallows)
            if self._has_tags:
                _require_tags({"$defs": definitions, "allOf": list(schemas.values())})
            return schemas, definitions

    return AnswerJsonSchema


def _limits(node: Core) -> dict[str, Any]:
    limits = {word: node[key] for key, word in _LIMITS.items() if node.get(key) is not None}
    return {word: int(value) if value == int(value) else float(value) for word, value in limits.items()}


def _digits(node: Core) -> str:
    """Say how many digits the text of a Decimal may have."""
    most, places = node.get("max_digits"), node.get("decimal_places")
    if most is None and places is None:
        return NUMBERS
    whole = "+" if most is None else f"{{1,{max(1, most - (places or 0))}}}"
    fraction = most if places is None else places
    return f"^-?[0-9]{whole}" + (f"(\\.[0-9]{{1,{fraction}}})?$" if fraction else "$")


def _as_object(node: Core, made: Mapping[str, Any]) -> dict[str, Any]:
    """Give the members of a NamedTuple their names; only the last ones may be left out."""
    names = [name_in_json(name, field, {}) for name, field in field_nodes(node)]
    required = names[: made.get("minItems", 0)]
    return {
        "type": "object",
        "properties": dict(zip(names, made.get("prefixItems", ()), strict=True)),
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _sums(made: Mapping[str, Any], members: Sequence[Any]) -> dict[str, Any]:
    """Let sums of flags be values too."""
    most = 0
    for member in members:
        most |= member.value
    return {
        **{key: value for key, value in made.items() if key != "enum"},
        "type": "integer",
        "minimum": 0,
        "maximum": most,
    }


def _told_flags(node: Any) -> Any:
    """Let a class of flags say what they are."""
    if not issubclass(node["cls"], Flag):
        return node
    listed = ", ".join(f"{member.value} ({member.name})" for member in node["members"])

    def told(core: Any, handler: Any) -> dict[str, Any]:
        made: dict[str, Any] = handler(core)
        target = handler.resolve_ref_schema(made)
        target["description"] = f"{target.get('description', '')} The sum of any of {listed}.".strip()
        return made

    metadata = metadata_of(node)
    functions = [*metadata.get("pydantic_js_functions", ()), told]
    return {**node, "metadata": {**metadata, "pydantic_js_functions": functions}}


def _names(node: Core, nodes: Mapping[str, Core]) -> dict[str, Any] | bool | None:
    """Say what the names of members must be where keys are no texts; None where pydantic says it."""
    while node["type"] in ("definition-ref", "default", "function-after"):
        node = nodes.get(node["schema_ref"], _ANY) if node["type"] == "definition-ref" else node["schema"]
    match node["type"]:
        case "int":
            return {"pattern": INTEGERS}
        case "float":
            return {"pattern": NUMBERS}
        case "decimal":
            return {"pattern": _digits(node)}
        case "bool":
            return {"enum": ["true", "false"]}
        case "enum" if issubclass(node["cls"], Flag):
            return {"pattern": INTEGERS}
        case "enum":
            values = [member.value for member in node["members"]]
        case "literal":
            values = [value.value if isinstance(value, Enum) else value for value in node["expected"]]
        case _ if node["type"] in _NO_NAMES:
            return False
        case _:
            return None
    if all(isinstance(value, str) for value in values) or any(not isinstance(value, _SPELLED) for value in values):
        return None
    return {"enum": [*dict.fromkeys(value if isinstance(value, str) else json.dumps(value) for value in values)]}


def _require_tags(root: dict[str, Any]) -> None:
    """Require the members by which unions tell their classes apart; changes what it is given."""
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        if not is_object(node):
            continue
        todo.extend(entry for _, entry in subschemas(node))
        if is_object(node.get("discriminator")):
            _require(root, node, str(node["discriminator"]["propertyName"]))


def _require(root: Mapping[str, Any], union: Any, name: str) -> None:
    for choice in union["oneOf"]:
        entry: Any = resolve(root, choice["$ref"]) if "$ref" in choice else choice
        if "oneOf" in entry:
            _require(root, entry, name)
        elif name in entry.get("properties", {}) and name not in entry.get("required", ()):
            cast("dict[str, Any]", entry)["required"] = [name, *entry.get("required", ())]
