"""Faults: what of an answer has closed and cannot be right any more. No IO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from unspool.schema.problem import Problem
from unspool.schema.validation_error import MAX_KEPT, is_too_deep
from unspool.structured.events import FieldInvalid, Path

if TYPE_CHECKING:
    from pydantic import ValidationError

    from unspool.schema.views import Part


class Faults:
    """What cannot be right in one answer."""

    def __init__(self) -> None:
        self.invalid: list[FieldInvalid] = []
        """The first of it, as errors have it."""
        self._known = 0

    def new(self, number: int) -> list[tuple[int, FieldInvalid]]:
        """Give what has been found since the last time, each with the number of the event that closed it."""
        known, self._known = self._known, len(self.invalid)
        return [(number, invalid) for invalid in self.invalid[known:]] if self._known > known else []

    def failed(
        self,
        part: Part | None,
        sure: bool,
        path: Path,
        error: Exception,
        problems: Callable[[ValidationError], list[Problem]],
    ) -> None:
        """Take note of why something could not be made. Only pydantic's word is a fault of the answer.

        A validator that needs more than its part raises what it likes; the record around it is then judged as a whole.
        """
        from pydantic import ValidationError

        if isinstance(error, ValidationError) and not is_too_deep(error):
            tells = sure and len(self.invalid) < MAX_KEPT
            self.add(part, tells, path, problems(error) if tells else ())
        elif part is not None:
            part.unsure = True

    def add(self, part: Part | None, sure: bool, path: Path, problems: Sequence[Problem]) -> None:
        """Take note that a part is not valid, and why, if it is sure."""
        if part is not None:
            part.bad = True
        if sure:
            self.invalid += [
                FieldInvalid((*path, *problem.path), problem.message, problem.found, problem.kind)
                for problem in problems[: MAX_KEPT - len(self.invalid)]
            ]
