"""What tests of providers share: one response body through the machine, cut in every way, into a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.support import splits

from unspool.contracts import ProviderDecoder
from unspool.messages import Message
from unspool.stream import (
    BlockAssembler,
    Record,
    RecordWriter,
    ResponseMachine,
    assemble_records,
    check_order,
    expand_records,
)
from unspool.stream.chunks import Chunk, Finish
from unspool.structured import strict_json

FIXTURES = Path(__file__).parent / "fixtures" / "wire"


def chunks_of(machine: ResponseMachine, slices: Sequence[Any]) -> list[Chunk]:
    """Every chunk of a response, checked for order."""
    chunks: list[Chunk] = []
    for piece in slices:
        chunks += machine.feed(piece)
    chunks += machine.finish()
    check_order(chunks)
    return chunks


def assembled(chunks: Sequence[Chunk]) -> Message:
    """The message that the chunks make."""
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler.message()


def message_of(
    body: bytes,
    decoder: Callable[[], ProviderDecoder],
    content_type: str | None = "text/event-stream",
    *,
    seed: int = 0,
    **limits: int,
) -> tuple[Message, Finish]:
    """Decode a body whole, byte by byte and at seeded places, demand the same each time, and give the outcome."""
    outcomes: list[list[Chunk]] = []
    for slices in splits(body, seed):
        outcomes.append(chunks_of(ResponseMachine(decoder(), content_type=content_type, **limits), slices))
        assert [chunk.to_wire() for chunk in outcomes[-1]] == [chunk.to_wire() for chunk in outcomes[0]]
    finish = outcomes[0][-1]
    assert isinstance(finish, Finish)
    message = assembled(outcomes[0])
    check_stored(outcomes[0], message)
    return message, finish


def check_stored(chunks: Sequence[Chunk], message: Message) -> None:
    """Records of the response and its message, written as JSON and read again, are the same."""
    writer = RecordWriter()
    records: list[Record] = []
    for number, chunk in enumerate(chunks):
        records += writer.feed(chunk, number * 16.7)
    records = strict_json.loads(json.dumps(records + writer.finish()))
    expanded = [(number * 16.7, stored(chunk)) for number, chunk in enumerate(chunks)]
    assert [(at, stored(chunk)) for chunk, at in expand_records(records)] == expanded
    assert assemble_records(records).message() == message
    assert Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) == message


def stored(chunk: Chunk) -> Any:
    """The wire form without the message so far, which records tell anyway."""
    wire: dict[str, Any] = chunk.to_wire()
    wire.get("error", {}).pop("partial", None)
    return json.loads(json.dumps(wire))
