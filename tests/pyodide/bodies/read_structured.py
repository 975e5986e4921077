"""Managed reading of JavaScript's streams, inside Pyodide (S90-S102 of ../shared/reference/streamfold.md)."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from unspool import integrations
from unspool.errors import CallCancelledError, StreamError
from unspool.integrations.adapter import define_adapter
from unspool.integrations.fields import first, items, json_text, record, text
from unspool.integrations.read import read_structured

EVENTS = """[
  { type: "TOOL_CALL_START", toolCallId: "a", toolCallName: "f", parentMessageId: null },
  { type: "TEXT_MESSAGE_CONTENT", delta: "hi" },
  { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: '{"x":"\\ud83d' },
  { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: '\\ude00"' },
  { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: "}" },
  { type: "TOOL_CALL_END", toolCallId: "a" },
]"""
KINDS = ["start", "update", "update", "update", "complete"]


def sources() -> Any:
    """Sources of the events above, and a log of what becomes of them."""
    from pyodide.code import run_js

    return run_js(
        f"""() => {{
          const events = {EVENTS};
          const log = [];
          const generator = async function* () {{
            try {{ for (const event of events) yield event; }} finally {{ log.push("return"); }}
          }};
          const plain = function* () {{
            try {{ for (const event of events) yield Promise.resolve(event); }} finally {{ log.push("return"); }}
          }};
          const stream = () => {{
            const left = [...events];
            const made = new ReadableStream({{
              pull(controller) {{
                log.push("pull");
                if (left.length) controller.enqueue(left.shift()); else controller.close();
              }},
              cancel(reason) {{ log.push("cancel"); }},
            }}, {{ highWaterMark: 0 }});
            made[Symbol.asyncIterator] = undefined;
            return made;
          }};
          let begin;
          const stalling = new Promise(resolve => {{ begin = resolve; }});
          const stalled = () => new ReadableStream({{
            pull(controller) {{
              if (!log.includes("pull")) {{ log.push("pull"); controller.enqueue(events[0]); return; }}
              begin();
              return new Promise(() => {{}});
            }},
            cancel() {{ log.push("cancel"); return new Promise(() => {{}}); }},
          }}, {{ highWaterMark: 0 }});
          const failing = () => new ReadableStream({{
            pull(controller) {{ controller.error(new TypeError("the wire is cut")); }},
          }}, {{ highWaterMark: 0 }});
          const counting = () => {{
            const signal = new AbortController();
            let listeners = 0;
            const add = signal.signal.addEventListener.bind(signal.signal);
            const remove = signal.signal.removeEventListener.bind(signal.signal);
            signal.signal.addEventListener = (...a) => {{ listeners += 1; add(...a); }};
            signal.signal.removeEventListener = (...a) => {{ listeners -= 1; remove(...a); }};
            return {{ signal: signal.signal, abort: r => signal.abort(r), listeners: () => listeners }};
          }};
          return {{ log, array: () => events, generator, plain, stream, stalled, stalling, failing, counting,
                    error: () => new Error("the user left") }};
        }}"""
    )()


async def reads_every_kind_of_source() -> None:
    """S90, S93: arrays, generators, promises, and streams that cannot be iterated."""
    for signalled in (False, True):
        for kind in ("array", "generator", "plain", "stream"):
            js = sources()
            signal = js.counting() if signalled else None
            source = getattr(js, kind)()
            reader = read_structured(source, integration=integrations.ag_ui, signal=signal and signal.signal)
            updates = [update async for update in reader]
            assert [u.type for u in updates] == KINDS, (kind, updates)
            last: Any = updates[-1]
            assert (last.id, last.value) == ("a", {"x": "😀"}), kind
            assert "cancel" not in list(js.log)
            if kind == "stream":
                assert not source.locked
            if signal:
                assert signal.listeners() == 0


async def reads_one_event_at_a_time() -> None:
    """S92."""
    js = sources()
    reader = read_structured(js.stream(), integration=integrations.ag_ui)
    await anext(reader)
    await asyncio.sleep(0.01)
    assert list(js.log) == ["pull"]
    await anext(reader)
    assert list(js.log) == ["pull", "pull", "pull"]
    await reader.aclose()


async def closes_on_early_exit() -> None:
    """S95: a stream is cancelled and its lock released, a generator returns."""
    js = sources()
    source = js.stream()
    async with read_structured(source, integration=integrations.ag_ui) as reader:
        await anext(reader)
        assert source.locked
    assert not source.locked
    assert list(js.log)[-1] == "cancel"
    for kind in ("generator", "plain"):
        js = sources()
        async for _update in read_structured(getattr(js, kind)(), integration=integrations.ag_ui):
            break
        await asyncio.sleep(0.01)
        assert list(js.log) == ["return"], kind


async def keeps_the_error_of_a_stream() -> None:
    """S94: it passes as it is."""
    from pyodide.ffi import JsException

    source = sources().failing()
    try:
        await anext(read_structured(source, integration=integrations.ag_ui))
    except JsException as error:
        assert "the wire is cut" in str(error)
        assert not hasattr(error, "adapter")
    else:
        raise AssertionError("no error")
    await asyncio.sleep(0.01)
    assert not source.locked


async def stops_by_a_signal_while_the_source_stalls() -> None:
    """S99: at once, although neither the read nor the cancelling ever settles; the reason is the cause."""
    js = sources()
    signal = js.counting()
    source = js.stalled()
    reader = read_structured(source, integration=integrations.ag_ui, signal=signal.signal)
    await anext(reader)
    task = asyncio.ensure_future(anext(reader))
    await js.stalling
    signal.abort(js.error())
    try:
        await asyncio.wait_for(task, 10)
    except CallCancelledError as error:
        assert error.code == "ABORTED"
        assert "the user left" in str(error.__cause__)
    else:
        raise AssertionError("not stopped")
    await asyncio.sleep(0.01)
    assert signal.listeners() == 0
    assert list(js.log)[-1] == "cancel"
    assert not source.locked


async def stops_before_the_start_and_while_paused() -> None:
    """S98, S100."""
    js = sources()
    signal = js.counting()
    reader = read_structured(js.stream(), integration=integrations.ag_ui, signal=signal.signal)
    await anext(reader)
    signal.abort()
    for again in (reader, read_structured(js.stream(), integration=integrations.ag_ui, signal=signal.signal)):
        try:
            await anext(again)
        except CallCancelledError:
            pass
        else:
            raise AssertionError("not stopped")
    await asyncio.sleep(0.01)
    assert list(js.log) == ["pull", "cancel"]
    assert signal.listeners() == 0


async def stops_by_cancelling_the_task() -> None:
    """The read is cancelled, the lock released, and nothing waits for a stream that does not settle."""
    js = sources()
    source = js.stream()
    reader = read_structured(source, integration=integrations.ag_ui)
    await anext(reader)

    async def consume() -> None:
        await anext(reader)
        await asyncio.Event().wait()

    task = asyncio.ensure_future(consume())
    await asyncio.sleep(0.01)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        await reader.aclose()
    assert not source.locked


async def takes_operations_of_javascript() -> None:
    """S67: a mapper may be a function of JavaScript, its operations objects of JavaScript."""
    from pyodide.code import run_js

    map_event = run_js("event => event.operations")
    events = run_js(
        """[{ operations: [{ type: "start", id: "a" }, { type: "delta", id: "a", text: "[1" }] }, { operations: [] },
            { operations: [{ type: "end", id: "a", finalText: "[2]" }] }]"""
    )
    updates = [update async for update in read_structured(events, adapter=define_adapter(map_event))]
    last: Any = updates[-1]
    assert ([u.type for u in updates], last.value) == (["start", "update", "complete"], [2])
    bad = run_js("[{ operations: [{ type: 'start' }] }]")
    try:
        await anext(read_structured(bad, adapter=define_adapter(map_event)))
    except StreamError as error:
        assert error.code == "INTEGRATION_ERROR"
    else:
        raise AssertionError("no error")


async def reads_fields_of_javascript() -> None:
    """Section 11.11: null and undefined are None, nested objects and arrays are read in place."""
    from pyodide.code import run_js

    event = record(
        run_js("({ id: 'a', none: null, missing: undefined, index: 0, inner: { x: [1, { y: 2 }] }, list: [] })")
    )
    assert (event.get("id"), event.get("none"), event.get("missing"), event.get("nowhere")) == ("a", None, None, None)
    assert first(event, "none", "missing", "index") == 0
    inner = record(event.get("inner"))
    assert record(items(inner.get("x"))[1]).get("y") == 2
    assert list(items(event.get("list"))) == []
    assert json_text(event.get("inner")) == '{"x":[1,{"y":2}]}'
    assert text(event.get("none")) == ""
    assert record(None).get("x") is None


async def leaves_no_proxies() -> None:
    """A reading that ends, fails or is left holds nothing of JavaScript, and nothing of it is held there."""
    import pyodide_js

    async def once() -> None:
        await reads_every_kind_of_source()
        await closes_on_early_exit()
        await stops_before_the_start_and_while_paused()

    async def held() -> int:
        await asyncio.sleep(0.05)
        gc.collect()
        await asyncio.sleep(0.05)
        return int(pyodide_js._module.pyproxy_alloc_map.size)

    await once()
    before = await held()
    for _ in range(3):
        await once()
    after = await held()
    assert after <= before, (before, after)


BODIES = [
    reads_every_kind_of_source,
    reads_one_event_at_a_time,
    closes_on_early_exit,
    keeps_the_error_of_a_stream,
    stops_by_a_signal_while_the_source_stalls,
    stops_before_the_start_and_while_paused,
    stops_by_cancelling_the_task,
    takes_operations_of_javascript,
    reads_fields_of_javascript,
    leaves_no_proxies,
]
