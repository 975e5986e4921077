/** A query read for the value that grows in it, and for the elements of a list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { PartialResult, QueryStream } from "../lib/index.js";
import { failing, inBoth, inWorker } from "./connections.js";
import { batches, collect, gate, settle, type Batch } from "./support.js";

const QUERY = { prompt: "p", lm: { provider: "scripted", text: "" }, schema: { type: "object" } } as const;
const TYPED = { ...QUERY, schema: "models:Trip" } as const;

/** What Python sends for `{"city": "Rome", "days": [{"n": 1}, {"n": 2}]}`, cut in the middle of a text and of a record. */
const TRIP: readonly Batch[] = [
  [{ type: "textDelta", delta: '{"city": ' }, { type: "objectStart", path: [], kind: "object" }],
  [
    { type: "textDelta", delta: '"Ro' },
    { type: "fieldStart", path: ["city"] },
    { type: "stringFieldDelta", path: ["city"], delta: "Ro" },
  ],
  [
    { type: "textDelta", delta: 'me", "days": [{"n":' },
    { type: "stringFieldDelta", path: ["city"], delta: "me" },
    { type: "fieldEnd", path: ["city"] },
    { type: "fieldStart", path: ["days"] },
    { type: "objectStart", path: ["days"], kind: "array" },
    { type: "fieldStart", path: ["days", 0] },
    { type: "objectStart", path: ["days", 0], kind: "object" },
    { type: "fieldStart", path: ["days", 0, "n"] },
  ],
  [{ type: "textDelta", delta: " " }],
  [
    { type: "textDelta", delta: '1}, {"n": 2}' },
    { type: "fieldEnd", path: ["days", 0, "n"], value: 1 },
    { type: "objectEnd", path: ["days", 0], kind: "object" },
    { type: "fieldEnd", path: ["days", 0] },
    { type: "fieldStart", path: ["days", 1] },
    { type: "objectStart", path: ["days", 1], kind: "object" },
    { type: "fieldStart", path: ["days", 1, "n"] },
    { type: "fieldEnd", path: ["days", 1, "n"], value: 2 },
    { type: "objectEnd", path: ["days", 1], kind: "object" },
    { type: "fieldEnd", path: ["days", 1] },
  ],
];
const VALUE = { city: "Rome", days: [{ n: 1 }, { n: 2 }] };
const END: Batch = [
  { type: "textDelta", delta: "]}" },
  { type: "objectEnd", path: ["days"], kind: "array" },
  { type: "fieldEnd", path: ["days"] },
  { type: "objectEnd", path: [], kind: "object" },
  { type: "generationComplete", result: VALUE, finishReason: "stop" },
];
const FAILED: Batch = [{ type: "parsingFailed", error: { code: "OUTPUT_INVALID", message: "no" } }];

inBoth("partials: one for each slice that changed anything, then the result", async (make) => {
  const { us } = await make(batches(...TRIP, END));
  const stream = us.queryStream(QUERY);
  const seen: string[] = [];
  const objects = new Set<unknown>();
  let last: PartialResult<unknown> | undefined;
  for await (const partial of stream.partials()) {
    seen.push(JSON.stringify([partial.value, partial.complete, partial.state("city"), partial.state(["days", 0, "n"])]));
    objects.add(partial);
    last = partial;
  }
  assert.deepEqual(seen, [
    '[{},false,"absent","absent"]',
    '[{"city":"Ro"},false,"growing","absent"]',
    '[{"city":"Rome","days":[{}]},false,"complete","growing"]',
    '[{"city":"Rome","days":[{"n":1},{"n":2}]},false,"complete","complete"]',
    '[{"city":"Rome","days":[{"n":1},{"n":2}]},true,"complete","complete"]',
  ]);
  assert.equal(objects.size, seen.length); // what shows them sees a change
  assert.deepEqual([last?.state(), last?.state("nothing"), last?.invalid], ["complete", "absent", []]);
  assert.equal(stream.end?.type, "generationComplete");
  us.dispose();
});

