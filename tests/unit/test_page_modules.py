"""Modules out of source text, without the bridge; what may be registered: tests/unit/test_bridge.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from unspool.errors import BridgeError
from unspool.page_modules import make_module, reason

NAME = "unspool_test_page_module"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    sys.modules.pop(NAME, None)


def test_it_runs_and_can_be_imported() -> None:
    module = make_module(NAME, "value = __name__")
    assert module.value == NAME
    assert sys.modules[NAME] is module


@pytest.mark.parametrize("source", ["def (", "1 / 0", "raise SystemExit"])
def test_one_that_fails_leaves_what_was_there(source: str) -> None:
    with pytest.raises(BridgeError) as caught:
        make_module(NAME, source)
    assert caught.value.code == "MODULE_ERROR"
    assert NAME not in sys.modules
    old = make_module(NAME, "")
    with pytest.raises(BridgeError):
        make_module(NAME, source)
    assert sys.modules[NAME] is old


def test_an_interrupt_is_not_held_back() -> None:
    with pytest.raises(KeyboardInterrupt):
        make_module(NAME, "raise KeyboardInterrupt")
    assert NAME not in sys.modules


def test_words_of_an_error_are_few() -> None:
    assert reason(ValueError("x")) == "ValueError: x"
    assert len(reason(ValueError("x" * 1000))) == 300
