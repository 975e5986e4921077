"""Integrations on recorded responses of their dialects: the calls of the manifest, however the pieces are cut."""

from __future__ import annotations

import base64
import copy
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.calls import Played, play, play_all
from tests.conftest import shared_data_folder
from tests.support import cut

from unspool import integrations
from unspool.errors import ProviderError, StreamError
from unspool.stream.sse import SseDecoder

type Events = list[Any]
type Place = tuple[dict[str, Any], str, Any]
"""Where a piece of a call's text is: the holder, the name of its field, and what tells the call from others."""

DIALECTS = {
    "ag-ui": integrations.ag_ui,
    "anthropic": integrations.anthropic,
    "bedrock": integrations.bedrock,
    "cohere": integrations.cohere,
    "gemini": integrations.gemini,
    "gemini-interactions": integrations.gemini,
    "langchain": integrations.langchain,
    "mistral": integrations.mistral,
    "openai-chat": integrations.openai_chat,
    "openai-responses": integrations.openai,
    "vercel-ui": integrations.vercel_ai,
}
FOLDER = shared_data_folder()
FILES: list[dict[str, Any]] = (
    json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"] if FOLDER else []
)
RECORDINGS = [file for file in FILES if file["dialect"] in DIALECTS]
WITH_CALLS = [
    file for file in RECORDINGS if file["expect"].get("tool_calls") or file["expect"].get("server_tool_calls")
]
each = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).as_posix())
each_with_calls = pytest.mark.parametrize("recording", WITH_CALLS, ids=lambda file: Path(file["file"]).as_posix())


def frames(body: bytes) -> Iterator[dict[str, Any]]:
    """Decode AWS's binary event stream, checksums and all.

    Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream.
    """
    at = 0
    while at < len(body):
        total, headers_size, prelude_sum = struct.unpack_from(">III", body, at)
        assert zlib.crc32(body[at : at + 8]) == prelude_sum
        assert zlib.crc32(body[at : at + total - 4]) == struct.unpack_from(">I", body, at + total - 4)[0]
        headers: dict[str, str] = {}
        place, end = at + 12, at + 12 + headers_size
        while place < end:
            name_size = body[place]
            name = body[place + 1 : place + 1 + name_size].decode()
            place += 1 + name_size
            assert body[place] == 7  # text: the only type in these streams
            (size,) = struct.unpack_from(">H", body, place + 1)
            headers[name] = body[place + 3 : place + 3 + size].decode()
            place += 3 + size
        yield {"headers": headers, "payload": json.loads(body[end : at + total - 4])}
        at += total


def of_frame(frame: dict[str, Any]) -> Any:
    """What boto3 makes of a frame; of InvokeModel, what its user makes of that."""
    name = frame["headers"][":event-type"]
    if name == "chunk":
        return json.loads(base64.b64decode(frame["payload"]["bytes"]))
    return {name: frame["payload"]}