test("partials: the live value is one, immutable ones are frozen and share what is as it was", async () => {
  const { us } = await inWorker(batches(...TRIP, END));
  const live = (await collect(us.queryStream(QUERY).partials())).slice(0, -1).map(({ value }) => value);
  assert.equal(new Set(live).size, 1);

  const frozen = (await collect(us.queryStream(QUERY).partials({ snapshots: "immutable" }))).slice(0, -1);
  assert.deepEqual(
    frozen.map(({ value }) => JSON.stringify(value)),
    ["{}", '{"city":"Ro"}', '{"city":"Rome","days":[{}]}', '{"city":"Rome","days":[{"n":1},{"n":2}]}'],
  );
  assert.ok(frozen.every(({ value }) => Object.isFrozen(value)));
  us.dispose();
});

test("partials: no slice costs the whole value", async () => {
  const rows = Array.from({ length: 50 }, (_, n): Batch => [
    { type: "fieldStart", path: [n] },
    { type: "objectStart", path: [n], kind: "object" },
    { type: "objectEnd", path: [n], kind: "object" },
    { type: "fieldEnd", path: [n] },
  ]);
  const start: Batch = [{ type: "objectStart", path: [], kind: "array" }];
  const { us, worker } = await inWorker(batches(start, ...rows, [{ ...END.at(-1)!, result: [] }]));
  const stream = us.queryStream(QUERY).partials({ snapshots: "immutable" });
  let before: unknown[] = [];
  for await (const { value, complete } of stream) {
    if (complete) break;
    const now = value as unknown[];
    assert.ok(before.every((row, n) => row === now[n]));
    before = now;
  }
  assert.equal(before.length, 50);
  assert.equal(worker.types.filter((type) => type === "pull").length, 52);
  us.dispose();
});

test("partials of a text are the text so far", async () => {
  const { us } = await inWorker(
    batches([{ type: "textDelta", delta: "He" }], [{ type: "textDelta", delta: "llo" }], [{ ...END.at(-1)!, result: "Hello" }]),
  );
  for (const snapshots of ["live", "immutable"] as const) {
    const stream = us.queryStream({ prompt: "p", lm: QUERY.lm });
    const seen: unknown[] = [];
    for await (const { value, complete, state } of stream.partials({ snapshots })) seen.push([value, complete, state()]);
    assert.deepEqual(seen, [
      ["He", false, "growing"],
      ["Hello", false, "growing"],
      ["Hello", true, "complete"],
    ]);
    assert.equal(stream.partialValue, "Hello");
    assert.equal(await stream.result(), "Hello");
  }
  us.dispose();
});

inBoth("partials: a failure is thrown after what came before it, once", async (make) => {
  const { us } = await make(batches(TRIP[0]!, [...TRIP[1]!, ...FAILED]));
  const stream = us.queryStream(QUERY);
  const partials = stream.partials();
  await partials.next();
  assert.deepEqual((await partials.next()).value.value, { city: "Ro" });
  const error = await failing(partials.next());
  assert.deepEqual([error.code, error.partialValue, error.text], ["OUTPUT_INVALID", { city: "Ro" }, '{"city": "Ro']);
  assert.deepEqual(await partials.next(), { done: true, value: undefined });
  assert.equal(stream.end?.type, "parsingFailed");
  us.dispose();
});

test("of types of Python, parts are judged, and partials tell what is invalid", async () => {
  const fault = { type: "fieldInvalid", path: ["city"], message: "too long", kind: "value" };
  const { us, python } = await inWorker(batches(TRIP[0]!, TRIP[1]!, [...TRIP[2]!.slice(0, 3), fault], FAILED));
  const seen: unknown[] = [];
  const partials = us.queryStream(TYPED).partials();
  await failing(
    (async () => {
      for await (const { invalid } of partials) seen.push(invalid.map(({ path, message }) => [path, message]));
    })(),
  );
  assert.deepEqual(seen, [[], [], [[["city"], "too long"]]]);
  await us.queryStream(QUERY).partials().next();
  await us.queryStream(TYPED).next();
  await us.queryStream({ ...TYPED, check: "stop" }).partials().next();
  assert.deepEqual(
    python.requests.map(({ check }) => check),
    ["report", undefined, undefined, "stop"],
  );
  us.dispose();
});

