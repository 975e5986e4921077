import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type StructuredEvent, type UnspoolError } from "../lib/index.js";
import { INDEX, failing, inBoth, inPage, inWorker } from "./connections.js";
import {
  ANSWER,
  COMPLETE,
  FakePython,
  FakeWorker,
  batches,
  collect,
  gate,
  settle,
  type Batch,
} from "./support.js";

const QUERY = { prompt: "p", lm: { provider: "scripted", text: "" }, schema: { type: "object" } } as const;

inBoth("events come in order and end with the terminal one", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  const stream = us.queryStream(QUERY);
  assert.deepEqual(await collect(stream), ANSWER.flat());
  assert.equal(stream.text, '{"a":1}');
  assert.deepEqual(stream.partialValue, { a: 1 });
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

inBoth("values that Python leaves out are those that have been read", async (make) => {
  const { us } = await make(
    batches([
      { type: "objectStart", path: [], kind: "object" },
      { type: "fieldStart", path: ["a"] },
      { type: "objectStart", keep: 1, path: [], kind: "array" },
      { type: "fieldStart", path: ["a", 0] },
      { type: "stringFieldDelta", path: ["a", 0], delta: "x" },
      { type: "stringFieldDelta", keep: 2, path: [], delta: "y" },
      { type: "fieldEnd", path: ["a", 0] },
      { type: "fieldEnd", keep: 1, path: [1], value: null },
      { type: "fieldEnd", path: ["a", 2], value: "" },
      { type: "objectEnd", path: ["a"], kind: "array" },
      { type: "fieldEnd", path: ["a"] },
      { type: "objectEnd", path: [], kind: "object" },
      COMPLETE,
    ]),
  );
  const stream = us.queryStream(QUERY);
  const ends = (await collect(stream)).filter(({ type }) => type === "fieldEnd" || type === "objectEnd");
  assert.deepEqual(
    ends.map((event) => (event as { value: unknown }).value),
    ["xy", null, "", ["xy", null, ""], ["xy", null, ""], { a: ["xy", null, ""] }],
  );
  assert.equal((ends.at(-1) as { value: unknown }).value, stream.partialValue);
  us.dispose();
});

inBoth("a query resolves with the validated value", async (make) => {
  const { us } = await make(batches(...ANSWER));
  assert.deepEqual(await us.query(QUERY), { a: 1 });
  us.dispose();
});

inBoth("nothing is sent before the first read", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  us.queryStream(QUERY);
  await settle();
  assert.deepEqual(python.log, []);
  us.dispose();
});

inBoth("a batch is pulled only when the one at hand has been read (back-pressure)", async (make) => {
  const pulled: number[] = [];
  const { us } = await make(async function* () {
    for (let n = 0; n < 3; n += 1) {
      pulled.push(n);
      yield [
        { type: "textDelta", delta: "x" },
        { type: "textDelta", delta: "y" },
      ];
    }
    yield [COMPLETE];
  });
  const stream = us.queryStream(QUERY);
  await stream.next();
  await settle();
  assert.deepEqual(pulled, [0]);
  await stream.next();
  await settle();
  assert.deepEqual(pulled, [0]);
  await stream.next();
  await settle();
  assert.deepEqual(pulled, [0, 1]);
  await stream.return();
  us.dispose();
});

inBoth("reads that are asked for at once come in order", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  const stream = us.queryStream(QUERY);
  const steps = await Promise.all(Array.from({ length: 9 }, () => stream.next()));
  assert.deepEqual(
    steps.filter(({ done }) => done !== true).map(({ value }) => value),
    ANSWER.flat(),
  );
  assert.equal(python.log.filter((operation) => operation === "pull").length, 2);
  us.dispose();
});

inBoth("a signal that is already aborted sends nothing", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  const [event, ...rest] = await collect(us.queryStream({ ...QUERY, signal: AbortSignal.abort() }));
  assert.equal(event?.type, "cancelled");
  assert.deepEqual(rest, []);
  assert.deepEqual(python.log, []);
  us.dispose();
});

