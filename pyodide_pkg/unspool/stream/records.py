"""RecordWriter: the chunks of one response and their times in, compact JSON-safe records out; and the way back.

Deltas of one block that follow each other become one run: their joined text, where it was cut, and how much time went
by between them. Every other chunk is a record of its own. Nothing is lost: `expand_records` gives the same chunks at
the same times. No IO, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any, cast

from unspool.errors import ConfigError, WireError
from unspool.frozen_json import freeze_object
from unspool.messages.from_json import mapping
from unspool.stream.chunk_json import chunk_of, is_index
from unspool.stream.chunks import DELTAS, Chunk, Delta, not_a_chunk
from unspool.stream.order import ChunkOrder
from unspool.stream.packed_numbers import pack, unpack, unzigzag, zigzag
from unspool.surrogates import joined
from unspool.tagged import Tagged

Record = Mapping[str, Any]
"""`{"type": "chunk", "at", "chunk"}`, `chunk` being its wire form, or a run: `{"type": "run", "of", "index", "at",
"decimals"?, "text", "cuts", "times"?}`. `of` is the type of its deltas, `at` the time of the first; `cuts` packs the
length of each delta, `times` the difference of each time to the one before, in units of the last of the `decimals`."""
TimedChunk = tuple[Chunk, float]
"""A chunk, and when it came."""

MAX_RUN = 1_024
"""Deltas in one run; bounds what a writer holds."""
MAX_CHUNKS = 1_048_576
"""Default limit for an expansion: a chunk takes some hundred times the memory of its place in a record."""
_MAX_TIME = 2**53
_MAX_DECIMALS = 32
_DELTA_TYPES: dict[Any, type[Delta]] = {kind.type: kind for kind in DELTAS}
_RUN_MEMBERS = {"type", "of", "index", "at", "text", "cuts"}
_CHUNK_MEMBERS = {"type", "at", "chunk"}
_TOLD_BY_RECORDS = ("partial", "text", "partialValue")


class RecordWriter:
    """Writes the records of one response."""

    __slots__ = ("_last", "_order", "_pieces", "_run", "_times")

    def __init__(self) -> None:
        self._order = ChunkOrder()
        self._run: Delta | None = None  # the first delta of the run that is open
        self._pieces: list[str] = []
        self._last = ""  # character of the run
        self._times: list[tuple[int, int]] = []

    def feed(self, chunk: Chunk, at_ms: float) -> list[Record]:
        """Take the next chunk.

        Args:
            chunk: in the order of a response. The two halves of a surrogate pair in one text are kept as the character
                that they are: JSON does not tell them apart.
            at_ms: when it came, in milliseconds from any origin: a whole number or a float, which is kept exactly (a
                float without a fraction comes back as an int). It may be smaller than the one before.
        Returns:
            Records that are complete now; often none.
        Raises:
            ConfigError: INVALID_OPTIONS when the time is no finite number within ±2^53 and of at most 32 decimals, or
                the chunk holds what JSON cannot write.
            WireError: PROTOCOL when the chunk must not come here.
        After an error:
            Unchanged.
        """
        time = _decimal(at_ms)
        if time is None:
            raise ConfigError("INVALID_OPTIONS", "at_ms must be a number of milliseconds within ±2^53.")
        if isinstance(chunk, DELTAS):
            self._order.accept(chunk)
            text = joined(chunk.text, "surrogatepass")
            out = [] if self._continues(chunk, text) else self._closed()
            if self._run is None:
                self._run = chunk
            self._pieces.append(text)
            self._last = text[-1:] or self._last
            self._times.append(time)
            return out
        if not isinstance(cast(Any, chunk), Tagged):
            raise not_a_chunk(chunk)
        record = freeze_object({"type": "chunk", "at": _number(*time), "chunk": _chunk_wire(chunk)}, "the chunk")
        self._order.accept(chunk)
        return [*self._closed(), record]

    def finish(self) -> list[Record]:
        """Give what is left, whether or not the response was over. More may be fed afterwards."""
        return self._closed()

    def _continues(self, delta: Delta, text: str) -> bool:
        run = self._run
        if run is None or run.type != delta.type or run.index != delta.index or len(self._pieces) >= MAX_RUN:
            return False
        # Written as JSON and read again, the halves of a surrogate pair are one character, which has no cut in it.
        return not ("\ud800" <= self._last <= "\udbff" and "\udc00" <= text[:1] <= "\udfff")

    def _closed(self) -> list[Record]:
        run = self._run
        if run is None:
            return []
        decimals = max(places for _, places in self._times)
        times = [mantissa * 10 ** (decimals - places) for mantissa, places in self._times]
        record: dict[str, Any] = {"type": "run", "of": run.type, "index": run.index, "at": _number(*self._times[0])}
        if decimals:
            record["decimals"] = decimals
        record["text"] = "".join(self._pieces)
        record["cuts"] = pack(map(len, self._pieces))
        if len(times) > 1:
            record["times"] = pack(zigzag(after - before) for before, after in pairwise(times))
        self._run = None
        self._pieces.clear()
        self._last = ""
        self._times.clear()
        return [freeze_object(record, "the run")]


def expand_records(records: Iterable[Record], *, max_chunks: int = MAX_CHUNKS) -> Iterator[TimedChunk]:
    """Give the chunks of a response again, and check every detail: for records that come from a store.

    Args:
        records: of one response, from its beginning; it need not be over.
        max_chunks: limit for the number of chunks.
    Returns:
        Each chunk with its time, one by one. The error of a `Finish` is of the same class and holds no partial message;
        `BlockAssembler` puts it there.
    Raises:
        WireError: PROTOCOL, naming the member at fault, when a record is malformed or a chunk is out of order;
            BODY_TOO_LARGE beyond `max_chunks`.
    """
    order = ChunkOrder()
    left = max_chunks
    for place, record in enumerate(checked_records(records)):
        where = f"records[{place}]"
        members = check_record(record, where)
        if members["type"] == "run":
            timed = run_chunks(members, where, left)
        else:
            timed = [(record_chunk(members, where), record_time(members, where))]
        left -= len(timed)
        if left < 0:
            raise too_many(where)
        for chunk, at in timed:
            order.accept(chunk)
            yield chunk, at


def checked_records(records: Iterable[Record]) -> Iterable[Record]:
    """Refuse what cannot hold records.

    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    given: Any = records
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError("INVALID_OPTIONS", "Records must be a sequence of what RecordWriter gives.")
    return records