inBoth("state and items: a field by its name in the answer, or in the class", async (make) => {
  const names = { stages: ["days"], days: ["stages"], number: ["n"], n: ["number"] };
  const { us } = await make(batches(Object.assign([...TRIP[0]!], { names }), ...TRIP.slice(1), END));
  const seen: unknown[] = [];
  for await (const { state } of us.queryStream(TYPED).partials()) {
    const paths = ["days.0.n", "stages.0.number", ["stages", 0, "n"], ["days", 0, "number"]] as const;
    const states = new Set(paths.map((path) => state(path)));
    assert.equal(states.size, 1);
    seen.push(...states);
  }
  assert.deepEqual(seen, ["absent", "absent", "growing", "complete", "complete"]);
  for (const path of ["days", "stages"]) assert.deepEqual(await collect(us.queryStream(TYPED).items(path)), VALUE.days);
  us.dispose();
});

inBoth("items: each element as it closes", async (make) => {
  const { us, python } = await make(batches(...TRIP, END));
  for (const path of ["days", ["days"]]) assert.deepEqual(await collect(us.queryStream(TYPED).items(path as string)), VALUE.days);
  const items = us.queryStream(QUERY).items("days");
  assert.deepEqual((await items.next()).value, { n: 1 });
  assert.deepEqual((await items.next()).value, { n: 2 });
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.deepEqual(
    python.requests.map(({ items, check }) => [items, check]),
    [
      [["days"], "report"],
      [["days"], "report"],
      [["days"], undefined],
    ],
  );
  us.dispose();
});

test("items of the answer itself, and of a list in a list", async () => {
  const { us, python } = await inWorker(
    batches(
      [
        { type: "objectStart", path: [], kind: "array" },
        { type: "fieldStart", path: [0] },
        { type: "objectStart", path: [0], kind: "array" },
        { type: "fieldEnd", path: [0, 0], value: null },
        { type: "fieldEnd", path: [0, 1], value: "" },
        { type: "objectEnd", path: [0], kind: "array" },
        { type: "fieldEnd", path: [0] },
        { type: "fieldEnd", path: [1], value: 5 },
      ],
      [{ ...END.at(-1)!, result: [] }],
    ),
  );
  assert.deepEqual(await collect(us.queryStream(QUERY).items()), [[null, ""], 5]);
  assert.deepEqual(await collect(us.queryStream(QUERY).items("0")), [null, ""]);
  assert.deepEqual(await collect(us.queryStream(QUERY).items(["0"])), []);
  assert.deepEqual(
    python.requests.map(({ items }) => items),
    [[], [0], ["0"]],
  );
  us.dispose();
});

test("items: one that cannot be right is passed over, and the error comes at the end", async () => {
  const fault = (...path: (string | number)[]) => ({ type: "fieldInvalid", path, message: "no", kind: "value" });
  const more: Batch = [
    { type: "fieldStart", path: ["days", 2] },
    { type: "fieldEnd", path: ["days", 2], value: 3 },
    fault("days", 2),
    { type: "fieldEnd", path: ["days", 3], value: 4 },
  ];
  const [closed, ...rest] = [TRIP[4]!.slice(0, 7), ...TRIP[4]!.slice(7)];
  const last = rest.slice(-1);
  for (const events of [
    [...closed, ...rest.slice(0, 1), fault("days", 1, "n"), ...rest.slice(1)], // told before its record closes
    [...closed, ...rest.slice(0, 2), fault("days", 1), ...last], // told of the record
    [...closed, ...rest, fault("days", 1)], // told behind what closed
  ]) {
    const batch = [...events, fault("city"), fault("days")];
    const { us } = await inWorker(batches(...TRIP.slice(0, 4), batch, more, [...END.slice(0, -1), ...FAILED]));
    const items = us.queryStream(TYPED).items("days");
    assert.deepEqual((await items.next()).value, { n: 1 });
    assert.deepEqual((await items.next()).value, 4);
    assert.equal((await failing(items.next())).code, "OUTPUT_INVALID");
    assert.deepEqual(await items.next(), { done: true, value: undefined });
    us.dispose();
  }
});

