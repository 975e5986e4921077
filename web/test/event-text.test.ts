import assert from "node:assert/strict";
import { test } from "node:test";
import { eventText } from "../lib/event-text.js";

const written = (event: unknown): unknown => JSON.parse(eventText(event));

test("plain events cross as they are", () => {
  const event = { type: "x", list: [1, { a: null }], text: "half \ud83d" };
  assert.equal(eventText(event), JSON.stringify(event));
  assert.equal(eventText(undefined), "null");
});

test("errors keep name and message, and their own fields", () => {
  const error = Object.assign(new TypeError("no"), { status: 429 });
  assert.deepEqual(written({ type: "error", error }), {
    type: "error",
    error: { status: 429, name: "TypeError", message: "no" },
  });
});

test("what JSON cannot hold does not keep an event from crossing", () => {
  const event: Record<string, unknown> = { big: 7n, bigger: 2n ** 60n, bytes: new Uint8Array(9), call() {}, kept: 1 };
  const failure = Object.assign(new Error("loop"), {}) as Error & { self?: unknown };
  failure.self = failure;
  Object.assign(event, { self: event, inner: { up: event, twice: [event["kept"]] }, failure });
  assert.deepEqual(written(event), {
    big: 7,
    bigger: String(2n ** 60n),
    kept: 1,
    inner: { twice: [1] },
    failure: { name: "Error", message: "loop" },
  });
});

test("an object that is there twice is written twice", () => {
  const shared = { a: 1 };
  assert.deepEqual(written({ x: shared, y: [shared, shared] }), { x: { a: 1 }, y: [{ a: 1 }, { a: 1 }] });
});
