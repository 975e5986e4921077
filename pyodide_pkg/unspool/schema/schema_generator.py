"""The generator of pydantic's JSON Schemas, where what it writes would mislead a model. Pure; pydantic comes lazily.

Source: pydantic, `pydantic.json_schema.GenerateJsonSchema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.subschemas import is_object, resolve, subschemas
from unspool.schema.type_depth import shallow

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema


@cache
def schema_generator() -> type[GenerateJsonSchema]:
    """Give the class that generates the JSON Schema of an answer.

    Returns:
        Pydantic's own, also for classes that stand deep in others, with three corrections: an Enum class lists each
        value once, though aliases repeat it; fields that a dataclass takes no argument for are left out; and the member
        that tells the classes of a union apart is required, because pydantic asks for it even where it has a default.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class AnswerJsonSchema(GenerateJsonSchema):
        _has_tags = False

        def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
            self._has_tags = True
            return super().tagged_union_schema(schema)

        def enum_schema(self, schema: Any) -> dict[str, Any]:
            return super().enum_schema(cast("Any", {**schema, "members": list(dict.fromkeys(schema["members"]))}))

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
