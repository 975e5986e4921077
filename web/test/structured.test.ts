/** Incremental streams with the real Python, in the page and behind a channel. References (S…) are to Streamfold's behaviour. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bootPython } from "../lib/boot.js";
import {
  connect,
  isUnspoolError,
  type Patch,
  type StructuredDiagnostic,
  type StructuredOperation,
  type StructuredUpdate,
  type Unspool,
  type UnspoolError,
} from "../lib/index.js";
import { collect, FakePython, FakeWorker, gate, settle } from "./support.js";

const dist = process.env["UNSPOOL_DIST"] ?? fileURLToPath(new URL("../../dist", import.meta.url));
const indexURL = `${pathToFileURL(dist).href}/pyodide/`;
const skip = existsSync(`${dist}/pyodide/pyodide.mjs`) ? false : `no self-hosted folder in ${dist}: run \`make dist\``;

async function failing(work: Promise<unknown>): Promise<UnspoolError> {
  const error: unknown = await work.then(unreached, (reason: unknown) => reason);
  assert.ok(isUnspoolError(error), String(error));
  return error;
}

function unreached(): never {
  assert.fail("it did not reject");
}

/** Cut a text at places that only the seed decides. */
function cut(text: string, longest: number, seed: number): string[] {
  const pieces: string[] = [];
  let state = seed;
  for (let at = 0; at < text.length;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    const size = (state % (longest + 1)) | 0;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** What the patches make, by a way of our own. */
function replay(value: unknown, changes: readonly Patch[]): unknown {
  const root = { value: structuredClone(value) } as Record<string, unknown>;
  for (const patch of changes) {
    const path = ["value", ...patch.path];
    const last = path.pop()!;
    const parent = path.reduce<Record<string | number, unknown>>((at, key) => at[key] as typeof root, root);
    if (patch.op === "set") parent[last] = structuredClone(patch.value);
    else if (patch.op === "append") parent[last] = String(parent[last]) + patch.value;
  }
  return root["value"];
}

type Ops = StructuredOperation<unknown>[];

const TEXT =
  '{"city":"Par\\u00eds 👋 \\ud83d\\ude00","list":[1,-2.5e3,[],{}],"deep":{"a":{"b":[null,true,""]}},"n":12345678901}';

function deepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(deepFrozen);
}

/** Events of OpenAI's Responses for calls, in the pieces given. */
function responses(...calls: { id: string; pieces: string[] }[]): Record<string, unknown>[] {
  return calls.flatMap(({ id, pieces }) => [
    { type: "response.output_item.added", item: { type: "function_call", id, name: "f" } },
    ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", item_id: id, delta })),
    { type: "response.function_call_arguments.done", item_id: id, arguments: pieces.join("") },
  ]);
}

/** A source that tells what is done with it. */
function source(events: readonly unknown[]): AsyncIterable<unknown> & { log: string[] } {
  const log: string[] = [];
  return {
    log,
    async *[Symbol.asyncIterator]() {
      try {
        for (const [n, event] of events.entries()) {
          log.push(`pull ${n}`);
          yield event;
        }
        log.push("end");
      } finally {
        log.push("closed");
      }
    },
  };
}

describe("incremental streams", { skip }, () => {
  let us: Unspool;

  before(async () => {
    us = await connect({ worker: false, indexURL });
  });
  after(() => us.dispose());

  describe("createStructuredStream", () => {
    test("a text in any pieces: value, patches, states (S1–S5, S10, S24, S32)", async () => {
      for (const pieces of [
        [TEXT],
        [...TEXT],
        [...TEXT].flatMap((c) => c.split("")),
        cut(TEXT, 3, 1),
        cut(TEXT, 9, 2),
      ]) {
        const stream = us.createStructuredStream();
        assert.deepEqual(stream.state, {
          partialValue: undefined,
          changes: [],
          bytesSeen: 0,
          depth: 0,
          complete: false,
          inString: false,
        });
        let built: unknown;
        for (const piece of pieces) {
          const state = await stream.push(piece);
          built = replay(built, state.changes);
          assert.deepEqual(state.partialValue, built);
          assert.equal(stream.value, state.partialValue);
        }
        assert.equal(stream.state.bytesSeen, new TextEncoder().encode(TEXT).length);
        const last = await stream.finish();
        assert.deepEqual([last.complete, last.depth, last.inString], [true, 0, false]);
        assert.deepEqual(stream.value, JSON.parse(TEXT));
        stream.close();
      }
    });

    test("pushes that are not waited for are taken in order", async () => {
      const stream = us.createStructuredStream();
      const states = await Promise.all([..."[1,[2]]"].map((piece) => stream.push(piece)));
      assert.deepEqual(
        states.map(({ depth }) => depth),
        [1, 1, 1, 2, 2, 1, 0],
      );
      assert.deepEqual((await stream.finish()).partialValue, [1, [2]]);
    });

    test("field states, while it grows and after its end (S27, S28)", async () => {
      const stream = us.createStructuredStream();
      await stream.push('{"a":{"b":1,"c":"x');
      assert.deepEqual(
        [[], ["a"], ["a", "b"], ["a", "c"], ["z"]].map((path) => stream.fieldState(path)),
        ["partial", "partial", "complete", "partial", "partial"],
      );
      await stream.push('"}}');
      await stream.finish();
      assert.equal(stream.fieldState(["z", 3]), "complete");
    });

    test("the end: again it changes nothing, and only white space may follow (S11, S12)", async () => {
      const stream = us.createStructuredStream();
      await stream.push("12");
      const last = await stream.finish();
      assert.deepEqual(last.changes, [
        { op: "set", path: [], value: 12 },
        { op: "complete", path: [] },
      ]);
      assert.deepEqual(await stream.finish(), { ...last, changes: [] });
      assert.deepEqual(await stream.push(" \n"), { ...last, changes: [], bytesSeen: 4 });
      const error = await failing(stream.push(" 3"));
      assert.deepEqual([error.code, error.byteOffset, error.operation], ["TRAILING_DATA", 5, "push"]);
      assert.equal(stream.value, 12);
    });

    test("a fault is terminal, with the same error, and what stood before it stays (S13, S14)", async () => {
      const stream = us.createStructuredStream();
      await stream.push('{"a":[1');
      const error = await failing(stream.push(",2}"));
      assert.deepEqual([error.code, error.byteOffset, error.operation], ["MISMATCHED_CLOSING", 9, "push"]);
      assert.equal(await failing(stream.push("]")), error);
      assert.equal(await failing(stream.finish()), error);
      assert.throws(
        () => stream.state,
        (thrown) => thrown === error,
      );
      assert.deepEqual(stream.value, { a: [] });
      assert.equal(stream.fieldState(["a"]), "partial");
      stream.close();
      stream.close();
      assert.equal((await failing(stream.push("]"))).code, "STREAM_DISPOSED");
      assert.throws(() => stream.state, { code: "STREAM_DISPOSED" });
      assert.deepEqual(stream.value, { a: [] });
    });

    test("faults have the codes of the table (S45)", async () => {
      for (const [text, code, byteOffset] of [
        ["]", "UNEXPECTED_TOKEN", 0],
        ["[}", "MISMATCHED_CLOSING", 1],
        ['"é" x', "TRAILING_DATA", 5],
        ["  ", "EMPTY_INPUT", 0],
        ["[1", "INCOMPLETE_JSON", 2],
        ["tru", "INVALID_JSON", 3],
        ["[01]", "INVALID_JSON", 3],
      ] as const) {
        const stream = us.createStructuredStream();
        const error = await failing(stream.push(text).then(() => stream.finish()));
        assert.deepEqual([error.code, error.byteOffset], [code, byteOffset], text);
      }
      for (const chunk of [5, null, undefined, {}, "\ud800x"]) {
        const stream = us.createStructuredStream();
        assert.equal((await failing(stream.push(chunk as string))).code, "INVALID_CHUNK");
      }
    });

    test("limits and modes (S36–S40)", async () => {
      const small = us.createStructuredStream({ maxBytes: 4, maxDepth: null });
      await small.push('"abc');
      assert.equal((await failing(small.push('"'))).code, "MAX_BYTES_EXCEEDED");
      const flat = us.createStructuredStream({ maxDepth: 1 });
      const error = await failing(flat.push("[[]]"));
      assert.deepEqual([error.code, error.byteOffset], ["MAX_DEPTH_EXCEEDED", 1]);
      const unique = us.createStructuredStream({ duplicateKeys: "error" });
      assert.equal((await failing(unique.push('{"a":1,"a":2}'))).code, "DUPLICATE_KEY");
      const eager = us.createStructuredStream({ scalars: "eager" });
      assert.equal((await eager.push("12")).partialValue, 12);
      for (const wrong of [
        { snapshots: null },
        { snapshots: "frozen" },
        { maxBytes: Infinity },
        { maxDepth: true },
        null,
        [],
        3,
      ])
        assert.throws(
          () => us.createStructuredStream(wrong as never),
          { code: "INVALID_OPTIONS" },
          JSON.stringify(wrong),
        );
      for (const wrong of [
        { maxBytes: 0 },
        { maxDepth: 513 },
        { maxDepth: 1.5 },
        { scalars: "all" },
        { maxByte: 1 },
        { maxActiveStreams: 2 },
      ])
        assert.equal(
          (await failing(us.createStructuredStream(wrong as never).push("1"))).code,
          "INVALID_OPTIONS",
          JSON.stringify(wrong),
        );
    });

    test("immutable snapshots are frozen and stay what they were (S48–S51)", async () => {
      const stream = us.createStructuredStream({ snapshots: "immutable" });
      const seen: unknown[] = [];
      const texts: string[] = [];
      for (const piece of cut(TEXT, 5, 3)) {
        const { partialValue, changes } = await stream.push(piece);
        assert.ok(deepFrozen(partialValue));
        if (changes.every(({ op }) => op === "complete")) assert.equal(partialValue, seen.at(-1));
        seen.push(partialValue);
        texts.push(JSON.stringify(partialValue));
      }
      await stream.finish();
      assert.deepEqual(
        seen.map((value) => JSON.stringify(value)),
        texts,
      );
      const last = seen.at(-1) as { list: unknown };
      assert.ok(seen.some((value) => value !== last && (value as typeof last | undefined)?.list === last.list));
    });

    test("an integer that JavaScript cannot hold is refused, in its place (UNSAFE_INTEGER)", async () => {
      const stream = us.createStructuredStream();
      await stream.push('{"ok":9007199254740991,"s":"9007199254740993",');
      const error = await failing(stream.push('"ids":[9007199254740993]}'));
      assert.equal(error.code, "UNSAFE_INTEGER");
      assert.match(error.message, /ids/);
      assert.equal(await failing(stream.finish()), error);
      assert.deepEqual(stream.value, { ok: 9007199254740991, s: "9007199254740993" });
    });

    test("members called __proto__ are data (S17)", async () => {
      const stream = us.createStructuredStream();
      await stream.push('{"__proto__":{"x":1},"constructor":2}');
      assert.deepEqual(Object.keys(stream.value as object), ["__proto__", "constructor"]);
      assert.equal(({} as { x?: unknown }).x, undefined);
    });
  });

  describe("createStructuredStreamPool", () => {
    test("interleaved texts by id (S55–S60)", async () => {
      const pool = us.createStructuredStreamPool();
      assert.deepEqual(await pool.start("a"), {
        type: "start",
        id: "a",
        partialValue: undefined,
        changes: [],
        bytesSeen: 0,
        depth: 0,
        complete: false,
        inString: false,
      });
      const b = await pool.start("b", "[1,");
      assert.deepEqual([b.type, b.partialValue, b.depth], ["start", [1], 1]);
      await pool.push("a", '{"x":"');
      assert.deepEqual((await pool.push("b", "2]")).partialValue, [1, 2]);
      assert.deepEqual((await pool.push("a", "y")).partialValue, { x: "y" });
      assert.deepEqual([pool.activeIds, pool.size, pool.has("a"), pool.has("c")], [["a", "b"], 2, true, false]);
      assert.equal(pool.fieldState("a", ["x"]), "partial");
      assert.throws(() => pool.fieldState("c", []), { code: "UNKNOWN_STREAM" });
      const done = await pool.finish("b");
      assert.deepEqual([done.type, done.id, done.text, done.value], ["complete", "b", "[1,2]", [1, 2]]);
      assert.notEqual(done.value, done.partialValue);
      assert.deepEqual([await pool.abort("a"), await pool.abort("a"), pool.size], [true, false, 0]);
      await pool.start("a", "1");
      assert.equal((await pool.finish("a")).value, 1);
    });

    test("a text that fails is out, the others go on (S58, S59, S64)", async () => {
      const pool = us.createStructuredStreamPool({ maxActiveStreams: 2 });
      await pool.start("a");
      await pool.start("b", "[");
      const duplicate = await failing(pool.start("a"));
      assert.deepEqual([duplicate.code, duplicate.id, duplicate.operation], ["DUPLICATE_STREAM", "a", "start"]);
      assert.equal((await failing(pool.start("c"))).code, "MAX_ACTIVE_STREAMS_EXCEEDED");
      const fault = await failing(pool.push("a", "x"));
      assert.deepEqual([fault.code, fault.id, fault.operation, fault.byteOffset], ["INVALID_JSON", "a", "push", 0]);
      assert.equal((await failing(pool.push("a", "1"))).code, "UNKNOWN_STREAM");
      assert.equal((await failing(pool.start("c", "]"))).code, "UNEXPECTED_TOKEN");
      assert.equal((await failing(pool.start("c", 5 as never))).code, "INVALID_CHUNK");
      assert.deepEqual(pool.activeIds, ["b"]);
      assert.equal((await failing(pool.finish("b"))).code, "INCOMPLETE_JSON");
      assert.equal((await failing(pool.finish("b"))).code, "UNKNOWN_STREAM");
      await pool.start("empty");
      assert.equal((await failing(pool.finish("empty"))).code, "EMPTY_INPUT");
      await pool.start("big", "9007199254740993");
      assert.equal((await failing(pool.finish("big"))).code, "UNSAFE_INTEGER");
      assert.equal(pool.size, 0);
      pool.close();
      assert.equal((await failing(pool.start("d"))).code, "STREAM_DISPOSED");
    });

    test("a final text is what counts (S61–S63)", async () => {
      for (const snapshots of ["live", "immutable"] as const) {
        const pool = us.createStructuredStreamPool({ snapshots });
        const { partialValue } = await pool.start("same", '{"a":1}');
        const same = await pool.finish("same", '{"a":1}');
        assert.deepEqual([same.partialValue === partialValue, same.changes], [true, []]);
        await pool.start("other", '{"a":[tr');
        const other = await pool.finish("other", '{"b":2}');
        assert.deepEqual(
          [other.partialValue, other.value, other.text, other.bytesSeen],
          [{ b: 2 }, { b: 2 }, '{"b":2}', 7],
        );
        assert.deepEqual(other.changes[0], { op: "set", path: [], value: {} });
        assert.equal(other.value === other.partialValue, snapshots === "immutable");
        assert.equal(deepFrozen(other.value), snapshots === "immutable");
      }
    });

    test("ids are any value, and compared strictly (S56)", async () => {
      const object = {};
      const ids = [1, "1", true, null, undefined, NaN, object, {}, Symbol("s"), 10n, [0], ""];
      const pool = us.createStructuredStreamPool<unknown>();
      for (const [n, id] of ids.entries()) await pool.start(id, String(n));
      assert.deepEqual(pool.activeIds, ids);
      const error = await failing(pool.start(object));
      assert.deepEqual([error.code, error.id === object], ["DUPLICATE_STREAM", true]);
      for (const [n, id] of ids.entries()) {
        const done = await pool.finish(id);
        assert.deepEqual([Object.is(done.id, id), done.value], [true, n]);
      }
    });
  });

  describe("sessions", () => {
    const operations = (): ReturnType<typeof us.defineAdapter<Ops, unknown>> =>
      us.defineAdapter<Ops, unknown>((event) => event);

    test("operations in order, with a lifecycle (S67–S71, S75)", async () => {
      const session = operations()();
      const updates = await session.pushAll([
        { type: "start", id: "a" },
        { type: "delta", id: "a", text: '{"x":1' },
        { type: "start", id: 2 },
        { type: "delta", id: "a", text: "}" },
        { type: "end", id: "a" },
        { type: "abort", id: "unknown" },
      ]);
      assert.deepEqual(
        updates.map(({ type, id }) => [type, id]),
        [
          ["start", "a"],
          ["update", "a"],
          ["start", 2],
          ["update", "a"],
          ["complete", "a"],
        ],
      );
      assert.deepEqual(await session.pushAll([]), []);
      await session.pushAll([{ type: "delta", id: 2, text: "[" }]);
      await session.pushAll([{ type: "start", id: "dropped" }]);
      assert.deepEqual(session.activeIds, [2, "dropped"]);
      assert.equal(session.fieldState(2, []), "partial");
      await session.pushAll([{ type: "abort", id: "dropped" }]);
      assert.deepEqual(session.activeIds, [2]);
      await session.pushAll([{ type: "delta", id: 2, text: "]" }]);
      const finished = await session.finish();
      assert.deepEqual(
        finished.map(({ type, id, value }) => [type, id, value]),
        [["complete", 2, []]],
      );
      assert.deepEqual(await session.finish(), []);
      const error = await failing(session.pushAll([]));
      assert.deepEqual([error.code, error.adapter], ["INTEGRATION_ERROR", "custom"]);
      assert.match(error.message, /finished/);
    });

    test("the seed's weather, and an authoritative final text", async () => {
      type Event =
        { kind: "begin" | "done"; id: number } | { kind: "piece"; id: number; text: string } | { kind: "ping" };
      const weather = us.defineAdapter((event: Event): StructuredOperation<number>[] => {
        if (event.kind === "begin") return [{ type: "start", id: event.id }];
        if (event.kind === "piece") return [{ type: "delta", id: event.id, text: event.text }];
        if (event.kind === "done") return [{ type: "end", id: event.id, finalText: '{"city":"Kaunas"}' }];
        return [];
      });
      const events: Event[] = [
        { kind: "begin", id: 7 },
        { kind: "piece", id: 7, text: '{"city":"Ka' },
        { kind: "ping" },
        { kind: "done", id: 7 },
      ];
      const updates = await collect(us.readStructured(events, { adapter: weather, limits: { maxActiveStreams: 1 } }));
      const last = updates.at(-1)!;
      assert.ok(last.type === "complete");
      assert.deepEqual([last.id, last.value], [7, { city: "Kaunas" }]);
    });

    test("a failure ends the session: no partial batch, and the same error afterwards (S69, S70, S72)", async () => {
      for (const [ops, code, operation, id] of [
        [[{ type: "delta", id: "x", text: "1" }], "UNKNOWN_STREAM", "push", "x"],
        [[{ type: "end", id: "x" }], "UNKNOWN_STREAM", "finish", "x"],
        [
          [
            { type: "start", id: "x" },
            { type: "start", id: "x" },
          ],
          "DUPLICATE_STREAM",
          "start",
          "x",
        ],
        [[{ type: "start" }], "INTEGRATION_ERROR", "start", undefined],
        [[{ type: "other", id: "x" }], "INTEGRATION_ERROR", "other", "x"],
        [[{ type: "delta", id: "x", text: 5 }], "INTEGRATION_ERROR", "delta", "x"],
        [[null], "INTEGRATION_ERROR", undefined, undefined],
        [
          [
            { type: "start", id: "x" },
            { type: "delta", id: "x", text: "]" },
          ],
          "UNEXPECTED_TOKEN",
          "push",
          "x",
        ],
      ] as const) {
        const told: StructuredDiagnostic[] = [];
        const session = operations()({ onDiagnostic: (one) => told.push(one) });
        await session.pushAll([{ type: "start", id: "open" }]);
        const error = await failing(session.pushAll(ops as never));
        assert.deepEqual(
          [error.code, error.operation, error.id, error.adapter, error.eventType],
          [code, operation, id, "custom", "operations"],
          JSON.stringify(ops),
        );
        assert.deepEqual(
          told.map((one) => [one.code, one.error === error]),
          [["STREAM_ERROR", true]],
        );
        assert.equal(await failing(session.pushAll([])), error);
        assert.equal(await failing(session.finish()), error);
        session.close();
        assert.equal(await failing(session.finish()), error);
        assert.deepEqual(session.activeIds, []);
      }
    });

    test("what the mapper throws is kept as it is, with what is known put on it (S42–S44, S72, S107)", async () => {
      const told: StructuredDiagnostic[] = [];
      const original = new RangeError("secret of the mapper");
      const frozen = Object.freeze(new Error("frozen"));
      for (const [thrown, expected] of [
        [original, original],
        [frozen, frozen],
        ["text", undefined],
      ] as const) {
        const session = us.defineAdapter(() => {
          throw thrown;
        })({ onDiagnostic: (one) => told.push(one) });
        const error = await session.pushAll({ type: "boom" }).then(unreached, (reason: unknown) => reason as Error);
        if (expected !== undefined) assert.equal(error, expected);
        else assert.equal(error.cause, thrown);
        assert.equal(await session.finish().then(unreached, (reason: unknown) => reason), error);
        assert.deepEqual([told.at(-1)!.error === error, told.at(-1)!.eventType], [true, "boom"]);
      }
      assert.deepEqual({ ...original }, { code: "INTEGRATION_ERROR", adapter: "custom", eventType: "boom" });
      assert.equal(told.length, 3);
      assert.doesNotMatch(JSON.stringify(told.map(({ message }) => message)), /secret/);
      const promising = us.defineAdapter((async () => []) as never)();
      await assert.rejects(promising.pushAll({}), TypeError);
      assert.throws(() => us.defineAdapter(5 as never), { code: "INVALID_OPTIONS" });
    });

    test("events that are not waited for are answered in order, the failing one included", async () => {
      let count = 0;
      const session = us.defineAdapter((event: { fail?: boolean }): Ops => {
        count += 1;
        if (event.fail) throw new Error("third");
        return [{ type: "start", id: count }];
      })();
      const steps = [{}, {}, { fail: true }, {}].map((event) => session.pushAll(event));
      const outcomes = await Promise.allSettled(steps);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "fulfilled", "rejected", "rejected"],
      );
      assert.equal((outcomes[3] as PromiseRejectedResult).reason, (outcomes[2] as PromiseRejectedResult).reason);
    });

    test("integrations by name, and sessions apart from each other (K7)", async () => {
      const [one, other] = [
        us.createStructuredStream("openai"),
        us.createStructuredStream("openai", { snapshots: "immutable" }),
      ];
      const events = responses({ id: "fc", pieces: ['{"a":', "1}"] });
      for (const session of [one, other]) {
        const updates = (await Promise.all(events.map((event) => session.pushAll(event)))).flat();
        assert.deepEqual(
          updates.map(({ type }) => type),
          ["start", "update", "update", "complete"],
        );
        assert.deepEqual(await session.finish(), []);
      }
      const closed = us.createStructuredStream(operations());
      closed.close();
      closed.close();
      assert.equal((await failing(closed.finish())).code, "STREAM_DISPOSED");
      assert.equal(
        (await failing(us.createStructuredStream("nobody" as "openai").pushAll({}))).code,
        "INVALID_OPTIONS",
      );
    });

    test("the tool's name is on every update of its call, once it is known", async () => {
      const session = operations()();
      const updates = await session.pushAll([
        { type: "start", id: 1, name: "weather" },
        { type: "start", id: 2 },
        { type: "start", id: 3, name: null },
        { type: "delta", id: 1, text: "[]" },
        { type: "end", id: 1 },
        { type: "end", id: 2 },
        { type: "start", id: 1, name: "" },
      ]);
      assert.deepEqual(
        updates.map((update) => [update.type, update.id, "name" in update ? update.name : "none"]),
        [
          ["start", 1, "weather"],
          ["start", 2, "none"],
          ["start", 3, "none"],
          ["update", 1, "weather"],
          ["complete", 1, "weather"],
          ["complete", 2, "none"],
          ["start", 1, "none"],
        ],
      );
      const error = await failing(session.pushAll([{ type: "start", id: 4, name: 5 as unknown as string }]));
      assert.deepEqual([error.code, error.id, error.operation], ["INTEGRATION_ERROR", 4, "start"]);

      const late = us.createStructuredStream("openai-chat");
      const piece = (name: string | undefined, text: string): unknown => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "a", function: { name, arguments: text } }] } }],
      });
      const told = [...(await late.pushAll(piece(undefined, "{"))), ...(await late.pushAll(piece("time", "}")))];
      assert.deepEqual(
        [...told, ...(await late.finish())].map(({ type, name }) => [type, name]),
        [
          ["start", undefined],
          ["update", undefined],
          ["update", "time"],
          ["complete", "time"],
        ],
      );
    });

    test("limits reach the calls (K8), and a tool without arguments is an empty object (S65)", async () => {
      const crowded = operations()({ maxActiveStreams: 1 });
      await crowded.pushAll([{ type: "start", id: 1 }]);
      assert.equal((await failing(crowded.pushAll([{ type: "start", id: 2 }]))).code, "MAX_ACTIVE_STREAMS_EXCEEDED");
      const small = operations()({ maxBytes: 2 });
      assert.equal(
        (
          await failing(
            small.pushAll([
              { type: "start", id: 1 },
              { type: "delta", id: 1, text: '"ab"' },
            ]),
          )
        ).code,
        "MAX_BYTES_EXCEEDED",
      );
      const empty = operations()();
      const updates = await empty.pushAll([
        { type: "start", id: 1 },
        { type: "end", id: 1 },
      ]);
      assert.deepEqual(updates.map((update) => update.type === "complete" && [update.text, update.value]).at(-1), [
        "{}",
        {},
      ]);
    });

    test("an unsafe integer ends the session and is reported once", async () => {
      const told: StructuredDiagnostic[] = [];
      const session = operations()({ onDiagnostic: (one) => told.push(one) });
      await session.pushAll([{ type: "start", id: "x" }]);
      const error = await failing(session.pushAll([{ type: "delta", id: "x", text: "[90071992547409930," }]));
      assert.deepEqual([error.code, error.id, error.adapter], ["UNSAFE_INTEGER", "x", "custom"]);
      assert.deepEqual(
        told.map(({ code, error: reported }) => [code, reported === error]),
        [["STREAM_ERROR", true]],
      );
    });
  });

  describe("readStructured", () => {
    const events = responses(
      { id: "a", pieces: ['{"city":"San', ' Francisco"}'] },
      { id: "b", pieces: ["[", "1", "]"] },
    );
    const typed = (updates: StructuredUpdate<unknown>[]): unknown[] =>
      updates.map(({ type, id }) => `${type} ${String(id)}`);
    const EXPECTED = [
      "start a",
      "update a",
      "update a",
      "complete a",
      "start b",
      "update b",
      "update b",
      "update b",
      "complete b",
    ];

    test("every kind of source (S90)", async () => {
      const stream = (): ReadableStream<unknown> => {
        const made = new ReadableStream<unknown>({
          start(controller) {
            for (const event of events) controller.enqueue(event);
            controller.close();
          },
        });
        Object.defineProperty(made, Symbol.asyncIterator, { value: undefined }); // as in Safari
        return made;
      };
      const given = stream();
      for (const made of [
        events,
        new Set(events),
        events.map((event) => Promise.resolve(event)),
        source(events),
        given,
        (function* () {
          for (const event of events) yield Promise.resolve(event);
        })(),
      ]) {
        const updates = await collect(us.readStructured(made, { integration: "openai" }));
        assert.deepEqual(typed(updates), EXPECTED);
        assert.deepEqual(
          updates.flatMap((update) => ("value" in update ? [update.value] : [])),
          [{ city: "San Francisco" }, [1]],
        );
      }
      assert.equal(given.locked, false);
    });

    test("the live value is what the changes make, at each update", async () => {
      for (const snapshots of ["live", "immutable"] as const) {
        const built = new Map<string, unknown>();
        for await (const update of us.readStructured(events, { integration: "openai", limits: { snapshots } })) {
          built.set(update.id, replay(built.get(update.id), update.changes));
          assert.equal(update.name, "f");
          assert.deepEqual(update.partialValue, built.get(update.id));
          assert.equal(deepFrozen(update.partialValue), snapshots === "immutable" || update.partialValue === undefined);
        }
      }
    });

    test("the next event is not read before the updates of the last one were taken (S92, S93)", async () => {
      const given = source(events);
      const reader = us.readStructured(given, { integration: "openai" });
      await settle();
      assert.deepEqual(given.log, []);
      let pulled = 0;
      for await (const update of reader) {
        pulled = given.log.length;
        await settle();
        assert.equal(given.log.length, pulled, `${update.type} ${update.id}`);
      }
      assert.equal(pulled, events.length);
      assert.deepEqual(given.log.slice(-2), ["end", "closed"]);
      const several = source([
        [
          { type: "start", id: 1 },
          { type: "start", id: 2 },
        ],
        [],
      ]);
      const adapter = us.defineAdapter<unknown, number>((event) => event as StructuredOperation<number>[]);
      const two = us.readStructured(several, { adapter });
      await two.next();
      await two.next();
      assert.deepEqual(several.log, ["pull 0"]);
      await two.return();
    });

    test("what is never read acquires nothing (S96)", async () => {
      const given = source(events);
      const reader = us.readStructured(given, { integration: "openai" });
      await reader.return();
      assert.deepEqual(given.log, []);
    });

    test("leaving early closes the source, and a failing close shows (S95)", async () => {
      const given = source(events);
      for await (const _ of us.readStructured(given, { integration: "openai" })) break;
      assert.deepEqual(given.log, ["pull 0", "closed"]);
      let reason: unknown = "not cancelled";
      const stream = new ReadableStream({
        pull: (controller) => controller.enqueue(events[0]),
        cancel: (why) => void (reason = why),
      });
      for await (const _ of us.readStructured(stream, { integration: "openai" })) break;
      assert.deepEqual([reason, stream.locked], [undefined, false]);
      const bad = {
        [Symbol.iterator]: () => ({
          next: () => ({ done: false, value: events[0] }),
          return: () => {
            throw new Error("cannot close");
          },
        }),
      } as unknown as Iterable<unknown>;
      await assert.rejects(
        (async () => {
          for await (const _ of us.readStructured(bad, { integration: "openai" })) break;
        })(),
        /cannot close/,
      );
      const fault = [
        ...events.slice(0, 1),
        { type: "response.failed", response: { error: { code: "x", message: "over" } } },
      ];
      let at = 0;
      const both = {
        ...bad,
        [Symbol.iterator]: () => ({ ...bad[Symbol.iterator](), next: () => ({ done: false, value: fault[at++] }) }),
      };
      const error = await failing(collect(us.readStructured(both as Iterable<unknown>, { integration: "openai" })));
      assert.match(error.message, /over/);
    });

    test("an error of the source is kept, and the source closed (S94, S97, S102)", async () => {
      const broken = new Error("connection lost");
      const told: StructuredDiagnostic[] = [];
      const failingSource = async function* (): AsyncGenerator<unknown> {
        yield events[0];
        throw broken;
      };
      const options = { integration: "openai", onDiagnostic: (one: StructuredDiagnostic) => told.push(one) } as const;
      await assert.rejects(collect(us.readStructured(failingSource(), options)), (error) => error === broken);
      assert.deepEqual(told, []);
      const stream = new ReadableStream({ pull: (controller) => controller.error(broken) });
      await assert.rejects(collect(us.readStructured(stream, options)), (error) => error === broken);
      assert.equal(stream.locked, false);
      const odd = { [Symbol.asyncIterator]: () => ({ next: async () => 5 }) } as unknown as AsyncIterable<unknown>;
      await assert.rejects(collect(us.readStructured(odd, options)), TypeError);
    });

    test("a fault of a call closes the source, after the updates before it (S84, S94)", async () => {
      const wrong = [
        ...events.slice(0, 2),
        { type: "error", message: "the provider broke off", code: "server" },
        ...events,
      ];
      for (const given of [wrong, source(wrong)]) {
        const told: StructuredDiagnostic[] = [];
        const seen: unknown[] = [];
        const error = await failing(
          (async () => {
            const options = {
              integration: "openai",
              onDiagnostic: (one: StructuredDiagnostic) => told.push(one),
            } as const;
            for await (const update of us.readStructured(given, options)) seen.push(update.type);
          })(),
        );
        assert.deepEqual(seen, ["start", "update"]);
        assert.deepEqual([error.code, error.adapter, error.eventType], ["INTEGRATION_ERROR", "openai", "error"]);
        assert.match(error.message, /the provider broke off/);
        assert.equal((error.cause as UnspoolError).code, "PROVIDER");
        assert.deepEqual(
          told.map(({ code, error: reported }) => [code, reported === error]),
          [["STREAM_ERROR", true]],
        );
        if ("log" in given) assert.deepEqual(given.log, ["pull 0", "pull 1", "pull 2", "closed"]);
      }
    });

    test("an error object inside an event is what the reader throws", async () => {
      const original = new RangeError("quota");
      const wrong = [
        { type: "tool-input-start", id: "t", toolName: "f" },
        { type: "error", error: original },
      ];
      await assert.rejects(
        collect(us.readStructured(wrong, { integration: "vercel-ai" })),
        (error) => error === original,
      );
      assert.deepEqual({ ...original }, { code: "INTEGRATION_ERROR", adapter: "vercel-ai", eventType: "error" });
    });

    test("a call that was cut is not completed; one that was not is finished at the end (S93)", async () => {
      const cutOff = events.slice(0, 2);
      const seen: string[] = [];
      const error = await failing(
        (async () => {
          for await (const { type } of us.readStructured(cutOff, { integration: "openai" })) seen.push(type);
        })(),
      );
      assert.deepEqual([error.code, error.id, seen], ["INCOMPLETE_JSON", "a", ["start", "update"]]);
      const chunk = { tool_call_chunks: [{ index: 0, id: "l", name: "f", args: '{"x":1}' }] };
      const updates = await collect(us.readStructured([chunk], { integration: "langchain" }));
      assert.deepEqual(typed(updates), ["start l", "update l", "complete l"]);
    });

    test("diagnostics: nothing matched, something unmatched; a callback that throws changes nothing (S103–S106)", async () => {
      const told: StructuredDiagnostic[] = [];
      const onDiagnostic = (one: StructuredDiagnostic): void => {
        told.push(one);
        throw new Error("logging");
      };
      const text = [{ type: "response.output_text.delta", delta: "secret" }];
      assert.deepEqual(await collect(us.readStructured(text, { integration: "openai", onDiagnostic })), []);
      const lost = [{ type: "tool-input-end", id: "never" }, ...[]];
      await collect(us.readStructured(lost, { integration: "vercel-ai", onDiagnostic }));
      assert.deepEqual(
        told.map(({ code, adapter, eventType, id }) => [code, adapter, eventType, id]),
        [
          ["NO_TOOL_EVENTS", "openai", undefined, undefined],
          ["UNMATCHED_TOOL_EVENT", "vercel-ai", "tool-input-end", "never"],
          ["NO_TOOL_EVENTS", "vercel-ai", undefined, undefined],
        ],
      );
      assert.doesNotMatch(JSON.stringify(told), /secret/);
      told.length = 0;
      await collect(us.readStructured([], { integration: "openai", onDiagnostic }));
      assert.deepEqual(told, []);
    });

    test("a signal that is aborted already: nothing is acquired (S98)", async () => {
      const given = source(events);
      const reason = new Error("no");
      const reader = us.readStructured(given, { integration: "openai", signal: AbortSignal.abort(reason) });
      await assert.rejects(reader.next(), (error) => error === reason);
      assert.deepEqual(given.log, []);
    });

    test("aborting while the source stalls rejects at once, whatever its closing does (S99, S101)", async () => {
      for (const close of [() => new Promise(() => {}), () => Promise.reject(new Error("late"))]) {
        let returned = 0;
        const stalled = {
          [Symbol.asyncIterator]: () => ({
            next: () => new Promise(() => {}),
            return: () => {
              returned += 1;
              return close();
            },
          }),
        } as unknown as AsyncIterable<unknown>;
        const stop = new AbortController();
        const reading = us.readStructured(stalled, { integration: "openai", signal: stop.signal }).next();
        await settle();
        const reason = { why: "enough" };
        stop.abort(reason);
        await assert.rejects(reading, (error) => error === reason);
        assert.equal(returned, 1);
      }
      let cancelled: unknown;
      const silent = new ReadableStream({ cancel: (why) => void (cancelled = why) });
      const stop = new AbortController();
      const reading = us.readStructured(silent, { integration: "openai", signal: stop.signal }).next();
      await settle();
      stop.abort("over");
      await assert.rejects(reading, (error) => error === "over");
      assert.deepEqual([cancelled, silent.locked], ["over", false]);
    });

    test("aborting between two updates of an event: the rest is dropped, and nothing is finished (S100)", async () => {
      const stop = new AbortController();
      const given = source([
        [
          { type: "start", id: 1 },
          { type: "start", id: 2 },
          { type: "start", id: 3 },
        ],
      ]);
      const adapter = us.defineAdapter<unknown, number>((event) => event as StructuredOperation<number>[]);
      const reader = us.readStructured(given, { adapter, signal: stop.signal });
      assert.equal((await reader.next()).value?.id, 1);
      stop.abort();
      await assert.rejects(reader.next(), { name: "AbortError" });
      assert.deepEqual(await reader.next(), { done: true, value: undefined });
      assert.deepEqual(given.log, ["pull 0", "closed"]);
    });

    test("a mapper that aborts its own reading (S100), and listeners that are all removed (S101)", async () => {
      const stop = new AbortController();
      let listeners = 0;
      const { signal } = stop;
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      Object.assign(signal, {
        addEventListener: (...given: Parameters<typeof add>) => ((listeners += 1), add(...given)),
        removeEventListener: (...given: Parameters<typeof remove>) => ((listeners -= 1), remove(...given)),
      });
      await collect(us.readStructured(events, { integration: "openai", signal }));
      for await (const _ of us.readStructured(events, { integration: "openai", signal })) break;
      assert.equal(listeners, 0);
      const adapter = us.defineAdapter<unknown, number>(() => {
        stop.abort(new Error("by the mapper"));
        return [{ type: "start", id: 1 }];
      });
      await assert.rejects(collect(us.readStructured([{}, {}], { adapter, signal })), /by the mapper/);
      assert.equal(listeners, 0);
    });

    test("wrong calls (S89)", async () => {
      const adapter = us.defineAdapter<unknown, string>(() => []);
      for (const wrong of [
        {},
        undefined,
        { integration: "openai", adapter },
        { adapter: adapter() },
        { integration: 5 },
        { integration: "openai", signal: 1 },
      ])
        assert.throws(() => us.readStructured([], wrong as never), { code: "INVALID_OPTIONS" });
      for (const [given, wrong] of [
        [[{}], { integration: "nobody" }],
        [[{}], { integration: "openai", limits: { maxBytes: 0 } }],
        [[{}], { adapter: () => ({}) }],
        ["text", { integration: "openai" }],
        [{ type: "one event" }, { integration: "openai" }],
        [null, { integration: "openai" }],
      ] as const) {
        assert.equal(
          (await failing(collect(us.readStructured(given as never, wrong as never)))).code,
          "INVALID_OPTIONS",
        );
      }
    });

    test("an event that nests too deep, and one that cannot be read", async () => {
      const deep = JSON.parse("[".repeat(600) + "]".repeat(600)) as unknown;
      assert.equal(
        (await failing(collect(us.readStructured([{ deep }], { integration: "openai" })))).code,
        "MAX_DEPTH_EXCEEDED",
      );
      const throwing = {
        get type(): string {
          throw new RangeError("no type");
        },
      };
      await assert.rejects(collect(us.readStructured([throwing], { integration: "openai" })), RangeError);
      assert.equal((await collect(us.readStructured(events, { integration: "openai" }))).length, EXPECTED.length);
    });
  });

  test("many streams at once are refused beyond a bound, and closing makes room", async () => {
    const streams = Array.from({ length: 1025 }, () => us.createStructuredStream());
    const outcomes = await Promise.allSettled(streams.map((stream) => stream.push("[")));
    const refused = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    assert.ok(refused.length >= 1 && refused.length < 20, String(refused.length));
    assert.ok(refused.every(({ reason }) => (reason as UnspoolError).code === "MAX_ACTIVE_STREAMS_EXCEEDED"));
    for (const stream of streams) stream.close();
    assert.equal((await us.createStructuredStream().push("1 ")).partialValue, 1);
  });
});

