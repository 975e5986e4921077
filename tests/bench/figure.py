"""One measured figure, as it is printed and kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What was measured, where, and what it is held against."""

    name: str
    realm: str
    """cpython, pyodide (in a Chromium worker) or page (the main thread of a Chromium page)."""
    value: float
    unit: str
    against: str | None = None
    """What `ratio` compares with: another way of doing the same, or another size."""
    ratio: float | None = None
    """How many times `against` is larger, unless `against` says otherwise."""
    target: str | None = None
    """In words, such as ">= 20 times faster"."""
    ok: bool | None = None
    """Whether the target is met; None without a target."""

    def line(self) -> str:
        """The figure as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)
