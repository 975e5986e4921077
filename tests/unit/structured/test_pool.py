"""Pools of JSON texts. S numbers: ../shared/reference/streamfold.md."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import cut, splits

from unspool.errors import StreamError
from unspool.structured.frozen import FrozenObject, thaw
from unspool.structured.pool import MAX_ACTIVE_STREAMS, StreamCompletion, StreamPool, StreamUpdate
from unspool.structured.strict_json import DEPTH_CEILING

TEXT = '{"city":"Zürich","tags":["a","\\ud83d\\ude00"],"n":-1.5e2,"ok":true,"none":null}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=4), children, max_size=4),
    max_leaves=12,
)


def refused(code: str, act: Callable[..., Any], *arguments: Any) -> StreamError:
    """Do something that must fail with a code; give the error."""
    with pytest.raises(StreamError) as caught:
        act(*arguments)
    assert caught.value.code == code
    return caught.value


def replayed(patches: list[Any], value: Any = None) -> Any:
    """Apply patches to a value; ours only in what they mean (S18)."""
    root = [value]
    for patch in patches:
        holder: Any = root
        slot: Any = 0
        for segment in patch.path:
            holder, slot = holder[slot], segment
        if patch.op == "append":
            holder[slot] += patch.value
        elif patch.op == "set":
            new = json.loads(json.dumps(patch.value))
            if isinstance(holder, list) and slot == len(holder):
                holder.append(new)
            else:
                holder[slot] = new
    return root[0]


def test_interleaved_streams_keep_apart() -> None:
    """S55, S57, S60: two streams in pieces; each ends with its own text and value."""
    pool = StreamPool()
    opened = pool.start("a")
    assert (opened.id, opened.type, opened.partial_value, opened.changes) == ("a", "start", None, [])
    assert (opened.bytes_seen, opened.depth, opened.complete, opened.in_string) == (0, 0, False, False)
    pool.start("b")
    update = pool.push("a", '{"x":"1')
    assert (update.id, update.type, update.partial_value, update.in_string) == ("a", "update", {"x": "1"}, True)
    pool.push("b", "[1,")
    pool.push("a", '2"}')
    assert pool.field_state("a", ["x"]) == "complete"
    assert pool.field_state("b", []) == "partial"
    pool.push("b", "2]")
    b = pool.finish("b")
    assert isinstance(b, StreamCompletion)
    assert (b.type, b.id, b.text, b.value, b.complete, b.bytes_seen) == ("complete", "b", "[1,2]", [1, 2], True, 5)
    assert pool.active_ids == ["a"]
    assert pool.finish("a").value == {"x": "12"}
    assert len(pool) == 0


@pytest.mark.parametrize("pieces", list(splits(TEXT, seed=8)), ids=len)
def test_any_split_gives_the_same(pieces: list[str]) -> None:
    """S24, S60: the joined text, its value by another reader, and patches that make it."""
    pool = StreamPool()
    patches = list(pool.start(7).changes)
    for piece in pieces:
        patches += pool.push(7, piece).changes
    end = pool.finish(7)
    patches += end.changes
    assert end.text == TEXT
    assert end.value == json.loads(TEXT) == replayed(patches)


@given(documents=st.lists(JSON, min_size=1, max_size=5), seed=st.integers(0, 2**32))
def test_interleaving_changes_nothing(documents: list[Any], seed: int) -> None:
    """S55: any interleaving of any documents in any pieces gives what `json.loads` gives of each."""
    rng = random.Random(seed)
    texts = {number: json.dumps(document, ensure_ascii=bool(seed % 2)) for number, document in enumerate(documents)}
    queue = {number: cut(text, rng, 5) for number, text in texts.items()}
    pool = StreamPool()
    for number in texts:
        pool.start(number)
    while queue:
        number = rng.choice(sorted(queue))
        if queue[number]:
            pool.push(number, queue[number].pop(0))
        else:
            del queue[number]
            end = pool.finish(number)
            assert (end.text, end.value) == (texts[number], json.loads(texts[number]))


def test_ids_are_compared_strictly() -> None:
    """S56: equal to Python, different to us."""
    ids: list[Any] = [1, "1", True, 1.0, None, ("x", 1), b"1", False, 0, frozenset({1})]
    pool = StreamPool()
    for number, id in enumerate(ids):
        pool.start(id, str(number))
    assert [(type(id), id) for id in pool.active_ids] == [(type(id), id) for id in ids]
    for number, id in enumerate(ids):
        assert pool.has(id)
        end = pool.finish(id)
        assert type(end.id) is type(id)
        assert end.value == number
        assert not pool.has(id)


def test_an_id_that_is_text_of_another_class_is_that_text() -> None:
    """An enumeration of an SDK and the text it stands for are one id."""

    class Id(str):
        pass

    pool = StreamPool()
    pool.start(Id("a"))
    assert pool.push("a", "1").id == "a"
    refused("DUPLICATE_STREAM", pool.start, "a")


def test_an_id_must_be_hashable() -> None:
    pool = StreamPool()
    for act in (pool.start, pool.finish, pool.abort, pool.has):
        refused("INVALID_OPTIONS", act, [])
    refused("INVALID_OPTIONS", pool.push, {}, "")
    refused("INVALID_OPTIONS", pool.field_state, {}, [])


def test_start_with_text_is_a_push() -> None:
    """S57, S76: the first state has the value already; empty text is no text."""
    pool = StreamPool()
    opened = pool.start("a", '{"x":1')
    assert (opened.type, opened.partial_value, opened.bytes_seen) == ("start", {}, 6)
    assert pool.start("b", "").partial_value is None
    pool.push("a", "}")
    assert (pool.finish("a").text, pool.text("b")) == ('{"x":1}', "")


def test_start_checks_in_order_and_leaves_nothing_behind() -> None:
    """S58: text type, duplicate id, room; then the text itself."""
    pool = StreamPool(max_active_streams=1)
    pool.start("a", "[")
    refused("INVALID_CHUNK", pool.start, "a", 5)
    refused("DUPLICATE_STREAM", pool.start, "a", "}")
    error = refused("MAX_ACTIVE_STREAMS_EXCEEDED", pool.start, "b", "}")
    assert (error.id, error.operation) == ("b", "start")
    assert pool.active_ids == ["a"]
    assert pool.push("a", "1").partial_value == []
    pool.abort("a")
    error = refused("UNEXPECTED_TOKEN", pool.start, "b", " }")
    assert (error.id, error.operation, error.byte_offset) == ("b", "start", 1)
    assert pool.active_ids == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[1}", "MISMATCHED_CLOSING"),
        ("1 1", "TRAILING_DATA"),
        ("[1,]", "INVALID_JSON"),
        ("]", "UNEXPECTED_TOKEN"),
        ("\ud800x", "INVALID_CHUNK"),
    ],
)
def test_a_push_that_fails_takes_its_stream_out(text: str, code: str) -> None:
    """S59, S47: the others do not notice, and the error says whose it is."""
    pool = StreamPool()
    pool.start("good", "[")
    pool.start("bad")
    with pytest.raises(StreamError) as caught:
        pool.push("bad", text)
    assert caught.value.code == code
    assert (caught.value.id, caught.value.operation) == ("bad", "push")
    error = refused("UNKNOWN_STREAM", pool.push, "bad", "1")
    assert (error.id, error.operation) == ("bad", "push")
    pool.push("good", "1]")
    assert pool.finish("good").value == [1]


def test_a_push_of_something_else_than_text_fails() -> None:
    """S16, S59."""
    pool = StreamPool()
    pool.start("a")
    refused("INVALID_CHUNK", pool.push, "a", b"1")
    assert not pool.has("a")


@pytest.mark.parametrize(
    ("text", "code"), [("", "EMPTY_INPUT"), ("  ", "EMPTY_INPUT"), ("[1", "INCOMPLETE_JSON"), ("tru", "INVALID_JSON")]
)
def test_a_finish_that_fails_takes_its_stream_out(text: str, code: str) -> None:
    """S59; S65: no text at all is an error of the bare pool."""
    pool = StreamPool()
    pool.start("a", text)
    error = refused(code, pool.finish, "a")
    assert (error.id, error.operation) == ("a", "finish")
    refused("UNKNOWN_STREAM", pool.finish, "a")


def test_unknown_streams_are_refused() -> None:
    """S45."""
    pool = StreamPool()
    for operation, arguments in (("push", ("x", "")), ("finish", ("x",)), ("field_state", ("x", [])), ("text", ("x",))):
        error = refused("UNKNOWN_STREAM", getattr(pool, operation), *arguments)
        assert (error.id, error.operation) == ("x", operation)


def test_abort_and_reuse() -> None:
    """S64: an id is free after finish, abort and failure."""
    pool = StreamPool()
    assert pool.abort("a") is False
    pool.start("a", "[1")
    assert pool.abort("a") is True
    assert pool.abort("a") is False
    pool.start("a", "[2]")
    assert pool.finish("a").value == [2]
    pool.start("a")
    refused("UNEXPECTED_TOKEN", pool.push, "a", "]")
    pool.start("a", "[3]")
    assert pool.finish("a").value == [3]


def test_active_ids_are_a_copy_in_start_order() -> None:
    """S55."""
    pool = StreamPool()
    for id in ("b", "a", 3):
        pool.start(id)
    pool.push("a", "1")
    ids = pool.active_ids
    assert ids == ["b", "a", 3]
    ids.clear()
    assert len(pool) == 3
    pool.abort("b")
    pool.start("b")
    assert pool.active_ids == ["a", 3, "b"]


def test_the_value_is_its_own_in_live_mode() -> None:
    """S60, S48: altering the live value does not alter the result, whenever that is asked for."""
    pool = StreamPool()
    pool.start("a", '{"x":[1]}')
    end = pool.finish("a")
    live = end.partial_value
    live["x"].append("mine")
    assert end.value == {"x": [1]}
    assert end.value is end.value
    assert end.value is not live


def test_the_value_is_the_snapshot_in_immutable_mode() -> None:
    """S61."""
    pool = StreamPool(snapshots="immutable")
    pool.start("a", '{"x":[1]')
    pool.push("a", "}")
    end = pool.finish("a")
    assert isinstance(end.value, FrozenObject)
    assert end.value is end.partial_value
    assert thaw(end.value) == {"x": [1]}


@pytest.mark.parametrize("snapshots", ["live", "immutable"])
def test_a_final_text_that_repeats_the_pieces_changes_nothing(snapshots: Any) -> None:
    """S62: nothing is read again, and identities stay."""
    pool = StreamPool(snapshots=snapshots)
    pool.start("a")
    pool.push("a", '{"x":')
    before = pool.push("a", "[1]}").partial_value
    end = pool.finish("a", '{"x":[1]}')
    assert end.partial_value is before
    assert end.changes == []
    assert (end.text, end.value) == ('{"x":[1]}', {"x": [1]})


@pytest.mark.parametrize("snapshots", ["live", "immutable"])
@pytest.mark.parametrize("streamed", ["", '{"x":"a', "[1,2]", "tru", "-", '{"y":"\ud83d', ' {"x":1,"z":"é"}'])
def test_a_final_text_replaces_the_pieces(snapshots: Any, streamed: str) -> None:
    """S62, S63: whatever came before, even unfinished or invalid, the final text is what counts."""
    final = ' {"x":1,"z":"é"} '
    pool = StreamPool(snapshots=snapshots)
    patches = pool.start("a", streamed).changes
    end = pool.finish("a", final)
    assert (end.changes[0].op, end.changes[0].path) == ("set", ())
    assert (end.text, thaw(end.value), end.bytes_seen) == (final, {"x": 1, "z": "é"}, len(final.encode()))
    assert end.complete
    assert thaw(end.partial_value) == {"x": 1, "z": "é"}
    assert (end.value is end.partial_value) == (snapshots == "immutable")
    value = replayed(patches)
    assert replayed(end.changes, value) == {"x": 1, "z": "é"}
    assert not pool.has("a")


@pytest.mark.parametrize("root", ['"text"', "12", "true", "null", "[]", '""'])
def test_a_final_text_of_any_kind_begins_with_a_set_of_the_root(root: str) -> None:
    """S63."""
    pool = StreamPool()
    pool.start("a", '{"x":')
    end = pool.finish("a", root)
    assert (end.changes[0].op, end.changes[0].path) == ("set", ())
    assert replayed(end.changes, {"x": 1}) == json.loads(root) == end.value
    assert (end.changes[-1].op, end.changes[-1].path) == ("complete", ())


def test_a_final_text_keeps_the_limits() -> None:
    """S62: the same limits hold, and a fault in it is the stream's."""
    pool = StreamPool(max_bytes=6, max_depth=2)
    for final, code in (("[1,2,3]", "MAX_BYTES_EXCEEDED"), ("[[[]]]", "MAX_DEPTH_EXCEEDED"), ("[1", "INCOMPLETE_JSON")):
        pool.start("a", "[1]")
        error = refused(code, pool.finish, "a", final)
        assert (error.id, error.operation) == ("a", "finish")
        assert not pool.has("a")
    pool.start("a", "[1]")
    refused("INVALID_CHUNK", pool.finish, "a", b"[1]")
    assert not pool.has("a")


