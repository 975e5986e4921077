"""The demo's command: what it serves for each engine, what it prints, and how it fails."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from unspool import cli
from unspool.cli import demo
from unspool.cli.bundle import Bundle
from unspool.cli.checkout import BuildError, Checkout
from unspool.cli.demo import DemoError, Engine, event_line, stage
from unspool.cli.engines import MODEL_FILE
from unspool.cli.serve import listen

pytestmark = pytest.mark.host


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A checkout whose folder is built and whose model is fetched at once."""
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "index.html").write_text("<title>demo</title>")
    model = tmp_path / MODEL_FILE
    model.write_bytes(b"GGUF")

    @contextlib.contextmanager
    def server(_model: Path, *, port: int) -> Iterator[str]:
        yield f"http://127.0.0.1:{port}/v1"

    monkeypatch.setattr(demo, "bundle", lambda checkout, out, report: Bundle(out, 1, 1, ()))
    monkeypatch.setattr(demo, "model_file", lambda checkout, report: model)
    monkeypatch.setattr(demo, "llama_server", server)
    return Checkout(tmp_path)


def console() -> Console:
    return Console(file=io.StringIO(), width=80)


def shown(told: Console) -> str:
    assert isinstance(told.file, io.StringIO)
    return told.file.getvalue()


def test_a_model_in_the_page(made: Checkout) -> None:
    told = console()
    with stage(Engine.PAGE, made, told, host="127.0.0.1", port=0) as url:
        assert "The model" not in shown(told)
        config = httpx.get(f"{url}/config.json").json()
        assert config["lm"]["provider"] == "wllama"
        assert config["lm"]["modelURL"].startswith(f"/models/{MODEL_FILE}?v=4-")
        assert httpx.get(url + config["lm"]["modelURL"]).content == b"GGUF"
        assert httpx.get(url).text == "<title>demo</title>"


def test_a_server_of_its_own(made: Checkout) -> None:
    told = console()
    with stage(Engine.LLAMA_CPP, made, told, host="127.0.0.1", port=0, model_port=9) as url:
        config = httpx.get(f"{url}/config.json").json()
    assert config["lm"] == {"provider": "openai-chat", "model": demo.MODEL, "baseURL": "http://127.0.0.1:9/v1"}
    assert "The model answers at http://127.0.0.1:9/v1" in shown(told)


def test_a_scripted_provider_on_another_port(made: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "model_file", lambda *_: pytest.fail("nothing is to be fetched"))
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    told = console()
    with stage(Engine.SCRIPTED, made, told, host="127.0.0.1", port=0, model_port=port) as url:
        config = httpx.get(f"{url}/config.json").json()
        assert config["engine"] == "scripted"
        assert config["lm"]["baseURL"] == f"http://127.0.0.1:{port}/v1"
        assert f"The model answers at {config['lm']['baseURL']}" in shown(told)
        assert not config["lm"]["baseURL"].startswith(url)
        assert httpx.get(f"{config['lm']['baseURL']}/models").status_code == 200


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"type": "textDelta", "delta": '{"a'}, r'textDelta                               "{\"a"'),
        ({"type": "fieldStart", "path": ["a", 0, "b"]}, "fieldStart         a[0].b"),
        ({"type": "stringFieldDelta", "path": ["a"], "delta": "é"}, 'stringFieldDelta   a                    "é"'),
        ({"type": "objectStart", "path": [], "kind": "object"}, 'objectStart                             "object"'),
        ({"type": "fieldEnd", "path": ["a"], "value": None}, "fieldEnd           a                    null"),
        (
            {"type": "objectEnd", "path": ["a"], "kind": "array", "value": [1]},
            "objectEnd          a                    [1]",
        ),
        ({"type": "generationComplete", "result": {"a": 1}}, 'generationComplete                      {"a": 1}'),
        (
            {"type": "cancelled", "error": {"code": "ABORTED"}},
            'cancelled                               {"code": "ABORTED"}',
        ),
    ],
)
def test_events_as_lines(event: dict[str, Any], line: str) -> None:
    assert event_line(event).plain.rstrip() == line


def test_a_line_is_as_long_as_the_terminal() -> None:
    assert len(event_line({"type": "textDelta", "delta": "x" * 500}, 60).plain) == 60


def test_the_commands_know_their_engines() -> None:
    for command in ("demo", "serve"):
        result = CliRunner().invoke(cli.app, [command, "--engine", "abacus"])
        assert result.exit_code == 2
        assert "llama.cpp" in result.output
    result = CliRunner().invoke(cli.app, ["demo"], env={"ENGINE": "abacus"})
    assert result.exit_code == 2


def test_the_demo_prints_the_value_and_where_to_go(made: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drive(url: str, _console: Console, screenshot: Path) -> dict[str, Any]:
        assert httpx.get(url).status_code == 200
        return {"type": "generationComplete", "result": {"city": "Paris"}}

    monkeypatch.setattr(demo, "drive", drive)
    monkeypatch.setattr(Checkout, "of_this_package", classmethod(lambda cls: made))
    result = CliRunner().invoke(cli.app, ["demo", "--engine", "scripted", "--port", "0"])
    assert result.exit_code == 0, result.output
    assert '"city": "Paris"' in result.output
    assert "demo.png" in result.output
    assert "ENGINE=scripted make serve" in result.output


async def told(*news: dict[str, Any]) -> dict[str, Any]:
    queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    for one in news:
        queue.put_nowait(one)
    drawn = console()
    with drawn.status("") as status:
        return await demo._until_over(queue, demo._Teller(drawn, status))


def state(name: str, **more: str) -> dict[str, Any]:
    return {"kind": "state", "detail": {"state": name, "words": name, **more}}


async def test_the_last_event_is_given() -> None:
    event = {"type": "generationComplete", "result": 1}
    assert await told(state("writing"), {"kind": "event", "detail": event}, state("done")) == event


@pytest.mark.parametrize(
    ("news", "says"),
    [
        (state("failed", error="NETWORK: no"), "NETWORK: no"),
        (state("stopped"), "stopped"),
        ({"kind": "broken", "detail": "The page crashed."}, "crashed"),
    ],
)
async def test_failures_of_the_page(news: dict[str, Any], says: str) -> None:
    with pytest.raises(DemoError, match=says) as caught:
        await told(news)
    assert caught.value.code == "DEMO_FAILED"


async def test_a_page_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SILENCE_S", 0.01)
    with pytest.raises(DemoError, match="said nothing"):
        await told()


async def test_without_a_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNSPOOL_CHROMIUM", str(tmp_path / "nowhere"))
    with pytest.raises(BuildError, match="Install the system's package `chromium`") as caught:
        await demo.drive("http://127.0.0.1:9/", console(), tmp_path / "x.png")
    assert caught.value.code == "TOOL_MISSING"
