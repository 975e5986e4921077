"""llama.cpp's own server: a tiny random model for all that can go wrong, SmolLM2 for an answer that makes sense."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from pydantic import BaseModel
from tests.pyodide.bodies import engines as bodies
from tests.tools.tiny_model import write_tiny_model

import unspool as us
from unspool.cli.checkout import Checkout
from unspool.cli.engines import llama_server, model_file

pytestmark = [pytest.mark.host, pytest.mark.engine]


class Capital(BaseModel):
    city: str
    country: str


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")) as url:
        yield url


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """It knows tools."""
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "caller.gguf", tools=True)) as url:
        yield url


@pytest.fixture(scope="module")
def smollm2() -> Iterator[str]:
    with llama_server(model_file(Checkout.of_this_package())) as url:
        yield url


@pytest.mark.parametrize("body", bodies.EVERYWHERE, ids=lambda body: body.__name__)
async def test_body(tiny: str, body: Callable[[str], Awaitable[None]]) -> None:
    await asyncio.wait_for(body(tiny), 60)


@pytest.mark.parametrize("dialect", bodies.DIALECTS)
@pytest.mark.parametrize("body", bodies.EACH, ids=lambda body: body.__name__)
async def test_each(tiny: str, body: Callable[[str, str], Awaitable[None]], dialect: str) -> None:
    await asyncio.wait_for(body(tiny, dialect), 60)


@pytest.mark.parametrize("dialect", bodies.DIALECTS)
@pytest.mark.parametrize("body", bodies.WITH_TOOLS, ids=lambda body: body.__name__)
async def test_tools(caller: str, body: Callable[[str, str], Awaitable[None]], dialect: str) -> None:
    await asyncio.wait_for(body(caller, dialect), 60)


@pytest.mark.slow
async def test_a_real_model_knows_a_capital(smollm2: str) -> None:
    lm = us.llms.OpenAIChat("SmolLM2-135M-Instruct", base_url=smollm2, temperature=0, max_output_tokens=60)
    capital = await us.query("Which city is the capital of France?", Capital, lm=lm, protocol="native")
    assert capital == Capital(city="Paris", country="France")
