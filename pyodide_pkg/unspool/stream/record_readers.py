"""Questions to the records of a response, answered without expanding them. No IO, no clock.

Each reads no further than it must. Records are taken as `RecordWriter` writes them: of a malformed one a reader says so
(WireError PROTOCOL) when it comes upon it, but only `expand_records` checks everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from unspool.errors import ConfigError
from unspool.stream.assembler import BlockAssembler
from unspool.stream.chunks import Chunk, TextDelta, chunk_has_visible_text, is_visible_chunk
from unspool.stream.records import (
    Record,
    check_record,
    checked_records,
    record_chunk,
    record_time,
    run_chunks,
    run_cuts,
    run_delta,
    run_times,
)
from unspool.tagged import Tagged

_MAY_BE_SEEN = ("block-start", "block-end")


def first_token_time(records: Iterable[Record]) -> float | None:
    """Say when the model's first token came, shown or not; None when none has come.

    Args:
        records: of one response, in order.
    Returns:
        A time as `RecordWriter` was told it, in milliseconds.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    for run, where in _runs(records):
        if run["text"]:
            return _first_time(run, where)
    return None


def first_visible_time(records: Iterable[Record]) -> float | None:
    """Say when the first chunk came that a reader sees (`is_visible_chunk`); None when none has come.

    Args:
        records: of one response, in order.
    Returns:
        A time as `RecordWriter` was told it, in milliseconds.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    for record, where in _visible(records):
        return _first_time(record, where) if record["type"] == "run" else record_time(record, where)
    return None


def has_visible_content(records: Iterable[Record]) -> bool:
    """Whether a reader sees anything of the response: text, a refusal, a tool call, a picture.

    Args:
        records: of one response, in order.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    return any(True for _ in _visible(records))


def has_visible_text(records: Iterable[Record]) -> bool:
    """Whether the response has text to show that is more than white space.

    Args:
        records: of one response, in order.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    for record, where in _checked(records):
        if record["type"] == "run":
            if record["of"] == TextDelta.type and record["text"].strip():
                return True
        elif _type_of(record) == "block-end" and chunk_has_visible_text(record_chunk(record, where)):
            return True
    return False


def last_chunk[C: Chunk](records: Sequence[Record], kind: type[C]) -> tuple[C, float] | None:
    """Give the last chunk of a type and its time; None when there is none. Reads from the end.

    Args:
        records: of one response, in order.
        kind: class of the chunk, such as `Finish`.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    _check_kind(kind)
    if not isinstance(checked_records(records), Sequence):
        raise ConfigError("INVALID_OPTIONS", "To be read from the end, records must be a list.")
    for place in range(len(records) - 1, -1, -1):
        where = f"records[{place}]"
        record = check_record(records[place], where)
        if _type_of(record) == kind.type:
            chunk, at = _timed(record, where)[-1]
            if isinstance(chunk, kind):
                return chunk, at
    return None


def chunks_of[C: Chunk](records: Iterable[Record], kind: type[C]) -> Iterator[tuple[C, float]]:
    """Give all chunks of a type with their times, in order. Other records are not unpacked.

    Args:
        records: of one response, in order.
        kind: class of the chunks, such as `TextDelta`.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    _check_kind(kind)
    for record, where in _checked(records):
        if _type_of(record) == kind.type:
            for chunk, at in _timed(record, where):
                if isinstance(chunk, kind):
                    yield chunk, at


def joined_text(records: Iterable[Record], kind: Literal["text", "reasoning", "refusal"] = "text") -> str:
    """Give the text, the reasoning or the refusal of the response as far as it came, as its message has it.

    Args:
        records: of one response, in order.
        kind: which of them.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    if kind not in ("text", "reasoning", "refusal"):
        raise ConfigError("INVALID_OPTIONS", "kind must be 'text', 'reasoning' or 'refusal'.")
    message = assemble_records(records).message()
    return {"text": message.text, "reasoning": message.reasoning, "refusal": message.refusal}[kind]


def assemble_records(records: Iterable[Record]) -> BlockAssembler:
    """Put the message together, one delta for each run.

    Args:
        records: of one response, in order.
    Returns:
        An assembler as if all chunks had been fed to it: same blocks, usage, replay state and finish.
    Raises:
        WireError: PROTOCOL when a record that is read is malformed.
    """
    assembler = BlockAssembler()
    for record, where in _checked(records):
        is_run = record["type"] == "run"
        assembler.feed(run_delta(record, record["text"]) if is_run else record_chunk(record, where))
    return assembler


def _check_kind(kind: Any) -> None:
    if not isinstance(kind, type) or not issubclass(kind, Tagged):
        raise ConfigError("INVALID_OPTIONS", "kind must be a class of unspool.stream.chunks.")


def _checked(records: Iterable[Record]) -> Iterator[tuple[Mapping[str, Any], str]]:
    for place, record in enumerate(checked_records(records)):
        where = f"records[{place}]"
        yield check_record(record, where), where


def _runs(records: Iterable[Record]) -> Iterator[tuple[Mapping[str, Any], str]]:
    return ((record, where) for record, where in _checked(records) if record["type"] == "run")


def _visible(records: Iterable[Record]) -> Iterator[tuple[Mapping[str, Any], str]]:
    for record, where in _checked(records):
        if record["type"] == "run":
            if record["of"] == TextDelta.type and record["text"]:
                yield record, where
        elif _type_of(record) in _MAY_BE_SEEN and is_visible_chunk(record_chunk(record, where)):
            yield record, where


def _first_time(run: Mapping[str, Any], where: str) -> float:
    """Give the time of the first delta of a run that has text."""
    for size, at in zip(run_cuts(run, where), run_times(run, where), strict=False):
        if size:
            return at
    return record_time(run, where)


def _type_of(record: Mapping[str, Any]) -> object:
    """Give the type of the chunks of a record."""
    if record["type"] == "run":
        return record["of"]
    chunk = record["chunk"]
    return cast("Mapping[str, Any]", chunk).get("type") if isinstance(chunk, Mapping) else None


def _timed(record: Mapping[str, Any], where: str) -> list[tuple[Chunk, float]]:
    if record["type"] == "run":
        return run_chunks(record, where)
    return [(record_chunk(record, where), record_time(record, where))]
