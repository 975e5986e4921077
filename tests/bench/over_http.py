"""A chat completion of 2000 events over HTTP: our whole way to the message, and the `openai` SDK's to its chunks.

Both ask the same server, which sends the same body in slices of a packet. The SDK is measured inside Pyodide, from the
wheels that requirements/pyodide-openai.txt pins; its figure is left out where these are not there.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.wire import EVENTS, SLICE_BYTES, body

from unspool import llms

REPO = Path(__file__).resolve().parents[2]
SERVED = "build/bench-http.txt"
"""Where a module inside Pyodide reads the address of the bodies."""
ROUNDS = 5
SDK = "openai"


@contextmanager
def serving() -> Iterator[str]:
    """Serve the body, and the wheels of the SDK, to every origin; gives the address. On a host only."""
    from tests.tools.downloads import pyodide_test_wheels
    from tests.tools.replay_server import Recorded, serve_bodies

    from unspool.cli.checkout import BuildError, Checkout

    bodies = {"/chat": Recorded(body(), slice_bytes=SLICE_BYTES)}
    try:
        wheels = pyodide_test_wheels(Checkout(REPO), "pyodide-openai.txt")
    except BuildError:
        wheels = []
    for wheel in wheels:
        bodies[f"/{wheel.name}"] = Recorded(wheel.read_bytes(), "application/octet-stream", 1 << 20)
    bodies["/wheels"] = Recorded("\n".join(wheel.name for wheel in wheels).encode(), "text/plain")
    with serve_bodies(bodies) as url:
        yield url


async def ours(url: str) -> int:
    """Read the whole answer; gives its length."""
    message = await llms.OpenAIChat("m", api_key="k", base_url=f"{url}/chat").call("Hi")
    return len(message.text)


async def theirs(url: str) -> int:
    """Read every chunk of the SDK's stream; gives the length of the text."""
    client = importlib.import_module(SDK).AsyncOpenAI(api_key="k", base_url=f"{url}/chat", max_retries=0)
    chars = 0
    async with client:
        ask = [{"role": "user", "content": "Hi"}]
        async for chunk in await client.chat.completions.create(model="m", messages=ask, stream=True):
            for choice in chunk.choices:
                chars += len(choice.delta.content or "")
    return chars


async def install_sdk(url: str) -> bool:
    """Have the SDK inside Pyodide; False when its wheels are not there."""
    pyfetch: Any = importlib.import_module("pyodide.http").pyfetch
    names = (await (await pyfetch(f"{url}/wheels/")).string()).split()
    for name in names:
        await (await pyfetch(f"{url}/{name}/")).unpack_archive(extract_dir="/openai", format="wheel")
    if names:
        sys.path.append("/openai")
    return bool(names)


async def seconds(read: Callable[[str], Awaitable[int]], url: str) -> float:
    """The best of some rounds, after one that warms up."""
    best = float("inf")
    for round_ in range(ROUNDS + 1):
        start = time.perf_counter()
        chars = await read(url)
        took = time.perf_counter() - start
        assert chars == sum(len(f" wörd{number}") for number in range(EVENTS)), chars
        best = min(best, took) if round_ else best
    return best


async def figures(realm: str, url: str, has_sdk: bool) -> list[dict[str, Any]]:
    mine = await seconds(ours, url)
    sdk = await seconds(theirs, url) if has_sdk else None
    told: list[dict[str, Any]] = [
        {
            "name": "over http: 2000 events to a message",
            "realm": realm,
            "value": round(mine * 1e3, 2),
            "unit": "ms",
            "against": None if sdk is None else "the openai SDK's stream, same server (how many times faster)",
            "ratio": None if sdk is None else round(sdk / mine, 2),
            "target": None if sdk is None else ">= 3 times faster",
            "ok": None if sdk is None else sdk / mine >= 3,
        },
        {"name": "over http: one event", "realm": realm, "value": round(mine / EVENTS * 1e6, 2), "unit": "us"},
    ]
    if sdk is not None:
        told.append(
            {
                "name": "over http: one event, openai SDK",
                "realm": realm,
                "value": round(sdk / EVENTS * 1e6, 2),
                "unit": "us",
            }
        )
    return told


async def measure(realm: str) -> list[dict[str, Any]]:
    """The figures of this module."""
    if realm == "pyodide":
        url = (REPO / SERVED).read_text(encoding="utf-8")
        return await figures(realm, url, await install_sdk(url))
    with serving() as url:
        return await figures(realm, url, False)
