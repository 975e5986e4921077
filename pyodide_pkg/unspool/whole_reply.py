"""parse: a value out of a reply that is already there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast, overload

from unspool.answer import AnswerMachine
from unspool.errors import ConfigError
from unspool.options import check_count
from unspool.schema import Schema
from unspool.schema.text import Protocol, check_protocol
from unspool.stream.chunks import BlockEnd, BlockStart, Finish, TextDelta
from unspool.stream.response import MAX_CHARS as MAX_CHARS_CEILING
from unspool.structured.events import MAX_CHARS, MAX_DEPTH, GenerationComplete, ParsingFailed

if TYPE_CHECKING:
    from typing_extensions import TypeForm

MAX_DEPTH_CEILING = 128
"""What `Schema.validate` takes: beyond it the native frames of recursive models could end a Pyodide interpreter."""


class ParseOptions(TypedDict, total=False):
    """What reading a reply may be told; see `parse`."""

    lenient: bool
    max_chars: int
    max_depth: int


@overload
def parse[R](text: str, T: TypeForm[R], protocol: Protocol = "python", **limits: Unpack[ParseOptions]) -> R: ...
@overload
def parse(text: str, T: Any, protocol: Protocol = "python", **limits: Unpack[ParseOptions]) -> Any: ...
def parse(
    text: str,
    T: Any,
    protocol: Protocol = "python",
    *,
    lenient: bool = False,
    max_chars: int = MAX_CHARS,
    max_depth: int = MAX_DEPTH,
) -> Any:
    """Read a whole reply that is already there, with the machine that streams are read with.

    Args:
        text: the reply, with whatever stands around the value.
        T: what `Schema.of` takes; `str` gives the text as it is, as in a query.
        protocol, lenient, max_chars, max_depth: as in `query_stream`.
    Returns:
        A validated value.
    Raises:
        OutputValidationError: OUTPUT_INVALID or OUTPUT_TOO_LARGE; `partial_value` is the value as far as it was read.
        ConfigError: INVALID_OPTIONS or UNSUPPORTED.
    """
    if not isinstance(cast(Any, text), str):
        raise ConfigError("INVALID_OPTIONS", "What is parsed must be a text; that of a message is its `text`.")
    check_protocol(protocol)
    check_count("max_chars", max_chars, most=MAX_CHARS_CEILING)
    check_count("max_depth", max_depth, most=MAX_DEPTH_CEILING)
    schema = None if T is str else Schema.of(T)
    answer = AnswerMachine(schema, protocol=protocol, lenient=lenient, max_chars=max_chars, max_depth=max_depth)
    end = answer.feed([BlockStart(0, "text"), TextDelta(0, text), BlockEnd(0), Finish("stop")], tells=False)[-1]
    if isinstance(end, GenerationComplete):
        return end.result
    assert isinstance(end, ParsingFailed)
    raise end.error
