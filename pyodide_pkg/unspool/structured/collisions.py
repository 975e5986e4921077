"""Collisions: values that were chosen so that their hashes are equal. A set takes time in the square of their number.

Python salts the hashes of text, but not those of numbers: all multiples of 2**61 - 1 have hash 0, and what is made of
numbers (UUID, Decimal, tuples) follows them. Limiting how many items there may be would refuse honest answers; these
are told apart by what they do. Precedent: CVE-2011-4885 and its kin, where parsers of forms limit their members.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

MAX_COLLISIONS = 100
"""How many items may have the hash of another that they are not equal to: honest ones have none or a few."""


def collide(items: Collection[Any]) -> bool:
    """Tell whether items were chosen to make sets of them slow; takes time in proportion to their number.

    Raises:
        TypeError: one has no hash.
    """
    if len(items) <= MAX_COLLISIONS:
        return False
    first: dict[int, Any] = {}
    count = 0
    for item in items:
        other = first.setdefault(hash(item), item)
        count += other is not item and other != item
    return count > MAX_COLLISIONS
