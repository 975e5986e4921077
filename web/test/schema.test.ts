import assert from "node:assert/strict";
import { test } from "node:test";
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { connect, isUnspoolError, type StandardSchema, type StructuredEvent } from "../lib/index.js";
import { resolveSchema, type SchemaInput, type StandardInput } from "../lib/schema.js";
import { FakePython, FakeWorker, batches, collect } from "./support.js";

const zodPlace = z
  .object({ city: z.string().min(2), sights: z.array(z.object({ name: z.string() })) })
  .meta({ title: "Place" });
const valibotPlace = v.object({
  city: v.pipe(v.string(), v.minLength(2)),
  sights: v.array(v.object({ name: v.string() })),
});
const arkPlace = type({ city: "string >= 2", sights: type({ name: "string" }).array() });

const VENDORS: readonly [string, StandardInput][] = [
  ["zod", zodPlace],
  [
    "valibot with the caller's conversion",
    { standard: valibotPlace, jsonSchema: toJsonSchema(valibotPlace) as Record<string, unknown> },
  ],
  ["valibot made standard", toStandardJsonSchema(valibotPlace) as unknown as StandardInput],
  ["arktype", arkPlace],
];

const GOOD = { city: "Paris", sights: [{ name: "Louvre" }] };
const BAD = { city: "Paris", sights: [{ name: "Louvre" }, { name: 3 }] };

async function eventsFor(
  schema: SchemaInput,
  result: unknown,
  signal?: AbortSignal,
): Promise<[StructuredEvent[], FakePython]> {
  const python = new FakePython(
    batches([
      { type: "textDelta", delta: JSON.stringify(result) },
      { type: "generationComplete", result },
    ]),
  );
  const us = await connect({ worker: new FakeWorker(python), indexURL: "https://host.example/" });
  try {
    const query = { prompt: "p", lm: { provider: "scripted", text: "" } as const, ...(signal && { signal }) };
    return [await collect(us.queryStream({ ...query, schema: schema as StandardInput })), python];
  } finally {
    us.dispose();
  }
}

for (const [name, schema] of VENDORS) {
  test(`${name}: its JSON Schema goes to Python, its validate has the last word`, async () => {
    const [events, python] = await eventsFor(schema, GOOD);
    assert.deepEqual(events.at(-1), { type: "generationComplete", result: GOOD });
    const sent = python.requests[0]?.schema as { jsonSchema: Record<string, unknown>; check: boolean };
    assert.equal(sent.check, false);
    assert.equal(sent.jsonSchema["type"], "object");
    assert.deepEqual([...(sent.jsonSchema["required"] as string[])].sort(), ["city", "sights"]);
  });

  test(`${name}: issues become parsingFailed with paths, text and value`, async () => {
    const [events] = await eventsFor(schema, BAD);
    const last = events.at(-1);
    assert.ok(last?.type === "parsingFailed");
    const { error } = last;
    assert.ok(isUnspoolError(error));
    assert.equal(error.code, "OUTPUT_INVALID");
    assert.deepEqual(
      error.issues.map(({ path }) => path),
      [["sights", 1, "name"]],
    );
    assert.match(error.message, /sights\.1\.name/);
    assert.equal(error.text, JSON.stringify(BAD));
    assert.deepEqual(error.partialValue, BAD);
  });
}

test("zod: the title names the schema; what validate makes of the value is the result", async () => {
  assert.equal((resolveSchema(zodPlace).wire as { name?: string }).name, "Place");
  const [events] = await eventsFor(z.object({ n: z.string().transform(Number), d: z.string().default("x") }), {
    n: "5",
  });
  assert.deepEqual(events.at(-1), { type: "generationComplete", result: { n: 5, d: "x" } });
});

test("the schema of the input side is asked for", () => {
  const { wire } = resolveSchema(z.object({ n: z.string().transform(Number) }));
  assert.deepEqual((wire as { jsonSchema: { properties: unknown } }).jsonSchema.properties, { n: { type: "string" } });
});

test("an asynchronous validate is awaited", async () => {
  const known = z.object({ city: z.string().refine(async (city) => city === "Paris", "unknown city") });
  assert.equal((await eventsFor(known, { city: "Paris" }))[0].at(-1)?.type, "generationComplete");
  const last = (await eventsFor(known, { city: "Atlantis" }))[0].at(-1);
  assert.ok(last?.type === "parsingFailed");
  assert.deepEqual(last.error.issues, [{ path: ["city"], message: "unknown city" }]);
});

test("aborting while an asynchronous validate runs cancels, and keeps the value", async () => {
  const stop = new AbortController();
  const schema = own((): Promise<never> => {
    stop.abort();
    return new Promise(() => {});
  });
  const last = (await eventsFor(schema, GOOD, stop.signal))[0].at(-1);
  assert.ok(last?.type === "cancelled");
  assert.deepEqual([last.error.code, last.error.text], ["ABORTED", JSON.stringify(GOOD)]);
});

test("a validate that throws is parsingFailed, with its cause", async () => {
  const cause = new Error("database is down");
  for (const fail of [
    () => Promise.reject(cause),
    () => {
      throw cause;
    },
  ]) {
    const last = (await eventsFor(own(fail), GOOD))[0].at(-1);
    assert.ok(last?.type === "parsingFailed");
    assert.deepEqual([last.error.code, last.error.cause, last.error.partialValue], ["OUTPUT_INVALID", cause, GOOD]);
  }
});

test("paths may hold keys in every form of the standard", async () => {
  const path = [{ key: "a" }, 1, Symbol("s"), { key: 2 }];
  const last = (
    await eventsFor(
      own(() => ({ issues: [{ message: "m", path }, { message: "whole" }] })),
      GOOD,
    )
  )[0].at(-1);
  assert.ok(last?.type === "parsingFailed");
  assert.deepEqual(last.error.issues, [
    { path: ["a", 1, "Symbol(s)", 2], message: "m" },
    { path: [], message: "whole" },
  ]);
  assert.match(last.error.message, /\(root\): whole/);
});

test("a JSON Schema and a type of Python go as they are", () => {
  assert.deepEqual(resolveSchema({ type: "string", title: "T" }).wire, {
    jsonSchema: { type: "string", title: "T" },
    name: "T",
  });
  assert.deepEqual(resolveSchema({}).wire, { jsonSchema: {} });
  assert.deepEqual(resolveSchema("pkg.models:Answer").wire, { type: "pkg.models:Answer" });
});

test("what is no schema is refused", () => {
  const invalid = { code: "INVALID_OPTIONS" };
  for (const wrong of [
    null,
    1,
    true,
    [],
    "Answer",
    ":",
    "a:",
    () => {},
    { standard: zodPlace },
    { standard: zodPlace, jsonSchema: 1 },
  ]) {
    assert.throws(() => resolveSchema(wrong as never), invalid, String(wrong));
  }
  assert.throws(() => resolveSchema(valibotPlace as never), /valibot schema does not offer its JSON Schema/);
  assert.throws(() => resolveSchema(z.object({ at: z.date() })), /zod schema has no JSON Schema/);
});

/** A schema object of our own making. */
function own(validate: StandardSchema["~standard"]["validate"]): StandardInput {
  return { standard: { "~standard": { version: 1, vendor: "own", validate } }, jsonSchema: { type: "object" } };
}
