"""A model behind HTTP: its key, its address, its limits. What each kind of model sends is in tests/unit/providers."""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any

import pytest
from tests.routes import ANSWER, sent

from unspool import http_model
from unspool.errors import ConfigError
from unspool.http_model import HttpModel, fetch_key
from unspool.llms import OpenAIChat
from unspool.messages import File, UserMessage
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.testing import HttpResponse, ScriptedTransport


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "MISSING_CREDENTIAL"),
        ({"profile": "groq"}, "MISSING_CREDENTIAL"),
        ({"base_url": "https://API.openai.com:443/v1"}, "MISSING_CREDENTIAL"),
        ({"profile": "ollama"}, None),
        ({"profile": "llama.cpp", "base_url": "http://127.0.0.1:9000/v1"}, None),
        ({"base_url": "https://my.proxy/v1"}, None),
        ({"api_key": "k"}, None),
    ],
    ids=str,
)
async def test_only_the_vendors_own_address_needs_a_key(
    options: Any, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers on this machine ask for none, and a proxy may add it."""
    transport = ScriptedTransport([ANSWER])
    monkeypatch.setattr(http_model, "default_transport", lambda **_: transport)
    lm = OpenAIChat("m", **options)
    if code is None:
        assert (await lm.call("Hi")).text == "Hi"
        assert ("authorization" in transport.requests[0].headers) == ("api_key" in options)
    else:
        with pytest.raises(ConfigError) as caught:
            await lm.call("Hi")
        assert (caught.value.code, transport.requests) == (code, [])


@pytest.mark.parametrize("parameter", ["code", "key", "sig", "subscription-key", "x"])
def test_secrets_in_an_address_are_not_shown(parameter: str) -> None:
    """Functions and gateways call their keys by many names; what the API's version is may be shown."""
    lm = OpenAIChat("m", base_url=f"https://h.example/v1?api-version=2024-10-21&{parameter}=hunter2")
    shown = repr(lm) + repr(lm.stream("Hi"))
    assert "hunter2" not in shown
    assert "2024-10-21" in shown
    assert "h.example/v1" in shown


@pytest.mark.host
async def test_secrets_in_an_address_are_not_shown_by_errors() -> None:
    secret = "AbCdEf0123456789AbCdEf"
    lm = OpenAIChat("m", base_url=f"http://127.0.0.1:9/v1?code={secret}")
    stream = lm.stream("Hi")
    while await stream.read() is not None:
        pass
    assert stream.error is not None
    assert secret not in f"{stream.error!r} {stream.error.to_wire()}"


SECRET = "PlainMarker_0123456789_withoutPrefix"
ECHO = json.dumps({"error": {"message": f"no: {SECRET}", "code": SECRET, "details": [{SECRET: [SECRET]}]}}).encode()


@pytest.mark.parametrize(
    "reply",
    [
        HttpResponse(401, {"content-type": "application/json", "x-request-id": f"r {SECRET}"}, ECHO),
        HttpResponse(500, {"content-type": "text/html"}, f"<title>{SECRET}</title>".encode()),
        HttpResponse(200, {"content-type": SECRET}, f"echo {SECRET}".encode()),
        b"data: " + ECHO + b"\n\n",
        f"data: {SECRET}\n\n".encode(),
        f'data: {{"id":"{SECRET}","model":"{SECRET}","choices":[{{"delta":{{"content":"H"}}}}]}}\n\n'.encode(),
        HttpResponse(200, None, [RuntimeError(f"lost {SECRET}")]),
        RuntimeError(f"cannot open {SECRET}"),
    ],
    ids=["status", "page", "foreign", "object", "not-json", "origin", "broken", "not-opened"],
)
@pytest.mark.parametrize(
    "where",
    [
        {"api_key": SECRET},
        {"adapter": OpenAIChatAdapter(headers={"api-key": SECRET})},
        {"adapter": OpenAIChatAdapter(headers={"Authorization": f"Bearer {SECRET}"})},
        {"base_url": f"https://h/v1?x={SECRET}"},
    ],
    ids=["key", "header", "bearer", "address"],
)
async def test_what_the_server_echoes_of_credentials_is_not_shown(where: Any, reply: Any) -> None:
    """Wherever a credential was put, and in whatever the other side wraps it."""
    lm = OpenAIChat("m", **{"base_url": "https://h/v1"} | where, transport=ScriptedTransport([reply]))
    stream = lm.stream("Hi")
    while await stream.read() is not None:
        pass
    error = stream.error
    assert error is not None
    shown = (error, vars(error), error.args, error.to_wire(), *traceback.format_exception(error), lm, stream)
    assert SECRET not in "".join(map(repr, shown)) + str(error)


async def test_files_become_lines_and_the_history_stays() -> None:
    transport = ScriptedTransport([ANSWER])
    message = UserMessage(["Read this:", File("a.txt", size_bytes=3)])
    await HttpModel("m", adapter=OpenAIChatAdapter(), base_url="http://h/v1", transport=transport).call(message)
    assert '"a.txt"' in sent(transport)["messages"][0]["content"]
    assert isinstance(message.parts[1], File)


@pytest.mark.parametrize("key", [None, "k"])
async def test_keys_as_they_are(key: str | None) -> None:
    assert await fetch_key(key) == key


async def test_keys_that_are_fetched() -> None:
    async def fetch() -> str:
        return "k"

    assert await fetch_key(fetch) == "k"
    assert await fetch_key(lambda: "k") == "k"  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("given", [None, "", 5, ValueError("sk-secret-0123456789"), ConfigError("UNSUPPORTED", "no")])
async def test_keys_that_do_not_come(given: Any) -> None:
    async def fetch() -> str:
        if isinstance(given, Exception):
            raise given
        return given  # type: ignore[no-any-return]

    with pytest.raises(ConfigError) as caught:
        await fetch_key(fetch)
    assert caught.value.code == ("UNSUPPORTED" if isinstance(given, ConfigError) else "MISSING_CREDENTIAL")
    assert "secret" not in str(caught.value)
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_function_that_fails_before_it_waits() -> None:
    """Its error may quote the request that was to fetch the key, and so may what it was caused by."""

    def fetch() -> Any:
        try:
            raise ValueError("client_secret=sk-secret-0123456789")
        except ValueError as error:
            raise RuntimeError("POST refused: sk-secret-0123456789") from error

    async def call() -> None:
        await OpenAIChat("m", api_key=fetch).call("Hi")

    with pytest.raises(ConfigError, match="failed: RuntimeError") as caught:
        asyncio.run(call())
    assert "sk-secret" not in "".join(traceback.format_exception(caught.value))


def test_profile_and_adapter_exclude_each_other() -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChat("m", profile="ollama", adapter=OpenAIChatAdapter())
    assert caught.value.code == "INVALID_OPTIONS"
    assert OpenAIChat("m", profile="ollama").base_url == "http://localhost:11434/v1"


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**400, 1e9], ids=lambda s: repr(s)[:8])
async def test_limits_that_no_clock_reaches_are_none(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages write any number; clocks of event loops hold only what a float does."""
    made: list[Any] = []

    def transport(**limits: Any) -> ScriptedTransport:
        made.append(limits)
        return ScriptedTransport([ANSWER])

    monkeypatch.setattr(http_model, "default_transport", transport)
    await HttpModel(
        "m", adapter=OpenAIChatAdapter(), base_url="http://h", timeout_s=seconds, idle_timeout_s=seconds
    ).call("a")
    assert made == [{"timeout_s": None, "idle_timeout_s": None}]