inBoth("items: an element's own schema validates each, and the first that it refuses ends the query", async (make) => {
  const stalled = gate();
  const { us, python } = await make(async function* () {
    yield* TRIP;
    await stalled.passed;
  });
  const Day = z.object({ n: z.number().max(1).transform(String) });
  const stream = us.queryStream(QUERY);
  const items = stream.items("days", Day);
  assert.deepEqual((await items.next()).value, { n: "1" });
  const error = await failing(items.next());
  assert.deepEqual([error.code, error.issues.map(({ path }) => path)], ["OUTPUT_INVALID", [["days", 1, "n"]]]);
  assert.deepEqual(error.partialValue, VALUE);
  assert.equal(stream.end?.type, "parsingFailed");
  await settle();
  assert.equal(python.open, 0);
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  us.dispose();
});

inBoth("leaving partials or items early closes the query", async (make) => {
  const { us, python } = await make(async function* () {
    yield* TRIP;
    await gate().passed;
  });
  for await (const { value } of us.queryStream(QUERY).partials()) {
    if ((value as { city?: string }).city === "Ro") break;
  }
  assert.equal(python.open, 0);
  for await (const _ of us.queryStream(QUERY).items("days")) break;
  assert.equal(python.open, 0);
  const items = us.queryStream(QUERY).items("days");
  for (let n = 0; n < 2; n += 1) await items.next();
  const waiting = items.next();
  await settle();
  await items.return!();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  us.dispose();
});

test("a stream is read in one way", async () => {
  const { us, python } = await inWorker(batches(...TRIP, END));
  const refused = { code: "INVALID_OPTIONS" };
  const ways = {
    events: (stream: QueryStream<unknown>) => stream,
    "partials()": (stream: QueryStream<unknown>) => stream.partials(),
    "items()": (stream: QueryStream<unknown>) => stream.items("days"),
    "result()": (stream: QueryStream<unknown>) => ({ next: () => stream.result() }),
  };
  for (const [first, read] of Object.entries(ways)) {
    for (const [second, readAgain] of Object.entries(ways)) {
      for (const times of [1, 9]) {
        const stream = us.queryStream(QUERY);
        const reader = read(stream);
        for (let n = 0; n < times; n += 1) await reader.next();
        const again = async (): Promise<unknown> => readAgain(stream).next();
        if (second !== "result()" && (first !== "events" || second !== "events")) {
          await assert.rejects(again, { ...refused, message: new RegExp(`is read by ${first.replace("()", "..")} already`) });
        } else await again();
        assert.deepEqual(await stream.result(), VALUE);
      }
    }
  }
  const left = us.queryStream(QUERY);
  await left.return();
  assert.throws(() => left.partials(), refused);
  assert.throws(() => left.items("days"), refused);
  const asked = python.requests.length;
  for (const path of [5, null, [{}], { 0: "days" }]) {
    assert.throws(() => us.queryStream({ ...QUERY, schema: {} }).items(path as never), refused);
  }
  for (const element of [{}, null, "z"]) {
    assert.throws(() => us.queryStream(QUERY).items("days", element as never), refused);
  }
  assert.throws(() => us.queryStream({ prompt: "p", lm: QUERY.lm }).items(), refused);
  assert.throws(() => us.queryStream(QUERY).partials({ snapshots: "frozen" as never }), refused);
  assert.equal(python.requests.length, asked);
  us.dispose();
});

