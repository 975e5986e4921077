"""The vocabulary of the Python scanner: what may come next, open containers, operations, and the patterns of tokens.

Source: The Python Language Reference, "Lexical analysis", cut down to what stands for data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from unspool.structured._grammar import Path, Slot

# What the next token may be.
START: Final = 0
"""The statement."""
VALUE: Final = 1
"""A value, and nothing else."""
ITEM: Final = 2
"""A value, a key or an argument by the kind of container; or its closing bracket."""
PENDING: Final = 3
"""A scalar or string was read: what follows must end it, or is another piece of the string."""
CLOSED: Final = 4
"""A container has closed: what follows must end the value."""
AFTER: Final = 5
"""A comma or the closing bracket."""
COLON: Final = 6
"""The colon after a key."""
NAMED: Final = 7
"""A name was read: what follows tells what it is."""
STRING: Final = 8
"""More of a string."""
ANNOTATION: Final = 9
"""More of an annotation, up to `=`."""
DONE: Final = 10
"""Nothing: the statement is over."""
ENDED: Final = 11
"""Nothing is read any more: a closing fence was met."""

# Kinds of containers. Those up to SET show; those up to CALL stay what they are when they close.
LIST: Final = 0
DICT: Final = 1
CALL: Final = 2
TUPLE: Final = 3
SET: Final = 4
BARE: Final = 5
"""A tuple without brackets, which only the root can be: the end of the line closes it."""
PAREN: Final = 6
"""`(`: a group, or a tuple whose first comma has not come."""
BRACE: Final = 7
"""`{`: a set, or a dict whose first colon has not come."""
KEY: Final = 8
"""A key of a dict that is more than a plain string."""
SET_CALL: Final = 9
"""`set(` or `frozenset(`."""

CLOSERS: Final = ("]", "}", ")", ")", "}", "", ")", "}", "", ")")
"""By kind of container."""

# Operations.
BEGIN: Final = 0
"""A value begins of which nothing is known yet."""
OPEN: Final = 1
SCALAR: Final = 2
"""A value that is complete, other than text."""
TEXT: Final = 3
"""A string begins; the operand is its first piece."""
MORE: Final = 4
END: Final = 5
"""A string, or a container that has closed, is complete."""
CLOSE: Final = 6
WHOLE: Final = 7
"""A string that is complete."""
AGAIN: Final = 8
"""The root, which is the operand's first item, turns out to be the first item of a tuple without brackets."""

type Op = tuple[int, PyFrame | None, Slot, Any]
"""Code, the container of the value, its place there, the operand: a PyFrame or a value."""


class PyFrame:
    """An open container: where it hangs and what it holds. Frames form a chain to the root."""

    __slots__ = ("parent", "slot", "kind", "container", "value", "depth", "live", "hashes", "collisions", "_path")
    hashes: set[int]
    """Once a dict has a key that is not text: the hashes of such keys."""
    collisions: int
    """How many of them had the hash of an earlier one."""

    def __init__(self, parent: PyFrame | None, slot: Slot, kind: int, container: Any, value: Any, depth: int) -> None:
        self.parent = parent
        self.slot = slot
        """Key or index in the parent."""
        self.kind = kind
        self.container: Any = container
        """What grows: a list, or a dict of items or arguments."""
        self.value: Any = value
        """What stands for it in the parent."""
        self.depth = depth
        """Open brackets, this one included."""
        self.live: Any = value
        """What stood for it while it was open."""
        self._path: Path | None = None

    def path(self) -> Path:
        """Give the path of the container. Only for one that shows: until then it may move."""
        if self._path is not None:
            return self._path
        slots: list[Any] = []
        frame: PyFrame = self
        while frame.parent is not None:
            slots.append(frame.slot)
            frame = frame.parent
        slots.reverse()
        self._path = tuple(slots)
        return self._path


class PyCall(PyFrame):
    """An open constructor."""

    __slots__ = ("positions", "named")

    positions: Sequence[str] | None
    """The names of its fields by position, if they are known."""
    named: bool
    """Whether an argument has had a name: those after it must have one."""


class PyWait(PyFrame):
    """A container of which it is not known yet what it is."""

    __slots__ = ("held", "outer", "name")

    held: list[Op]
    """Operations inside that wait."""
    outer: PyWait | None
    """The container around this one that waits as well."""
    name: str
    """SET_CALL: `set` or `frozenset`."""


def place(frame: PyFrame | None, slot: Slot) -> Path:
    """Give the path of a value."""
    return () if frame is None else (*frame.path(), slot)  # type: ignore[arg-type]


