"""Where the Python scanner stands: its state, the tree it makes, and how it says what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._grammar import Slot, utf8_size
from unspool.structured._offsets import chars_of
from unspool.structured._py_grammar import (
    BARE,
    BEGIN,
    CLOSED,
    CLOSERS,
    DONE,
    ITEM,
    KEY,
    KEYED,
    LINE_ENDS,
    NAMED,
    OPEN,
    PENDING,
    START,
    STRING,
    TEXT_VALUE,
    Op,
    PyCall,
    PyFrame,
    PyWait,
)

WORDS: Final[dict[str, Any]] = {"True": True, "False": False, "None": None}
JSON_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
type OpenText = tuple[Any, Slot, str, frozenset[str], PyFrame | None]
"""A string whose text is read in the shortest way: its container and its key there, the mark that may end it, single
characters that are text, and the frame to name in operations; None: nobody is told, or the string is the root.
"""
_MAX_REPAIRS: Final = 100
BYTES_CEILING: Final = 4_294_967_295
"""No limit on bytes may be set higher."""
_FAULTS: Final = ("INVALID_PYTHON", "INCOMPLETE_PYTHON")
_FAULTS_OF_JSON: Final = ("INVALID_JSON", "INCOMPLETE_JSON")


class PyCursor:
    """State that all parts of the scanner share."""

    def __init__(
        self,
        root: list[Any],
        *,
        classes: Mapping[str, Sequence[str]] | None = None,
        names: Collection[str] | None = None,
        max_depth: int,
        max_bytes: int = BYTES_CEILING,
        closing: str = "",
        json: bool = False,
        immutable: bool = False,
    ) -> None:
        """
        Args:
            root: receives the value as its only item.
            classes: constructors and the fields of their positions; None: any.
            names: names that stand for values; None: any with one dot at most.
            max_depth: most open brackets at once.
            max_bytes: most UTF-8 bytes.
            closing: the marks that end the text outside strings and comments; what follows is not read.
            json: read JSON leniently instead, with `repairs`.
            immutable: freeze containers that close.
        """
        self.root = root
        self.ops: list[Op] = []
        """The operations of the last text."""
        self.mode = START
        self.frame: PyFrame | None = None
        self.slot: Slot = 0
        self.seen = 0
        """UTF-8 bytes read."""
        self.repairs: list[tuple[str, int]] = []
        self.ended_at = 0
        """Where the closing mark stood, in bytes."""
        self._classes = classes
        self._names = names
        self._owners = None if names is None else {name.partition(".")[0] for name in names if "." in name}
        self._max_depth = max_depth
        self._max_bytes = max_bytes
        self._closing = closing
        self._json = json
        self._immutable = immutable
        self._words = JSON_WORDS if json else WORDS
        self._waiting: PyWait | None = None
        self.tail = ""
        """Text to be read again."""
        self.first_half = ""
        """Half of a surrogate pair, at the end of the text."""
        self._text = ""
        """The text that is being read, its tail included."""
        self._base = 0
        """UTF-8 bytes before it."""
        self._comment = ""
        """What kind of comment the text ended in: `#`, `*`, or none."""
        self._finishing = False
        self._invalid, self._incomplete = _FAULTS_OF_JSON if json else _FAULTS
        # The open or pending value, and the name of which it is not known yet what it is.
        self._value: Any = None
        self._pieces: list[str] = []
        """Of open bytes."""
        self.steps: frozenset[str] | None = None
        """Single characters that have no effect but to lengthen the tail, once they were asked for."""
        self.open_text: OpenText | None = None
        """The string whose text comes next, if it is read in the shortest way."""
        self._quote = ""
        self._raw = False
        self._data = False
        self._body: Any = None
        self._half = ""
        """An escaped high surrogate that waits for its other half."""
        self._has_neighbours = False
        """Whether literals of one string stood next to each other in the text that is being read."""
        self._name = ""
        self._name_pos = 0
        """Where the name begins in the text; -1: before it, at the byte `_name_at`."""
        self._name_at = 0
        self.knows_name = not json
        """Whether an unknown name stands where a value does, not in a sentence."""
        self._may_be_keyword = False
        self._may_be_target = False
        self._is_annotated = False
        self._annotation_depth = 0

    @property
    def in_text(self) -> bool:
        """Whether a string that is shown is open, or another literal may still lengthen it."""
        if self._data or self._waiting is not None:
            return False
        return self.mode == STRING or (self.mode == PENDING and self._value is TEXT_VALUE)

    @property
    def is_over(self) -> bool:
        """Whether the value is a container that has closed."""
        return self.frame is None and self.mode in (CLOSED, DONE) and isinstance(self.root[0], dict | list)

    def char_at(self, offset: int) -> str:
        """Give the character at a byte of the text that is being read."""
        at = chars_of(self._text, offset - self._base)
        return self._text[at : at + 1]

    def _place(self, pos: int) -> None:
        """Find the place of a value that begins where a key or name might have stood."""
        frame = self.frame
        if not isinstance(frame, PyCall) or not (self.mode == ITEM or (self.mode == NAMED and self._may_be_keyword)):
            return
        count = len(frame.container)
        if frame.named:
            raise self._fault(self._invalid, "An argument without a name comes after one with a name,", pos)
        if frame.positions is None:
            self.slot = count
        elif count < len(frame.positions):
            self.slot = frame.positions[count]
        else:
            raise self._fault("TOO_MANY_POSITIONAL", f"{frame.value.name} has no place for an argument", pos)

    def _deeper(self, pos: int, sink: list[Op]) -> int:
        """Give the depth of a bracket that opens."""
        depth = 1 if self.frame is None else self.frame.depth + 1
        if depth > self._max_depth:
            self._begin(sink)
            raise self._fault("MAX_DEPTH_EXCEEDED", f"More than {self._max_depth} brackets are open", pos)
        return depth

    def _begin(self, sink: list[Op]) -> None:
        """Tell that a value has begun."""
        if self._waiting is None and self.frame is not None:
            sink.append((BEGIN, self.frame, self.slot, None))

    def _wait(self, frame: PyWait) -> None:
        """Open a container of which it is not known yet what it is."""
        frame.held = []
        frame.outer = self._waiting
        self._waiting = self.frame = frame

    def _sink(self) -> list[Op]:
        return self.ops if self._waiting is None else self._waiting.held

    def _link(self, frame: PyFrame | None, slot: Slot, value: Any) -> None:
        container: Any = self.root if frame is None else frame.container
        if frame is not None and frame.kind in KEYED:
            container[slot] = value
        else:
            container.append(value)

    def _open(self, frame: PyFrame, sink: list[Op]) -> None:
        self._link(frame.parent, frame.slot, frame.value)
        sink.append((OPEN, frame.parent, frame.slot, frame))
        self.frame = frame

    def _cut(self, text: str, pos: int, sink: list[Op]) -> int:
        """Keep a token that may go on."""
        self._begin(sink)
        self.tail = text[pos:]
        return len(text)

    def _in_line(self) -> bool:
        """Whether a line break ends the statement."""
        return self.frame is None or self.frame.kind == BARE

    def _ends_line(self, text: str, pos: int, char: str) -> bool | None:
        """Whether the statement ends here; None when the end of the text cuts what may be a closing mark."""
        if char in LINE_ENDS:
            return char != ";" or not self._json
        closing = self._closing
        if not closing or char != closing[0]:
            return False
        rest = text[pos : pos + len(closing)]
        if rest == closing:
            return True
        if pos + len(rest) == len(text) and not rest.strip(char):
            self.tail = rest
            return None
        return False

    def _name_offset(self) -> int:
        return self._name_at if self._name_pos < 0 else self._base + utf8_size(self._text[: self._name_pos])

    def _repair(self, kind: str, pos: int) -> None:
        if len(self.repairs) < _MAX_REPAIRS:
            self._repair_at(kind, self._base + utf8_size(self._text[:pos]))

    def _repair_at(self, kind: str, offset: int) -> None:
        self.repairs.append((kind, offset))

    def _unexpected(self, char: str, pos: int) -> StreamError:
        frame = self.frame
        if self._finishing and char == "\n":
            return self._fault(self._incomplete, "The text ended inside a value", pos)
        if char in ")]}":
            if frame is not None and frame.kind == KEY:
                frame = frame.parent
            if frame is None:
                return self._fault("UNEXPECTED_TOKEN", f"Unexpected {char!r} with nothing open", pos)
            if char != CLOSERS[frame.kind]:
                return self._fault("MISMATCHED_CLOSING", f"{char!r} closes a bracket of another kind", pos)
        return self._fault(self._invalid, f"Unexpected {char!r}", pos)

    def _out_of_range(self, pos: int) -> StreamError:
        return self._fault("NON_FINITE_NUMBER", "A number is out of the range that can be held: it begins", pos)

    def _fault(self, code: str, message: str, pos: int) -> StreamError:
        return self._fault_at(code, message, self._base + utf8_size(self._text[:pos]))

    def _fault_at(self, code: str, message: str, offset: int) -> StreamError:
        return StreamError(code, f"{message} at byte {offset}.", byte_offset=offset)
