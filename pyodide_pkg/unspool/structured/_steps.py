"""Steps: what single characters lead to, for text that comes one character at a time.

A step has no effect that shows: it lengthens the tail of a position. The tables are tables of tables: each gives, for a
character, the table of what may follow it.
"""

from __future__ import annotations

from typing import Any, Final

from unspool.structured._grammar import KEY

Steps = dict[str, Any]

NONE: Final[Steps] = {}
LETTERS: Final[Steps] = dict.fromkeys((chr(code) for code in range(32, 127) if chr(code) not in '"\\'), True)
"""The characters that are text inside a string."""


def _steps(unique_keys: bool) -> tuple[Steps, ...]:
    """Make the tables; where keys must be unique, a key's end has an effect, since it may be a fault."""
    number: Steps = {}
    number.update(dict.fromkeys("0123456789.eE+-", number))
    value: Steps = dict.fromkeys("-0123456789", number)
    for word in ("true", "false", "null"):
        table = value
        for letter in word[:-1]:  # the last letter has an effect
            table = table.setdefault(letter, {})
    colon: Steps = {":": value}
    key: Steps = {}
    key.update(dict.fromkeys(LETTERS, key))
    if not unique_keys:
        key['"'] = colon
    member: Steps = {'"': key}
    after_member: Steps = {",": member}
    after_element: Steps = {",": value}
    for table in (value, colon, member, after_member, after_element):
        table[" "] = table
    tables = (NONE, value, value, member, member, colon, value, after_element, after_member, NONE, NONE, key)
    assert tables[KEY] is key
    return tables


STEPS: Final = _steps(unique_keys=False)
"""For each mode up to KEY, the steps from it."""
UNIQUE_STEPS: Final = _steps(unique_keys=True)