inBoth("result: whatever has been read, and again", async (make) => {
  const { us, python } = await make(batches(...TRIP, END));
  const fresh = us.queryStream(QUERY);
  assert.deepEqual(await Promise.all([fresh.result(), fresh.result()]), [VALUE, VALUE]);
  const stream = us.queryStream(QUERY);
  for await (const event of { [Symbol.asyncIterator]: () => ({ next: () => stream.next() }) }) {
    if (event.type === "fieldEnd") break; // of this loop: the stream stays
  }
  assert.deepEqual(await stream.result(), VALUE);
  assert.equal(stream.end?.type, "generationComplete");
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

test("result: what it has read is still given by partials and items", async () => {
  const { us } = await inWorker(batches(...TRIP, END));
  for (const snapshots of ["live", "immutable"] as const) {
    const stream = us.queryStream(QUERY);
    const partials = stream.partials({ snapshots });
    await partials.next();
    await stream.result();
    assert.deepEqual((await collect(partials)).map(({ complete, value }) => [complete, value]), [[true, VALUE]]);
  }
  const stream = us.queryStream(QUERY);
  const items = stream.items("days");
  assert.deepEqual((await items.next()).value, { n: 1 });
  await stream.result();
  assert.deepEqual(await collect(items), [{ n: 2 }]);
  const unread = us.queryStream(QUERY);
  const later = unread.items("days");
  await unread.result();
  assert.deepEqual(await collect(later), VALUE.days);
  us.dispose();
});

inBoth("result: of a failed answer its error, of one that was left ABORTED", async (make) => {
  const { us } = await make(batches(...TRIP.slice(0, 2), FAILED));
  const stream = us.queryStream(QUERY);
  const partials = stream.partials();
  const error = await failing(stream.result());
  assert.deepEqual([error.code, error.partialValue], ["OUTPUT_INVALID", { city: "Ro" }]);
  assert.equal(await failing(stream.result()), error);
  assert.equal(await failing(partials.next()), error);
  assert.deepEqual(await partials.next(), { done: true, value: undefined });
  const left = us.queryStream(QUERY);
  await left.next();
  await left.return();
  for (let n = 0; n < 2; n += 1) {
    const told = await failing(left.result());
    assert.deepEqual([told.code, told.text], ["ABORTED", '{"city": ']);
  }
  const broken = us.queryStream({ ...QUERY, lm: { ...QUERY.lm, apiKey: () => Promise.reject(new Error("no key")) } as never });
  const reason = await failing(broken.result());
  assert.equal(await failing(broken.result()), reason);
  us.dispose();
});

test("somebody who holds the partials alone holds the query", async () => {
  const collected = globalThis.gc;
  assert.ok(collected !== undefined, "run with --expose-gc");
  const { us, python } = await inWorker(batches(...TRIP, END));
  const partials = us.queryStream(QUERY).partials();
  await partials.next();
  collected();
  await settle();
  assert.equal(python.open, 1);
  assert.deepEqual((await collect(partials)).at(-1)?.value, VALUE);
  us.dispose();
});

test("what lenient reading has put right is known at the end", async () => {
  const { us, python } = await inWorker(batches(...TRIP, END));
  const repairs = [{ kind: "trailing-comma", byteOffset: 9 }];
  python.tamper = (operation, text) => {
    if (operation !== "pull") return undefined;
    python.tamper = () => undefined;
    return JSON.stringify({ ok: true, value: { events: END.slice(-1), done: true, repairs }, text });
  };
  const stream = us.queryStream({ ...QUERY, lenient: true });
  assert.deepEqual(stream.repairs, []);
  await collect(stream);
  assert.deepEqual(stream.repairs, repairs);
  us.dispose();
});
