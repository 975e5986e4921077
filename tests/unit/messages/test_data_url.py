"""Bytes of images and files. Data URLs: RFC 2397; signatures: WHATWG MIME Sniffing. Tests of `Image` have more."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.messages.data_url import as_bytes, image_type, read_data_url


@pytest.mark.parametrize(
    ("url", "data", "media_type"),
    [
        ("data:image/png;base64,AAE=", b"\0\1", "image/png"),
        ("DATA: IMAGE/PNG ;BASE64,AAE", b"\0\1", "image/png"),
        ("data:,a%20b", b"a b", None),
        ("data:text/plain,a", b"a", None),
    ],
)
def test_reading(url: str, data: bytes, media_type: str | None) -> None:
    assert read_data_url(url) == (data, media_type)


@pytest.mark.parametrize("url", ["data:", "data:image/png;base64,A", "data:image/png;base64,é"])
def test_what_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        read_data_url(url)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [(b"RIFF\0\0\0\0WEBP", "image/webp"), (b"RIFF\0\0\0\0WAVE", None), (b"GIF89a", "image/gif"), (b"", None)],
)
def test_the_kind_of_an_image(head: bytes, media_type: str | None) -> None:
    assert image_type(head) == media_type


@pytest.mark.parametrize("data", [b"a", bytearray(b"a"), memoryview(b"a")], ids=lambda data: type(data).__name__)
def test_bytes_are_copied(data: Any) -> None:
    assert as_bytes("It", data) == b"a"
    assert type(as_bytes("It", data)) is bytes
    with pytest.raises(ConfigError, match="It must be bytes"):
        as_bytes("It", "a")