def test_halves_of_a_surrogate_pair_join_in_the_text() -> None:
    """S33: a chunk may end in the first half; the text is what was meant."""
    pool = StreamPool()
    pool.start("a", '"\ud83d')
    pool.push("a", '\ude00"')
    end = pool.finish("a", '"\ud83d\ude00"')
    assert (end.text, end.value, end.changes) == ('"😀"', "😀", [])


def test_limits_go_to_every_stream() -> None:
    """S36, S39, S40, S41: reaching a limit is fine, passing it is not."""
    pool = StreamPool(max_bytes=4, max_depth=2, max_active_streams=2)
    pool.start("a", "[[]]")
    pool.start("b", "[[")
    refused("MAX_ACTIVE_STREAMS_EXCEEDED", pool.start, "c")
    refused("MAX_DEPTH_EXCEEDED", pool.push, "b", "[")
    refused("MAX_BYTES_EXCEEDED", pool.push, "a", " ")
    assert len(pool) == 0
    assert MAX_ACTIVE_STREAMS == 256
    pool = StreamPool()
    for id in range(256):
        pool.start(id)
    refused("MAX_ACTIVE_STREAMS_EXCEEDED", pool.start, 256)


@pytest.mark.parametrize(
    "options",
    [
        {"max_active_streams": 0},
        {"max_active_streams": True},
        {"max_active_streams": 1.5},
        {"max_active_streams": "2"},
        {"max_active_streams": 4_294_967_296},
        {"max_bytes": 0},
        {"max_depth": DEPTH_CEILING + 1},
        {"snapshots": None},
        {"duplicate_keys": "first"},
        {"scalars": "late"},
    ],
    ids=str,
)
def test_wrong_options_are_refused_at_once(options: Any) -> None:
    """S37, S38."""
    with pytest.raises(StreamError, match="INVALID_OPTIONS"):
        StreamPool(**options)


