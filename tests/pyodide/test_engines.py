"""Pyodide in Node asks llama.cpp's own server, with a tiny random model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.pyodide.bodies import engines as bodies
from tests.pyodide.conftest import Interpreter
from tests.tools.tiny_model import write_tiny_model

from unspool.cli.engines import llama_server

pytestmark = [pytest.mark.host, pytest.mark.pyodide, pytest.mark.engine]


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")) as url:
        yield url


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """It knows tools."""
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "caller.gguf", tools=True)) as url:
        yield url


@pytest.mark.parametrize("body", bodies.EVERYWHERE, ids=lambda body: body.__name__)
def test_body(pyodide: Interpreter, base_url: str, body: object) -> None:
    pyodide.body(bodies.__name__, body.__name__, base_url)  # type: ignore[attr-defined]


@pytest.mark.parametrize("dialect", bodies.DIALECTS)
@pytest.mark.parametrize("body", bodies.EACH, ids=lambda body: body.__name__)
def test_each(pyodide: Interpreter, base_url: str, body: object, dialect: str) -> None:
    pyodide.body(bodies.__name__, body.__name__, base_url, dialect)  # type: ignore[attr-defined]


@pytest.mark.parametrize("dialect", bodies.DIALECTS)
@pytest.mark.parametrize("body", bodies.WITH_TOOLS, ids=lambda body: body.__name__)
def test_tools(pyodide: Interpreter, caller: str, body: object, dialect: str) -> None:
    pyodide.body(bodies.__name__, body.__name__, caller, dialect)  # type: ignore[attr-defined]