describe("incremental streams behind a channel", { skip }, () => {
  test("the worker's death and disposal reject what waits, and close the source", async () => {
    const worker = new FakeWorker(Object.assign(new FakePython(), { boot: bootPython }));
    const us = await connect({ worker, indexURL });
    const events = responses({ id: "a", pieces: ['{"x":', "1}"] });
    const updates = await collect(us.readStructured(events, { integration: "openai" }));
    assert.deepEqual(updates.at(-1)?.partialValue, { x: 1 });
    const steps = worker.sent
      .filter(({ type }) => type === "step")
      .map(({ text }) => JSON.parse(String(text)) as { steps?: unknown[] });
    assert.deepEqual(
      steps.map(({ steps: taken }) => taken?.length),
      [4, 1, undefined],
    );

    const open = gate<void>();
    let closed = false;
    const stalled = async function* (): AsyncGenerator<unknown> {
      try {
        yield events[0];
        await open.passed;
        yield events[1];
      } finally {
        closed = true;
      }
    };
    const reader = us.readStructured(stalled(), { integration: "openai" });
    await reader.next();
    const stream = us.createStructuredStream();
    await stream.push("[");
    us.dispose();
    open.open();
    assert.equal((await failing(reader.next())).code, "DISPOSED");
    assert.equal((await failing(stream.push("1"))).code, "DISPOSED");
    assert.equal((await failing(us.createStructuredStreamPool().start("a"))).code, "DISPOSED");
    assert.deepEqual([closed, stream.value], [true, []]);
    assert.ok(worker.terminated);
  });
});
