"""The contract kit, and that it fails for bad adapters. K and S numbers: ../shared/reference/streamfold.md."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

import unspool as us
from unspool.integrations.adapter import define_adapter
from unspool.integrations.contract_kit import ContractTest, adapter_contract_tests
from unspool.integrations.session import Session, SessionFactory

CASES = {
    "interleaved": "K1",
    "an early snapshot": "K2",
    "the end of the events": "K3",
    "an aborted call": "K4",
    "malformed JSON": "K5",
    "unknown and duplicate": "K6",
    "sessions do not mix": "K7",
    "limits": "K8",
    "leaving a managed reading": "K9",
}


def label(case: ContractTest) -> str:
    (found,) = [number for words, number in CASES.items() if case.name.startswith(words)]
    return found


def together(operations: Sequence[Any]) -> list[Any]:
    return [{"operations": list(operations)}]


def apart(operations: Sequence[Any]) -> Iterator[Any]:
    for operation in operations:
        yield {"operations": [operation]}
        yield {"operations": []}


def tersely(operations: Sequence[Any]) -> Iterable[Any]:
    """A protocol of its own: lines of text, with pieces cut in two."""
    for operation in operations:
        match operation:
            case {"type": "delta", "id": id, "text": text}:
                half = len(text) // 2
                if half:
                    yield f"~{id}{text[:half]}\n~{id}{text[half:]}"
                else:
                    yield f"~{id}{text}"
            case {"type": type, "id": id}:
                yield {"start": "+", "end": ".", "abort": "x"}[type] + id


def read_tersely(line: str) -> list[Any]:
    found: list[Any] = []
    for part in line.split("\n"):
        kind, id, text = {"+": "start", "~": "delta", ".": "end", "x": "abort"}[part[0]], part[1], part[2:]
        found.append({"type": kind, "id": id, "text": text} if kind == "delta" else {"type": kind, "id": id})
    return found


operations = define_adapter(lambda event: event["operations"])


@pytest.mark.parametrize("case", adapter_contract_tests(adapter=operations, encode=together), ids=label)
async def test_a_good_adapter_passes(case: ContractTest) -> None:
    """S109: nine cases, each on its own."""
    await case.run()
    await case.run()


@pytest.mark.parametrize("name,run", us.testing.adapter_contract_tests(adapter=operations, encode=apart))
async def test_events_may_be_split(name: str, run: Any) -> None:
    """S109: `encode` gives any iterable."""
    await run()


async def test_a_protocol_of_its_own_passes_where_pieces_keep_their_number() -> None:
    """S109: cutting a piece in two is another number of updates, which K1 sees; all else holds."""
    for case in adapter_contract_tests(adapter=define_adapter(read_tersely), encode=tersely):
        if label(case) == "K1":
            with pytest.raises(AssertionError):
                await case.run()
        else:
            await case.run()


async def failing(adapter: SessionFactory) -> set[str]:
    failed: set[str] = set()
    for case in adapter_contract_tests(adapter=adapter, encode=together):
        try:
            await case.run()
        except AssertionError:
            failed.add(label(case))
    return failed


async def test_it_fails_for_an_adapter_that_drops_operations() -> None:
    """S110."""
    for dropped, caught in (
        ("end", {"K1", "K3", "K4", "K7"}),
        ("delta", {"K1", "K3", "K5", "K6", "K8"}),
        ("abort", {"K4"}),
    ):

        def map_event(event: Any, dropped: str = dropped) -> list[Any]:
            return [operation for operation in event["operations"] if operation["type"] != dropped]

        assert await failing(define_adapter(map_event)) >= caught, dropped
    assert await failing(define_adapter(lambda _event: [])) == set(CASES.values())


async def test_it_fails_for_an_adapter_that_ignores_options() -> None:
    """S110."""
    assert await failing(lambda **_options: operations()) >= {"K2", "K8"}


async def test_it_fails_for_an_adapter_that_shares_a_session() -> None:
    """S110."""
    shared = operations(snapshots="immutable")

    def adapter(**_options: Any) -> Session:
        return shared

    failed: set[str] = set()
    for number in range(9):
        fresh = operations(snapshots="immutable")
        case = adapter_contract_tests(adapter=lambda fresh=fresh, **_: fresh, encode=together)[number]  # type: ignore[misc]
        try:
            await case.run()
        except AssertionError:
            failed.add(label(case))
    assert "K7" in failed
    assert len(await failing(adapter)) > 5


async def test_it_fails_for_an_adapter_that_mixes_calls_up() -> None:
    def map_event(event: Any) -> list[Any]:
        return [{**operation, "id": "one"} for operation in event["operations"]]

    assert await failing(define_adapter(map_event)) >= {"K1", "K3"}


async def test_it_fails_for_an_adapter_that_hides_failures() -> None:
    def map_event(event: Any) -> list[Any]:
        return [o for o in event["operations"] if "1}" not in o.get("text", "")]

    assert await failing(define_adapter(map_event)) >= {"K5"}


@pytest.mark.host
def test_it_needs_no_test_framework() -> None:
    """S109."""
    code = "import sys, unspool.testing as t; t.adapter_contract_tests; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
