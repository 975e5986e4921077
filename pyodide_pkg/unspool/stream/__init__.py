"""Bytes to blocks: server-sent events, chunks, the response machine, the assembler and records. No IO, no clock."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unspool.stream import chunks
from unspool.stream.assembler import BlockAssembler
from unspool.stream.chunks import chunk_has_visible_text, is_token_delta, is_visible_chunk
from unspool.stream.order import ChunkOrder, check_order
from unspool.stream.response import ResponseMachine
from unspool.stream.sse import SseDecoder, SseEvent

if TYPE_CHECKING:
    from unspool.stream.record_readers import (
        assemble_records,
        chunks_of,
        first_token_time,
        first_visible_time,
        has_visible_content,
        has_visible_text,
        joined_text,
        last_chunk,
    )
    from unspool.stream.records import Record, RecordWriter, TimedChunk, expand_records

__all__ = [
    "BlockAssembler",
    "ChunkOrder",
    "Record",
    "RecordWriter",
    "ResponseMachine",
    "SseDecoder",
    "SseEvent",
    "TimedChunk",
    "assemble_records",
    "check_order",
    "chunk_has_visible_text",
    "chunks",
    "chunks_of",
    "expand_records",
    "first_token_time",
    "first_visible_time",
    "has_visible_content",
    "has_visible_text",
    "is_token_delta",
    "is_visible_chunk",
    "joined_text",
    "last_chunk",
]

_WRITING = ("Record", "RecordWriter", "TimedChunk", "expand_records")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    # Loaded on first use: few programs keep records, and all import this package.
    home = "records" if name in _WRITING else "record_readers"
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
