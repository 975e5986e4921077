"""HttpRequest: what may be sent, and what of it may be shown."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.http_request import HttpRequest

KEY = "unspool-marker-0123456789"


def test_repr_shows_no_secret() -> None:
    request = HttpRequest("POST", f"https://u:{KEY}@h/v1?key={KEY}", {"Authorization": f"Bearer {KEY}"}, KEY.encode())
    assert KEY not in repr(request)
    assert "Authorization" in repr(request)


def test_secrets_are_the_header_values_and_the_tokens_in_them() -> None:
    request = HttpRequest(
        "POST", "https://h", {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}, b""
    )
    assert set(request.secrets()) == {KEY, f"Bearer {KEY}"}


def test_credentials_are_what_is_named_so() -> None:
    """A server's words about a version, a referring page or a beta stay readable."""
    plain = {"HTTP-Referer": "https://example.org/page", "anthropic-beta": "prompt-caching-2024-07-31", "x-title": KEY}
    url = f"https://h/v1?api-version=2024-10-01-preview&alt=sse&x=A{KEY}%2B&short=a"
    sent = {"Authorization": f"Bearer B{KEY}", "api-key": f"C{KEY}", "Cookie": f"D{KEY}", "x-auth-token": "short"}
    request = HttpRequest("POST", url, plain | sent, b"")
    assert set(request.credentials()) == {f"A{KEY}+", f"B{KEY}", f"C{KEY}", f"D{KEY}"}


@pytest.mark.parametrize(("name", "value"), [("x", 5), ("x", None), ("x", b"a"), (5, "a"), (None, "a")])
def test_header_that_is_no_text_is_refused(name: Any, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpRequest("POST", "https://h", {name: value}, b"")
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.parametrize("value", ["a\nb", "a\r\nx: y", "a\x00", " secret", "secret ", "ключ", "a\u2028", "é"])
def test_header_that_cannot_be_sent_is_refused_without_showing_it(value: str) -> None:
    """The clients refuse it too, but quote the value, which is often a key."""
    with pytest.raises(ConfigError) as caught:
        HttpRequest("POST", "https://h", {"Authorization": value}, b"")
    assert caught.value.code == "INVALID_OPTIONS"
    assert "Authorization" in caught.value.message
    assert value not in caught.value.message


@pytest.mark.parametrize("name", ["", "a b", "a:b", "ä", "a\n"])
def test_header_name_that_cannot_be_sent_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        HttpRequest("POST", "https://h", {name: "x"}, b"")


@pytest.mark.parametrize("value", ["", "a", "a b\tc", "Bearer abc==", "x" * 10_000])
def test_ordinary_headers_pass(value: str) -> None:
    assert HttpRequest("POST", "https://h", {"X-Y": value}, b"").headers == {"X-Y": value}
