"""What tests of partial values share: an answer in slices, watched after each of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from unspool.schema import Schema
from unspool.schema.levels import UnknownLevel
from unspool.schema.partial import Partial
from unspool.schema.partial_builder import PartialBuilder
from unspool.schema.tree_follower import TreeFollower
from unspool.schema.views import View, part_of
from unspool.structured.events import FieldInvalid
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine


class Watched:
    """One answer while it was read."""

    def __init__(self, T: Any, protocol: Any = "json", *, drops_nulls: bool = False, once: bool = False) -> None:
        """
        Args:
            T, protocol, drops_nulls: as of `PartialBuilder`.
            once: do not build a second time from the tree, to compare.
        """
        self.once = once
        self.schema = Schema.of(T)
        self.protocol = protocol
        self.builder = PartialBuilder(self.schema, protocol=protocol, drops_nulls=drops_nulls)
        self.partial: Partial[Any] = Partial(self.builder)
        self.machine = (
            PyReplyMachine(classes=self.schema.classes, names=self.schema.names)
            if protocol == "python"
            else JsonReplyMachine()
        )
        builder = PartialBuilder(self.schema, drops_nulls=drops_nulls)
        self._silent = JsonReplyMachine(), TreeFollower(builder), builder, Partial[Any](builder)
        self.shown: list[Any] = []
        """A snapshot for each slice that changed something."""
        self.invalid: list[FieldInvalid] = []
        self._parts: dict[tuple[Any, ...], tuple[str, Any]] = {}

    def feed(self, text: str) -> Watched:
        events = self.machine.feed(text)
        self.invalid += [fault for _, fault in self.builder.feed(events)]
        if isinstance(self.machine, JsonReplyMachine) and not self.once:
            self._follow(text)
        if self.builder.has_changed:
            self.shown.append(self.partial.snapshot())
            if not self.once:
                self._go_forward()
        return self

    def _go_forward(self) -> None:
        """Demand that no state goes back, and that a part which has closed stays the same object."""
        for path, part in open_parts(self.partial.value):
            state = self.partial.state(path)
            before, known = self._parts.get(path, ("growing", None))
            assert STATES.index(state) >= STATES.index(before), (path, before, state)
            if before == "complete" and not isinstance(known, View):
                assert part is known, (path, known, part)
            self._parts[path] = state, part

    def _follow(self, text: str) -> None:
        """Demand the same of who looks at the tree instead of the events."""
        silent, follower, builder, partial = self._silent
        assert isinstance(silent, JsonReplyMachine)
        told = silent.feed(text, tells=False)
        assert told == []
        shown = silent.shown
        if shown is not None:
            follower.follow(*shown)
        assert builder.invalid == self.builder.invalid
        assert builder.has_changed == self.builder.has_changed
        assert repr(partial) == repr(self.partial)
        path = shown[1][0] if shown is not None and shown[1] is not None else ()
        for end in range(len(path) + 1):
            assert builder.state(path[:end]) == self.builder.state(path[:end])

    def finish(self) -> Any:
        """Validate the whole, and give the result."""
        result = self.schema.validate(self.machine.finish(), protocol=self.protocol)
        self.builder.finish(result)
        return result

    @property
    def faults(self) -> list[tuple[Any, ...]]:
        return [(*fault.path, fault.message) for fault in self.invalid]


def watched(T: Any, slices: Iterable[str], protocol: Any = "json", **options: Any) -> Watched:
    """Feed slices, without the end."""
    seen = Watched(T, protocol, **options)
    for text in slices:
        seen.feed(text)
    return seen


STATES = ["absent", "growing", "complete"]


def open_parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Give what is shown in open containers of which it is known what they are, with its path."""
    if not isinstance(value, View) or isinstance(part_of(value).opening.level, UnknownLevel):
        return
    shown = part_of(value).shown
    for key, part in enumerate(shown) if isinstance(shown, list) else shown.items():
        yield (*path, key), part
        yield from open_parts(part, (*path, key))


def grows(before: Any, after: Any) -> bool:
    """Whether nothing that was shown before is taken back after: text and lists only get longer, fields only more."""
    if before is None or before is after:
        return True
    after = getattr(after, "root", after)
    if isinstance(before, str) and isinstance(after, str):
        return after.startswith(before)
    if isinstance(before, dict) and isinstance(after, Mapping):
        members: Mapping[Any, Any] = after
        return all(key in members and grows(value, members[key]) for key, value in before.items())
    if isinstance(before, dict):  # it has become an instance
        return all(hasattr(after, name) and grows(value, getattr(after, name)) for name, value in before.items())
    if isinstance(before, list) and isinstance(after, list | tuple | deque):
        return len(before) <= len(after) and all(map(grows, before, after))
    if isinstance(before, list):
        return isinstance(after, set | frozenset)  # its last item may have been half of one
    return bool(before == after)