def events_of(recording: dict[str, Any], shared_data: Path) -> Events:
    """The decoded events of a recording, as an SDK would give them."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    match Path(recording["file"]).suffix:
        case ".eventstream":
            return [of_frame(frame) for frame in frames(body)]
        case ".jsonl":
            return [of_frame(json.loads(line)) for line in body.splitlines()]
        case _:
            decoder = SseDecoder()
            decoded = [*decoder.feed(body), *decoder.finish()]
            return [json.loads(event.data) for event in decoded if event.data and event.data != "[DONE]"]


def integration_of(recording: dict[str, Any]) -> Any:
    if recording["file"].startswith("bedrock/invoke-anthropic"):
        return integrations.anthropic
    return DIALECTS[recording["dialect"]]


def place_of(dialect: str, event: Any) -> Place | None:
    """Where the piece of an event is, for events that hold just one."""
    match dialect, event:
        case "ag-ui", {"type": "TOOL_CALL_ARGS", "toolCallId": id}:
            return event, "delta", id
        case "anthropic" | "bedrock", {"index": index, "delta": {"type": "input_json_delta"} as delta}:
            return delta, "partial_json", index
        case "bedrock", {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": delta}}}:
            return delta, "input", index
        case "cohere", {"type": "tool-call-delta", "index": index, "delta": delta}:
            return delta["message"]["tool_calls"]["function"], "arguments", index
        case "gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"partialArgs": [argument]}}]}}]}:
            return (argument, "stringValue", argument["jsonPath"]) if argument.get("willContinue") else None
        case "gemini-interactions", {"index": index, "delta": {"type": "arguments_delta"} as delta}:
            return delta, "arguments", index
        case "langchain", [{"kwargs": {"tool_call_chunks": [piece]}}, *_]:
            return piece, "args", piece["index"]
        case "mistral" | "openai-chat", {"choices": [{"delta": {"tool_calls": [{"function": function} as piece]}}]}:
            return (function, "arguments", piece.get("index")) if function.get("arguments") is not None else None
        case "openai-responses", {"type": "response.function_call_arguments.delta", "item_id": id}:
            return event, "delta", id
        case "vercel-ui", {"type": "tool-input-delta", "toolCallId": id}:
            return event, "inputTextDelta", id
        case _:
            return None


def split(dialect: str, events: Events, cuts: Callable[[str], Iterable[str]]) -> Events:
    """Give the pieces of each event events of their own."""
    out: Events = []
    for event in events:
        place = place_of(dialect, event)
        if place is None:
            out.append(event)
            continue
        for piece in list(cuts(place[0][place[1]])) or [""]:
            copied = copy.deepcopy(event)
            holder, name, _ = place_of(dialect, copied) or place
            holder[name] = piece
            out.append(copied)
    return out


def joined(dialect: str, events: Events) -> Events:
    """Put neighbouring pieces of a call into one event."""
    out: Events = []
    before: Place | None = None
    for event in copy.deepcopy(events):
        place = place_of(dialect, event)
        if place is not None and before is not None and place[2] == before[2]:
            before[0][before[1]] += place[0][place[1]]
        else:
            out.append(event)
            before = place
    return out


def limit_of(recording: dict[str, Any], events: Events) -> Events:
    """What the provider sends when the token limit is reached after `events`."""
    dialect = recording["dialect"]
    if integration_of(recording) is integrations.anthropic:
        index = next((event["index"] for event in reversed(events) if "index" in event), 0)
        over = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
        return [{"type": "content_block_stop", "index": index}, over, {"type": "message_stop"}]
    match dialect:
        case "bedrock":
            members = [next(iter(event.values())) for event in reversed(events)]
            index = next((member["contentBlockIndex"] for member in members if "contentBlockIndex" in member), 0)
            return [{"contentBlockStop": {"contentBlockIndex": index}}, {"messageStop": {"stopReason": "max_tokens"}}]
        case "cohere":
            index = next((event["index"] for event in reversed(events) if "index" in event), 0)
            over = {"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}}
            return [{"type": "tool-call-end", "index": index}, over]
        case "gemini":
            return [{"candidates": [{"finishReason": "MAX_TOKENS"}]}]
        case "gemini-interactions":
            return [{"event_type": "interaction.completed", "interaction": {"status": "incomplete"}}]
        case "langchain":
            ids = [event[0]["kwargs"]["id"] for event in events if isinstance(event, list)]
            return [[{"kwargs": {"id": ids[-1], "response_metadata": {"finish_reason": "length"}}}, {}]]
        case "mistral" | "openai-chat":
            return [{"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]
        case "openai-responses":
            return [
                {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
            ]
        case _:
            return [{"type": "finish-step"}, {"type": "finish", "finishReason": "length"}]


def check_calls(recording: dict[str, Any], events: Events, played: Played) -> None:
    """Compare with the manifest, which was worked out without our code."""
    facts = recording["expect"]
    wanted = [*facts.get("tool_calls", []), *facts.get("server_tool_calls", [])]
    wanted += [call for choice in facts.get("choices", {}).values() for call in choice.get("tool_calls", [])]
    ids = {}
    if recording["dialect"] == "openai-responses":  # the item's id is the call's, as it is in every event
        items = [event["item"] for event in events if "item" in event]
        ids = {item["call_id"]: item["id"] for item in items if item["type"] == "function_call"}
    texts, values, names = dict(played.texts), dict(played.values), dict(played.names)
    assert len(played.texts) == len(texts) == len(wanted)
    given = iter(played.texts)
    for call in wanted:
        # Where the wire has no id the call has one of ours, and they come in the order of the manifest.
        id = next(given)[0] if call["id"] is None else ids.get(call["id"], call["id"])
        assert values[id] == call["arguments_json"]
        assert names[id] == call["name"]
        if "arguments" in call:
            assert texts[id] == (call["arguments"] or "{}")  # S65


def check_end(recording: dict[str, Any], played: Played) -> None:
    """Errors inside the stream end the session; nothing else does."""
    facts = recording["expect"]
    errors = facts.get("errors", [])
    if recording["file"] == "openai-responses/truncated-max-output-tokens.sse":
        errors = [f"The response is incomplete: {facts['incomplete_reason']}."]  # O7
    elif "block_reason" in facts:
        errors = [f"The prompt was blocked: {facts['block_reason']}."]  # F32
    if not errors:
        assert played.error is None
        return
    message = errors[0] if isinstance(errors[0], str) else errors[0]["message"]
    assert isinstance(played.error, StreamError)
    one_line = message.replace("\n", "\\n")  # an error's message is one line
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", one_line)
    assert isinstance(played.error.__cause__, ProviderError)


@each
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """As it was recorded: dicts, objects, and in Pyodide JavaScript's."""
    events = events_of(recording, shared_data)
    played = play_all(integration_of(recording), events)
    check_calls(recording, events, played)
    check_end(recording, played)
    assert played.unmatched == []
    assert played.late_names == []
    assert not played.steps or played.steps[0][0] == "start"


