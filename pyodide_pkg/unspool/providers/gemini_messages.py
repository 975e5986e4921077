"""A conversation in Gemini's words: `contents`, and the `systemInstruction` above them. Pure.

Source: https://ai.google.dev/api/caching#Content; https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from unspool.errors import ConfigError
from unspool.messages import (
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
)
from unspool.providers.conversation import arguments_of, misplaced, own_replay
from unspool.providers.fields import Fields
from unspool.providers.gemini_models import generation_of
from unspool.providers.gemini_tool_calls import ADAPTER

NO_SIGNATURE = "skip_thought_signature_validator"
"""What Google takes in place of a signature for calls that its model did not make, or made before it signed them."""

_API = "Gemini's API"
_SIGNS = (3, 0)
"""The first generation that refuses a call without a signature; and that is shown images inside a tool's result."""
_TYPES = {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "webp": "webp", "gif": "gif", "heic": "heic", "heif": "heif"}

type Wire = dict[str, Any]
type Turn = Literal["user", "model", "results", "images"]


class GeminiConversation:
    """Collects the messages of one request.

    Turns of the same kind that follow each other become one. Results of tools stay apart from what the user says next:
    they must answer the calls before them, and nothing else.
    """

    def __init__(self, model: str) -> None:
        generation = generation_of(model)
        self._signs = generation is not None and generation >= _SIGNS
        self._turns: list[tuple[Turn, list[Wire]]] = []
        self._system: list[Wire] = []
        self._calls: dict[str, tuple[int, str, str | None]] = {}
        """Of each call so far: its place, its name, and the provider's id if it has one."""
        self._count = 0
        self._results: list[tuple[int, Wire]] = []
        """Of the calls before, with the places of these: without ids the API takes results in their order."""
        self._images: list[Wire] = []
        """Of tools' results, until they can follow these."""

    def add(self, message: Message) -> None:
        """Take the next message.

        Raises:
            ConfigError: INVALID_OPTIONS for a part in a message of the wrong role, a call that was cut or whose
                arguments are no object, a result without its call; UNSUPPORTED for a part without a form here.
        """
        if message.role != "tool":
            self._end_results()
        match message.role:
            case "system":
                self._system += self._words(message)
            case "user":
                self._append("user", self._words(message))
            case "assistant":
                self._append("model", self._answer(message))
            case "tool":
                self._results += [self._result(part, message) for part in message.parts]

    def finish(self) -> tuple[Wire | None, list[Wire]]:
        """Give the `systemInstruction`, if there is one, and the `contents`."""
        self._end_results()
        contents: list[Wire] = []
        for kind, parts in self._turns:
            if kind == "model" and self._signs:
                _sign(parts)
            contents.append({"role": "model" if kind == "model" else "user", "parts": parts})
        return {"parts": self._system} if self._system else None, contents

    def _append(self, kind: Turn, parts: list[Wire]) -> None:
        if not parts:
            return
        if self._turns and self._turns[-1][0] == kind:
            self._turns[-1][1].extend(parts)
        else:
            self._turns.append((kind, parts))

    def _end_results(self) -> None:
        self._append("results", [part for _, part in sorted(self._results, key=lambda result: result[0])])
        self._append("images", self._images)
        self._results = []
        self._images = []

    def _words(self, message: Message) -> list[Wire]:
        """Parts of a message of the user or of the system."""
        parts: list[Wire] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                if part.text:  # an empty part is refused
                    parts.append({"text": part.text})
            elif isinstance(part, Image) and message.role == "user":
                parts.append(_image(part))
            else:
                raise misplaced(part, message, _API)
        return parts

    def _answer(self, message: Message) -> list[Wire]:
        """Parts of a message of the model. What another adapter's model thought or did stays behind."""
        parts: list[Wire] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                parts.append(self._call(part))
            elif isinstance(part, ProviderPart):
                own = own_replay(part.replay, ADAPTER)
                if own is not None:
                    parts.append(_own_part(own))
            elif isinstance(part, ReasoningPart):
                signature = _signature(part.replay)
                if signature:
                    parts.append({"text": part.text, "thought": True, **signature})
            elif isinstance(part, TextPart | RefusalPart):
                signature = _signature(part.replay)
                if part.text or signature:
                    parts.append({"text": part.text, **signature})
            elif isinstance(part, Image):
                parts.append({**_image(part), **_signature(part.replay)})
            else:
                raise misplaced(part, message, _API)
        return parts

    def _call(self, call: ToolCall) -> Wire:
        function: Wire = {"name": call.name, "args": arguments_of(call)}
        id_ = (own_replay(call.replay, ADAPTER) or {}).get("id")
        self._calls[call.id] = (self._count, call.name, id_)
        self._count += 1
        if id_ is not None:
            function["id"] = id_
        return {"functionCall": function, **_signature(call.replay)}

    def _result(self, part: Part, message: Message) -> tuple[int, Wire]:
        if not isinstance(part, ToolResult):
            raise misplaced(part, message, _API)
        if part.call_id not in self._calls:
            raise ConfigError(
                "INVALID_OPTIONS", f"A tool result answers the call {part.call_id!r}, which does not stand before it."
            )
        place, name, id_ = self._calls[part.call_id]
        answer: Wire = {"name": name, "response": {"error" if part.is_error else "output": part.text}}
        if id_ is not None:
            answer["id"] = id_
        inside: list[Wire] = []
        after: list[Wire] = []
        for piece in part.parts:
            if isinstance(piece, Image):
                (inside if self._signs and piece.data is not None else after).append(_image(piece))
            elif not isinstance(piece, TextPart):
                raise misplaced(piece, message, _API)
        if inside:
            answer["parts"] = inside
        if after:
            self._images += ({"text": f"Images that the tool {name} gave:"}, *after)
        return place, {"functionResponse": answer}


def conversation_of(messages: Sequence[Message], model: str) -> tuple[Wire | None, list[Wire]]:
    """Give a conversation as `systemInstruction`, if there is one, and `contents`.

    Raises:
        ConfigError: INVALID_OPTIONS, UNSUPPORTED; see `GeminiConversation.add`. INVALID_OPTIONS when nobody says
            anything.
    """
    collected = GeminiConversation(model)
    for message in messages:
        collected.add(message)
    system, contents = collected.finish()
    if not contents:
        raise ConfigError("INVALID_OPTIONS", "The request has no messages, or only such as say nothing to the model.")
    return system, contents


def _sign(parts: list[Wire]) -> None:
    """Let a turn pass whose calls nobody signed: made by another model, by hand, or before there were signatures."""
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None and not any("thoughtSignature" in part for part in parts):
        first["thoughtSignature"] = NO_SIGNATURE


def _signature(replay: Replay | None) -> Wire:
    own = own_replay(replay, ADAPTER) or {}
    return {"thoughtSignature": own["thoughtSignature"]} if "thoughtSignature" in own else {}


def _own_part(own: Fields) -> Wire:
    """Give the part that a replay is."""
    part = own.get("part")
    if not isinstance(part, dict):
        raise ConfigError("INVALID_OPTIONS", "A part of the conversation that Gemini made has lost what Gemini needs.")
    return dict(cast("Wire", part))


def _image(image: Image) -> Wire:
    if image.data is not None:
        return {"inlineData": {"mimeType": image.media_type, "data": image.base64}}
    uri = image.url or ""
    known = _TYPES.get(uri.partition("?")[0].partition("#")[0].rpartition(".")[2].lower())
    media_type = image.media_type or (f"image/{known}" if known else None)
    return {"fileData": {"fileUri": uri} if media_type is None else {"fileUri": uri, "mimeType": media_type}}
