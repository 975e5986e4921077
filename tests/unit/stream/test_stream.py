"""The package's public names."""

from __future__ import annotations

import pytest

from unspool import stream


def test_names_are_there() -> None:
    assert all(getattr(stream, name) is not None for name in stream.__all__)
    assert stream.__all__ == sorted(stream.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = stream.nonsense  # type: ignore[attr-defined]  # pyright: ignore
