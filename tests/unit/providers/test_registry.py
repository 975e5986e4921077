"""Which providers serve, in which order, and how they are edited while the application runs."""

from __future__ import annotations

import pytest
from tests.routes import ANSWER, code_of, end_of, route, transport_of

from unspool.contracts import ModelFacts
from unspool.providers.profiles import azure, ollama
from unspool.runtime import Route, Runtime
from unspool.testing import HttpResponse, ScriptedTransport


def test_providers_in_order_and_their_disposal() -> None:
    runtime = Runtime(route("b"), route("a"))
    handle = runtime.register(route("d"), route("c"))
    assert runtime.list_providers() == ["b", "a", "d", "c"]
    handle.dispose()
    handle.dispose()
    assert runtime.list_providers() == ["b", "a"]
    again = runtime.register(route("c"))
    handle.dispose()
    assert runtime.list_providers() == ["b", "a", "c"]  # the old handle no longer owns the name
    again.dispose()
    assert runtime.list_providers() == ["b", "a"]


@pytest.mark.parametrize("routes", [("new", "a"), ("new", "new")])
def test_registration_is_all_or_nothing(routes: tuple[str, ...]) -> None:
    runtime = Runtime(route("a"))
    assert code_of(lambda: runtime.register(*map(route, routes))) == "DUPLICATE_ADAPTER"
    assert runtime.list_providers() == ["a"]
    assert code_of(lambda: runtime.register(route("new"), Route("azure", azure()))) == "INVALID_OPTIONS"
    assert code_of(lambda: runtime.register(route("new"), route("other", timeout_s=-1))) == "INVALID_OPTIONS"
    assert runtime.list_providers() == ["a"]


async def test_a_declared_provider_serves_once_it_is_configured() -> None:
    first, second = ScriptedTransport([ANSWER, ANSWER]), ScriptedTransport([ANSWER])
    runtime = Runtime(route("a"))
    handle = runtime.declare(Route("azure", azure()), Route("local", ollama(), temperature=1))
    assert runtime.list_providers() == ["a"]
    assert [(known.provider, known.active) for known in runtime.list_configurable()] == [
        ("azure", False),
        ("local", False),
    ]
    finish = await end_of(runtime.stream("azure", "m", "Hi"))
    assert finish.error is not None and finish.error.code == "NO_ADAPTER"
    assert code_of(lambda: runtime.configure("azure")) == "INVALID_OPTIONS"  # it still has no address
    assert runtime.list_providers() == ["a"]

    runtime.configure("azure", base_url="https://x.openai.azure.com/openai/v1", api_key="k-1", transport=first)
    assert runtime.list_providers() == ["a", "azure"]
    held = runtime.prepare("azure", "m", "Hi")
    await end_of(runtime.stream("azure", "m", "Hi"))
    runtime.configure("azure", api_key="k-2", transport=second, models=["m", "n"])
    assert [facts.id for facts in runtime.list_configurable()[0].route.models] == ["m", "n"]
    await end_of(runtime.stream("azure", "m", "Hi"))
    await end_of(held.stream())
    assert [request.headers["api-key"] for request in first.requests] == ["k-1", "k-1"]
    assert [request.headers["api-key"] for request in second.requests] == ["k-2"]
    assert second.requests[0].url == "https://x.openai.azure.com/openai/v1/chat/completions"

    runtime.deactivate("azure")
    runtime.deactivate("azure")
    assert runtime.list_providers() == ["a"]
    assert runtime.list_configurable()[0].route.base_url == ""
    handle.dispose()
    assert runtime.list_configurable() == []


def test_a_refused_edit_leaves_the_provider_as_it_was() -> None:
    runtime = Runtime(route("p", base_url="http://one/v1"))
    number = runtime.prepare("p", "m", "Hi").generation
    for changes in ({"base_url": ""}, {"temperature": -1}, {"colour": "red"}, {"transport": 5}, {"models": 5}):
        assert code_of(lambda given=changes: runtime.configure("p", **given)) == "INVALID_OPTIONS"  # type: ignore[misc]
    assert runtime.prepare("p", "m", "Hi").generation == number
    runtime.configure("p", base_url="http://two/v1")
    assert runtime.prepare("p", "m", "Hi").generation > number
    assert code_of(lambda: runtime.configure("q")) == "NO_ADAPTER"
    assert code_of(lambda: runtime.deactivate("p")) == "NO_ADAPTER"  # registered, not declared


def test_a_declared_name_is_taken() -> None:
    runtime = Runtime()
    runtime.declare(route("p"))
    assert code_of(lambda: runtime.register(route("p"))) == "DUPLICATE_ADAPTER"
    assert code_of(lambda: runtime.declare(route("q"), route("p"))) == "DUPLICATE_ADAPTER"
    assert [known.provider for known in runtime.list_configurable()] == ["p"]


TAGS = b'{"models":[{"name":"llava","capabilities":["vision"]},{"name":"qwen","context_length":4096}]}'


async def test_models_of_the_route_come_before_those_of_the_endpoint() -> None:
    told = ModelFacts("qwen", context_window=2048, reasoning_efforts=["low"])
    used = route("p", HttpResponse(body=TAGS), HttpResponse(body=TAGS), models=["mine", told], adapter=ollama())
    runtime = Runtime(used)
    assert runtime.resolve_model("p", "llava").image_input is None
    models = await runtime.list_models("p")
    assert [facts.id for facts in models] == ["mine", "qwen", "llava"]
    qwen = runtime.resolve_model("p", "qwen")
    assert (qwen.context_window, qwen.reasoning_efforts) == (2048, ("low",))
    assert runtime.resolve_model("p", "llava").image_input is True
    assert runtime.resolve_model("p", "unheard-of").id == "unheard-of"
    await runtime.list_models("p")
    assert len(transport_of(used).requests) == 1
    await runtime.list_models("p", refresh=True)
    assert len(transport_of(used).requests) == 2
    request = transport_of(used).requests[0]
    assert (request.method, request.url, request.headers, request.body) == ("GET", "http://h/api/tags", {}, b"")
    assert code_of(lambda: runtime.resolve_model("q", "m")) == "NO_ADAPTER"


async def test_facts_from_the_application_the_endpoint_and_the_table_in_this_order() -> None:
    listed = HttpResponse(body=b'{"data":[{"id":"gpt-4o","context_window":7,"max_completion_tokens":8}]}')
    runtime = Runtime(route("p", listed, models=[ModelFacts("gpt-4o", context_window=5)]))
    await runtime.list_models("p")
    facts = runtime.resolve_model("p", "gpt-4o")
    assert (facts.context_window, facts.max_output_tokens, facts.image_input) == (5, 8, True)
