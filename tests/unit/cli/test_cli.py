"""The command line: its commands, and how an error of ours looks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unspool import cli

pytestmark = pytest.mark.host


def test_commands_are_listed() -> None:
    result = CliRunner().invoke(cli.app, ["--help"])
    assert result.exit_code == 0
    assert "bundle" in result.output


def test_error_is_one_sentence_and_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "[bold]mine[/bold]"
    out.mkdir(parents=True)
    (out / "thesis.txt").write_text("")
    monkeypatch.setattr(sys, "argv", ["unspool", "bundle", "--out", str(out)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    shown = capsys.readouterr().err
    assert shown.startswith("INVALID_OPTIONS: ")
    assert str(out) in shown
    assert "Traceback" not in shown
