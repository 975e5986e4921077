"""Overlay: what is known of a value, laid over the answer that fills in the rest.

In: an answer as it was read. Out: the answer with everything that was given in its place, for validation; and the
validated value with what was given put back into it, so that no validator has changed it. Nothing that goes in is
changed. No IO.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from unspool.errors import OutputValidationError
from unspool.schema.known import KnownValue
from unspool.schema.problem import NOTHING, Path, Problem
from unspool.schema.shape import Record
from unspool.schema.subschemas import is_object
from unspool.schema.types import Schema
from unspool.schema.validation_error import invalid
from unspool.schema.validators import TAG
from unspool.schema.value_text import Given, KnownRecord, Missing, ValueWriter, attribute_of, is_root_model
from unspool.schema.value_tree import member_of
from unspool.structured.py_values import PyObject, PySet


class Overlay:
    """Completes answers by what is known."""

    def __init__(self, known: KnownValue) -> None:
        self._known = known
        self._writer = ValueWriter()

    def laid_over(self, answer: Any) -> Any:
        """Lay what is known over an answer.

        Args:
            answer: as it was read: JSON data, or the neutral values of Python syntax. Not changed.
        Returns:
            The answer to be validated.
        Raises:
            OutputValidationError: OUTPUT_INVALID for an answer that has no place for what is known, such as a list of
                another length.
        """
        problems: list[Problem] = []
        laid = self._laid(self._known.tree, self._known.neutral, answer, (), problems)
        if problems:
            raise invalid(self._known.name, problems, python=self._known.python)
        return laid

    def _laid(self, tree: Any, known: Any, answer: Any, path: Path, problems: list[Problem]) -> Any:
        if isinstance(tree, Missing):
            return answer
        if isinstance(tree, Given) and tree.shown is not None:
            return tree.value
        if isinstance(tree, KnownRecord):
            return self._record_laid(tree, known, answer, path, problems)
        if not isinstance(tree, dict | list | tuple):
            return known
        items: Any = cast("Any", tree)
        is_open, is_dict = self._known.is_open(items), _is_dict(items)
        steps = _steps(known)
        if is_open and (type(answer) is not type(known) or set(_steps(answer)) != set(steps)):
            if is_dict:
                words = f"Input should have these members and no others: {', '.join(map(repr, steps))}"
            else:
                words = f"Input should be a {type(known).__name__} of {len(steps)} items, in the given order"
            problems.append(Problem(path, words, answer))
            return known
        laid = [
            self._laid(item, known[step], answer[step] if is_open else NOTHING, (*path, step), problems)
            for step, item in zip(steps, _items(items), strict=True)
        ]
        if is_dict:
            return dict(zip(steps, laid, strict=True))
        if is_open and not problems:
            # Of several of a kind, only their places tell which is which: one that says otherwise may be another one.
            kinds = Counter(map(_kind_of, items))
            for step, item in enumerate(items):
                if self._known.is_open(item) and kinds[_kind_of(item)] > 1:
                    self._contradicted(item, known[step], answer[step], (*path, step), problems)
        return laid if isinstance(known, list) else tuple(laid)

    def _record_laid(
        self, tree: KnownRecord, known: Any, answer: Any, path: Path, problems: list[Problem]
    ) -> PyObject | dict[str, Any]:
        record = tree.record
        laid: dict[Any, Any] = {}
        if self._known.is_open(tree):
            fields = self._fields_of(record, tree.members, answer)
            if fields is None:
                problems.append(Problem(path, _asked_for(record), answer))
            laid = fields or {}
            for other in record.fields:
                if not (other.required or other.hidden or other.name in tree.members):
                    laid.pop(self._known.key(other), None)  # left out of the dict that was given
        given: Any = known.fields if isinstance(known, PyObject) else known
        if TAG in given and not self._known.python:
            laid[TAG] = given[TAG]
        for name, member in tree.members.items():
            if isinstance(member, Missing):
                continue
            key, field = self._known.named(record, name)
            if field is not None and name in tree.unset and member is field.default:
                laid.pop(key, None)  # its class puts it there, whether it is valid or not
                continue
            laid[key] = self._laid(member, given[key], laid.get(key, NOTHING), (*path, key), problems)
        return PyObject(record.name, laid) if self._known.python else laid

    def _fields_of(self, record: Record, known: Mapping[str, Any], answer: Any) -> dict[Any, Any] | None:
        """Give the members of an answer that is of a class; those that are known by the names that they have here."""
        if isinstance(answer, PyObject) and answer.name == record.name:
            slots = record.slots
            return {
                slots[key] if isinstance(key, int) and key < len(slots) else key: item
                for key, item in answer.fields.items()
            }
        if not is_object(answer) or (self._known.python and record.form != "typed-dict"):
            return None
        aliases = {field.alias for field in record.fields}
        fields: dict[Any, Any] = {}
        for name, item in answer.items():
            key = self._known.named(record, name)[0]
            other_spelling = name not in aliases and key not in answer and not isinstance(known.get(name), Missing)
            fields[key if other_spelling else name] = item
        return fields

    def _contradicted(self, tree: Any, known: Any, answer: Any, path: Path, problems: list[Problem]) -> None:
        """Find where an answer says something else than what was given."""
        if answer is NOTHING or isinstance(tree, Missing):
            return
        if isinstance(tree, KnownRecord):
            for name, member in tree.members.items():
                key = self._known.named(tree.record, name)[0]
                if name not in tree.unset and not isinstance(member, Missing):
                    self._contradicted(member, member_of(known, key), member_of(answer, key), (*path, key), problems)
        elif self._known.is_open(tree):
            for step, item in zip(_steps(known), _items(tree), strict=True):
                self._contradicted(item, known[step], answer[step], (*path, step), problems)
        elif not _is_same(known, answer):
            words = "Input should be what was given: items are told apart by their places alone"
            problems.append(Problem(path, words, answer))

    # What validation makes of it

    def put_back(self, result: Any, laid: Any) -> Any:
        """Put what was given back into a validated value.

        Args:
            result: the value.
            laid: what it was validated from, by `laid_over`.
        Returns:
            The value, in which each part of the kind that was given is what was given. What validation has turned into
            another kind, such as text into a date, stays so.
        Raises:
            OutputValidationError: OUTPUT_INVALID for a value of another class than was given.
        """
        return self._kept(self._known.tree, result, laid, ())

    def _kept(self, tree: Any, result: Any, laid: Any, path: Path) -> Any:
        if isinstance(tree, Missing):
            return result
        if isinstance(tree, Given):
            return tree.value
        if is_root_model(result):
            root = self._kept(tree, result.root, laid, path)
            return result if root is result.root else result.model_copy(update={"root": root})
        if isinstance(tree, KnownRecord):
            return self._record_kept(tree, result, laid, path)
        if not isinstance(tree, dict | list | tuple | set | frozenset):
            return tree if type(tree) is type(result) else result
        given: Any = cast("Any", tree)
        if type(given) is not type(result):
            return result
        if isinstance(given, set | frozenset) or len(given) != len(result):
            return _instead_of(given, result)
        steps = _steps(laid) if isinstance(laid, dict | list | tuple) else [None] * len(given)  # or JSON in a text
        parts = zip(
            _items(given), _items(result), [member_of(laid, step) for step in steps], _steps(result), strict=True
        )
        kept = [self._kept(item, made, was, (*path, step)) for item, made, was, step in parts]
        if all(item is made for item, made in zip(kept, _items(result), strict=True)):
            return result
        if _is_dict(result):
            twin = copy.copy(result)
            twin.update(zip(result, kept, strict=True))
            return twin
        return type(result)(kept)

    def _record_kept(self, tree: KnownRecord, result: Any, laid: Any, path: Path) -> Any:
        record = tree.record
        is_dict = record.form == "typed-dict" and _is_dict(result)
        if not is_dict and type(result) is not record.cls:
            if not _is_dict(result) and self._writer.record_of(cast("Any", type(result))) is None:
                return result  # what the application's validator makes of it
            if not self._known.is_open(tree) and not _is_dict(tree.value):
                return tree.value
            result = self._made(record, laid, path)
        changes: dict[str, Any] = {}
        for name, member in tree.members.items():
            attribute = name if is_dict else attribute_of(record, name)
            made: Any = result.get(name, NOTHING) if is_dict else getattr(result, attribute, NOTHING)
            if made is NOTHING or name in tree.unset or isinstance(member, Missing):
                continue
            key = self._known.named(record, name)[0]
            kept = self._kept(member, made, member_of(laid, key), (*path, key))
            if kept is not made:
                changes[attribute] = kept
        for field in record.fields:
            if field.hidden and field.name not in tree.unset and not _is_dict(tree.value):
                attribute = attribute_of(record, field.name)
                changes[attribute] = getattr(tree.value, attribute, getattr(result, attribute, None))
        if changes:
            result = _changed(record, result, changes)
        return _with_private(tree.value, result) if record.form == "model" else result

    def _made(self, record: Record, laid: Any, path: Path) -> Any:
        """Make an instance of the class that was given where JSON may be of another one as well."""
        if is_object(laid) and not self._known.python:
            try:
                made: Any = Schema.of(cast("Any", record.cls)).validate(laid)
            except OutputValidationError as error:
                problems = [Problem((*path, *p.path), p.message, p.found, kind=p.kind) for p in error.problems]
                raise invalid(self._known.name, problems) from error
            if type(made) is record.cls:
                return made
        raise invalid(self._known.name, [Problem(path, _asked_for(record))])


def _asked_for(record: Record) -> str:
    return f"Input should be {record.name}(…), of which a part was given"


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _kind_of(tree: Any) -> Any:
    return tree.record if isinstance(tree, KnownRecord) else cast("Any", type(tree))


def _is_same(known: Any, answer: Any) -> bool:
    if isinstance(known, PySet) and isinstance(answer, PySet):
        return sorted(map(repr, known.items)) == sorted(map(repr, answer.items))
    return bool(known == answer)


def _items(value: Any) -> Any:
    return value.values() if _is_dict(value) else value


def _steps(value: Any) -> Sequence[Any]:
    return list(value) if _is_dict(value) else range(len(value))


def _instead_of(tree: Any, result: Any) -> Any:
    """Give a container as it was given, if what validation made of it has members of the same kinds."""
    given = _whole(tree)
    same = {type(item) for item in _items(given)} == {type(item) for item in _items(result)}
    return copy.copy(given) if same else result


def _whole(tree: Any) -> Any:
    if isinstance(tree, KnownRecord | Given):
        return tree.value
    if _is_dict(tree):
        return {key: _whole(item) for key, item in tree.items()}
    if type(tree) in (list, tuple):
        return type(tree)([_whole(item) for item in tree])
    return tree


def _changed(record: Record, value: Any, changes: dict[str, Any]) -> Any:
    """Give a copy of an instance with other members, without a look at them: they may be those of a frozen class."""
    if record.form == "model":
        return value.model_copy(update=changes)
    if record.form == "named-tuple":
        return value._replace(**changes)
    if record.form == "typed-dict":
        return {**value, **changes}
    twin = copy.copy(value)
    for name, member in changes.items():
        object.__setattr__(twin, name, member)
    return twin


def _with_private(given: Any, result: Any) -> Any:
    """Give a copy of a model with the private attributes that were given: those that are not as they begin."""
    held: dict[str, Any] = getattr(given, "__pydantic_private__", None) or {}
    declared: dict[str, Any] = cast("Any", type(given)).__private_attributes__ if held else {}
    private: dict[str, Any] = {}
    for name, value in held.items():
        attribute = declared.get(name)
        make = getattr(attribute, "default_factory", None)
        if attribute is None or value != (make() if make else attribute.default):
            private[name] = value
    if not private:
        return result
    twin = result.model_copy()
    object.__setattr__(twin, "__pydantic_private__", {**(twin.__pydantic_private__ or {}), **private})
    return twin
