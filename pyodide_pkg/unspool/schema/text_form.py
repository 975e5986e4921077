"""The text forms of values that JSON has none of its own for: dates, UUID, Decimal, addresses, paths, patterns.

In: such a value. Out: what pydantic's strict JSON mode reads as the same value. What no text gives back is refused.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any


def text_form(value: Any) -> Any:
    """Give the form that a value has in JSON; of a collection, plain data that may hold anything again.

    Raises:
        ValueError: it has none that could be read back.
    """
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    kind = type(value).__name__
    if hasattr(value, "get_secret_value"):
        raise ValueError("a secret is not shown to a model.")
    if hasattr(value, "utcoffset"):
        offset: dt.timedelta | None = value.utcoffset()
        if offset is not None and offset % dt.timedelta(minutes=1):
            raise ValueError(f"an offset from UTC has whole minutes, not {offset}.")
    if kind == "Pattern" and value.flags != re.UNICODE.value:
        raise ValueError("a pattern in text has no flags, and is not of bytes.")
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if hasattr(value, "is_finite") and not value.is_finite():  # a Decimal
        raise ValueError(f"{value!r} would not be read.")
    try:
        plain = to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError) as error:
        raise ValueError(f"{kind} has no text form ({error}).") from error
    if type(plain) is type(value):
        raise ValueError(f"{kind} has no text form.")
    return plain
