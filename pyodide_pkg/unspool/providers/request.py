"""What the requests of all vendors have in common: the address, the credential and the JSON body. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from unspool.errors import ConfigError
from unspool.stream.nesting import is_deeper

_URL = re.compile(
    r"(https?)://((?:\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]\\\s\0-\x1f\ud800-\udfff]+)(?::([0-9]{1,5}))?)"
    r"(/[^?#\\\s\0-\x1f\ud800-\udfff]*)?(\?[^#\s\0-\x1f\ud800-\udfff]*)?",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"[!-~]+")  # visible ASCII: what every HTTP client sends unchanged


def endpoint(base_url: str, path: str) -> str:
    """Join a base URL and the path of an endpoint.

    Args:
        base_url: http or https, with or without a trailing slash, or already the whole address of the endpoint. A query
            string stays at the end (Azure's `?api-version=…`).
        path: such as `/chat/completions`.
    Raises:
        ConfigError: INVALID_OPTIONS for another scheme, a relative address, white space, a user name or a fragment.
    """
    match = _parts(base_url)
    if match is None:
        raise ConfigError(
            "INVALID_OPTIONS",
            "base_url must be an http or https address without user name, fragment and white space, "
            "such as https://host/v1.",
        )
    scheme, host, _, folder, query = match.groups(default="")
    folder = folder.rstrip("/")
    return f"{scheme}://{host}{folder if folder.endswith(path) else folder + path}{query}"


def host_of(base_url: str) -> str:
    """The host name in lower case, without port; empty when the URL is malformed."""
    match = _parts(base_url)
    return match[2].partition(":")[0].lower() if match else ""


def _parts(base_url: str) -> re.Match[str] | None:
    match = _URL.fullmatch(base_url)
    return match if match and int(match[3] or 0) < 65_536 else None


def check_credential(api_key: str) -> str:
    """Refuse a key that no header can carry; the key is never part of the message.

    Raises:
        ConfigError: INVALID_CREDENTIAL when it is empty or holds white space, control or non-ASCII characters.
    """
    if not _CREDENTIAL.fullmatch(api_key):
        fault = "is empty" if not api_key else "holds white space or characters that do not belong in a key"
        raise ConfigError(
            "INVALID_CREDENTIAL", f"The API key {fault}. Was it copied whole, without line ends or quotes?"
        )
    return api_key


def json_body(members: Mapping[str, Any]) -> bytes:
    """Encode a request body.

    Raises:
        ConfigError: INVALID_OPTIONS when something in it has no JSON form, or is nested more than 128 deep.
    """
    if is_deeper(members):
        raise ConfigError("INVALID_OPTIONS", "The request is nested too deep for JSON.")
    try:
        text = json.dumps(members, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigError("INVALID_OPTIONS", f"The request has no JSON form: {error}") from error
    # Text that came from JavaScript or from JSON escapes may hold half a surrogate pair, which UTF-8 cannot.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
