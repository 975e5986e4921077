"""KeptChars: how much of an answer is kept beside its text, held to a limit. No IO, no clock."""

from __future__ import annotations

from unspool.errors import WireError

MAX_KEPT_CHARS = 16_777_216
"""As much as `ResponseMachine` takes of text, which it counts; what is kept to be sent back no reader sees."""


class KeptChars:
    """Counts what one answer keeps: signatures, hidden reasoning, pictures, results of the provider's own tools."""

    __slots__ = ("_chars",)

    def __init__(self) -> None:
        self._chars = 0

    def add(self, chars: int) -> None:
        """Count some more.

        Raises:
            WireError: BODY_TOO_LARGE beyond the limit.
        """
        self._chars += chars
        if self._chars > MAX_KEPT_CHARS:
            raise WireError("BODY_TOO_LARGE", f"The answer has more than {MAX_KEPT_CHARS} characters beside its text.")
