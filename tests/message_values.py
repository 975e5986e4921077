"""What tests of messages and chunks share: Hypothesis strategies for parts, messages and whole responses."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    StreamTruncatedError,
    UnspoolError,
    WireError,
)
from unspool.messages import (
    FINISH_REASONS,
    ROLES,
    File,
    Image,
    Message,
    MessagePart,
    Origin,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    UsageReport,
)

TEXTS = st.text(max_size=12)
ANY_TEXTS = st.text(st.characters(), max_size=8)
"""Half surrogate pairs included."""
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
REPLAYS = st.builds(Replay, TEXTS, OBJECTS)
MAYBE_REPLAYS = st.none() | REPLAYS

IMAGES = st.builds(
    Image,
    st.binary(min_size=1, max_size=9),
    media_type=st.sampled_from(["image/png", "image/svg+xml", "image/x-icon"]),
    detail=st.sampled_from([None, "auto", "low", "high"]),
    replay=MAYBE_REPLAYS,
) | st.builds(Image, st.just("https://example.org/a.png?b=c"), media_type=st.sampled_from([None, "image/webp"]))
NAMES = st.text(min_size=1, max_size=12)
FILES = st.builds(File, NAMES, media_type=st.none() | TEXTS, path=st.none() | TEXTS, data=st.none() | st.binary()) | (
    st.builds(File, NAMES, size_bytes=st.none() | st.integers(0, 2**60))
)
TEXT_PARTS = st.builds(TextPart, TEXTS, replay=MAYBE_REPLAYS)
RESULTS = st.builds(ToolResult, TEXTS, st.lists(TEXT_PARTS | IMAGES | FILES, max_size=3), st.booleans())
PROVIDER_PARTS = st.builds(ProviderPart, TEXTS, REPLAYS)
FLAT_PARTS: st.SearchStrategy[Part] = st.one_of(
    TEXT_PARTS,
    st.builds(ReasoningPart, TEXTS, redacted=st.booleans(), replay=MAYBE_REPLAYS),
    st.builds(RefusalPart, TEXTS, replay=MAYBE_REPLAYS),
    IMAGES,
    FILES,
    st.builds(ToolCall, TEXTS, TEXTS, TEXTS, st.booleans(), replay=MAYBE_REPLAYS),
    RESULTS,
    PROVIDER_PARTS,
)
COUNTS = st.none() | st.integers(0, 2**60)
USAGES = st.builds(
    Usage,
    COUNTS,
    COUNTS,
    COUNTS,
    cached_input_tokens=COUNTS,
    reasoning_tokens=COUNTS,
    raw=st.none() | OBJECTS,
)
ORIGINS = st.builds(Origin, TEXTS, st.none() | TEXTS, st.none() | TEXTS)


def messages_of(parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Message]:
    return st.builds(
        Message,
        st.sampled_from(ROLES),
        st.lists(parts, max_size=4),
        finish_reason=st.none() | st.sampled_from(FINISH_REASONS),
        raw_finish_reason=st.none() | TEXTS,
        usage=st.none() | USAGES,
        origin=st.none() | ORIGINS,
        metadata=st.none() | OBJECTS,
    )


MESSAGES = st.recursive(
    messages_of(FLAT_PARTS), lambda inner: messages_of(FLAT_PARTS | st.builds(MessagePart, inner)), max_leaves=4
)


@st.composite
def responses(draw: st.DrawFn, texts: st.SearchStrategy[str] = ANY_TEXTS, *, whole: bool = True) -> list[Chunk]:
    """The chunks of a response, in an order that `ChunkOrder` allows; `whole` with its end."""
    chunks: list[Chunk] = []
    kinds = st.sampled_from(["text", "refusal", "reasoning", "tool_call", "image", "web_search"])
    open_: dict[int, str] = {}
    begun = 0
    for _ in range(draw(st.integers(0, 7))):
        if not open_ or draw(st.integers(0, 3)) == 0:
            index = begun * 3 % 7 + 7 * (begun // 7)
            begun += 1
            open_[index] = draw(kinds)
            is_call = open_[index] == "tool_call"
            chunks.append(BlockStart(index, open_[index], *((f"call_{index}", draw(TEXTS)) if is_call else ())))
        index = draw(st.sampled_from(sorted(open_)))
        for _ in range(draw(st.integers(0, 3))):
            chunks += _delta(open_[index], index, draw(texts))
        if draw(st.booleans()):
            chunks.append(draw(_ends(open_.pop(index), index)))
    if not whole and draw(st.booleans()):
        return chunks
    for index in sorted(open_):
        chunks.append(draw(_ends(open_[index], index)))
    if draw(st.booleans()):
        chunks.append(UsageReport(draw(USAGES)))
    return [*chunks, draw(FINISHES)]


def _delta(kind: str, index: int, text: str) -> list[Chunk]:
    match kind:
        case "text" | "refusal":
            return [TextDelta(index, text)]
        case "reasoning":
            return [ReasoningDelta(index, text)]
        case "tool_call":
            return [ToolArgumentsDelta(index, text)]
        case _:
            return []


def _ends(kind: str, index: int) -> st.SearchStrategy[BlockEnd]:
    parts: st.SearchStrategy[Part | None] = st.none()
    if kind == "image":
        parts |= IMAGES
    elif kind == "web_search":
        parts |= PROVIDER_PARTS | TEXT_PARTS
    elif kind == "reasoning":
        parts |= st.builds(ReasoningPart, st.just(""), redacted=st.just(True), replay=REPLAYS)
    return st.builds(BlockEnd, st.just(index), replay=MAYBE_REPLAYS, part=parts)


def errors() -> st.SearchStrategy[UnspoolError]:
    return st.one_of(
        st.builds(
            ProviderError,
            st.sampled_from(["RATE_LIMIT", "OVERLOADED", "PROVIDER", "AUTH"]),
            TEXTS,
            retryable=st.booleans(),
            retry_after_s=st.none() | st.floats(0, 100),
            status=st.none() | st.integers(400, 599),
            request_id=st.none() | TEXTS,
        ),
        st.builds(WireError, st.sampled_from(["PROTOCOL", "BODY_TOO_LARGE", "TOOL_ARGUMENTS_INVALID"]), TEXTS),
        st.builds(StreamTruncatedError, TEXTS),
        st.builds(NetworkError, TEXTS, retryable=st.booleans()),
        st.builds(RequestTimeoutError, TEXTS),
        st.builds(ConfigError, st.sampled_from(["INVALID_CREDENTIAL", "MISSING_CREDENTIAL"]), TEXTS),
    )


FINISHES = st.one_of(
    st.builds(
        Finish,
        st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
        st.none() | TEXTS,
        origin=st.none() | ORIGINS,
        metadata=st.none() | OBJECTS,
    ),
    st.builds(Finish, st.just("error"), st.none() | TEXTS, errors()),
    st.builds(Finish, st.just("aborted"), st.none() | TEXTS, st.builds(CallCancelledError)),
)
