"""The limit for what is kept of an answer."""

from __future__ import annotations

import pytest

from unspool.errors import WireError
from unspool.providers.kept_chars import MAX_KEPT_CHARS, KeptChars


def test_the_limit_is_for_all_of_an_answer() -> None:
    kept = KeptChars()
    kept.add(MAX_KEPT_CHARS - 1)
    kept.add(1)
    with pytest.raises(WireError, match="BODY_TOO_LARGE"):
        kept.add(1)
