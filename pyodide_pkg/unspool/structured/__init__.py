"""Text to values: one guarded door for whole JSON, scanners for JSON in pieces, and the events they give."""

from unspool.structured.json_stream import JsonStream
from unspool.structured.strict_json import loads
from unspool.structured.tree import Patch, StreamState

__all__ = ["JsonStream", "Patch", "StreamState", "loads"]


def __dir__() -> list[str]:
    return sorted(__all__)
