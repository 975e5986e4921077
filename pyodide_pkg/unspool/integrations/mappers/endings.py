"""Endings: calls that end, and responses that are cut.

Most protocols say how a response ended after they have ended its calls. A call without any text is both what a tool
without parameters gets and what is left of a call that was cut at once; until it is known which, it stays open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unspool.errors import StreamError
from unspool.integrations.calls import Calls


class Endings:
    """Ends the calls of one response, and never one that was cut."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._blank: list[Any] = []

    def end(self, id: Any, final_text: str | None = None) -> None:
        """End a call as `Calls.end` does; one without any text stays open until `settle`, or the end of the events."""
        streamed = self._calls.text(id)
        if streamed is None or streamed.strip() or (final_text and final_text.strip()):
            self._calls.end(id, final_text)
        elif id not in self._blank:
            self._blank.append(id)

    def settle(self) -> None:
        """Say that the response went on, or ended well: the calls that ended without text are complete."""
        if self._blank:
            ids, self._blank = self._blank, []
            for id in ids:
                self._calls.end(id)

    def cut(self, reason: str, ids: Iterable[Any] | None = None) -> None:
        """Say that the response was cut.

        Args:
            reason: what the protocol gives for it.
            ids: of the calls it can have cut; all by default.
        Raises:
            StreamError: INCOMPLETE_JSON when one of them is open.
        """
        for id in self._calls.active_ids if ids is None else ids:
            if self._calls.active(id):
                raise StreamError("INCOMPLETE_JSON", f"The response was cut inside a call: {reason}.", id=id)
        self.settle()
