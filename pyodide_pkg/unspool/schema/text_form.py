"""The text forms of values that JSON has none of its own for: dates, UUID, Decimal, addresses, paths, patterns.

In: such a value. Out: what pydantic's strict JSON mode reads as the same value. What no text gives back is refused.
"""

from __future__ import annotations

import datetime as dt
import re
from base64 import urlsafe_b64encode
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from unspool.printable import said_by

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def text_form(value: Any, bytes_form: str = "utf8") -> Any:
    """Give the form that a value has in JSON; of a collection, plain data that may hold anything again.

    Args:
        value: what is neither plain data nor of a class with fields.
        bytes_form: how bytes are read where it stands (`val_json_bytes` of pydantic): `utf8`, `base64` or `hex`.
    Raises:
        ValueError: it has none that could be read back.
    """
    kind: type[Any] = type(cast("object", value))
    if isinstance(value, bytes) and bytes_form != "utf8":
        return value.hex() if bytes_form == "hex" else urlsafe_b64encode(value).decode()
    try:
        refused = _refused(value)
        if refused:
            raise ValueError(refused)
        plain = _plain(value, kind)
    except ValueError:
        raise
    except Exception as error:  # a class of the application, or of any library, may raise anything
        raise ValueError(f"{kind.__name__} has no text form ({said_by(error)}).") from error
    if type(plain) is kind:
        raise ValueError(f"{kind.__name__} has no text form.")
    return plain


def _refused(value: Any) -> str:
    """Say why a value is not written, though a text could be made of it."""
    if hasattr(value, "get_secret_value"):
        return "a secret is not shown to a model."
    if hasattr(value, "is_finite") and not value.is_finite():  # a Decimal
        return f"{value!r} would not be read."
    if isinstance(value, dt.datetime | dt.time):
        offset = value.utcoffset()
        if offset is not None and offset % dt.timedelta(minutes=1):
            return f"an offset from UTC has whole minutes, not {offset}."
    if isinstance(value, re.Pattern) and value.flags != re.UNICODE.value:
        return "a pattern in text has no flags, and is not of bytes."
    if isinstance(value, dt.tzinfo) and getattr(value, "key", None) is None:
        return "a time zone is written by its key, and this one has none."
    return ""


def _plain(value: Any, kind: type) -> Any:
    """Serialize a value as pydantic knows it, else as its class says."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    try:
        return to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError) as error:
        try:
            return _adapter(kind).dump_python(value, mode="json", by_alias=True)
        except Exception:  # pydantic knows no schema of it, or it cannot be written by that either
            raise ValueError(f"{kind.__name__} has no text form ({error}).") from error


@lru_cache(maxsize=64)
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
