"""What users may rely on, as a list. A name that is added or lost shows here first."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import unspool

pytestmark = pytest.mark.host

PUBLIC = {
    # models and messages
    "AssistantMessage",
    "CallOptions",
    "File",
    "Image",
    "ImagePolicy",
    "LanguageModel",
    "Message",
    "MessagePart",
    "ModelFacts",
    "Origin",
    "ProviderPart",
    "ReasoningPart",
    "RefusalPart",
    "Replay",
    "Request",
    "RetryPolicy",
    "Route",
    "Runtime",
    "SystemMessage",
    "TextPart",
    "ToolCall",
    "ToolMessage",
    "ToolResult",
    "Usage",
    "UserMessage",
    "llms",
    "messages",
    # typed queries
    "LangFunc",
    "Template",
    "UNKNOWN",
    "Unknown",
    "complete",
    "format_value",
    "parse",
    "sample",
    "schema_text",
    "Cancelled",
    "FieldEnd",
    "FieldInvalid",
    "FieldStart",
    "GenerationComplete",
    "GenerationFailed",
    "ObjectEnd",
    "ObjectStart",
    "ParsingFailed",
    "Partial",
    "QueryStream",
    "Schema",
    "StringFieldDelta",
    "StructuredEvent",
    "TextDelta",
    "query",
    "query_stream",
    # incremental text
    "PyName",
    "PyObject",
    "PySet",
    "PyStream",
    "JsonStream",
    "Patch",
    "StreamCompletion",
    "StreamPool",
    "StreamProgress",
    "StreamState",
    "StreamUpdate",
    "stream",
    # tool calls of other SDKs
    "Diagnostic",
    "StructuredReader",
    "define_adapter",
    "integrations",
    "read_structured",
    # errors
    "BridgeError",
    "CallCancelledError",
    "ConfigError",
    "NetworkError",
    "OutputValidationError",
    "ProviderError",
    "RequestTimeoutError",
    "StreamError",
    "StreamTruncatedError",
    "TransportError",
    "UnspoolError",
    "WireError",
    "errors",
    # for tests
    "testing",
    # the package
    "__version__",
}


def test_public_names_are_exactly_these() -> None:
    assert set(unspool.__all__) == PUBLIC
    assert len(unspool.__all__) == len(set(unspool.__all__))


def test_public_names_are_there() -> None:
    missing = [name for name in unspool.__all__ if not hasattr(unspool, name)]
    assert not missing
    assert set(unspool.__all__) <= set(dir(unspool))


IMPORT = """
import sys, sysconfig, json
stdlib = sysconfig.get_path("stdlib")
before = set(sys.modules)
import unspool
compiled = [
    name for name, module in sys.modules.items()
    if name not in before
    and (getattr(module, "__file__", None) or "").endswith((".so", ".pyd"))
    and not module.__file__.startswith(stdlib + "/lib-dynload")
]
print(json.dumps({
    "compiled": compiled,
    "foreign": sorted({name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)),
    "loops": "asyncio" in sys.modules and sys.modules["asyncio"]._get_running_loop() is not None,
}))
"""


def test_import_loads_neither_pydantic_nor_anything_compiled() -> None:
    """Import time in the browser, and what a memory snapshot can hold (design, section 2)."""
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True, timeout=60)
    seen = json.loads(done.stdout)
    assert seen["compiled"] == []
    assert seen["foreign"] == ["unspool"]
    assert not seen["loops"]
