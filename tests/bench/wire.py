"""Bytes to chunks: a chat completion of 2000 events through the machine and the assembler.

The floor beside it is what no implementation of ours can do without: finding the lines, decoding each event's JSON,
and one object a delta.
"""

from __future__ import annotations

import json
import time
from typing import Any

from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.stream import BlockAssembler, ResponseMachine, SseDecoder
from unspool.stream.chunks import TextDelta

EVENTS = 2_000
SLICE_BYTES = 1_400  # about one packet
ROUNDS = 5


def body(events: int = EVENTS) -> bytes:
    """A response in the form that OpenAI sends: about 240 bytes an event."""
    frames: list[bytes] = []
    for number in range(events):
        event = {
            "id": "chatcmpl-ABfw1e5abtU8OwGr15vOreYVb2MiF",
            "object": "chat.completion.chunk",
            "created": 1727346169,
            "model": "gpt-4o-2024-08-06",
            "system_fingerprint": "fp_5050236cbd",
            "choices": [{"index": 0, "delta": {"content": f" wörd{number}"}, "logprobs": None, "finish_reason": None}],
            "usage": None,
        }
        frames.append(b"data: " + json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n")
    frames.append(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    return b"".join(frames)


def slices(data: bytes, size: int = SLICE_BYTES) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def decode(pieces: list[bytes]) -> str:
    """The whole way, to the message."""
    machine = ResponseMachine(OpenAIChatDecoder(), content_type="text/event-stream")
    assembler = BlockAssembler()
    for piece in pieces:
        for chunk in machine.feed(piece):
            assembler.feed(chunk)
    for chunk in machine.finish():
        assembler.feed(chunk)
    return assembler.message().text


def frame(pieces: list[bytes]) -> int:
    """Server-sent events alone."""
    decoder = SseDecoder()
    return sum(len(decoder.feed(piece)) for piece in pieces)


def floor(data: bytes) -> str:
    """Lines, JSON and one object a delta, with the whole body at hand."""
    texts: list[str] = []
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            choice = json.loads(line[6:])["choices"][0]
            texts.append(TextDelta(0, choice["delta"].get("content", "")).text)
    return "".join(texts)


def seconds(work: Any, *arguments: Any) -> float:
    """The best of some rounds: the others measure what else the machine does."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(*arguments)
        best = min(best, time.perf_counter() - start)
    return best


def measure(realm: str) -> list[dict[str, Any]]:
    """The figures of this module."""
    data = body()
    pieces = slices(data)
    assert decode(pieces) == floor(data)
    whole = seconds(decode, pieces)
    least = seconds(floor, data)
    double = seconds(decode, slices(body(2 * EVENTS)))
    byte_by_byte = seconds(frame, slices(data[:50_000], 1))
    kinds: list[tuple[str, float, str, str | None, float | None, str | None, bool | None]] = [
        (
            "wire: 2000 events to a message",
            whole * 1e3,
            "ms",
            "floor: split, json, one object (how many times its time)",
            whole / least,
            None,
            None,
        ),
        ("wire: one event", whole / EVENTS * 1e6, "us", None, None, None, None),
        ("wire: throughput", len(data) / whole / 1e6, "MB/s", None, None, None, None),
        (
            "wire: 4000 events to a message",
            double * 1e3,
            "ms",
            "2000 events (how many times their time)",
            double / whole,
            "<= 2.3",
            double / whole <= 2.3,
        ),
        ("wire: framing alone, 2000 events", seconds(frame, pieces) * 1e3, "ms", None, None, None, None),
        ("wire: framing 50 KB byte by byte", byte_by_byte * 1e3, "ms", None, None, None, None),
    ]
    names = ("name", "value", "unit", "against", "ratio", "target", "ok")
    return [{"realm": realm, **dict(zip(names, kind, strict=True))} for kind in kinds]