KEYED: Final = frozenset({DICT, CALL})
WAITING: Final = frozenset({PAREN, BRACE, KEY, SET_CALL})
HASHED: Final = frozenset({SET, KEY, BRACE})
QUOTES: Final = frozenset("'\"")
LINE_ENDS: Final = frozenset("\n\r;")
TEXT_VALUE: Final[Any] = object()
"""Stands for a pending value that is text, or bytes, which another literal may continue."""
GROUPED_TEXT: Final[Any] = object()
"""The same, in brackets: no literal may continue it."""

# Patterns. Inside brackets a line break is a blank.
W: Final = r"[ \t\n\r\f]*+"
_PLAIN_KEY: Final = r"""(?:'([^'\\\n\r\0]++)'|"([^"\\\n\r\0]++)")"""
BLANKS: Final = re.compile(r"(?:[ \t\n\r\f]++|\\(?:\n|\r\n|\r(?=[^\n]))|#[^\n\r\0]*+(?=[\n\r]))*+")
LINE_BLANKS: Final = re.compile(r"(?:[ \t\f]++|\\(?:\n|\r\n|\r(?=[^\n]))|#[^\n\r\0]*+(?=[\n\r]))*+")
"""Outside brackets a line break ends the statement."""
JSON_BLANKS: Final = re.compile(r"[ \t\n\r\f]*+")
JSON_LINE_BLANKS: Final = re.compile(r"[ \t\f]*+")
JSON_COMMENT: Final = re.compile(r"(?:#|//)[^\n\r\0]*+(?=[\n\r])|/\*(?s:.*?)\*/")
CALL_START: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,200}+)\(")
COMMENT_REST: Final = re.compile(r"[^\n\r\0]*+")
NAME: Final = re.compile(r"[^\W\d]\w*+")
"""A name, but for marks of some scripts: see `name_end`."""
NAME_REST: Final = re.compile(r"\w*+")
KEYWORD: Final = re.compile(rf",?{W}([A-Za-z_][A-Za-z0-9_]*+){W}={W}")
"""The next argument by name, up to its value. Names of other scripts are read step by step, as in `CALL_START`."""
MEMBER: Final = re.compile(rf",?{W}{_PLAIN_KEY}{W}:{W}")
"""The next key that is a plain string, up to its value."""
FIRST_MEMBER: Final = re.compile(rf"\{{{W}{_PLAIN_KEY}{W}:{W}")
LINE_STRING: Final = {mark: re.compile(rf"{mark}([^{mark}\\\n\r\0]*+)({mark})?") for mark in "'\""}
"""A string of one line without escapes, up to its end or what is not plain."""
PLAIN_SCALAR: Final = re.compile(
    r"(?:(True|False|None)|(-?(?:0|[1-9][0-9]*+))|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+))(?=[,)\]}])"
)
"""What most scalars look like, and what ends them."""
JSON_SCALAR: Final = re.compile(PLAIN_SCALAR.pattern.replace("True|False|None", "true|false|null"))
CUT_SCALAR: Final = re.compile(r"(?:-?[0-9]?[-+.0-9eE]{0,60}|[TFNtfn][a-z]{0,4})\Z")
CUT_KEY: Final = re.compile(r"""(?:'[^'\\\n\r\0]{0,60}'?|"[^"\\\n\r\0]{0,60}"?)\Z""")
CUT_NAME: Final = re.compile(r"[^\W\d]\w{0,60}\Z")
"""What the end of the text may have cut, and is short enough to be read again."""
NUMBER: Final = re.compile(
    r"(?:(0[xX](?:_?[0-9a-fA-F])++|0[bB](?:_?[01])++|0[oO](?:_?[0-7])++)"
    r"|((?:[0-9](?:_?[0-9])*+\.?+(?:[0-9](?:_?[0-9])*+)?+|\.[0-9](?:_?[0-9])*+)(?:[eE][-+]?[0-9](?:_?[0-9])*+)?+))(?![\w.])"
)
"""Group 1: an integer with a prefix; group 2: decimal digits, perhaps a float."""
NUMBER_RUN: Final = re.compile(r"(?:[0-9_.]++|[eE][-+]|\w)*+")
"""What may belong to a number, for one that touches the end of the text."""
NUMBER_REST: Final = re.compile(r"[\w.]*+")
SIGN: Final = re.compile(r"[-+]?[ \t\n\r\f]{0,64}+")
ANNOTATION_REST: Final = re.compile(r"""[ \t\w.\[\],|'"()\x80-\U0010ffff]*+""")