def check_record(record: Any, where: str) -> Mapping[str, Any]:
    """Check the members of a record and their types, but not what is packed in them.

    Raises:
        WireError: PROTOCOL.
    """
    if isinstance(record, Mapping):
        members = cast("Mapping[str, Any]", record)
        names = set(members)
        match members.get("type"):
            case "chunk" if names == _CHUNK_MEMBERS:
                return members
            case "run" if names - {"decimals", "times"} == _RUN_MEMBERS:
                fault = _run_fault(members)
                if fault is None:
                    return members
                raise _wrong(f"{where}.{fault}")
            case _:
                pass
    raise _wrong(where)


def _run_fault(members: Mapping[str, Any]) -> str | None:
    """Name the member of a run that is of a wrong type."""
    decimals = members.get("decimals", 0)
    if not isinstance(members["of"], str) or members["of"] not in _DELTA_TYPES:
        return "of"
    if not is_index(members["index"]):
        return "index"
    if type(decimals) is not int or not 0 <= decimals <= _MAX_DECIMALS:
        return "decimals"
    for name in ("text", "cuts", "times"):
        if not isinstance(members.get(name, ""), str):
            return name
    return None if members["cuts"] else "cuts"


def run_delta(run: Mapping[str, Any], text: str) -> Delta:
    """Give a delta of a run."""
    return _DELTA_TYPES[run["of"]](run["index"], text)