def test_options_of_the_streams() -> None:
    """S8, S5: the pool passes them on; None is the default."""
    pool = StreamPool(max_active_streams=None, max_bytes=None, max_depth=None)
    pool.start("a", '{"x":1,"x":2}')
    assert pool.finish("a").value == {"x": 2}
    pool = StreamPool(duplicate_keys="error", scalars="eager")
    assert pool.start("a", '{"x":12').partial_value == {"x": 12}
    refused("DUPLICATE_KEY", pool.push, "a", ',"x":2}')


def test_empty_pieces_take_no_room() -> None:
    """No unbounded buffer: the text alone is kept."""
    pool = StreamPool()
    pool.start("a")
    for _ in range(1000):
        pool.push("a", "")
    assert pool._entries["a"].texts == []


def test_wire_form() -> None:
    """What crosses to JavaScript is JSON-safe, and its patches make the value."""
    pool = StreamPool()
    pool.start("a")
    assert pool.push("a", '{"x":"é').to_wire() == {
        "type": "update",
        "id": "a",
        "changes": [
            {"op": "set", "path": [], "value": {}},
            {"op": "set", "path": ["x"], "value": ""},
            {"op": "append", "path": ["x"], "value": "é"},
        ],
        "bytesSeen": 8,
        "depth": 1,
        "complete": False,
        "inString": True,
    }
    pool.push("a", '"}')
    end = pool.finish("a").to_wire()
    assert (end["type"], end["text"], end["complete"]) == ("complete", '{"x":"é"}', True)
    json.dumps(end)


def test_repr_names_the_stream() -> None:
    pool = StreamPool()
    assert repr(pool.start("a", "[1]")) == "StreamProgress('a', 'start', [1])"
    assert repr(pool.finish("a")) == "StreamCompletion('a', 'complete', [1])"


def test_a_stream_may_have_a_name() -> None:
    pool = StreamPool()
    started = pool.start("a", name="f")
    assert started.name == "f"
    assert isinstance(started, StreamUpdate)  # the union of both kinds
    assert pool.start("b").name is None
    pool.rename("b", "g")
    assert [pool.push(id, "[]").name for id in "ab"] == ["f", "g"]
    pool.rename("a", None)
    ended = pool.finish("b")
    assert (ended.name, ended.to_wire()["name"]) == ("g", "g")
    assert "name" not in pool.finish("a").to_wire()
    with pytest.raises(StreamError, match="UNKNOWN_STREAM"):
        pool.rename("a", "f")