inBoth("aborting while a pull waits ends with one cancelled event, which Python makes", async (make) => {
  const stop = new AbortController();
  const { us, python } = await make(async function* () {
    yield [{ type: "textDelta", delta: "{" }];
    await new Promise(() => {});
  });
  const stream = us.queryStream({ ...QUERY, signal: stop.signal });
  await stream.next();
  const waiting = stream.next();
  await settle();
  stop.abort();
  const { value } = await waiting;
  assert.equal(value?.type, "cancelled");
  assert.equal((value as { error: UnspoolError }).error.message, "stopped in Python");
  assert.equal((value as { error: UnspoolError }).error.text, "{");
  assert.equal((await stream.next()).done, true);
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

inBoth("aborting between reads reaches Python at once, and what has arrived is still given", async (make) => {
  const stop = new AbortController();
  const { us, python } = await make(async function* () {
    yield [
      { type: "textDelta", delta: "a" },
      { type: "textDelta", delta: "b" },
    ];
    await new Promise(() => {});
  });
  const stream = us.queryStream({ ...QUERY, signal: stop.signal });
  await stream.next();
  stop.abort();
  await settle();
  assert.ok(python.log.includes("cancel"));
  assert.deepEqual(
    (await collect(stream)).map(({ type }) => type),
    ["textDelta", "cancelled"],
  );
  assert.equal(stream.text, "ab");
  us.dispose();
});

inBoth("aborting while Python opens the call ends with one cancelled event", async (make) => {
  const stop = new AbortController();
  const opening = gate();
  const { us, python } = await make(async function* () {
    await new Promise(() => {});
  });
  python.tamper = (operation) => (operation === "open" ? (opening.passed.then(() => undefined) as never) : undefined);
  const waiting = collect(us.queryStream({ ...QUERY, signal: stop.signal }));
  await settle();
  stop.abort();
  await settle();
  opening.open();
  assert.deepEqual(
    (await waiting).map(({ type }) => type),
    ["cancelled"],
  );
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

inBoth("aborting while the key is fetched sends nothing", async (make) => {
  const stop = new AbortController();
  const { us, python } = await make(batches(...ANSWER));
  const lm = { provider: "openai-chat", model: "m", apiKey: () => new Promise<string>(() => {}) } as const;
  const waiting = collect(us.queryStream({ ...QUERY, lm, signal: stop.signal }));
  await settle();
  stop.abort();
  assert.deepEqual(
    (await waiting).map(({ type }) => type),
    ["cancelled"],
  );
  assert.deepEqual(python.log, []);
  us.dispose();
});

inBoth("aborting after the end changes nothing", async (make) => {
  const stop = new AbortController();
  const { us, python } = await make(batches(...ANSWER));
  const stream = us.queryStream({ ...QUERY, signal: stop.signal });
  const events = await collect(stream);
  stop.abort();
  await settle();
  assert.equal(events.at(-1)?.type, "generationComplete");
  assert.ok(!python.log.includes("cancel"));
  us.dispose();
});

inBoth("aborting when the terminal event has arrived but not been read keeps it", async (make) => {
  const stop = new AbortController();
  const { us, python } = await make(batches(ANSWER.flat()));
  const stream = us.queryStream({ ...QUERY, signal: stop.signal });
  await stream.next();
  stop.abort();
  assert.equal((await collect(stream)).at(-1)?.type, "generationComplete");
  assert.ok(!python.log.includes("cancel"));
  us.dispose();
});

inBoth("an aborted query rejects with ABORTED and keeps the text", async (make) => {
  const stop = new AbortController();
  const { us } = await make(async function* () {
    yield [{ type: "textDelta", delta: '{"a' }];
    stop.abort();
    await new Promise(() => {});
  });
  const error = await failing(us.query({ ...QUERY, signal: stop.signal }));
  assert.equal(error.code, "ABORTED");
  assert.equal(error.text, '{"a');
  us.dispose();
});

inBoth("leaving the loop closes the call in Python before the loop's end is over", async (make) => {
  let finalized = false;
  const { us, python } = await make(async function* () {
    try {
      for (;;) yield [{ type: "textDelta", delta: "x" }];
    } finally {
      finalized = true;
    }
  });
  for await (const event of us.queryStream(QUERY)) if (event.type === "textDelta") break;
  assert.equal(python.open, 0);
  assert.ok(finalized);
  us.dispose();
});

inBoth("return() while a read waits ends the read and closes the call", async (make) => {
  const { us, python } = await make(async function* () {
    await new Promise(() => {});
  });
  const stream = us.queryStream(QUERY);
  const waiting = stream.next();
  await settle();
  await stream.return();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.equal(python.open, 0);
  us.dispose();
});

inBoth("return() before the first read sends nothing", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  const stream = us.queryStream(QUERY);
  await stream.return();
  assert.equal((await stream.next()).done, true);
  assert.deepEqual(python.log, []);
  us.dispose();
});

inBoth("dispose rejects every read and query that waits, and is idempotent", async (make) => {
  const { us, python } = await make(async function* () {
    yield [{ type: "textDelta", delta: "so far" }];
    await new Promise(() => {});
  });
  const stream = us.queryStream(QUERY);
  await stream.next();
  const reading = failing(stream.next());
  const asking = failing(us.query(QUERY));
  await settle();
  us.dispose();
  us.dispose();
  const error = await reading;
  assert.equal(error.code, "DISPOSED");
  assert.equal(error.text, "so far");
  assert.equal((await asking).code, "DISPOSED");
  assert.equal((await failing(us.query(QUERY))).code, "DISPOSED");
  assert.equal((await stream.next()).done, true);
  await settle();
  if (make === inPage) assert.deepEqual([python.open, python.destroyed], [0, 1]);
});

test("dispose terminates the worker", async () => {
  const { us, worker } = await inWorker(batches(...ANSWER));
  us.dispose();
  assert.ok(worker.terminated);
});

test("an error event of the worker rejects everything that waits; a new connection works", async () => {
  const { us, worker } = await inWorker(async function* () {
    yield [
      { type: "textDelta", delta: '{"a":"b' },
      { type: "objectStart", path: [], kind: "object" },
      { type: "stringFieldDelta", path: ["a"], delta: "b" },
    ];
    await new Promise(() => {});
  });
  const stream = us.queryStream(QUERY);
  for (let n = 0; n < 3; n += 1) await stream.next();
  const reading = failing(stream.next());
  await settle();
  worker.dispatchEvent(Object.assign(new Event("error", { cancelable: true }), { message: "out of memory" }));
  const error = await reading;
  assert.equal(error.code, "WORKER_DIED");
  assert.match(error.message, /out of memory/);
  assert.equal(error.text, '{"a":"b');
  assert.deepEqual(error.partialValue, { a: "b" });
  assert.ok(worker.terminated);
  assert.equal((await failing(us.query(QUERY))).code, "WORKER_DIED");
  const again = await inWorker(batches(...ANSWER));
  assert.deepEqual(await again.us.query(QUERY), { a: 1 });
  again.us.dispose();
});

test("a message that cannot be decoded rejects everything that waits", async () => {
  const { us, worker } = await inWorker(async function* () {
    await new Promise(() => {});
  });
  const reading = failing(us.query(QUERY));
  await settle();
  worker.dispatchEvent(new Event("messageerror"));
  assert.equal((await reading).code, "BRIDGE_PROTOCOL");
});

for (const [name, message] of [
  ["an unknown type", { unspool: 1, type: "surprise" }],
  ["a missing field", { unspool: 1, type: "batch", call: 1 }],
  ["another release", { unspool: 0, type: "batch", call: 1, text: "" }],
] as const) {
  test(`a malformed message rejects everything that waits: ${name}`, async () => {
    const { us, worker } = await inWorker(async function* () {
      await new Promise(() => {});
    });
    const reading = failing(us.query(QUERY));
    await settle();
    worker.say(message);
    assert.equal((await reading).code, "BRIDGE_PROTOCOL");
  });
}

test("messages of somebody else are left alone", async () => {
  const { us, worker } = await inWorker(batches(...ANSWER));
  for (const data of [null, "text", 7, {}, { type: "batch" }]) worker.say(data);
  assert.deepEqual(await us.query(QUERY), { a: 1 });
  us.dispose();
});

inBoth("a batch that is no JSON fails its own query only", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  python.tamper = (operation) => (operation === "pull" ? "{oops" : undefined);
  assert.equal((await failing(us.query(QUERY))).code, "BRIDGE_PROTOCOL");
  python.tamper = () => undefined;
  assert.deepEqual(await us.query(QUERY), { a: 1 });
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

for (const [name, text] of [
  ["no events", '{"ok":true,"value":{}}'],
  ["no value", '{"ok":true}'],
  ["no answer", "null"],
  ["no error", '{"ok":false}'],
  [
    "an impossible path",
    '{"ok":true,"value":{"events":[{"type":"stringFieldDelta","path":["a","b"],"delta":"x"}],"done":false}}',
  ],
  ["an event without type", '{"ok":true,"value":{"events":[null],"done":false}}'],
] as const) {
  inBoth(`a batch of the wrong shape is BRIDGE_PROTOCOL: ${name}`, async (make) => {
    const { us, python } = await make(batches(...ANSWER));
    python.tamper = (operation) => (operation === "pull" ? text : undefined);
    assert.equal((await failing(us.query(QUERY))).code, "BRIDGE_PROTOCOL");
    us.dispose();
  });
}

inBoth("a query that ends without a terminal event is BRIDGE_PROTOCOL", async (make) => {
  const { us } = await make(batches([{ type: "textDelta", delta: "a" }]));
  const error = await failing(us.query(QUERY));
  assert.deepEqual([error.code, error.text], ["BRIDGE_PROTOCOL", "a"]);
  us.dispose();
});

inBoth("a refusal to open rejects the read with Python's error", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  python.tamper = (operation) =>
    operation === "open"
      ? JSON.stringify({ ok: false, error: { code: "MODULE_ERROR", message: "no models.Answer" } })
      : undefined;
  const error = await failing(us.query(QUERY));
  assert.deepEqual([error.code, error.message], ["MODULE_ERROR", "no models.Answer"]);
  us.dispose();
});

inBoth("a bridge that throws rejects the read", async (make) => {
  const { us, python } = await make(batches(...ANSWER));
  python.tamper = (operation) => {
    if (operation === "pull") throw new Error("TypeError: in Python");
    return undefined;
  };
  const error = await failing(us.query(QUERY));
  assert.deepEqual([error.code, error.message], ["BRIDGE_PROTOCOL", "TypeError: in Python"]);
  us.dispose();
});

inBoth("a dead interpreter counts as the worker's death, whoever notices it", async (make) => {
  const { us, python } = await make(async function* () {
    await new Promise(() => {});
  });
  const waiting = failing(us.query(QUERY));
  await settle();
  python.hooks.fatal(new RangeError("Maximum call stack size exceeded"));
  const error = await waiting;
  assert.equal(error.code, "WORKER_DIED");
  assert.match(error.message, /Maximum call stack/);
  assert.equal((await failing(us.query(QUERY))).code, "WORKER_DIED");
});

for (const death of [
  Object.assign(new Error("stack"), { pyodide_fatal_error: true }),
  new Error("Pyodide already fatally failed and can no longer be used."),
]) {
  inBoth(`a bridge call that dies counts as the worker's death: ${death.message}`, async (make) => {
    const { us, python } = await make(batches(...ANSWER));
    const idle = failing(us.query({ ...QUERY, lm: { provider: "openai", model: "m", apiKey: () => new Promise<string>(() => {}) } }));
    python.tamper = (operation) => {
      if (operation === "pull") throw death;
      return undefined;
    };
    assert.equal((await failing(us.query(QUERY))).code, "WORKER_DIED");
    assert.equal((await idle).code, "WORKER_DIED");
  });
}

inBoth("failures of the provider are events for a stream and rejections for a query", async (make) => {
  const wire = {
    code: "RATE_LIMIT",
    message: "slow down",
    retryable: true,
    retryAfterS: 3,
    status: 429,
    requestId: "r1",
    partial: { role: "assistant", parts: [{ type: "text", text: "{" }] },
  };
  const { us } = await make(
    batches([
      { type: "textDelta", delta: "{" },
      { type: "generationFailed", error: wire },
    ]),
  );
  const [, event] = await collect(us.queryStream(QUERY));
  assert.equal(event?.type, "generationFailed");
  const error = await failing(us.query(QUERY));
  assert.deepEqual(error.toWire(), { ...wire, text: "{" });
  us.dispose();
});

inBoth("a failed parse keeps the text and the partial value that Python read", async (make) => {
  const wire = { code: "OUTPUT_INVALID", message: "m", text: "{}", partialValue: {} };
  const { us } = await make(batches([{ type: "parsingFailed", error: wire }]));
  const error = await failing(us.query(QUERY));
  assert.deepEqual([error.code, error.text, error.partialValue, error.retryable], ["OUTPUT_INVALID", "{}", {}, false]);
  us.dispose();
});

inBoth("calls do not mix", async (make) => {
  const { us } = await make(async function* (request) {
    for (const delta of ["1", "2", "3"]) yield [{ type: "textDelta", delta: `${String(request.prompt)}${delta}` }];
    yield [{ type: "generationComplete", result: request.prompt }];
  });
  const texts = await Promise.all(["a", "b", "c"].map(async (prompt) => us.query({ ...QUERY, prompt })));
  assert.deepEqual(texts, ["a", "b", "c"]);
  us.dispose();
});

inBoth("a stream that is dropped unread is closed when it is collected", async (make) => {
  const { us, python } = await make(async function* () {
    for (;;) yield [{ type: "textDelta", delta: "x" }];
  });
  await us.queryStream(QUERY).next();
  assert.equal(python.open, 1);
  for (let turn = 0; turn < 50 && python.open > 0; turn += 1) {
    globalThis.gc?.();
    await settle();
  }
  assert.equal(python.open, 0);
  us.dispose();
});

inBoth("a read that waits keeps its stream", async (make) => {
  const arrival = gate<Batch>();
  const { us, python } = await make(async function* () {
    yield await arrival.passed;
  });
  const waiting = us.queryStream(QUERY).next();
  for (let turn = 0; turn < 5; turn += 1) {
    await settle();
    globalThis.gc?.();
  }
  assert.equal(python.open, 1);
  arrival.open([COMPLETE]);
  assert.deepEqual((await waiting).value, COMPLETE);
  us.dispose();
});

test("everything the caller says reaches Python; what he does not say is left out", async () => {
  const { us, python } = await inWorker(batches([COMPLETE]));
  await us.query({
    prompt: [{ role: "user", content: "hi" }],
    schema: "models:Answer",
    lm: { provider: "openai-chat", model: "m", baseURL: "https://x.example/v1", apiKey: async () => "sk-late" },
    system: "s",
    protocol: "native",
    options: { temperature: 0, maxOutputTokens: 5, stop: ["."], seed: 1, extra: { top_k: 1 } },
    maxChars: 10,
    maxDepth: 3,
  });
  await us.query({ prompt: "p", lm: { object: "models:lm" } });
  assert.deepEqual(python.requests, [
    {
      prompt: [{ role: "user", content: "hi" }],
      schema: { type: "models:Answer" },
      protocol: "native",
      system: "s",
      lm: { provider: "openai-chat", model: "m", baseURL: "https://x.example/v1", apiKey: "sk-late" },
      options: { temperature: 0, maxOutputTokens: 5, stop: ["."], seed: 1, extra: { top_k: 1 } },
      maxChars: 10,
      maxDepth: 3,
    },
    { prompt: "p", lm: { object: "models:lm" } },
  ]);
  us.dispose();
});

test("a key that cannot be fetched is MISSING_CREDENTIAL, and its reason stays out of the message", async () => {
  const { us, python } = await inWorker(batches(...ANSWER));
  for (const apiKey of [() => Promise.reject(new Error("sk-secret")), () => Promise.resolve("")]) {
    const error = await failing(us.query({ ...QUERY, lm: { provider: "openai-chat", model: "m", apiKey } }));
    assert.equal(error.code, "MISSING_CREDENTIAL");
    assert.ok(!error.message.includes("sk-secret"));
  }
  assert.deepEqual(python.log, []);
  us.dispose();
});

test("a query that cannot be made is refused at once", async () => {
  const { us, python } = await inWorker(batches(...ANSWER));
  const cyclic: Record<string, unknown> = { provider: "x" };
  cyclic["self"] = cyclic;
  for (const wrong of [
    { prompt: 1 },
    { lm: undefined },
    { lm: "gpt" },
    { schema: 1 },
    { schema: "Answer" },
    { schema: [] },
    { signal: {} },
    { systen: "misspelled" },
    { maxchars: 1 },
  ]) {
    assert.throws(() => us.queryStream({ ...QUERY, ...wrong } as never), { code: "INVALID_OPTIONS" });
  }
  assert.equal((await failing(us.query({ ...QUERY, lm: cyclic as never }))).code, "INVALID_OPTIONS");
  assert.equal(
    (await failing(us.query({ ...QUERY, lm: { provider: "openai", model: "m", apiKey: 3 as never } }))).code,
    "INVALID_OPTIONS",
  );
  for (const nothing of [undefined, null, 5]) {
    assert.throws(() => us.queryStream(nothing as never), { code: "INVALID_OPTIONS" });
  }
  assert.deepEqual(python.log, []);
  us.dispose();
});

test("connect makes addresses absolute and loads pydantic and unspool (F47)", async () => {
  const python = new FakePython();
  const options = {
    indexURL: "https://host.example/a/../py",
    packages: ["numpy", "https://host.example/x/unspool-9-py3-none-any.whl"],
  };
  const us = await connect({ ...options, worker: new FakeWorker(python), modules: { m: "x = 1" } });
  assert.deepEqual(python.boots, [
    {
      indexURL: "https://host.example/py/",
      packages: ["pydantic", "numpy", "https://host.example/x/unspool-9-py3-none-any.whl"],
      modules: { m: "x = 1" },
    },
  ]);
  us.dispose();
});

test("connect refuses what cannot be", async () => {
  for (const wrong of [
    { indexURL: undefined },
    { indexURL: "relative" },
    { indexURL: INDEX, worker: 5 },
    { indexURL: INDEX, worker: {} },
    { indexURL: INDEX, packages: "numpy" },
    { indexURL: INDEX, packages: [5] },
    { indexURL: INDEX, modules: 5 },
    { indexUrl: INDEX, indexURL: INDEX },
    undefined,
    5,
  ]) {
    assert.equal((await failing(connect(wrong as never))).code, "INVALID_OPTIONS");
  }
});

test("connect reports progress and can be given up at every point", async () => {
  const python = new FakePython();
  const stages: string[] = [];
  const us = await connect({
    worker: new FakeWorker(python),
    indexURL: INDEX,
    onProgress: ({ stage }) => stages.push(stage),
  });
  assert.deepEqual(stages, ["runtime"]);
  us.dispose();

  const early = new FakeWorker(new FakePython());
  assert.equal(
    (await failing(connect({ worker: early, indexURL: INDEX, signal: AbortSignal.abort() }))).code,
    "ABORTED",
  );
  assert.deepEqual(early.sent, []);
  early.terminate();

  const stop = new AbortController();
  const worker = new FakeWorker(Object.assign(new FakePython(), { boot: () => new Promise(() => {}) }) as never);
  const starting = failing(connect({ worker, indexURL: INDEX, signal: stop.signal }));
  await settle();
  stop.abort();
  assert.equal((await starting).code, "ABORTED");
  assert.ok(worker.terminated);
});

test("connect rejects when Python does not start, and terminates the worker", async () => {
  const boot = (): Promise<never> => Promise.reject(new Error("pyodide.asm.wasm (HTTP 404)"));
  const worker = new FakeWorker(Object.assign(new FakePython(), { boot }) as never);
  const error = await failing(connect({ worker, indexURL: INDEX }));
  assert.equal(error.code, "BOOT_FAILED");
  assert.match(error.message, /404/);
  assert.ok(worker.terminated);
});

test("a worker whose script cannot be loaded rejects connect", async () => {
  const worker = new FakeWorker(new FakePython());
  const starting = failing(connect({ worker, indexURL: INDEX }));
  worker.dispatchEvent(new Event("error", { cancelable: true }));
  assert.equal((await starting).code, "BOOT_FAILED");
  assert.ok(worker.terminated);
});

test("a worker that dies while Python starts rejects connect", async () => {
  const worker = new FakeWorker(Object.assign(new FakePython(), { boot: () => new Promise(() => {}) }) as never);
  const starting = failing(connect({ worker, indexURL: INDEX }));
  await settle();
  worker.dispatchEvent(new Event("error", { cancelable: true }));
  assert.equal((await starting).code, "WORKER_DIED");
});

test("the union of events is closed", () => {
  const name = (event: StructuredEvent): string => {
    switch (event.type) {
      case "textDelta":
      case "fieldStart":
      case "objectStart":
      case "stringFieldDelta":
      case "fieldEnd":
      case "objectEnd":
      case "fieldInvalid":
      case "generationComplete":
      case "parsingFailed":
      case "generationFailed":
      case "cancelled":
        return event.type;
      default:
        return event satisfies never;
    }
  };
  assert.equal(name(COMPLETE), "generationComplete");
});
