"""The examples of README.md and docs/ run as they stand.

All ```python blocks of a page share one namespace, in order, with top-level await. Blocks marked ```python no-run are
only compiled: they need a page, a key or a network. The network of the others is a model that always describes Paris.
Line numbers in a traceback are those of the page.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, cast

import pytest
from tests.conftest import REPO

from unspool.contracts import HttpRequest, Response
from unspool.testing import ScriptedTransport

pytestmark = pytest.mark.host

FENCE = re.compile(r"^(?P<indent>[ \t]*)```(?P<info>[^\n`]*)\n(?P<code>.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)


PARIS = '{"name": "Paris", "country": "France", "sights": ["Louvre", "Eiffel Tower"]}'


class Network:
    """A server of OpenAI's Responses API that writes a few characters at a time."""

    async def open(self, request: HttpRequest) -> Response:
        assert request.url == "https://api.openai.com/v1/responses"
        deltas = [PARIS[at : at + 5] for at in range(0, len(PARIS), 5)]
        events: list[dict[str, Any]] = [{"type": "response.output_text.delta", "delta": text} for text in deltas]
        part = {"type": "output_text", "text": PARIS, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
        for event in events:
            event.update(item_id="m", output_index=0, content_index=0)
        events.insert(0, {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        response = {"id": "r", "status": "completed", "output": [item]}
        events.append({"type": "response.completed", "response": response})
        slices = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
        return await ScriptedTransport([slices]).open(request)


def pages() -> list[Path]:
    return [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[tuple[str, int, bool]]:
    """Give code, the line it begins on, and whether it is to run, of each Python block."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        info = match["info"].split()
        if info[:1] == ["python"]:
            assert set(info[1:]) <= {"no-run"}, f"{page.name}: unknown word in ```{match['info']}"
            line = text.count("\n", 0, match.start("code"))
            yield textwrap.dedent(match["code"]), line, "no-run" not in info


def compiled(page: Path, code: str, line: int) -> CodeType:
    # Blank lines in front make the compiler count as the page does.
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return cast(CodeType, compile("\n" * line + code, str(page), "exec", flags=flags, dont_inherit=True))


@pytest.mark.parametrize("page", [p for p in pages() if any(blocks(p))], ids=lambda p: p.relative_to(REPO).as_posix())
async def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("unspool.http_model.default_transport", lambda **_limits: Network())
    namespace: dict[str, Any] = {"__name__": "__example__"}
    for code, line, runs in blocks(page):
        example = compiled(page, code, line)
        if runs:
            result = eval(example, namespace)
            if inspect.iscoroutine(result):
                await result


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.relative_to(REPO).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (page.parent / target).exists()] == []
