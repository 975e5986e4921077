"""Bytes to blocks: server-sent events, chunks, the response machine and the assembler. No IO, no clock."""

from unspool.stream.assembler import BlockAssembler
from unspool.stream.order import ChunkOrder, check_order
from unspool.stream.response import ResponseMachine
from unspool.stream.sse import SseDecoder, SseEvent

__all__ = ["BlockAssembler", "ChunkOrder", "ResponseMachine", "SseDecoder", "SseEvent", "check_order"]
