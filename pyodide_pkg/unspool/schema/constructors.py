"""Constructors: instances made from the inside out, without recursion, by the names in a neutral value.

For `Any`, where a type says nothing about what is inside; and for values that nest so deep that pydantic would give up:
it follows 255 references inside each other, in Pyodide 49. Each class is validated by its own fields, once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.problem import Path
from unspool.schema.validators import Made, distinct, refusal
from unspool.schema.value_tree import fold
from unspool.structured.py_values import PyName, PyObject, PySet

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

SLICE = 40
"""How many constructors inside each other are made at once."""


class Constructors:
    """Makes instances of the classes of one type."""

    def __init__(
        self,
        validators: Callable[[str], SchemaValidator | None],
        names: Mapping[PyName, Any],
        *,
        instances: Collection[str],
    ) -> None:
        """
        Args:
            validators: gives what validates a constructor of a name; None for other names.
            names: what names stand for.
            instances: the constructors that make instances, which are known when they are seen again; a dict is not.
        """
        self._validators = validators
        self._names = names
        self._instances = instances

    def data(self, value: Any) -> Any:
        """Make what may stand for `Any`: data of all kinds, and instances of the classes (P67).

        Raises:
            ValidationError: pydantic's, with the paths inside the value.
        """
        return fold(value, self._datum)

    def sliced(self, value: Any) -> Any:
        """Give a copy of a value in which every constructor that stands in `SLICE` others, or twice as many, is made.

        Raises:
            ValidationError: as in `data`.
        """

        def part(node: Any, path: Path, inside: int, children: list[Any]) -> Any:
            copied = _copied(node, children)
            if not inside or inside % SLICE or not isinstance(copied, PyObject) or copied.name not in self._instances:
                return copied
            validator = cast("SchemaValidator", self._validators(copied.name))
            return Made(copied.name, _at(path, node, validator.validate_python, copied))

        return fold(value, part)

    def _datum(self, node: Any, path: Path, _inside: int, children: list[Any]) -> Any:
        match node:
            case PyObject():
                validator = self._validators(node.name)
                if validator is None:
                    raise _fault(path, node, refusal("unknown_class", "Input should be data"))
                return _at(path, node, validator.validate_python, _copied(node, children))
            case Made():
                return node.value
            case PySet():
                members = _at(path, node, distinct, children)
                return frozenset(members) if node.frozen else set(members)
            case dict():
                keys = [self._names.get(key, key) if isinstance(key, PyName) else key for key in cast("Any", node)]
                return dict(zip(keys, children, strict=True))
            case list():
                return children
            case tuple():
                return tuple(children)
            case PyName() if node in self._names:
                return self._names[node]
            case PyName() | bytes():
                raise _fault(path, node, refusal("data_type", "Input should be data"))
            case _:
                return node


def _copied(node: Any, children: list[Any]) -> Any:
    match node:
        case PyObject():
            return PyObject(node.name, dict(zip(node.fields, children, strict=True)))
        case PySet():
            return PySet(children, node.frozen)
        case dict():
            return dict(zip(cast("Any", node), children, strict=True))
        case list():
            return children
        case tuple():
            return tuple(children)
        case _:
            return node


def _at(path: Path, node: Any, function: Callable[[Any], Any], argument: Any) -> Any:
    """Call what may find a fault, and put the path before that of the fault."""
    from pydantic import ValidationError
    from pydantic_core import PydanticCustomError

    try:
        return function(argument)
    except ValidationError as error:
        faults = [
            {
                "type": PydanticCustomError(cast("Any", fault["type"]), "{reason}", {"reason": fault["msg"]}),
                "loc": (*path, *fault["loc"]),
                "input": fault["input"],
            }
            for fault in error.errors(include_url=False, include_context=False)
        ]
        raise ValidationError.from_exception_data("Answer", cast("Any", faults)) from None
    except PydanticCustomError as error:
        raise _fault(path, node, error) from None


def _fault(path: Path, node: Any, error: Exception) -> Exception:
    from pydantic import ValidationError

    line: Any = {"type": error, "loc": path, "input": node}
    return ValidationError.from_exception_data("Answer", [line])
