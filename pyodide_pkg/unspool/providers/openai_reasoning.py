"""ReasoningDetails: the structured reasoning of aggregators (OpenRouter), put together for the next turn. Pure.

Servers send it in pieces: text and summaries grow, signatures and encrypted data come whole. What goes back must be the
whole sequence, unchanged. Source: OpenRouter documentation, "Preserving reasoning blocks".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import WireError
from unspool.providers.fields import kept, list_of
from unspool.providers.kept_chars import KeptChars

FIELD = "reasoning_details"
MAX_DETAILS = 1_024

_GROWING = ("text", "summary")


class ReasoningDetails:
    """The details of one response."""

    __slots__ = ("_details", "_kept")

    def __init__(self) -> None:
        self._details: list[_Detail] = []
        self._kept = KeptChars()

    def add(self, pieces: object) -> None:
        """Take `reasoning_details` of one event; anything but a list of objects is passed over.

        Raises:
            WireError: BODY_TOO_LARGE, PROTOCOL beyond the limits, or for something without JSON form.
        """
        for piece in list_of(pieces):
            if isinstance(piece, dict):
                self._add(kept(cast("dict[str, Any]", piece)))

    def whole(self) -> list[dict[str, Any]]:
        """Give the details in the order in which they began; empty when there were none."""
        return [detail.whole() for detail in self._details]

    def _add(self, piece: Mapping[str, Any]) -> None:
        self._kept.add(sum(len(value) for value in piece.values() if isinstance(value, str)))
        if self._details and self._details[-1].goes_on(piece):
            self._details[-1].add(piece)
            return
        if len(self._details) >= MAX_DETAILS:
            raise WireError("PROTOCOL", f"The provider sent more than {MAX_DETAILS} reasoning details.")
        self._details.append(_Detail(piece))


class _Detail:
    __slots__ = ("_growing", "_members")

    def __init__(self, piece: Mapping[str, Any]) -> None:
        self._members: dict[str, Any] = {}
        self._growing: dict[str, list[str]] = {}
        self.add(piece)

    def goes_on(self, piece: Mapping[str, Any]) -> bool:
        """Whether a piece belongs to this detail: text or summary, of the same number where there is one."""
        known = self._members
        return (
            bool(self._growing)
            and known.get("type") == piece.get("type")
            and known.get("index") == piece.get("index")
            and piece.get("id") in (None, known.get("id"))
        )

    def add(self, piece: Mapping[str, Any]) -> None:
        for name, value in piece.items():
            if name in _GROWING and isinstance(value, str):
                self._members[name] = ""  # keeps its place
                self._growing.setdefault(name, []).append(value)
            elif value not in (None, "") or name not in self._members:
                self._members[name] = value

    def whole(self) -> dict[str, Any]:
        return self._members | {name: "".join(pieces) for name, pieces in self._growing.items()}
