"""The integrations under the real `openai` SDK inside Pyodide in Node, reading from a server on loopback."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_sdk_streams import check, played_of, recordings_of
from tests.conftest import REPO
from tests.pyodide.bodies import openai_sdk as bodies
from tests.pyodide.conftest import Interpreter
from tests.tools.downloads import pyodide_test_wheels
from tests.tools.replay_server import Recorded, serve_bodies

from unspool.cli.checkout import Checkout

pytestmark = [pytest.mark.host, pytest.mark.pyodide]

DIALECTS = ("openai-responses", "openai-chat")


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)


def chat(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def arguments(text: str) -> dict[str, Any]:
    return chat({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})


CHAT = (
    sse(
        chat({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather"}}]}),
        arguments('{"city":"San'),
        arguments(' Francisco","days":2'),
        arguments("}"),
        chat({}, "tool_calls"),
    )
    + b"data: [DONE]\n\n"
)
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": ""}
RESPONSES = sse(
    {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
    {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": '{"city":"San'},
    {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": '","days":2}'},
    {"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": '{"city":"San","days":2}'},
)


@pytest.fixture(scope="module")
def sdk(pyodide: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """An interpreter that has the SDK, from wheels for Pyodide that requirements/pyodide-openai.txt pins."""
    folder = tmp_path_factory.mktemp("pyodide-openai")
    for wheel in pyodide_test_wheels(Checkout(REPO), "pyodide-openai.txt"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    pyodide.js(f"pyodide.mountNodeFS('/openai', {json.dumps(str(folder))})")
    pyodide.python("sys.path.append('/openai')")
    return pyodide


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_bodies({"/chat": Recorded(CHAT, slice_bytes=61), "/responses": Recorded(RESPONSES)}) as base:
        yield base


def test_a_call_grows(sdk: Interpreter, url: str) -> None:
    sdk.body(bodies.__name__, bodies.watches_a_call_grow.__name__, f"{url}/chat")


def test_leaving_early(sdk: Interpreter, url: str) -> None:
    sdk.body(bodies.__name__, bodies.leaves_early.__name__, f"{url}/responses")


def test_an_error_of_the_server(sdk: Interpreter, url: str) -> None:
    sdk.body(bodies.__name__, bodies.raises_what_the_sdk_raises.__name__, f"{url}/nothing")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_recordings(sdk: Interpreter, dialect: str, shared_data: Path) -> None:
    """Every recording of both APIs, through the SDK's own decoding and its own classes."""
    recordings = recordings_of(dialect, lambda name: name.endswith(".sse"))
    files = [recording["file"] for recording in recordings]
    served = {f"/{at}": Recorded((shared_data / "wire" / file).read_bytes()) for at, file in enumerate(files)}
    with serve_bodies(served) as base:
        cases = [{"sdk": dialect, "file": file, "url": f"{base}/{at}"} for at, file in enumerate(files)]
        call = f"await read_streams({json.dumps(cases)!r})"
        told = json.loads(sdk.python_async(f"from {bodies.__name__} import read_streams\n{call}"))
    answers = [(line, played_of(line)) for line in told]
    for recording, (line, played) in zip(recordings, answers, strict=True):
        assert line["stream"].startswith("openai"), line["stream"]
        check(recording, shared_data, played)
    assert any(played.texts for _, played in answers)
