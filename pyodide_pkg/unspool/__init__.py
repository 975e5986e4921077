"""Typed LLM streams for Python in the browser: ask a model for a type, watch its fields fill in, get a validated value.

`import unspool as us`. Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool import errors, integrations, llms, messages, stream, testing
    from unspool.answer_stream import QueryStream
    from unspool.completion import complete
    from unspool.contracts import ModelFacts, Request
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
    from unspool.functions import query, query_stream, sample
    from unspool.integrations.adapter import define_adapter
    from unspool.integrations.read import StructuredReader, read_structured
    from unspool.integrations.session import Diagnostic
    from unspool.lang_func import LangFunc
    from unspool.messages import (
        AssistantMessage,
        File,
        Image,
        ImagePolicy,
        Message,
        MessagePart,
        Origin,
        ProviderPart,
        ReasoningPart,
        RefusalPart,
        Replay,
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
    from unspool.providers.route import RetryPolicy, Route
    from unspool.runtime import Runtime
    from unspool.schema import UNKNOWN, Schema, Unknown, format_value, schema_text
    from unspool.schema.partial import Partial
    from unspool.structured.events import (
        Cancelled,
        FieldEnd,
        FieldInvalid,
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
    from unspool.structured.pool import StreamCompletion, StreamPool, StreamProgress, StreamUpdate
    from unspool.structured.py_stream import PyStream
    from unspool.structured.py_values import PyName, PyObject, PySet
    from unspool.structured.tree import Patch, StreamState
    from unspool.templates import Template
    from unspool.whole_reply import parse

__version__ = "0.1.0"

__all__ = [
    "UNKNOWN",
    "AssistantMessage",
    "BridgeError",
    "CallCancelledError",
    "CallOptions",
    "Cancelled",
    "ConfigError",
    "Diagnostic",
    "FieldEnd",
    "FieldInvalid",
    "FieldStart",
    "File",
    "GenerationComplete",
    "GenerationFailed",
    "Image",
    "ImagePolicy",
    "JsonStream",
    "LangFunc",
    "LanguageModel",
    "Message",
    "MessagePart",
    "ModelFacts",
    "NetworkError",
    "ObjectEnd",
    "ObjectStart",
    "Origin",
    "OutputValidationError",
    "ParsingFailed",
    "Partial",
    "Patch",
    "ProviderError",
    "ProviderPart",
    "PyName",
    "PyObject",
    "PySet",
    "PyStream",
    "QueryStream",
    "ReasoningPart",
    "RefusalPart",
    "Replay",
    "Request",
    "RequestTimeoutError",
    "RetryPolicy",
    "Route",
    "Runtime",
    "Schema",
    "StreamCompletion",
    "StreamError",
    "StreamPool",
    "StreamProgress",
    "StreamState",
    "StreamTruncatedError",
    "StreamUpdate",
    "StringFieldDelta",
    "StructuredEvent",
    "StructuredReader",
    "SystemMessage",
    "Template",
    "TextDelta",
    "TextPart",
    "ToolCall",
    "ToolMessage",
    "ToolResult",
    "TransportError",
    "Unknown",
    "UnspoolError",
    "Usage",
    "UserMessage",
    "WireError",
    "__version__",
    "complete",
    "define_adapter",
    "errors",
    "format_value",
    "integrations",
    "llms",
    "messages",
    "parse",
    "query",
    "query_stream",
    "read_structured",
    "sample",
    "schema_text",
    "stream",
    "testing",
]

_MODULES = ("errors", "integrations", "llms", "messages", "stream", "testing")
_HOMES = {
    "answer_stream": "QueryStream",
    "contracts": "ModelFacts Request",
    "errors": (
        "BridgeError CallCancelledError ConfigError NetworkError OutputValidationError ProviderError "
        "RequestTimeoutError StreamError StreamTruncatedError TransportError UnspoolError WireError"
    ),
    "completion": "complete",
    "functions": "query query_stream sample",
    "integrations.adapter": "define_adapter",
    "integrations.read": "StructuredReader read_structured",
    "integrations.session": "Diagnostic",
    "lang_func": "LangFunc",
    "messages": (
        "AssistantMessage File Image ImagePolicy Message MessagePart Origin ProviderPart ReasoningPart RefusalPart "
        "Replay SystemMessage TextPart ToolCall ToolMessage ToolResult Usage UserMessage"
    ),
    "model": "LanguageModel",
    "options": "CallOptions",
    "providers.route": "RetryPolicy Route",
    "runtime": "Runtime",
    "schema.partial": "Partial",
    "schema": "Schema UNKNOWN Unknown format_value schema_text",
    "structured.events": (
        "Cancelled FieldEnd FieldInvalid FieldStart GenerationComplete GenerationFailed ObjectEnd ObjectStart "
        "ParsingFailed StringFieldDelta StructuredEvent TextDelta"
    ),
    "structured.json_stream": "JsonStream",
    "structured.pool": "StreamCompletion StreamPool StreamProgress StreamUpdate",
    "structured.py_stream": "PyStream",
    "structured.py_values": "PyName PyObject PySet",
    "structured.tree": "Patch StreamState",
    "templates": "Template",
    "whole_reply": "parse",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        is_model = name[:1].isupper() and name in import_module(f"{__name__}.llms").__all__
        hint = f"; it is us.llms.{name}" if is_model else ""
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules[__name__]
        )
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
