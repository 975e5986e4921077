"""Integration: a built-in mapper by name, imported when the first session is made."""

from __future__ import annotations

from importlib import import_module
from typing import Unpack

from unspool.integrations.session import Session, SessionOptions


class Integration:
    """Makes sessions for the decoded events of one protocol."""

    def __init__(self, name: str, mapper: str) -> None:
        """
        Args:
            name: for people.
            mapper: "module:Class" of its mapper, below `unspool.integrations.mappers`.
        """
        self.name = name
        self._mapper = mapper

    def __call__(self, **options: Unpack[SessionOptions]) -> Session:
        """Make a session for one response.

        Args:
            options: limits and modes of its calls (see `StreamPool`), and `on_diagnostic`.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        module, _, name = self._mapper.partition(":")
        mapper = getattr(import_module(f"unspool.integrations.mappers.{module}"), name)
        return Session(mapper, built_in=True, **options)

    def __repr__(self) -> str:
        return f"<integration {self.name}>"
