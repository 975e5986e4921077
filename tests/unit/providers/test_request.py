from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.contracts import Request
from unspool.errors import ConfigError
from unspool.messages import UserMessage
from unspool.providers.request import (
    check_credential,
    endpoint,
    host_of,
    is_local,
    json_body,
    key_headers,
    lower_names,
    posted,
    sibling,
    with_extra,
    with_query,
)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("http://localhost:8080", "http://localhost:8080/chat/completions"),
        ("http://[::1]:8080/v1//", "http://[::1]:8080/v1/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
        (
            "https://x.openai.azure.com/openai/deployments/d?api-version=2026-01-01",
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2026-01-01",
        ),
        ("https://h/v1?", "https://h/v1/chat/completions?"),
    ],
)
def test_endpoint(base_url: str, expected: str) -> None:
    assert endpoint(base_url, "/chat/completions") == expected


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "api.openai.com/v1",
        "/v1",
        "//host/v1",
        "ftp://host/v1",
        "file:///etc",
        "javascript:alert(1)",
        "https://",
        "https:///v1",
        "https://user@host/v1",
        "https://user:secret@host/v1",
        "https://host\\@evil/v1",
        "https://host/v1#x",
        "https://host/v 1",
        " https://host/v1",
        "https://host/v1\n",
        "https://host/\r\nx: y",
        "https://ho\tst/",
        "https://h\0/",
        "https://host:80@evil/",
        "https://host:99999/",
        "https://host:x/",
        "https://[::1",
        "https://host/v1?x=\ud800",
    ],
)
def test_bad_base_url(base_url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        endpoint(base_url, "/x")
    assert caught.value.code == "INVALID_OPTIONS"
    assert "secret" not in str(caught.value)
    assert host_of(base_url) == ""


@pytest.mark.parametrize(
    ("base_url", "host"),
    [("https://API.OpenAI.com/v1", "api.openai.com"), ("http://localhost:8080?x", "localhost")],
)
def test_host(base_url: str, host: str) -> None:
    assert host_of(base_url) == host


@pytest.mark.parametrize("key", ["k", "sk-proj_AbC.123/+=~", "!"])
def test_credential(key: str) -> None:
    assert check_credential(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        " ",
        " secretkey",
        "secretkey\n",
        "secret key",
        "secretkey\r\nx: y",
        "sécretkey",
        "secret\u200bkey",
        "“secretkey”",
        "secretkey\x7f",
        "ключsecretkey",
    ],
)
def test_malformed_credential(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_credential(key)
    assert caught.value.code == "INVALID_CREDENTIAL"
    assert "secret" not in f"{caught.value} {caught.value!r} {caught.value.to_wire()}"


def test_body_is_compact_utf8() -> None:
    assert json_body({"a": "é😀", "b": [1, None]}) == '{"a":"é😀","b":[1,null]}'.encode()


def test_half_a_pair_in_a_body() -> None:
    """JavaScript text may hold one; UTF-8 cannot. A pair in two halves is put together."""
    assert json.loads(json_body({"a": "x\ud83d", "b": "\ud83d\ude00"})) == {"a": "x\ufffd", "b": "😀"}


def deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"x", deep(500)], ids=type)
def test_body_without_json_form(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        json_body({"x": value})
    assert caught.value.code == "INVALID_OPTIONS"


def test_cyclic_body() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    with pytest.raises(ConfigError) as caught:
        json_body(cyclic)
    assert caught.value.code == "INVALID_OPTIONS"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
        max_leaves=20,
    )
)
def test_body_says_what_it_was_given(value: Any) -> None:
    assert json.loads(json_body({"x": value})) == {"x": value}


@pytest.mark.parametrize(
    ("base_url", "other", "url"),
    [
        ("https://h/v1", "/models", "https://h/v1/models"),
        ("https://h/v1/chat/completions", "/models", "https://h/v1/models"),
        ("https://h/?a=b", "/models", "https://h/models?a=b"),
        ("http://[::1]:8080/v1", "//api/tags", "http://[::1]:8080/api/tags"),
    ],
)
def test_sibling(base_url: str, other: str, url: str) -> None:
    assert sibling(base_url, "/chat/completions", other) == url


@pytest.mark.parametrize(
    ("base_url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://app.localhost/v1", True),
        ("http://127.0.0.1:1234", True),
        ("http://[::1]:8080/v1", True),
        ("https://localhost.example/v1", False),
        ("https://notlocalhost/v1", False),
        ("http://192.168.1.2/v1", False),
        ("https://127.example/v1", False),
        ("", False),
    ],
)
def test_local_hosts(base_url: str, local: bool) -> None:
    assert is_local(host_of(base_url)) == local


def test_query_of_an_address() -> None:
    assert with_query("https://h/v1", "a=1") == "https://h/v1?a=1"
    assert with_query("https://h/v1?b=2", "a=1") == "https://h/v1?b=2&a=1"


def test_headers() -> None:
    """F9: no more than are needed; names in any case are one."""
    assert lower_names(None) == {}
    own = lower_names({"X-A": "1", "Authorization": "theirs"})
    assert own == {"x-a": "1", "authorization": "theirs"}
    assert key_headers(own, None) == own
    assert key_headers(own, "k") == {"x-a": "1", "authorization": "Bearer k"}
    assert key_headers(own, "k", "x-api-key") == own | {"x-api-key": "k"}
    assert own == {"x-a": "1", "authorization": "theirs"}
    with pytest.raises(ConfigError, match="INVALID_CREDENTIAL"):
        key_headers(own, "a b")


def test_what_is_posted() -> None:
    sent = posted("https://h/x", {"content-type": "text/plain", "x-a": "1"}, {"ö": [1]})
    assert (sent.method, sent.url, sent.body) == ("POST", "https://h/x", '{"ö":[1]}'.encode())
    assert sent.headers == {"content-type": "application/json", "x-a": "1"}


def test_members_of_the_callers_own() -> None:
    request = Request("m", [UserMessage("Hi")], extra={"a": {"x": 1}, "b": {"x": 1}, "c": None, "d": 1})
    body = {"a": {"x": 0, "y": 0}, "b": {"x": 0, "y": 0}, "c": {"x": 0}, "e": 2}
    joined = with_extra(body, request.extra, "a", "c", "d", "e")
    assert joined == {"a": {"x": 1, "y": 0}, "b": {"x": 1}, "c": None, "d": 1, "e": 2}
    joined["a"]["x"] = 3
    assert (request.extra["a"], body["a"]) == ({"x": 1}, {"x": 0, "y": 0})
    assert with_extra(body, {}) == body
