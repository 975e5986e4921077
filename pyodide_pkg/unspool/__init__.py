"""Typed LLM streams for Python in the browser: ask a model for a type, watch its fields fill in, get a validated value.

`import unspool as us`. Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool import errors, integrations, llms, stream, testing
    from unspool.contracts import Request
    from unspool.errors import (
        BridgeError,
        CallCancelledError,
        ConfigError,
        NetworkError,
        OutputValidationError,
        ProviderError,
        RequestTimeoutError,
        StreamError,
        StreamTruncatedError,
        TransportError,
        UnspoolError,
        WireError,
    )
    from unspool.functions import QueryStream, query, query_stream
    from unspool.integrations.adapter import define_adapter
    from unspool.integrations.read import StructuredReader, read_structured
    from unspool.integrations.session import Diagnostic
    from unspool.messages import (
        AssistantMessage,
        Message,
        ReasoningPart,
        RefusalPart,
        SystemMessage,
        TextPart,
        ToolCall,
        ToolMessage,
        ToolResult,
        Usage,
        UserMessage,
    )
    from unspool.model import LanguageModel
    from unspool.options import CallOptions
    from unspool.schema import Schema
    from unspool.structured.events import (
        Cancelled,
        FieldEnd,
        FieldStart,
        GenerationComplete,
        GenerationFailed,
        ObjectEnd,
        ObjectStart,
        ParsingFailed,
        StringFieldDelta,
        StructuredEvent,
        TextDelta,
    )
    from unspool.structured.json_stream import JsonStream
    from unspool.structured.pool import StreamCompletion, StreamPool, StreamUpdate
    from unspool.structured.tree import Patch, StreamState

__version__ = "0.1.0"

__all__ = [
    "AssistantMessage",
    "BridgeError",
    "CallCancelledError",
    "CallOptions",
    "Cancelled",
    "ConfigError",
    "Diagnostic",
    "FieldEnd",
    "FieldStart",
    "GenerationComplete",
    "GenerationFailed",
    "JsonStream",
    "LanguageModel",
    "Message",
    "NetworkError",
    "ObjectEnd",
    "ObjectStart",
    "OutputValidationError",
    "ParsingFailed",
    "Patch",
    "ProviderError",
    "QueryStream",
    "ReasoningPart",
    "RefusalPart",
    "Request",
    "RequestTimeoutError",
    "Schema",
    "StreamCompletion",
    "StreamError",
    "StreamPool",
    "StreamState",
    "StreamTruncatedError",
    "StreamUpdate",
    "StringFieldDelta",
    "StructuredEvent",
    "StructuredReader",
    "SystemMessage",
    "TextDelta",
    "TextPart",
    "ToolCall",
    "ToolMessage",
    "ToolResult",
    "TransportError",
    "UnspoolError",
    "Usage",
    "UserMessage",
    "WireError",
    "__version__",
    "define_adapter",
    "errors",
    "integrations",
    "llms",
    "query",
    "query_stream",
    "read_structured",
    "stream",
    "testing",
]

_MODULES = ("errors", "integrations", "llms", "stream", "testing")
_HOMES = {
    "contracts": "Request",
    "errors": (
        "BridgeError CallCancelledError ConfigError NetworkError OutputValidationError ProviderError "
        "RequestTimeoutError StreamError StreamTruncatedError TransportError UnspoolError WireError"
    ),
    "functions": "QueryStream query query_stream",
    "integrations.adapter": "define_adapter",
    "integrations.read": "StructuredReader read_structured",
    "integrations.session": "Diagnostic",
    "messages": (
        "AssistantMessage Message ReasoningPart RefusalPart SystemMessage TextPart ToolCall ToolMessage ToolResult "
        "Usage UserMessage"
    ),
    "model": "LanguageModel",
    "options": "CallOptions",
    "schema": "Schema",
    "structured.events": (
        "Cancelled FieldEnd FieldStart GenerationComplete GenerationFailed ObjectEnd ObjectStart ParsingFailed "
        "StringFieldDelta StructuredEvent TextDelta"
    ),
    "structured.json_stream": "JsonStream",
    "structured.pool": "StreamCompletion StreamPool StreamUpdate",
    "structured.tree": "Patch StreamState",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
