"""HttpRequest: what a transport is to send, and which values of it must not be shown. No IO, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import ConfigError, shown_url

_TELLING_CHARS = 16
"""Shorter values of a query (`2024-10-21`, `v1`) are no credentials, and stand in many messages."""
_CREDENTIAL_NAME = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature", re.IGNORECASE)
_PLAIN_PARAMETER = re.compile(r"alt|api[-_]?version|page[-_]?size|limit", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, token
# ASCII, because clients disagree on the rest; no white space at the ends.
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")


class HttpRequest:
    """One HTTP request, ready to send. The repr shows neither header values nor the body: they hold secrets."""

    __slots__ = ("body", "headers", "method", "url")

    def __init__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Check and keep the parts.

        Args:
            method: such as `POST`.
            url: the address, with its query.
            headers: names in any case.
            body: what is sent; empty for none.
        Raises:
            ConfigError: INVALID_OPTIONS when a header cannot be sent. The message names the header, not its value,
                which the HTTP libraries would show.
        """
        given: Mapping[Any, Any] = headers
        is_text = isinstance(cast(Any, method), str) and isinstance(cast(Any, url), str)
        if not is_text or not isinstance(cast(Any, headers), Mapping) or not isinstance(cast(Any, body), bytes):
            raise ConfigError(
                "INVALID_OPTIONS",
                "A request has a method and a url as texts, headers as a mapping, and a body of bytes.",
            )
        for name, value in given.items():
            is_text = isinstance(name, str) and isinstance(value, str)
            if not is_text or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ConfigError("INVALID_OPTIONS", f"The header {name!r} holds characters that HTTP does not allow.")
        self.method = method
        self.url = url
        self.headers = dict(headers)
        self.body = body

    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown: of headers but the content's, whole and their last word, and of the query."""
        values = [value for name, value in self.headers.items() if name.lower() not in ("content-type", "accept")]
        query = self.url.partition("?")[2].split("&")
        asked = (value for value in (member.partition("=")[2] for member in query) if len(value) >= _TELLING_CHARS)
        return (*values, *(value.rpartition(" ")[2] for value in values), *asked)

    def credentials(self) -> tuple[str, ...]:
        """Give those of the secrets that are credentials by their names: the rest, a server may speak of."""
        from urllib.parse import unquote  # here, because only calls over HTTP need it

        named = [value for name, value in self.headers.items() if _CREDENTIAL_NAME.search(name)]
        query = [member.partition("=") for member in self.url.partition("?")[2].split("&")]
        asked = (unquote(value) for name, _, value in query if not _PLAIN_PARAMETER.fullmatch(name))
        return tuple(
            word for word in (*(value.rpartition(" ")[2] for value in named), *asked) if len(word) >= _TELLING_CHARS
        )

    def __repr__(self) -> str:
        url = shown_url(self.url)
        return f"HttpRequest({self.method} {url!r}, headers={sorted(self.headers)}, {len(self.body)} bytes)"
