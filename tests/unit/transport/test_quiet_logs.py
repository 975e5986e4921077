"""What the loggers of httpx2 are kept from saying; tests/unit/transport/test_httpx.py asks httpx2 itself."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Coroutine
from typing import Any

import pytest

from unspool.transport.quiet_logs import logs_without

SECRET = "marker-0123456789-secret"
NAMES = ["httpx2", "httpcore2.http11", "httpcore2.http2", "httpcore2.connection", "httpcore2.proxy", "hpack.hpack"]


class URL:
    """As the address of httpx2 is logged: an object, as an argument."""

    def __str__(self) -> str:
        return "https://h/v1?api-version=1&code=short"


@pytest.mark.parametrize("name", NAMES)
def test_secrets_are_blanked_out_in_messages_and_arguments(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = logging.getLogger(name)
    with logs_without((SECRET,)):
        log.debug(f"headers {SECRET!r}")
        log.info("%s %s: %d", "POST", SECRET, 200)
        log.info("%s: %s", "GET", URL())
        log.debug("%d of %s", 1, "x")
        log.debug("100%")
        log.debug("%(of)s", {"of": SECRET})
    assert [record.getMessage() for record in caplog.records] == [
        "headers '[redacted]'",
        "POST [redacted]: 200",
        "GET: https://h/v1?api-version=1&code=[redacted]",
        "1 of x",
        "100%",
        "[redacted]",
    ]
    assert caplog.records[3].args == (1, "x")


def test_what_is_logged_before_and_after_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("httpx2")
    with logs_without((SECRET,)):
        with logs_without(("another-secret-0123456789",)):
            log.warning(SECRET)
        log.warning(SECRET)
    log.warning("%s", SECRET)
    assert caplog.messages == [SECRET, "[redacted]", SECRET]


async def test_each_task_has_its_own(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("httpx2")
    inside, told = asyncio.Event(), asyncio.Event()

    async def request() -> None:
        with logs_without((SECRET,)):
            inside.set()
            await told.wait()
            log.warning(SECRET)

    task = asyncio.ensure_future(request())
    await inside.wait()
    log.warning(SECRET)
    told.set()
    await task
    assert caplog.messages == [SECRET, "[redacted]"]


def test_it_may_be_left_in_another_context() -> None:
    """As when a coroutine is dropped whose loop has ended."""

    async def request() -> None:
        with logs_without((SECRET,)):
            await asyncio.sleep(0)

    coroutine: Coroutine[Any, Any, None] = request()
    contextvars.copy_context().run(coroutine.send, None)
    coroutine.close()
