"""The streams of the page, driven as the worker's host drives them: with JSON text. S numbers: ../shared/reference."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support import splits

from unspool.page_streams import PageStreams

TEXT = '{"a":"\\ud83d\\ude00 é","b":[1,-2.5,{"c":null}],"d":{}}'


@pytest.fixture
def streams() -> PageStreams:
    return PageStreams()


def send(streams: PageStreams, id: int, *steps: Any, **message: Any) -> list[Any]:
    answer = json.loads(streams.answer(json.dumps({"id": id, "steps": steps, **message})))
    assert answer["ok"] is True, answer
    assert len(answer["value"]["answers"]) == len(steps)
    return list(answer["value"]["answers"])


def refused(streams: PageStreams, message: Any) -> Any:
    answer = json.loads(streams.answer(message if isinstance(message, str) else json.dumps(message)))
    assert answer["ok"] is False
    return answer["error"]["code"]


def text(**options: Any) -> dict[str, Any]:
    return {"kind": "text", "options": options}


def pool(**options: Any) -> dict[str, Any]:
    return {"kind": "pool", "options": options}


def session(integration: str | None = None, **options: Any) -> dict[str, Any]:
    named = {} if integration is None else {"integration": integration}
    return {"kind": "session", "options": options, **named}


def operations(*given: Any, **event: Any) -> list[Any]:
    return ["push", {**event, "operations": given}]


def replay(value: Any, changes: list[Any]) -> Any:
    """What the patches make on the page."""
    root = {"value": value}
    before: list[Any] = []
    for change in changes:
        before = [*before[: change.get("keep", 0)], *change["path"]]
        *steps, last = ["value", *before]
        holder: Any = root
        for step in steps:
            holder = holder[step]
        if change["op"] == "append":
            holder[last] += change["value"]
        elif change["op"] == "set":
            if isinstance(holder, list) and last == len(holder):
                holder.append(None)
            holder[last] = change["value"]
    return root["value"]


def test_a_text_in_any_pieces(streams: PageStreams) -> None:
    """S3, S24: the page has the value by the patches alone."""
    for id, pieces in enumerate(splits(TEXT)):
        value: Any = None
        send(streams, id, open=text())
        for answer in send(streams, id, *(["push", piece] for piece in pieces), ["finish"], close=True):
            (update,) = answer["updates"]
            value = replay(value, update["changes"])
        assert value == json.loads(TEXT)
        assert (update["bytesSeen"], update["complete"]) == (len(TEXT.encode()), True)


def test_a_text_that_fails_fails_for_good(streams: PageStreams) -> None:
    """S13, S45."""
    answers = send(streams, 1, ["push", "[1"], ["push", "}"], ["push", "]"], ["finish"], open=text())
    assert [list(answer) for answer in answers] == [["updates"], ["error"], ["error"], ["error"]]
    error = answers[1]["error"]
    assert (error["code"], error["byteOffset"], error["operation"]) == ("MISMATCHED_CLOSING", 2, "push")
    assert answers[3]["error"]["code"] == "MISMATCHED_CLOSING"
    assert send(streams, 2, ["push", None], open=text())[0]["error"]["code"] == "INVALID_CHUNK"


def test_an_integer_that_javascript_cannot_hold(streams: PageStreams) -> None:
    answers = send(streams, 1, ["push", '{"s":"9007199254740993","n":9007199254740991}'], open=text())
    assert "updates" in answers[0]
    answers = send(streams, 2, ["push", "[-9007199254740992,"], ["push", "1"], ["finish"], open=text())
    assert {answer["error"]["code"] for answer in answers} == {"UNSAFE_INTEGER"}
    assert "[0]" in answers[0]["error"]["message"]
    answers = send(streams, 3, ["start", "a", "[9007199254740993,"], ["push", "a", "1"], ["start", "a"], open=pool())
    assert [answer.get("error", {}).get("code") for answer in answers] == ["UNSAFE_INTEGER", "UNKNOWN_STREAM", None]
    assert (answers[0]["error"]["id"], answers[0]["error"]["operation"]) == ("a", "start")
    steps = [
        operations({"type": "start", "id": 1}, {"type": "delta", "id": 1, "text": "[1e3,9007199254740993,"}, type="t")
    ]
    (answer,) = send(streams, 4, *steps, open=session())
    known = {"code": "UNSAFE_INTEGER", "id": 1, "operation": "push", "adapter": "custom", "eventType": "t"}
    assert known.items() <= answer["error"].items()
    assert [told["code"] for told in answer["diagnostics"]] == ["STREAM_ERROR"]
    assert send(streams, 4, ["finish"])[0]["error"]["code"] == "UNSAFE_INTEGER"


def test_a_pool(streams: PageStreams) -> None:
    """S55 to S64; an id that only the page can tell is a list."""
    answers = send(
        streams,
        1,
        ["start", "a"],
        ["start", [0], "[1,"],
        ["start", 1],
        ["start", True],
        ["push", [0], "2]"],
        ["finish", [0], "[3]"],
        ["abort", 1],
        ["abort", 1],
        ["push", "a", "x"],
        ["finish", "a"],
        open=pool(maxActiveStreams=4),
    )
    updates = [answer["updates"][0] for answer in answers if "updates" in answer]
    assert [(update["type"], update["id"]) for update in updates] == [
        ("start", "a"),
        ("start", [0]),
        ("start", 1),
        ("start", True),
        ("update", [0]),
        ("complete", [0]),
    ]
    assert updates[-1]["text"] == "[3]"
    assert updates[-1]["changes"][0] == {"op": "set", "path": [], "value": []}
    assert [answer["value"] for answer in answers if "value" in answer] == [True, False]
    errors = [(answer["error"]["code"], answer["error"]["id"]) for answer in answers if "error" in answer]
    assert errors == [("INVALID_JSON", "a"), ("UNKNOWN_STREAM", "a")]
    assert send(streams, 1, ["push", [7], "1"])[0]["error"]["id"] == [7]


def test_a_session_of_an_integration(streams: PageStreams) -> None:
    added = {"type": "response.output_item.added", "item": {"type": "function_call", "id": "f"}}
    done = {"type": "response.function_call_arguments.done", "item_id": "f", "arguments": "[1]"}
    answers = send(streams, 1, ["push", added], ["push", done], ["push", done], ["finish"], open=session("openai"))
    assert [[update["type"] for update in answer["updates"]] for answer in answers] == [["start"], ["complete"], [], []]
    failed = {"type": "response.failed", "response": {"error": {"code": "c", "message": "No more."}}}
    answers = send(streams, 2, ["push", added], ["push", failed], ["push", added], open=session("openai"))
    error = answers[1]["error"]
    known = {"code": "INTEGRATION_ERROR", "message": "No more.", "adapter": "openai", "eventType": "response.failed"}
    assert known.items() <= error.items()
    assert error["cause"]["code"] == "PROVIDER"
    (told,) = answers[1]["diagnostics"]
    assert (told["code"], told["eventType"], "error" in told) == ("STREAM_ERROR", "response.failed", False)
    assert answers[2] == {"error": error}


def test_a_session_of_operations(streams: PageStreams) -> None:
    """S67 to S74."""
    answers = send(
        streams,
        1,
        operations({"type": "start", "id": [0]}, {"type": "start", "id": "b"}),
        operations({"type": "abort", "id": [0]}),
        operations({"type": "end", "id": "b", "finalText": "[]"}),
        operations(),
        operations({"type": "start"}, type="odd"),
        open=session(),
    )
    assert [update["id"] for update in answers[0]["updates"]] == [[0], "b"]
    assert answers[1] == {"updates": [], "open": ["b"]}  # so that the page lets go of what it holds
    assert "open" not in answers[2]
    assert answers[2]["updates"][0]["text"] == "[]"
    known = {"code": "INTEGRATION_ERROR", "adapter": "custom", "eventType": "odd", "operation": "start"}
    assert known.items() <= answers[4]["error"].items()


def test_diagnostics(streams: PageStreams) -> None:
    """S103 to S106."""
    lost = {"type": "tool-input-end", "id": "never"}
    answers = send(streams, 1, ["push", lost], ["finish"], open=session("vercel-ai"))
    assert [(told["code"], told.get("id")) for answer in answers for told in answer["diagnostics"]] == [
        ("UNMATCHED_TOOL_EVENT", "never"),
        ("NO_TOOL_EVENTS", None),
    ]


@pytest.mark.parametrize(
    "opening",
    [
        text(maxBytes=0),
        text(maxDepth="9"),
        text(snapshots="live"),
        text(maxActiveStreams=1),
        pool(maxActiveStreams=0),
        pool(max_bytes=1),
        session("nobody"),
        session(["openai"]),  # type: ignore[arg-type]
        session("openai", scalars="all"),
        {"kind": "text", "options": []},
    ],
)
def test_wrong_options(streams: PageStreams, opening: dict[str, Any]) -> None:
    assert refused(streams, {"id": 1, "open": opening, "steps": [["finish"]]}) == "INVALID_OPTIONS"
    assert refused(streams, {"id": 1, "steps": [["finish"]]}) == "UNKNOWN_CALL"


def test_wrong_messages(streams: PageStreams) -> None:
    send(streams, 1, open=text())
    for message, code in [
        ("{", "INCOMPLETE_JSON"),
        ("[]", "BRIDGE_PROTOCOL"),
        ({"id": "1"}, "BRIDGE_PROTOCOL"),
        ({"id": 1, "steps": {}}, "BRIDGE_PROTOCOL"),
        ({"id": 2, "open": {"kind": "other"}}, "BRIDGE_PROTOCOL"),
        ({"id": 2, "open": 5}, "BRIDGE_PROTOCOL"),
        ({"id": 1, "steps": [5]}, "BRIDGE_PROTOCOL"),
        ({"id": 1, "steps": [[]]}, "BRIDGE_PROTOCOL"),
        ('{"id":1,"steps":[["push",' + "[" * 600 + "]" * 600 + "]]}", "MAX_DEPTH_EXCEEDED"),
    ]:
        assert refused(streams, message) == code
    for steps in [["other"], ["push"], ["finish", 1]]:
        assert send(streams, 1, steps)[0]["error"]["code"] == "BRIDGE_PROTOCOL"
    assert "updates" in send(streams, 1, ["push", "1"])[0]


def test_a_fault_of_our_own_tells_no_words(streams: PageStreams, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.page_streams.update_json", lambda update: {}["secret"])
    answer = streams.answer(json.dumps({"id": 1, "open": text(), "steps": [["push", "1"]]}))
    assert "INTERNAL" in answer
    assert "secret" not in answer


def test_room(streams: PageStreams) -> None:
    small = PageStreams(max_open=2)
    for id in (1, 2):
        send(small, id, open=text())
    assert refused(small, {"id": 3, "open": text()}) == "MAX_ACTIVE_STREAMS_EXCEEDED"
    send(small, 1, close=True)
    send(small, 1, close=True)
    send(small, 3, open=text())


def test_names_of_tools_cross(streams: PageStreams) -> None:
    start = {"type": "start", "id": "a", "name": "f"}
    steps = [operations(start, {"type": "start", "id": 1}), operations({"type": "end", "id": "a"})]
    answers = send(streams, 1, *steps, ["finish"], open=session())
    updates = [update for answer in answers for update in answer["updates"]]
    assert [(update["type"], update["id"], update.get("name")) for update in updates] == [
        ("start", "a", "f"),
        ("start", 1, None),
        ("complete", "a", "f"),
        ("complete", 1, None),
    ]
    [answer] = send(streams, 2, operations({**start, "name": 5}), open=session())
    assert (answer["error"]["code"], answer["error"]["operation"]) == ("INTEGRATION_ERROR", "start")
