"""What a client must make of each fault of `tests/tools/dialect_faults.py`, in every dialect and realm.

Plain asynchronous functions of the server's URL. On CPython they run from tests/conformance/test_dialect_faults.py.
Field reports F6, F7, F10, F11, F38.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Iterable
from typing import Any, NamedTuple

from tests.pyodide.bodies.transport_fetch import IN_PYODIDE, KEY, assert_no_key, get, read_all, the_finish
from tests.tools.dialects import CALL, DIALECTS, REASONING, TEXT, USAGE, Dialect, Step, told_after

from unspool import Message, UnspoolError, llms
from unspool.stream import check_order
from unspool.stream.chunks import Finish

AT_ONCE = 8
LIMIT_S = 15.0
IDLE_S = 0.25
HEAD_S = 3.0
"""Firefox gives the headers only with the first bytes of the body."""


class Expected(NamedTuple):
    """How an answer ends that a fault has struck."""

    code: str | None
    retryable: bool = False
    even_after_the_end: bool = True
    """Also when the vendor has already said that the answer is over, but not yet ended the response."""
    status: int | None = None


AT_EACH: dict[str, Expected] = {
    "cut": Expected("STREAM_TRUNCATED", True, False),
    "half-event": Expected("STREAM_TRUNCATED", True, False),
    "noise": Expected("STREAM_TRUNCATED", True, False),
    "page": Expected("STREAM_TRUNCATED", True, False),
    "break": Expected("NETWORK", True, False),
    "reset": Expected("NETWORK", True, False),
    "silence": Expected("TIMEOUT", True, False),
    "garbage": Expected("PROTOCOL"),
    "no-object": Expected("PROTOCOL"),
    "deep": Expected("PROTOCOL"),
    "error": Expected("OVERLOADED", True),
}

ONCE: dict[str, Expected] = {
    "whole": Expected(None),
    "drip": Expected(None),
    "wrong-type": Expected(None),
    "compressed": Expected(None),
    "empty": Expected("STREAM_TRUNCATED", True),
    "only-comments": Expected("STREAM_TRUNCATED", True),
    "no-content": Expected("STREAM_TRUNCATED", True),
    "cut-json": Expected("STREAM_TRUNCATED", True),
    "short-length": Expected("STREAM_TRUNCATED", True),
    "long-length": Expected("NETWORK", True),
    "wrong-chunk": Expected("NETWORK", True),
    "compressed-cut": Expected("STREAM_TRUNCATED", True),
    "compressed-not": Expected("NETWORK", True),
    "html": Expected("PROTOCOL"),
    "other-json": Expected("PROTOCOL"),
    "endless-event": Expected("SSE_EVENT_TOO_LARGE"),
    "json-error": Expected("OVERLOADED", True),
    "html-error": Expected("PROVIDER", True, status=502),
}


class Outcome(NamedTuple):
    message: Message
    finish: Finish
    error: UnspoolError | None


async def outcome(root: str, dialect: Dialect, fault: str, **options: Any) -> Outcome:
    """Ask, and check what holds for every answer, however it ends."""
    run = await get(f"{root}/new")
    lm = getattr(llms, dialect.model)("m", api_key=KEY, base_url=f"{root}/{fault}/{run}", **options)
    stream = lm.stream("Hi")
    chunks = await asyncio.wait_for(read_all(stream), LIMIT_S)
    check_order(chunks)
    finish = the_finish(chunks)
    message = stream.message
    assert stream.error is finish.error
    assert finish.reason == message.finish_reason
    assert (finish.reason == "error") == (finish.error is not None)
    assert_no_key(finish.error)
    if finish.error is not None:
        assert finish.error.partial == message
        assert all(call.truncated for call in message.tool_calls)
        assert len(finish.error.message) < 2_000
    assert await stream.read() is None
    seen = await get(f"{root}/seen/{run}")
    assert seen["over"], "the server still waits"
    # Chromium sends a request again when a connection that it has used before dies without a word.
    assert len(seen["requests"]) == 1 or IN_PYODIDE
    return Outcome(message, finish, finish.error)


async def strikes_at_each_event(root: str, name: str, fault: str, at: Iterable[int] | None = None) -> None:
    """The right code, never a normal end, and every word that had come."""
    dialect, expected = DIALECTS[name], AT_EACH[fault]
    if fault in ("noise", "page") and dialect.framing.strays is not None:
        expected = Expected(dialect.framing.strays)
    gate = asyncio.Semaphore(AT_ONCE)

    async def strike(place: int) -> None:
        before = dialect.steps[:place]
        ended = any(step.ends for step in before)
        async with gate:
            told = await outcome(root, dialect, f"{name}.{fault}.{place}", timeout_s=HEAD_S, idle_timeout_s=IDLE_S)
        try:
            if ended and not expected.even_after_the_end:
                check_whole(told, usage=before == dialect.steps or None)
                return
            code, retryable = expected.code, expected.retryable
            if fault == "page" and not before:
                code, retryable = "PROTOCOL", False
            # What a browser has received and not handed over is lost with a connection that is reset.
            check_cut(told, before, loses=fault == "reset" and sys.platform == "emscripten")
            assert told.error is not None
            assert (told.error.code, told.error.retryable) == (code, retryable), told.error
        except BaseException as error:
            error.add_note(f"{fault} after {place} events of {name}: {told}")
            raise

    places = range(len(dialect.steps)) if at is None else at
    await asyncio.gather(*(strike(place) for place in places))


def check_cut(told: Outcome, before: list[Step], *, loses: bool = False) -> None:
    assert told.finish.reason == "error"
    came = (told.message.text, told.message.reasoning)
    if loses:
        assert all(whole.startswith(part) for whole, part in zip(told_after(before), came, strict=True))
    else:
        assert came == told_after(before)


def check_whole(told: Outcome, *, usage: bool | None = True) -> None:
    """The answer is there to its end; `usage` may be lost with the end of the response (None)."""
    message = told.message
    assert (told.finish.reason, told.error) == ("tool_calls", None)
    assert (message.text, message.reasoning) == ("".join(TEXT), "".join(REASONING))
    assert [(call.name, call.arguments, call.truncated) for call in message.tool_calls] == [(*CALL, False)]
    if usage:
        assert message.usage is not None
        assert (message.usage.input_tokens, message.usage.output_tokens) == USAGE


async def strikes_once(root: str, name: str, fault: str) -> None:
    """Faults of a whole response."""
    dialect, expected = DIALECTS[name], ONCE[fault]
    told = await outcome(root, dialect, f"{name}.{fault}")
    if expected.code is None:
        check_whole(told)
        return
    assert told.error is not None, told
    codes = {expected.code}
    if fault == "compressed-cut":  # browsers notice, zlib does not
        codes.add("NETWORK")
    elif fault == "endless-event":
        codes = {dialect.framing.too_long}
    assert told.error.code in codes, told.error
    assert told.error.retryable is expected.retryable, told.error
    assert told.error.status == expected.status or fault == "json-error"
    assert "".join(TEXT).startswith(told.message.text)
    if fault in ("wrong-chunk", "long-length", "endless-event"):
        check_cut(told, dialect.steps[: len(dialect.steps) // 2])


async def refuses(root: str, name: str, case: str) -> None:
    """Error statuses, in the words of each vendor."""
    dialect = DIALECTS[name]
    refusal = dialect.refusals[case]
    told = await outcome(root, dialect, f"{name}.refuse.{case}")
    error = told.error
    assert error is not None
    assert (error.code, error.retryable, error.status) == (refusal.code, refusal.retryable, refusal.status), error
    assert error.retry_after_s == refusal.retry_after_s
    assert error.request_id == refusal.request_id
    assert told.message.parts == ()


async def a_slice_of_all(root: str, name: str) -> None:
    """For realms where a request takes long: every fault, at three places; every refusal."""
    last = len(DIALECTS[name].steps) - 1
    for fault in AT_EACH:
        await _noted(fault, strikes_at_each_event(root, name, fault, (0, last // 2, last)))
    for fault in ONCE:
        await _noted(fault, strikes_once(root, name, fault))
    for case in DIALECTS[name].refusals:
        await _noted(case, refuses(root, name, case))


async def _noted(fault: str, striking: Awaitable[None]) -> None:
    try:
        await striking
    except BaseException as error:
        error.add_note(f"fault: {fault}")
        raise