def record_chunk(record: Mapping[str, Any], where: str) -> Chunk:
    """Give the chunk of a record that is no run.

    Raises:
        WireError: PROTOCOL.
    """
    data = record["chunk"]
    try:
        chunk = chunk_of(mapping(data, f"{where}.chunk"), f"{where}.chunk")
    except ConfigError as error:
        raise WireError("PROTOCOL", error.message) from error
    if isinstance(chunk, DELTAS):
        raise _wrong(f"{where}.chunk.type")
    return chunk


def run_cuts(run: Mapping[str, Any], where: str) -> Iterator[int]:
    """Give the length of each delta of a run. Raises WireError (PROTOCOL) where they are no packed numbers."""
    return _unpacked(run["cuts"], f"{where}.cuts")


def run_times(run: Mapping[str, Any], where: str) -> Iterator[float]:
    """Give the time of each delta of a run. Raises WireError (PROTOCOL) where they are no times."""
    decimals = run.get("decimals", 0)
    first = _decimal(run["at"])
    if first is None or first[1] > decimals:
        raise _wrong(f"{where}.at")
    yield _number(*first)
    time = first[0] * 10 ** (decimals - first[1])
    for difference in _unpacked(run.get("times", ""), f"{where}.times"):
        time += unzigzag(difference)
        if abs(time) > _MAX_TIME * 10**decimals:
            raise _wrong(f"{where}.times")
        yield _number(time, decimals)


def run_chunks(run: Mapping[str, Any], where: str, max_chunks: int = MAX_CHUNKS) -> list[TimedChunk]:
    """Give the deltas of a run.

    Raises:
        WireError: PROTOCOL when the packed numbers do not fit each other and the text; BODY_TOO_LARGE.
    """
    # One more than fits tells, and nothing is read of what is behind it.
    cuts = list(islice(run_cuts(run, where), max_chunks + 1))
    if len(cuts) > max_chunks:
        raise too_many(where)
    times = list(islice(run_times(run, where), len(cuts) + 1))
    text: str = run["text"]
    if sum(cuts) != len(text):
        raise _wrong(f"{where}.cuts")
    if len(times) != len(cuts):
        raise _wrong(f"{where}.times")
    out: list[TimedChunk] = []
    at = 0
    for size, time in zip(cuts, times, strict=True):
        out.append((run_delta(run, text[at : at + size]), time))
        at += size
    return out


def record_time(record: Mapping[str, Any], where: str) -> float:
    """Give the time of a record: of a run, that of its first delta. Raises WireError (PROTOCOL) when it is none."""
    time = _decimal(record["at"])
    if time is None:
        raise _wrong(f"{where}.at")
    return _number(*time)


def too_many(where: str) -> WireError:
    return WireError("BODY_TOO_LARGE", f"The records hold too many chunks; the limit is passed at {where}.")


def _wrong(where: str) -> WireError:
    return WireError("PROTOCOL", f"{where} is not as records are written.")


def _unpacked(text: str, where: str) -> Iterator[int]:
    try:
        yield from unpack(text)
    except WireError as error:
        raise _wrong(where) from error


def _chunk_wire(chunk: Chunk) -> dict[str, object]:
    wire: dict[str, Any] = chunk.to_wire()
    if "error" in wire:
        wire["error"] = {name: value for name, value in wire["error"].items() if name not in _TOLD_BY_RECORDS}
    return wire


def _decimal(time: Any) -> tuple[int, int] | None:
    """Give a time as a whole number and the number of its decimals, as its shortest decimal form has them."""
    if isinstance(time, bool) or not isinstance(time, int | float) or not -_MAX_TIME <= time <= _MAX_TIME:
        return None
    if isinstance(time, int) or time.is_integer():
        return int(time), 0
    digits, _, exponent = repr(time).partition("e")
    whole, _, fraction = digits.partition(".")
    places = len(fraction) - int(exponent or 0)
    return (int(whole + fraction), places) if places <= _MAX_DECIMALS else None


def _number(mantissa: int, decimals: int) -> float:
    # Dividing whole numbers rounds correctly, so that the very float comes back whose shortest form this is.
    whole, rest = divmod(mantissa, 10**decimals)
    return float(mantissa / 10**decimals) if rest else whole
