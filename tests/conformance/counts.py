"""`python -m tests.conformance.counts`: how many recorded responses of each dialect decode to what the manifest says.

Each is decoded whole, byte by byte and cut at seeded places, and its chunks are checked for order: what the tests of
the dialects do, counted. Prints a table in Markdown; ends with a fault when a recording decodes to something else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.conformance import (
    test_wire_anthropic,
    test_wire_bedrock,
    test_wire_cohere,
    test_wire_gemini,
    test_wire_mistral,
    test_wire_ollama,
    test_wire_openai_chat,
    test_wire_openai_responses,
)
from tests.conftest import MISSING_DATA, shared_data_folder

DIALECTS: dict[str, ModuleType] = {
    "OpenAI chat": test_wire_openai_chat,
    "OpenAI Responses": test_wire_openai_responses,
    "Anthropic": test_wire_anthropic,
    "Gemini": test_wire_gemini,
    "Bedrock": test_wire_bedrock,
    "Ollama": test_wire_ollama,
    "Cohere": test_wire_cohere,
    "Mistral": test_wire_mistral,
}
COLUMNS = ("dialect", "recordings", "events", "tool calls", "as the manifest says", "end as they must when cut")


class Count(NamedTuple):
    dialect: str
    recordings: int
    events: int
    calls: int
    right: int
    """Recordings that decode to what the manifest says."""
    cut: int
    """Recordings that, cut, end with an error and all that had come (or whole: one says `STOP` with each event)."""
    strays: list[str]


def holds(check: Any, recording: dict[str, Any], folder: Path, strays: list[str]) -> bool:
    try:
        check(recording, folder)
    except Exception as error:
        strays.append(f"{recording['file']}: {type(error).__name__}: {str(error)[:300]}")
        return False
    return True


def count(dialect: str, module: ModuleType, folder: Path) -> Count:
    recordings: list[dict[str, Any]] = module.RECORDINGS
    strays: list[str] = []
    facts = [recording["expect"] for recording in recordings]
    return Count(
        dialect,
        len(recordings),
        sum(fact["sse"]["events"] if "sse" in fact else fact.get("frames", fact.get("lines", 0)) for fact in facts),
        sum(len(fact["tool_calls"]) for fact in facts),
        sum([holds(module.test_recording, recording, folder, strays) for recording in recordings]),
        sum([holds(module.test_recording_without_its_end_is_an_error, one, folder, strays) for one in recordings]),
        strays,
    )


def markdown(counts: Sequence[Count]) -> str:
    rows = [[str(cell) for cell in one[:-1]] for one in counts]
    rows.append(["all", *(str(sum(int(row[column]) for row in rows)) for column in range(1, len(COLUMNS)))])
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def main() -> int:
    folder = shared_data_folder()
    if folder is None:
        print(f"{MISSING_DATA} (set UNSPOOL_TEST_DATA)", file=sys.stderr)
        return 2
    counts = [count(dialect, module, folder) for dialect, module in DIALECTS.items()]
    print(markdown(counts))
    strays = [stray for one in counts for stray in one.strays]
    for stray in strays:
        print(stray, file=sys.stderr)
    return 1 if strays else 0


if __name__ == "__main__":
    sys.exit(main())
