"""Code that ignores cancellation, inside Pyodide: the grace period is a timer of JavaScript's loop there."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from typing import Any

import unspool as us
from unspool import release

LIMIT_S = 20
"""A hang is told by this; nothing waits for so long."""


async def a_function_that_does_not_end_is_left() -> None:
    """What a model function does when it is told to end holds back neither an abort nor `aclose`."""
    hang = asyncio.Event()
    begun = asyncio.Event()

    async def answers(request: us.Request) -> AsyncIterator[str]:
        try:
            yield '{"a": 1'
            begun.set()
            await hang.wait()
        finally:
            await hang.wait()

    grace, release.GRACE_S = release.GRACE_S, 0.01
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            async with asyncio.timeout(LIMIT_S):
                for leave in ("abort", "aclose", "cancel"):
                    begun.clear()
                    stream = us.query_stream("?", dict[str, int], lm=us.llms.FunctionModel(answers))
                    reader = asyncio.ensure_future(_read(stream))
                    await begun.wait()
                    if leave == "abort":
                        stream.abort()
                        assert (await reader)[-1].type == "cancelled"
                    elif leave == "aclose":
                        await stream.aclose()
                        await reader
                    else:
                        reader.cancel()
                        await asyncio.wait([reader])
                        assert reader.cancelled()
                    assert stream.text == '{"a": 1'
    finally:
        release.GRACE_S = grace
        hang.set()
        await asyncio.sleep(0)


async def a_transform_that_does_not_end_is_left() -> None:
    hang, begun = asyncio.Event(), asyncio.Event()

    async def transform(value: dict[str, int]) -> dict[str, int]:
        begun.set()
        while not hang.is_set():
            try:
                await hang.wait()
            except asyncio.CancelledError:
                continue
        return value

    grace, release.GRACE_S = release.GRACE_S, 0.01
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            async with asyncio.timeout(LIMIT_S):
                lm = us.testing.StaticResponse('{"a": 1}')
                stream = us.query_stream("?", dict[str, int], lm=lm, transform=transform)
                reader = asyncio.ensure_future(_read(stream))
                await begun.wait()
                stream.abort()
                assert (await reader)[-1].type == "cancelled"
    finally:
        release.GRACE_S = grace
        hang.set()
        await asyncio.sleep(0)


async def _read(stream: us.QueryStream[Any]) -> list[Any]:
    return [event async for event in stream]


BODIES = [a_function_that_does_not_end_is_left, a_transform_that_does_not_end_is_left]
