"""Which name stands on which page of the reference, in which order.

Paths are dotted, below the package; a name without dots is one of `import unspool as us`. `llms.*` is every other
public name of that module, `providers.*` every adapter that a ready-made model takes.
"""

from __future__ import annotations

import ast
from importlib import import_module
from typing import NamedTuple

from tests.design.source import PACKAGE, tree_of


class Group(NamedTuple):
    """Names under one heading."""

    title: str
    words: str
    paths: tuple[str, ...]


class Room(NamedTuple):
    """One page."""

    page: str
    title: str
    words: str
    groups: tuple[Group, ...]


def _group(title: str, words: str, paths: str) -> Group:
    return Group(title, words, tuple(paths.split()))


_ROOMS = (
    Room(
        "queries",
        "Queries",
        "A prompt and a type in; events, a growing value or a validated value out. How they are used: "
        "[queries](../queries.md), [streaming](../streaming.md), [types](../types.md).",
        (
            _group("Asking", "", "query query_stream sample complete LangFunc Template"),
            _group(
                "Reading an answer while it is written",
                "What `query_stream` gives, and what its `partials` and `items` give.",
                "QueryStream partial_stream.Partials Partial partial_stream.Items",
            ),
            _group(
                "Events",
                "Any number of progress events, then exactly one terminal event. Each has a `type`, `to_wire()` for "
                "JSON, and matches by position: `case us.StringFieldDelta(path, delta)`.",
                "StructuredEvent TextDelta FieldStart ObjectStart StringFieldDelta FieldEnd ObjectEnd FieldInvalid "
                "GenerationComplete ParsingFailed GenerationFailed Cancelled",
            ),
            _group(
                "Types and replies",
                "",
                "Schema schema_text format_value parse schema.text.Protocol UNKNOWN Unknown schema.problem.Problem",
            ),
            _group(
                "What queries are made of",
                "Of `unspool.schema`: how a schema is told to a model and to a provider.",
                "schema.example_reply schema.json_prompt schema.schema_prompt schema.native_schema "
                "schema.openai_strict schema.NativeOutput schema.Dialect",
            ),
        ),
    ),
    Room(
        "models",
        "Models",
        "The models that are asked, and what a call may be told. How they are used: [providers](../providers.md).",
        (
            _group(
                "Ready-made models",
                "",
                "llms.OpenAI llms.OpenAIChat llms.Anthropic llms.Gemini llms.* llms.Wllama llms.FunctionModel "
                "llms.HttpModel",
            ),
            _group(
                "Calling",
                "",
                "LanguageModel model.ChunkStream options.Prompt CallOptions http_model.HttpOptions contracts.ApiKey "
                "contracts.Signal",
            ),
            _group(
                "Many providers",
                "",
                "Runtime Route RetryPolicy ModelFacts runtime.PreparedCall runtime.Middleware runtime.Registration "
                "runtime.ConfigurableProvider",
            ),
            _group(
                "Adapters",
                "What a server does differently is said by the adapter of its dialect, given to a model as `adapter=`.",
                "providers.* providers.profiles.profile",
            ),
            _group(
                "Writing one of your own",
                "What a model, a transport or an adapter of your own is given and must give.",
                "Request contracts.OutputSchema contracts.Adapter contracts.ProviderDecoder contracts.HttpRequest "
                "contracts.Transport contracts.Response",
            ),
        ),
    ),
    Room(
        "messages",
        "Messages",
        "What a conversation is made of; all of it immutable, with `to_wire()` for JSON. How they are used: "
        "[messages](../messages.md), [tools](../tools.md).",
        (
            _group("Messages", "", "Message SystemMessage UserMessage AssistantMessage ToolMessage Usage Origin"),
            _group(
                "Parts",
                "",
                "TextPart Image File ReasoningPart RefusalPart ToolCall ToolResult MessagePart ProviderPart Replay",
            ),
            _group(
                "What a model is shown",
                "",
                "ImagePolicy messages.project messages.unnested messages.content_id messages.images_of "
                "messages.image_sizes messages.offloaded_image_prefix_count messages.file_line messages.image_line",
            ),
            _group(
                "Types",
                "",
                "messages.Role messages.ROLES messages.FinishReason messages.FINISH_REASONS messages.Part "
                "messages.Content messages.ImagePricing",
            ),
        ),
    ),
    Room(
        "structured",
        "Incremental text and tool calls",
        "JSON and Python syntax in pieces, and the tool calls in the events of other SDKs. How they are used: "
        "[streaming](../streaming.md), [tool streams](../tool-streams.md).",
        (
            _group("One text", "", "JsonStream PyStream StreamState Patch structured.loads"),
            _group("Values of Python syntax", "", "PyObject PyName PySet"),
            _group("Many texts", "", "StreamPool StreamUpdate StreamProgress StreamCompletion"),
            _group(
                "Tool calls of other SDKs",
                "",
                "read_structured StructuredReader define_adapter integrations.adapter.Operation Diagnostic "
                "integrations.session.Session integrations.session.SessionOptions integrations.session.StreamLimits",
            ),
            _group(
                "Integrations",
                "Each is given to `read_structured`, or called for a session. They import no SDK.",
                "integrations.Integration integrations.*",
            ),
        ),
    ),
    Room(
        "streams",
        "Streams",
        "Bytes to chunks, chunks to blocks, and the records that keep a stream. How they are used: "
        "[streaming](../streaming.md).",
        (
            _group(
                "Chunks",
                "What a model's stream gives, whatever the provider: blocks, at most one usage report, exactly one "
                "`Finish`.",
                "stream.chunks.Chunk stream.chunks.BlockStart stream.chunks.TextDelta stream.chunks.ReasoningDelta "
                "stream.chunks.ToolArgumentsDelta stream.chunks.BlockEnd stream.chunks.UsageReport "
                "stream.chunks.Finish stream.chunks.Delta stream.chunks.BlockKind",
            ),
            _group(
                "Asking a chunk",
                "",
                "stream.is_token_delta stream.is_visible_chunk stream.chunk_has_visible_text",
            ),
            _group(
                "Machines",
                "Synchronous: data in, what it means out.",
                "stream.SseDecoder stream.SseEvent stream.ResponseMachine stream.BlockAssembler stream.ChunkOrder "
                "stream.check_order",
            ),
            _group(
                "Records",
                "A stream with its times, to be kept and read again.",
                "stream.RecordWriter stream.Record stream.TimedChunk stream.expand_records stream.assemble_records "
                "stream.chunks_of stream.last_chunk stream.joined_text stream.first_token_time "
                "stream.first_visible_time stream.has_visible_content stream.has_visible_text",
            ),
        ),
    ),
    Room(
        "errors",
        "Errors",
        "One tree; route on `code`. Each code with its cause and what to do: [errors](../errors.md).",
        (
            _group(
                "Classes",
                "",
                "UnspoolError ConfigError TransportError NetworkError RequestTimeoutError ProviderError WireError "
                "StreamTruncatedError StreamError OutputValidationError CallCancelledError BridgeError",
            ),
        ),
    ),
    Room(
        "testing",
        "Testing",
        "Doubles for your own tests; they need no network and no test framework. How they are used: "
        "[testing](../testing.md).",
        (
            _group(
                "Models and transports", "", "testing.StaticResponse testing.ScriptedTransport testing.HttpResponse"
            ),
            _group("What they give", "", "testing.ScriptedResponse"),
            _group("Adapters", "", "testing.adapter_contract_tests testing.ContractTest"),
        ),
    ),
)


def _filled(paths: tuple[str, ...], listed: set[str]) -> tuple[str, ...]:
    filled: list[str] = []
    for path in paths:
        module, _, name = path.rpartition(".")
        if path == "providers.*":
            filled += _adapters()
        elif name == "*":
            every = [f"{module}.{each}" for each in import_module(f"unspool.{module}").__all__]
            filled += [each for each in every if each not in listed]
        else:
            filled.append(path)
    return tuple(filled)


def _adapters() -> list[str]:
    nodes = ast.walk(tree_of(PACKAGE / "llms.py"))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    told = [(str(node.module).removeprefix("unspool."), alias.name) for node in imports for alias in node.names]
    paths = [f"{module}.{name}" for module, name in told if name.endswith("Adapter")]
    return list(dict.fromkeys(paths))


_LISTED = {path for room in _ROOMS for group in room.groups for path in group.paths}
ROOMS = tuple(
    room._replace(groups=tuple(group._replace(paths=_filled(group.paths, _LISTED)) for group in room.groups))
    for room in _ROOMS
)
