"""Logs of httpx2 that hold no secret of a request of ours: it logs addresses at INFO, and headers of answers at DEBUG.

In: the secrets of one request. Out: a context in which the loggers of httpx2 and of what it is made of blank them out.
What else a program sends with httpx2 is logged as before.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Generator
from contextvars import ContextVar
from typing import Any

from unspool.errors import redact, shown_url

_LOGGERS = (
    "httpx2",
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
    *(f"hpack.{part}" for part in ("hpack", "table")),
)
"""Each by its name: a filter of a logger does not see what the loggers below it say."""

_secrets: ContextVar[tuple[str, ...] | None] = ContextVar("secrets", default=None)


@contextlib.contextmanager
def logs_without(secrets: tuple[str, ...]) -> Generator[None]:
    """Blank out secrets, and the queries of addresses, in what is logged by this task meanwhile."""
    _install()
    before = _secrets.get()
    _secrets.set(secrets)
    try:
        yield
    finally:
        _secrets.set(before)  # not by a token: a coroutine may be closed in another context than it began in


@functools.cache
def _install() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_blanked)


def _blanked(record: logging.LogRecord) -> bool:
    secrets = _secrets.get()
    if secrets is None:
        return True
    if isinstance(record.args, tuple):
        record.args = tuple(map(_shown, record.args))
    said = record.getMessage()
    told = redact(said, *secrets)
    if told != said:
        record.msg, record.args = told, ()
    return True


def _shown(value: Any) -> Any:
    return shown_url(str(value)) if type(value).__name__ == "URL" else value
