"""UNKNOWN: what a model answers where it cannot know a value and the type allows for it (`int | Unknown`, or `Any`)."""

from __future__ import annotations

from typing import Any, Final, final

UNKNOWN_JSON = {"unknown": True}
"""How JSON spells it: an object that no text, number or null can be taken for, and that schemas can describe."""


@final
class Unknown:
    """The type of `UNKNOWN`. There is one value; it is false, and equal to nothing but itself."""

    __slots__ = ()

    def __new__(cls) -> Unknown:
        """Give the one value."""
        return UNKNOWN

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        spelled = core_schema.typed_dict_schema(
            {"unknown": core_schema.typed_dict_field(core_schema.bool_schema(strict=True), required=True)},
            extra_behavior="forbid",
        )
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(_read, spelled),
            python_schema=core_schema.is_instance_schema(cls),
            serialization=core_schema.plain_serializer_function_ser_schema(_written, return_schema=spelled),
            metadata={"unspool": "unknown"},
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"unknown": {"const": True, "type": "boolean"}},
            "required": ["unknown"],
            "additionalProperties": False,
        }


def _read(value: dict[str, bool]) -> Unknown:
    if not value["unknown"]:
        raise ValueError('only {"unknown": true} means that it is not known')
    return UNKNOWN


def _written(_value: Unknown) -> dict[str, bool]:
    return dict(UNKNOWN_JSON)


UNKNOWN: Final[Unknown] = object.__new__(Unknown)
"""What the answer says of a value that it does not know."""
