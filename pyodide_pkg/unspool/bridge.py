"""The door to JavaScript: JSON text in, JSON text out, and nothing else crosses.

Every answer is `{"ok": true, "value": …}` or `{"ok": false, "error": {"code", "message", …}}`. No exception crosses and
no Python object: all that JavaScript ever holds are the functions of this module.

    register {"modules": {name: source}}  → {}
    open     {"prompt", "lm", "schema"?, "protocol"?, "lenient"?, "check"?, "examples"?, "system"?, "options"?,
             "maxChars"?, "maxDepth"?, "items"?, "repair"?, "returnsMessage"?, "complete"?, "wants"?}  → {"id"}
    pull     {"id"}  → {"events": […], "done", "repairs"?}; what one slice of the network brought, at most 256 events of
             it; one pull at a time. The path of an event begins with `keep` steps of the path before it. The last
             answer tells what lenient reading has put right
    cancel   {"id"}  → {}; the query ends with the event `cancelled`, also for a pull that waits
    close    {"id"}  → {}; the query is dropped, and a pull that waits gets no event, and done
    step     drives the incremental streams of the page; see `page_streams`

`prompt` is text or messages (`{"role", "content"}` or `{"role", "parts"}`). `schema` is `{"type": "module:Name"}`,
`{"jsonSchema", "name"?, "check"?}` (check false: somebody else holds the value to it), or absent for plain text.
`examples` are pairs of a prompt and a value, `items` is the path of a list that the type must have, `repair` an
`{"answer"?, "fault"}` to show the model after the question; `returnsMessage` puts the message into the last event, if a
model was asked. `complete` is a value of which parts are missing; a `prompt`, if any, stands before it. With
`wants: "message"` that message is all that is asked for: only prompt, lm, system and options go with it. `lm` is
`{"object": "module:name"}` or `{"provider"}` with the members of `openai`, `openai-chat`, `anthropic`, `gemini`,
`bedrock`, `cohere` and `ollama` (model, apiKey, baseURL, timeoutS, idleTimeoutS, imageInput; of `openai-chat` also
profile, of `bedrock` region), of `wllama` (its arguments in camelCase), `page` (model: the page's name of a function)
or `scripted` (text, chunkChars). `options`: temperature, maxOutputTokens, stop, seed, reasoningEffort, tools,
toolChoice, extra.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, cast

from unspool import llms
from unspool.answer_stream import QueryStream
from unspool.errors import BridgeError, ConfigError, OutputValidationError, StreamError, UnspoolError
from unspool.functions import Question
from unspool.message_stream import MessageStream
from unspool.messages import Message
from unspool.messages.from_json import message_of
from unspool.model import LanguageModel
from unspool.options import CallOptions
from unspool.page_model import page_model
from unspool.page_modules import make_module, reason
from unspool.page_streams import PageStreams
from unspool.repair import repair_turn
from unspool.schema import Schema
from unspool.schema.part_paths import PartPaths, other_names
from unspool.schema.subschemas import is_array, is_object
from unspool.structured import strict_json
from unspool.structured.events import (
    Cancelled,
    FieldInvalid,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    StructuredEvent,
)
from unspool.tagged import snake_case
from unspool.wire import error_wire, event_json

__all__ = ["cancel", "close", "connect_page", "open", "pull", "register", "step"]

MAX_CALLS = 256
"""Most queries open at once. A page that opens more forgets to close them."""
MAX_BATCH_EVENTS = 256
"""Most events of one batch, faults aside. The page reads a batch in one task: proxies that hold a stream back and then
send it whole would otherwise freeze it."""
MAX_REQUEST_BYTES = 64 * 1024 * 1024
"""Longest message from JavaScript: it may hold a whole conversation, or the source of modules."""

_OPTIONS = {"temperature", "maxOutputTokens", "stop", "seed", "reasoningEffort", "tools", "toolChoice", "extra"}
_HTTP = {
    "anthropic": "Anthropic",
    "bedrock": "Bedrock",
    "cohere": "Cohere",
    "gemini": "Gemini",
    "ollama": "Ollama",
    "openai": "OpenAI",
    "openai-chat": "OpenAIChat",
}
_HTTP_MEMBERS = {"model", "apiKey", "baseURL", "timeoutS", "idleTimeoutS", "imageInput"}
_OWN_MEMBERS = {"bedrock": {"region"}, "openai-chat": {"profile"}}
_LIMITS = {
    "maxChars": "max_chars",
    "maxDepth": "max_depth",
    "protocol": "protocol",
    "lenient": "lenient",
    "check": "check",
    "system": "system",
}
_REQUEST = {"prompt", "schema", "lm", "options", "examples", "items", "repair", "returnsMessage", "complete", *_LIMITS}
_CALL = {"prompt", "lm", "options", "system", "wants"}
_TERMINAL = (GenerationComplete, ParsingFailed, GenerationFailed, Cancelled)


class _Call:
    """One open query."""

    __slots__ = ("names", "path", "pulling", "rest", "returns_message", "schema", "stream")

    def __init__(
        self, stream: QueryStream[Any] | MessageStream, schema: Schema[Any] | None, returns_message: bool
    ) -> None:
        self.stream = stream
        self.schema = schema
        self.returns_message = returns_message
        self.pulling = False
        self.rest: deque[StructuredEvent[Any]] = deque()
        """Events that were read and are more than a batch may hold."""
        self.path: tuple[str | int, ...] = ()  # of the last event which has one
        self.names = other_names(schema)  # until they have been told


class Bridge:
    """The open queries of one interpreter, and the modules that the page registered."""

    def __init__(self, *, max_calls: int = MAX_CALLS) -> None:
        self._calls: dict[str, _Call] = {}
        self._modules: dict[str, types.ModuleType] = {}
        self._max_calls = max_calls
        self._last_id = 0
        self._page: Any = None

    def connect_page(self, page: Any) -> None:
        """Take the object that reaches the models of the page.

        Args:
            page: `open(request)` gives a promise of an id, `read(id)` a promise of JSON text (a list of texts, chunks
                or OpenAI chat chunks) or null at the end, `abort(id)` stops it; `progress(text)` shows how a model in
                the page loads.
        """
        self._page = page

    def register(self, text: str) -> str:
        """Make Python modules out of source text, in order."""
        return _answer(lambda: self._register(_read(text)))

    async def open(self, text: str) -> str:
        """Prepare a query. Nothing is sent before the first pull."""
        return _answer(lambda: self._open(_read(text)))

    async def pull(self, text: str) -> str:
        """Wait for the next batch of events of a query."""
        try:
            id_, call = self._call(_read(text))
            if call is None:
                raise BridgeError("UNKNOWN_CALL", f"There is no open call {id_!r}.")
            if call.pulling:
                raise BridgeError("BRIDGE_PROTOCOL", f"The call {id_!r} is being pulled already.")
        except Exception as error:
            return _refusal(error)
        call.pulling = True
        try:
            return await self._pull(id_, call)
        except BaseException as error:
            self._calls.pop(id_, None)
            await call.stream.aclose()
            if isinstance(error, Exception):
                return _refusal(error)
            raise
        finally:
            call.pulling = False

    def cancel(self, text: str) -> str:
        """Stop a query. Idempotent; a call that is over, or unknown, stays so."""

        def stop() -> dict[str, Any]:
            _, call = self._call(_read(text))
            if call is not None:
                call.stream.abort()
            return {}

        return _answer(stop)

    async def close(self, text: str) -> str:
        """Drop a query and wait until everything is released. Idempotent."""
        try:
            id_, call = self._call(_read(text))
            if call is not None:
                del self._calls[id_]
                await call.stream.aclose()
        except Exception as error:
            return _refusal(error)
        return _answer(dict)

    def _register(self, message: Mapping[str, Any]) -> dict[str, Any]:
        modules = message.get("modules")
        if not is_object(modules):
            raise BridgeError("BRIDGE_PROTOCOL", "register takes modules: names to source texts.")
        for name, source in modules.items():
            if not all(part.isidentifier() for part in name.split(".")) or not isinstance(source, str):
                raise ConfigError(
                    "INVALID_OPTIONS", f"{name!r} cannot be a module: give a dotted name and source text."
                )
            if name not in self._modules and (name in sys.modules or self._is_taken(name.partition(".")[0])):
                raise ConfigError("INVALID_OPTIONS", f"There is a module {name!r} already; choose another name.")
            self._modules[name] = make_module(name, source)
        return {}

    def _is_taken(self, package: str) -> bool:
        """Whether Python could import it: to stand in its place would break whoever does so later."""
        if package in self._modules:
            return False
        known = package in sys.modules or package in sys.stdlib_module_names
        return known or importlib.util.find_spec(package) is not None

    def _call(self, message: Mapping[str, Any]) -> tuple[str, _Call | None]:
        id_ = message.get("id")
        if not isinstance(id_, str):
            raise BridgeError("BRIDGE_PROTOCOL", "The message names no call.")
        return id_, self._calls.get(id_)

    def _open(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if len(self._calls) >= self._max_calls:
            raise StreamError(
                "MAX_ACTIVE_STREAMS_EXCEEDED", f"{self._max_calls} queries are open; close some.", operation="open"
            )
        if message.get("wants") is not None:
            return self._opened(_Call(self._call_of(message), None, True))
        _known(message, _REQUEST, "query")
        schema = self._schema_of(message.get("schema"))
        options: dict[str, Any] = {
            ours: message[name] for name, ours in _LIMITS.items() if message.get(name) is not None
        }
        options.update(_call_options(message.get("options")))
        if message.get("examples") is not None:
            is_python = options.get("protocol") == "python" or ("complete" in message and "protocol" not in options)
            options["examples"] = _examples_of(message["examples"], schema if is_python else None)
        if message.get("items") is not None:
            PartPaths(schema).list_at(message["items"])
        lm = self._model_of(message.get("lm"))
        turn = _repair_of(message.get("repair"))
        returns_message = message.get("returnsMessage") is True
        if "complete" in message:
            from unspool.completion import completion_stream  # here, because few pages ask for it

            prompt = None if message.get("prompt", "") == "" else _prompt_of(message["prompt"])
            stream, is_asked = completion_stream(message["complete"], schema, lm, turn, prompt=prompt, **options)
            return self._opened(_Call(stream, schema, returns_message and is_asked))
        stream = Question(_prompt_of(message.get("prompt")), schema or str, lm, **options).stream(lm, turn)
        return self._opened(_Call(stream, schema, returns_message))

    def _call_of(self, message: Mapping[str, Any]) -> MessageStream:
        _known(message, _CALL, "call")
        if message["wants"] != "message":
            raise ConfigError("INVALID_OPTIONS", 'wants must be "message".')
        prompt = _prompt_of(message.get("prompt"))
        lm = self._model_of(message.get("lm"))
        options = _call_options(message.get("options"))
        options["system"] = message.get("system")
        return MessageStream(lm.stream(prompt, **options))

    def _opened(self, call: _Call) -> dict[str, Any]:
        self._last_id += 1
        id_ = str(self._last_id)
        self._calls[id_] = call
        return {"id": id_}

    async def _pull(self, id_: str, call: _Call) -> str:
        events = call.rest or await call.stream.read()
        done = events is None
        call.rest = events if isinstance(events, deque) else deque(events or ())
        texts: list[str] = []
        # A fault stays with what closed, for readers that hold back what is invalid.
        while call.rest and not done and (len(texts) < MAX_BATCH_EVENTS or isinstance(call.rest[0], FieldInvalid)):
            text, done = _event_text(call.rest.popleft(), call)
            texts.append(text)
        if done:
            self._calls.pop(id_, None)
            await call.stream.aclose()
        last, call.names = f',"names":{json.dumps(call.names)}' if call.names else "", {}
        if done:
            repairs = [{"kind": repair.kind, "byteOffset": repair.byte_offset} for repair in call.stream.repairs]
            last = f',"repairs":{json.dumps(repairs)}{last}' if repairs else last
        return f'{{"ok":true,"value":{{"events":[{",".join(texts)}],"done":{"true" if done else "false"}{last}}}}}'

    def _schema_of(self, data: Any) -> Schema[Any] | None:
        if data is None:
            return None
        if is_object(data):
            if isinstance(data.get("type"), str):
                return Schema.of(self._object(data["type"]))
            given, name = data.get("jsonSchema"), data.get("name")
            if is_object(given):
                return Schema.of_json_schema(
                    given, name=name if isinstance(name, str) else None, check=data.get("check") is not False
                )
        raise ConfigError("INVALID_OPTIONS", "schema must be {jsonSchema}, {type} or null.")

    def _model_of(self, data: Any) -> LanguageModel:
        if not is_object(data):
            raise ConfigError("INVALID_OPTIONS", "lm must name a provider or an object.")
        wanted = dict(data)
        if isinstance(wanted.get("object"), str):
            model = self._object(wanted["object"])
            if not isinstance(model, LanguageModel):
                raise ConfigError("INVALID_OPTIONS", f"{wanted['object']} is no language model.")
            return model
        provider = wanted.pop("provider", None)
        match provider:
            case str() if provider in _HTTP:
                return _made(getattr(llms, _HTTP[provider]), wanted, _HTTP_MEMBERS | _OWN_MEMBERS.get(provider, set()))
            case "wllama":
                return _made(llms.Wllama, {**wanted, "onProgress": self._model_progress(wanted)}, None)
            case "page":
                return page_model(self._page, wanted.get("model"))
            case "scripted":
                return _scripted(wanted)
            case _:
                known = ", ".join((*_HTTP, "wllama", "page", "scripted"))
                raise ConfigError("INVALID_OPTIONS", f"There is no provider {provider!r} here; there are {known}.")

    def _object(self, name: str) -> Any:
        """Find `module:Name` in a registered module, or in one that Python can import."""
        module_name, _, path = name.partition(":")
        module = self._modules.get(module_name)
        try:
            found: Any = module or importlib.import_module(module_name)
            for part in path.split("."):
                found = getattr(found, part)
        except Exception as error:
            raise BridgeError("MODULE_ERROR", f"There is no {name!r}: {reason(error)}.") from error
        return found

    def _model_progress(self, wanted: Mapping[str, Any]) -> Callable[[int, int | None], None]:
        address = str(wanted.get("modelURL", wanted.get("modelUrl")))

        def tell(loaded: int, total: int | None) -> None:
            progress = {"stage": "model", "detail": address, "loadedBytes": loaded}
            if self._page is not None:
                self._page.progress(json.dumps(progress if total is None else {**progress, "totalBytes": total}))

        return tell


def _read(text: str) -> Mapping[str, Any]:
    try:
        message = strict_json.loads(text, max_bytes=MAX_REQUEST_BYTES)
    except StreamError as error:
        raise BridgeError("BRIDGE_PROTOCOL", f"The message is not JSON: {error.message}") from error
    if not is_object(message):
        raise BridgeError("BRIDGE_PROTOCOL", "The message is no object.")
    return message


def _answer(work: Callable[[], Mapping[str, Any]]) -> str:
    try:
        return json.dumps({"ok": True, "value": work()})
    except Exception as error:
        return _refusal(error)


def _refusal(error: Exception) -> str:
    if not isinstance(error, UnspoolError):
        # Its words may hold anything, so only its kind crosses.
        error = BridgeError("INTERNAL", f"An unexpected {type(error).__name__} inside unspool.")
    return json.dumps({"ok": False, "error": error_wire(error)}, allow_nan=False)


def _event_text(event: StructuredEvent[Any], call: _Call) -> tuple[str, bool]:
    """Write an event; one that cannot cross is replaced by the terminal event that says so."""
    try:
        message = call.stream.message if call.returns_message and isinstance(event, GenerationComplete) else None
        text = event_json(event, call.schema, call.path, message=message)
        call.path = getattr(event, "path", call.path)
        return text, isinstance(event, _TERMINAL)
    except UnspoolError as error:
        call.stream._keep_in(error)  # pyright: ignore[reportPrivateUsage]
        return event_json(GenerationFailed(error), None), True


def _known(data: Mapping[str, Any], names: set[str], what: str) -> None:
    for name in data:
        if name not in names:
            raise ConfigError("INVALID_OPTIONS", f"A {what} has no member {name!r}; it has {', '.join(sorted(names))}.")


def _prompt_of(data: Any) -> Any:
    if isinstance(data, str):
        return data
    if not is_array(data):
        raise ConfigError("INVALID_OPTIONS", "prompt must be text or a list of messages.")
    return [message_of(message, f"prompt[{i}]") for i, message in enumerate(data)]


def _examples_of(data: Any, schema: Schema[Any] | None) -> list[tuple[Any, Any]]:
    """Read examples; values that are to be written in Python syntax are made of what an answer in JSON would say."""
    if not is_array(data) or not all(is_array(pair) and len(pair) == 2 for pair in data):
        raise ConfigError("INVALID_OPTIONS", "examples must be pairs: [a prompt, the value that answers it].")
    examples: list[tuple[Any, Any]] = []
    for number, (prompt, value) in enumerate(data):
        try:
            examples.append((_prompt_of(prompt), schema.validate(value) if schema and schema.python_type else value))
        except OutputValidationError as error:
            raise ConfigError("INVALID_OPTIONS", f"examples[{number}] cannot be shown: {error.message}") from error
    return examples


def _repair_of(data: Any) -> list[Message]:
    if data is None:
        return []
    answer, fault = (data.get("answer"), data.get("fault")) if is_object(data) else (None, None)
    if not isinstance(fault, str) or not isinstance(answer, str | None):
        raise ConfigError("INVALID_OPTIONS", "repair must be {answer, fault}.")
    return repair_turn(answer, fault)


def _call_options(data: Any) -> CallOptions:
    if data is None:
        return {}
    if not is_object(data):
        raise ConfigError("INVALID_OPTIONS", "options must be an object.")
    _known(data, _OPTIONS, "query's options")
    return cast("CallOptions", {snake_case(name): value for name, value in data.items()})


def _made(kind: Callable[..., LanguageModel], data: Mapping[str, Any], names: set[str] | None) -> LanguageModel:
    if names is not None:
        _known(data, names, "model")
    try:
        return kind(**{snake_case(name): value for name, value in data.items()})
    except TypeError as error:
        raise ConfigError("INVALID_OPTIONS", f"The model cannot be made like this: {error}.") from error


def _scripted(data: Mapping[str, Any]) -> LanguageModel:
    """A model that always gives the same text, for pages under test."""
    _known(data, {"text", "chunkChars", "model"}, "scripted model")
    text, size = data.get("text"), data.get("chunkChars")
    if not isinstance(text, str) or not (size is None or (isinstance(size, int) and size > 0)):
        raise ConfigError("INVALID_OPTIONS", "A scripted model needs text, and chunkChars of 1 or more.")
    size = size or len(text) or 1
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return llms.FunctionModel(lambda _request: pieces, model="scripted")


_bridge = Bridge()
open = _bridge.open
pull = _bridge.pull
cancel = _bridge.cancel
close = _bridge.close
register = _bridge.register
connect_page = _bridge.connect_page
step = PageStreams().answer
