"""Signatures: AWS's own published ones."""

from __future__ import annotations

import calendar

import pytest

from unspool.errors import ConfigError
from unspool.providers.sigv4 import are_keys, signed

KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
AT = float(calendar.timegm((2015, 8, 30, 12, 36, 0)))
FORM = "application/x-www-form-urlencoded"
UNRESERVED = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
HOST = "https://example.amazonaws.com"

SUITE = {
    "get-vanilla": ("GET", "/", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    "post-vanilla": ("POST", "/", {}, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    "get-vanilla-query-order-key-case": (
        "GET",
        "/?Param2=value2&Param1=value1",
        {},
        b"",
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ),
    "get-vanilla-empty-query-key": (
        "GET",
        "/?Param1=value1",
        {},
        b"",
        "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
    ),
    "get-vanilla-query-unreserved": (
        "GET",
        f"/?{UNRESERVED}={UNRESERVED}",
        {},
        b"",
        "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
    ),
    "get-vanilla-query-order-encoded": (
        "GET",
        "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
        {},
        b"",
        "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
    ),
    "get-header-key-duplicate": (
        "GET",
        "/",
        {"my-header1": "value2,value2,value1"},
        b"",
        "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    ),
    "get-header-value-multiline": (
        "GET",
        "/",
        {"my-header1": "value1,value2,value3"},
        b"",
        "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790",
    ),
    "post-x-www-form-urlencoded": (
        "POST",
        "/",
        {"content-type": FORM},
        b"Param1=value1",
        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ),
}
"""AWS Signature Version 4 Test Suite, of which the requests are those that an address can hold."""


def sign(
    method: str, url: str, headers: dict[str, str], body: bytes, *, key_id: str = KEY_ID, **more: str
) -> dict[str, str]:
    options = {"region": "us-east-1", "service": "service", **more}
    token = options.pop("token", None)
    # Key ids of the suite are shorter than real ones.
    keys = ":".join((key_id.ljust(16, "X"), SECRET, *((token,) if token else ())))
    sent = signed(method, url, headers, body, keys=keys, at=AT, **options)
    return {**sent, "authorization": sent["authorization"].replace(key_id.ljust(16, "X"), key_id)}


@pytest.mark.parametrize("name", SUITE)
def test_suite(name: str) -> None:
    method, path, headers, body, signature = SUITE[name]
    sent = sign(method, HOST + path, headers, body)
    names = ";".join(sorted((*headers, "host", "x-amz-date")))
    assert sent == {
        **headers,
        "x-amz-date": "20150830T123600Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}",
    }


def test_example_of_the_user_guide() -> None:
    url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"
    sent = sign("GET", url, {"content-type": f"{FORM}; charset=utf-8"}, b"", service="iam")
    assert sent["authorization"].endswith("=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")


def test_host_and_path() -> None:
    """The port counts where it is not the scheme's own; what is encoded in the path is encoded once more."""
    base = sign("GET", "https://h.example/a%3Ab", {}, b"")
    assert sign("GET", "https://H.example:443/a%3Ab", {}, b"") == base
    assert sign("GET", "http://h.example:80/a%3Ab", {}, b"") == base
    for url in ("https://h.example:8443/a%3Ab", "https://h.example/a:b", "https://h.example/a%253Ab", "https://[::1]/"):
        assert sign("GET", url, {}, b"")["authorization"] != base["authorization"]


def test_session_token() -> None:
    """It is sent, and signed."""
    sent = sign("GET", f"{HOST}/", {}, b"", token="AQoDYXdzEPT//////////wEXAMPLE==")
    assert sent["x-amz-security-token"] == "AQoDYXdzEPT//////////wEXAMPLE=="
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token," in sent["authorization"]


@pytest.mark.parametrize(
    "keys",
    [
        "",
        ":",
        "AKIDEXAMPLEXXXXX:",
        f"AKIDEXAMPLEXXXXX:{SECRET}:",
        f"akid:{SECRET}",
        f"AKIDEXAMPLEXXXXX:{SECRET} ",
        f"AKIDEXAMPLEXXXXX:{SECRET}\n",
    ],
)
def test_keys_that_are_none(keys: str) -> None:
    with pytest.raises(ConfigError) as caught:
        signed("GET", f"{HOST}/", {}, b"", keys=keys, region="r", service="s", at=AT)
    assert caught.value.code == "INVALID_CREDENTIAL"
    assert SECRET not in str(caught.value)


def test_the_secret_is_not_sent() -> None:
    assert SECRET not in str(sign("POST", f"{HOST}/", {}, b"{}"))


def test_what_are_keys() -> None:
    """Bedrock's own keys are base64, and have no colon."""
    assert are_keys(f"AKIDEXAMPLEXXXXX:{SECRET}")
    assert not are_keys("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29tLz9BY3Rpb24&Version=1")
    assert not are_keys("ABSKQmVkcm9ja0FQSUtleS0xMjM0+/==")
