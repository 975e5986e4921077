"""The bytes of images and files: out of data URLs, and what they show of themselves. Pure."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any, cast

from unspool.errors import ConfigError

MEDIA_TYPE = re.compile(r"image/[a-z0-9!#$&^_.+-]+")
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.DOTALL | re.IGNORECASE)
_IMAGE_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


def as_bytes(what: str, data: Any) -> bytes:
    """Copy bytes.

    Raises:
        ConfigError: INVALID_OPTIONS when it is something else.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ConfigError("INVALID_OPTIONS", f"{what} must be bytes.")
    return bytes(cast("bytes | bytearray", data))


def read_data_url(url: str) -> tuple[bytes, str | None]:
    """Give the bytes of an image's data URL, and its media type if it states one of an image.

    Raises:
        ConfigError: INVALID_OPTIONS when it cannot be decoded.
    """
    from urllib.parse import unquote, unquote_to_bytes  # here, because few conversations have one

    match = _DATA_URL.fullmatch(url)
    if match is None:
        raise ConfigError("INVALID_OPTIONS", "The data URL of an image must look like data:image/png;base64,….")
    media_type, options, body = match.groups()
    stated = media_type.strip().lower()
    try:
        if options.replace(" ", "").lower().endswith(";base64"):
            # What a URL may hold: percent-encoding, line ends, no padding, the alphabet of URLs.
            text = "".join(unquote(body).split()).replace("-", "+").replace("_", "/").rstrip("=")
            data = b64decode(text + "=" * (-len(text) % 4), validate=True)
        else:
            data = unquote_to_bytes(body)
    except ValueError as error:
        raise ConfigError("INVALID_OPTIONS", "The data URL of the image cannot be decoded.") from error
    return data, stated if MEDIA_TYPE.fullmatch(stated) else None


def image_type(data: bytes) -> str | None:
    """Tell the media type of an image by its first bytes; None when they are of no known format."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for head, media_type in _IMAGE_TYPES if data.startswith(head)), None)
