/** The line to Python's streams, with the messages in hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnspoolError } from "../lib/index.js";
import type { Patch } from "../lib/live-value.js";
import { PythonStreams, type StepAnswer } from "../lib/python-streams.js";
import { StructuredStream } from "../lib/structured-stream.js";
import type { ToHost } from "../lib/wire.js";
import { settle } from "./support.js";

interface Sent {
  readonly id: number;
  readonly open?: unknown;
  readonly steps?: unknown[];
  readonly close?: boolean;
}

function line(): { streams: PythonStreams; sent: Sent[]; answer(stream: number, ...answers: StepAnswer[]): void } {
  const sent: Sent[] = [];
  const streams = new PythonStreams((message: ToHost) => {
    assert.ok(message.type === "step");
    const told = JSON.parse(message.text) as Sent;
    assert.equal(message.stream, told.id);
    sent.push(told);
  });
  return {
    streams,
    sent,
    answer: (stream, ...answers) => streams.answer(stream, JSON.stringify({ ok: true, value: { answers } })),
  };
}

const TEXT = { kind: "text", options: {} } as const;

test("nothing is sent before the first step, and steps of one turn go together", async () => {
  const { streams, sent, answer } = line();
  const stream = streams.open(TEXT);
  await settle();
  assert.deepEqual(sent, []);
  const steps = ["[1]", "[2]", "[3]"].map((step) => stream.step(step));
  await settle();
  assert.deepEqual(sent, [{ id: 1, open: TEXT, steps: [[1], [2], [3]] }]);
  answer(1, { value: true }, { updates: [] }, { value: false });
  assert.deepEqual(await Promise.all(steps), [{ value: true }, { updates: [] }, { value: false }]);
});

test("one message is on its way at a time, and what comes meanwhile goes together", async () => {
  const { streams, sent, answer } = line();
  const stream = streams.open(TEXT);
  const first = stream.step("[1]");
  await settle();
  const rest = [stream.step("[2]"), stream.step("[3]")];
  await settle();
  assert.equal(sent.length, 1);
  answer(1, {});
  await first;
  assert.deepEqual(sent[1], { id: 1, steps: [[2], [3]] });
  answer(1, {}, {});
  await Promise.all(rest);
  const large = Array.from({ length: 3 }, () => stream.step(JSON.stringify(["x".repeat(3 * 1024 * 1024)])));
  await settle();
  assert.equal(sent[2]!.steps!.length, 2);
  answer(1, {}, {});
  answer(1, {});
  await Promise.all(large);
});

test("two streams do not wait for each other", async () => {
  const { streams, sent, answer } = line();
  const [a, b] = [streams.open(TEXT), streams.open(TEXT)];
  const [ofA, ofB] = [a.step("[1]"), b.step("[2]")];
  await settle();
  assert.deepEqual(
    sent.map(({ id }) => id),
    [1, 2],
  );
  answer(2, { value: true });
  assert.deepEqual(await ofB, { value: true });
  answer(1, { value: false });
  assert.deepEqual(await ofA, { value: false });
});

test("closing rejects what waits, tells Python once, and nothing if it never heard of the stream", async () => {
  const { streams, sent, answer } = line();
  streams.open(TEXT).close();
  const stream = streams.open(TEXT);
  const waiting = stream.step("[1]");
  await settle();
  const later = stream.step("[2]");
  stream.close();
  stream.close();
  for (const step of [waiting, later, stream.step("[3]")])
    await assert.rejects(step, (error: UnspoolError) => error.code === "STREAM_DISPOSED");
  assert.deepEqual(sent.slice(1), [{ id: 2, close: true }]);
  answer(2, {}); // comes too late
});

test("the end of the connection rejects every step, of streams that are there and of later ones", async () => {
  const { streams, sent } = line();
  const died = new UnspoolError("WORKER_DIED", "gone");
  const stream = streams.open(TEXT);
  const waiting = stream.step("[1]");
  const unused = streams.open(TEXT);
  await settle();
  streams.fail(died);
  for (const step of [waiting, stream.step("[2]"), unused.step("[1]"), streams.open(TEXT).step("[1]")])
    await assert.rejects(step, (error) => error === died);
  assert.equal(sent.length, 1);
});

test("an answer that is none, and a refusal, end their stream only", async () => {
  for (const [text, code] of [
    ["{", "BRIDGE_PROTOCOL"],
    ["null", "BRIDGE_PROTOCOL"],
    ['{"ok":true,"value":{"answers":[]}}', "BRIDGE_PROTOCOL"],
    ['{"ok":false,"error":{"code":"INVALID_OPTIONS","message":"no"}}', "INVALID_OPTIONS"],
  ] as const) {
    const { streams, sent, answer } = line();
    const [stream, other] = [streams.open(TEXT), streams.open(TEXT)];
    const waiting = stream.step("[1]");
    const unharmed = other.step("[1]");
    await settle();
    streams.answer(1, text);
    await assert.rejects(waiting, (error: UnspoolError) => error.code === code);
    assert.deepEqual(sent.at(-1), { id: 1, close: true });
    answer(2, {});
    assert.deepEqual(await unharmed, {});
  }
});

test("the paths of patches come after the steps they share with the one before", async () => {
  const { streams, answer } = line();
  const stream = streams.open(TEXT);
  const answered = stream.step('["push","x"]');
  await settle();
  const changes = [
    { op: "set", path: ["a"], value: {} },
    { op: "set", keep: 1, path: ["b", 0], value: 1 },
    { op: "complete", keep: 3, path: [] },
    { op: "complete", path: [] },
  ] as unknown as Patch[];
  const update = { type: "update", id: null, bytesSeen: 1, depth: 1, complete: false, inString: false } as const;
  answer(1, { updates: [{ ...update, changes }, { ...update, changes: changes.slice(3) }] });
  const { updates } = await answered;
  assert.deepEqual(
    updates?.map((each) => each.changes),
    [
      [
        { op: "set", path: ["a"], value: {} },
        { op: "set", path: ["a", "b", 0], value: 1 },
        { op: "complete", path: ["a", "b", 0] },
        { op: "complete", path: [] },
      ],
      [{ op: "complete", path: [] }],
    ],
  );
});

test("a stream that is dropped without being closed is closed in Python", async () => {
  const { streams, sent, answer } = line();
  await (async () => {
    const pushed = new StructuredStream(streams, undefined).push("[");
    await settle();
    answer(1, {
      updates: [{ type: "update", id: null, changes: [], bytesSeen: 1, depth: 1, complete: false, inString: false }],
    });
    assert.equal((await pushed).depth, 1);
  })();
  for (let turn = 0; turn < 50 && sent.length < 2; turn += 1) {
    await settle();
    (globalThis as unknown as { gc(): void }).gc();
  }
  assert.deepEqual(sent.at(-1), { id: 1, close: true });
});
