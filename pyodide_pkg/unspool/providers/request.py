"""What the requests of all vendors have in common: the address, the credential and the JSON body. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from unspool.contracts import HttpRequest, OutputSchema
from unspool.errors import ConfigError
from unspool.stream.nesting import is_deeper
from unspool.surrogates import joined

_URL = re.compile(
    r"(https?)://((?:\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]\\\s\0-\x1f\ud800-\udfff]+)(?::([0-9]{1,5}))?)"
    r"(/[^?#\\\s\0-\x1f\ud800-\udfff]*)?(\?[^#\s\0-\x1f\ud800-\udfff]*)?",
    re.IGNORECASE,
)
_LOOPBACK = re.compile(r"127(?:\.[0-9]{1,3}){3}")
_NO_LABEL = re.compile(r"[^A-Za-z0-9_-]+")
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


def sibling(base_url: str, path: str, other: str) -> str:
    """Give the address of another endpoint beside the one of `path`.

    Args:
        base_url: as for `endpoint`, also when it is the whole address of `path`.
        path: such as `/chat/completions`.
        other: such as `/models`; `/…` alone goes under the base URL, `//…` under the root of the host.
    Raises:
        ConfigError: INVALID_OPTIONS as `endpoint`.
    """
    match = _parts(endpoint(base_url, path))
    assert match is not None
    scheme, host, _, folder, query = match.groups(default="")
    folder = "" if other.startswith("//") else folder[: -len(path)]
    return f"{scheme}://{host}{folder}/{other.lstrip('/')}{query}"


def with_query(url: str, member: str) -> str:
    """Add a member to the query of an address."""
    return f"{url}{'&' if '?' in url else '?'}{member}"


def host_of(base_url: str) -> str:
    """The host name in lower case, without port; empty when the URL is malformed."""
    match = _parts(base_url)
    if match is None:
        return ""
    host = match[2].lower()
    return host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]


def is_local(host: str) -> bool:
    """Whether a host is the machine itself, which asks for no key."""
    return host in ("localhost", "[::1]") or host.endswith(".localhost") or bool(_LOOPBACK.fullmatch(host))


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


def lower_names(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Copy headers, their names in lower case, so that those of one name meet."""
    return {name.lower(): value for name, value in (headers or {}).items()}


def key_headers(headers: Mapping[str, str], api_key: str | None, name: str = "authorization") -> dict[str, str]:
    """Copy headers and add the key, if there is one: as bearer token, or bare in a header of any other name.

    Raises:
        ConfigError: INVALID_CREDENTIAL, as `check_credential`.
    """
    if api_key is None:
        return dict(headers)
    key = check_credential(api_key)
    return {**headers, name: f"Bearer {key}" if name == "authorization" else key}


def posted(url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> HttpRequest:
    """Give the request that sends a body.

    Raises:
        ConfigError: INVALID_OPTIONS, as `json_body`.
    """
    return HttpRequest("POST", url, {**headers, "content-type": "application/json"}, json_body(body))


def with_extra(body: Mapping[str, Any], extra: Mapping[str, Any], *joined: str) -> dict[str, Any]:
    """Put the caller's own members over a body; of those named, where both are objects, member by member."""
    both = {name: (body.get(name), extra.get(name)) for name in joined}
    return {
        **body,
        **extra,
        **{
            name: {**ours, **own}
            for name, (ours, own) in both.items()
            if isinstance(ours, dict) and isinstance(own, dict)
        },
    }


def labelled_schema(output: OutputSchema) -> dict[str, Any]:
    """Give an output schema as OpenAI's APIs want it: with a name, which is only a label, of the letters they take."""
    label = _NO_LABEL.sub("_", output.name).strip("_")[:64]
    return {"name": label or "answer", "schema": output.schema, "strict": output.strict}


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
    return joined(text).encode()