@each_with_calls
def test_recording_in_other_pieces(recording: dict[str, Any], shared_data: Path) -> None:
    """Each call whole, character by character, and cut at seeded places."""
    events = events_of(recording, shared_data)
    dialect = recording["dialect"]
    integration = integration_of(recording)
    ways = [joined(dialect, events), split(dialect, events, list)]
    for longest in (2, 5, 11):
        rng = random.Random(f"{recording['file']}:{longest}")
        ways.append(split(dialect, events, lambda text, r=rng, n=longest: cut(text, r, n)))  # type: ignore[misc]
    plain = play(integration, events)
    for way in ways:
        played = play(integration, way)
        assert (played.texts, played.values) == (plain.texts, plain.values)
        check_calls(recording, events, played)
        check_end(recording, played)


@each_with_calls
def test_recording_cut_by_a_limit(recording: dict[str, Any], shared_data: Path) -> None:
    """F37: cut inside or between calls, no call is complete that is not what it was meant to be."""
    if recording["dialect"] == "ag-ui":
        pytest.skip("the protocol says nothing of limits")
    events = events_of(recording, shared_data)
    integration = integration_of(recording)
    # What is checked needs each call to come in several pieces.
    events = split(recording["dialect"], events, lambda text: [text[:1], text[1:3], text[3:]])
    whole = set(play(integration, events).texts)
    places = [at for at, event in enumerate(events, 1) if "call" in json.dumps(event) or "tool" in json.dumps(event)]
    errors = 0
    for at in places[:: max(1, len(places) // 40)]:
        played = play(integration, [*events[:at], *limit_of(recording, events[:at])])
        assert set(played.texts) <= whole
        started = {id for kind, id in played.steps if kind == "start"}
        assert played.error is not None or started == {id for id, _ in played.texts}
        errors += played.error is not None
    assert errors or recording["dialect"] in ("gemini", "vercel-ui")


@each_with_calls
def test_recording_without_its_end(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: cut anywhere; a call that is not whole is an error, and at most one without any text is taken for whole."""
    events = events_of(recording, shared_data)
    integration = integration_of(recording)
    whole = dict(play(integration, events).texts)
    for at in range(1, len(events), max(1, len(events) // 40)):
        for id, text in play(integration, events[:at]).texts:
            assert text in (whole[id], "{}")


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) >= 111
    assert len(WITH_CALLS) >= 45
    assert {recording["dialect"] for recording in WITH_CALLS} == set(DIALECTS)


def test_the_binary_frames_are_those_of_the_decoded_files(shared_data: Path) -> None:
    """The decoder above against the decoding that the recordings came with."""
    folder = shared_data / "wire" / "bedrock"
    files = sorted(folder.glob("*.eventstream"))
    assert files
    for file in files:
        lines = file.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
        assert list(frames(file.read_bytes())) == [json.loads(line) for line in lines]
