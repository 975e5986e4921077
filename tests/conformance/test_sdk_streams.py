"""The integrations under the real Python SDKs, which read recorded responses from a server on loopback.

The SDKs run in a process of their own: they are many, large and noisy. `make build/sdks/.ready` installs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.calls import Played
from tests.conformance.test_wire_integrations import RECORDINGS, check_calls, events_of
from tests.conftest import REPO
from tests.sdk_process import sdks_folder
from tests.tools.replay_server import Recorded, serve_bodies

pytestmark = pytest.mark.host

PACKAGES: dict[str, dict[str, str]] = {
    "openai": {"openai-responses": "openai-responses", "openai-chat": "openai-chat"},
    "anthropic": {"anthropic": "anthropic", "anthropic-beta": "anthropic"},
    "google.genai": {"gemini": "gemini", "gemini-interactions": "gemini-interactions"},
    "mistralai": {"mistral": "mistral"},
    "cohere": {"cohere": "cohere"},
    "botocore": {"bedrock": "bedrock"},
}
"""Where a stream comes from → what tests/tools/sdk_stream.py can open of it, and the dialect that this reads."""

CONTENT_TYPES = {".sse": "text/event-stream", ".eventstream": "application/vnd.amazon.eventstream"}


@pytest.fixture(scope="session")
def sdks() -> Path:
    """The folder that the SDKs are installed in."""
    return sdks_folder()


def told_by(folder: Path, cases: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Played]]:
    """Run the cases in a process that has the SDKs; give what each said."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.sdk_stream"],
        cwd=REPO,
        input=json.dumps(cases),
        env={**os.environ, "PYTHONPATH": str(folder), "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["file"] for line in lines] == [case["file"] for case in cases]
    return [(line, played_of(line)) for line in lines]


def played_of(line: dict[str, Any]) -> Played:
    played = Played()
    played.steps = [(kind, id) for kind, id in line["steps"]]
    played.texts = [(id, text) for id, text in line["texts"]]
    played.values = [(id, value) for id, value in line["values"]]
    played.names = [(id, name) for id, name in line["names"]]
    played.error = line["error"]
    return played


def recordings_of(dialect: str, usable: Callable[[str], bool]) -> list[dict[str, Any]]:
    """What AWS's other call has recorded is no ConverseStream."""
    files = [file for file in RECORDINGS if file["dialect"] == dialect and usable(file["file"])]
    return [file for file in files if "/invoke-" not in file["file"]]


def check(recording: dict[str, Any], shared_data: Path, played: Played) -> None:
    """The calls of the manifest; and an error where it has one, whether the SDK raises it or our mapper."""
    facts = recording["expect"]
    check_calls(recording, events_of(recording, shared_data), played)
    errors = [error if isinstance(error, str) else error["message"] for error in facts.get("errors", [])]
    if "block_reason" in facts or facts.get("incomplete_reason"):
        errors = [facts.get("block_reason") or facts["incomplete_reason"]]
    if errors:
        assert errors[0].replace("\n", "\\n") in played.error["message"]  # one line
    else:
        assert played.error is None


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_sdk(package: str, sdks: Path, shared_data: Path) -> None:
    """Every recording of its dialects, through its own decoding and its own classes."""
    cases: list[dict[str, Any]] = []
    recordings: list[dict[str, Any]] = []
    bodies: dict[str, Recorded] = {}
    for sdk, dialect in PACKAGES[package].items():
        for recording in recordings_of(dialect, lambda name: name.endswith(tuple(CONTENT_TYPES))):
            name = f"/{len(cases)}"
            body = (shared_data / "wire" / recording["file"]).read_bytes()
            bodies[name] = Recorded(body, CONTENT_TYPES[Path(recording["file"]).suffix])
            cases.append({"sdk": sdk, "file": recording["file"], "url": name})
            recordings.append(recording)
    with serve_bodies(bodies) as base:
        answers = told_by(sdks, [{**case, "url": base + case["url"]} for case in cases])
    for recording, (line, played) in zip(recordings, answers, strict=True):
        assert line["stream"].startswith((package, "builtins")), line["stream"]
        check(recording, shared_data, played)
    assert any(played.texts for _, played in answers)


@pytest.mark.slow
@pytest.mark.parametrize("sdk", ["langchain", "ag-ui"])
def test_classes_of_a_protocol(sdk: str, sdks: Path, shared_data: Path) -> None:
    """Recorded events made into objects of LangChain's and AG-UI's own classes."""
    recordings = recordings_of(sdk, lambda name: True)
    cases = [{"sdk": sdk, "file": file["file"], "events": events_of(file, shared_data)} for file in recordings]
    answers = told_by(sdks, cases)
    for recording, (_, played) in zip(recordings, answers, strict=True):
        check(recording, shared_data, played)
    assert any(played.texts for _, played in answers)
