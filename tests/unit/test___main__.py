"""The `unspool` command where its commands are not."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from unspool.__main__ import main

pytestmark = pytest.mark.host


@pytest.mark.parametrize(("name", "words"), [("unspool.cli", "work in a checkout"), ("typer", "`typer`")])
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    original = builtins.__import__

    def without(wanted: str, *rest: Any) -> Any:
        if wanted == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(wanted, *rest)

    for module in [module for module in sys.modules if module.startswith("unspool.cli")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit) as caught:
        main()
    assert words in str(caught.value.code)


def test_commands_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["unspool", "--help"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    assert "bundle" in capsys.readouterr().out
