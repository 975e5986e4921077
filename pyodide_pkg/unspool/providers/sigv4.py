"""SigV4: AWS's signature of a request. Pure: the time is handed in.

Source: AWS IAM User Guide, "Create a signed AWS API request"; AWS Signature Version 4 Test Suite.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from time import gmtime, strftime
from urllib.parse import quote, unquote, urlsplit

from unspool.errors import ConfigError

_KEYS = re.compile(r"([A-Z0-9]{16,128}):([!-9;-~]{16,128})(?::([!-9;-~]{1,16384}))?")
_DEFAULT_PORTS = {"https": 443, "http": 80}
_SAFE = "-_.~"


def are_keys(credential: str) -> bool:
    """Whether a text is a pair of AWS keys, with or without a session token, and no token of any other kind."""
    return ":" in credential


def signed(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    keys: str,
    region: str,
    service: str,
    at: float,
) -> dict[str, str]:
    """Give the headers of a request with the signature among them; all of them are signed.

    Args:
        method, url, body: of the request.
        headers: names in lower case, without `host`, which every client adds.
        keys: `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, and `:SESSION_TOKEN` for temporary ones. The secret is not sent.
        region, service: such as `us-east-1`, `bedrock`.
        at: now, in seconds since 1970; the server refuses what is five minutes off.
    Raises:
        ConfigError: INVALID_CREDENTIAL when the keys are none; they are not part of the message.
    """
    match = _KEYS.fullmatch(keys)
    if match is None:
        raise ConfigError(
            "INVALID_CREDENTIAL",
            "AWS keys look like ACCESS_KEY_ID:SECRET_ACCESS_KEY, or with :SESSION_TOKEN behind them. Were they copied "
            "whole?",
        )
    key_id, secret, token = match.groups()
    time = strftime("%Y%m%dT%H%M%SZ", gmtime(at))
    sent = {**headers, "x-amz-date": time}
    if token:
        sent["x-amz-security-token"] = token
    address = urlsplit(url)
    host = (address.hostname or "").lower()
    if ":" in host:
        host = f"[{host}]"
    if address.port not in (None, _DEFAULT_PORTS.get(address.scheme)):
        host = f"{host}:{address.port}"
    told = {name: " ".join(value.split()) for name, value in sorted({**sent, "host": host}.items())}
    names = ";".join(told)
    canonical = "\n".join(
        (
            method,
            quote(address.path or "/", safe=f"/{_SAFE}"),  # once more: the path in the address is encoded already
            _query(address.query),
            *(f"{name}:{value}" for name, value in told.items()),
            "",
            names,
            sha256(body).hexdigest(),
        )
    )
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    key = f"AWS4{secret}".encode()
    for word in scope.split("/"):
        key = _mac(key, word)
    text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = _mac(key, text).hex()
    sent["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return sent


def _query(query: str) -> str:
    members = (member.partition("=") for member in query.split("&") if member)
    pairs = sorted((quote(unquote(name), safe=_SAFE), quote(unquote(value), safe=_SAFE)) for name, _, value in members)
    return "&".join(f"{name}={value}" for name, value in pairs)


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
