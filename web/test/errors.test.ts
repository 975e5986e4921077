import assert from "node:assert/strict";
import { test } from "node:test";
import { fromWire } from "../lib/errors.js";
import { UnspoolError, isUnspoolError } from "../lib/index.js";

const WIRE = {
  code: "RATE_LIMIT",
  message: "slow down",
  retryable: true,
  retryAfterS: 2,
  status: 429,
  requestId: "r",
  partial: { role: "assistant", parts: [] },
  text: "t",
  partialValue: { a: null },
  issues: [{ path: ["a", 0], message: "m" }],
} as const;

test("an error crosses the boundary without loss", () => {
  const error = fromWire(structuredClone(WIRE));
  assert.ok(error instanceof UnspoolError && error instanceof Error);
  assert.deepEqual(error.toWire(), WIRE);
  assert.equal(String(error), "UnspoolError: RATE_LIMIT: slow down");
});

test("what is not said is absent", () => {
  const error = new UnspoolError("X", "m");
  assert.deepEqual(error.toWire(), { code: "X", message: "m", retryable: false });
  assert.deepEqual(
    [error.partial, error.text, error.partialValue, error.issues],
    [undefined, undefined, undefined, []],
  );
  assert.ok(!("cause" in error));
});

test("a partial value of null is a value", () => {
  assert.equal(new UnspoolError("X", "m", { partialValue: null }).toWire().partialValue, null);
});

test("the brand holds across two copies of the package, and nothing else has it", () => {
  const other = Object.assign(new Error("m"), { code: "X" });
  assert.equal(isUnspoolError(other), false);
  Object.defineProperty(other, Symbol.for("unspool.error"), { value: true });
  assert.equal(isUnspoolError(other), true);
  for (const value of [null, undefined, "X", {}, new Error("m")]) assert.equal(isUnspoolError(value), false);
});

test("what is no error on the wire is BRIDGE_PROTOCOL", () => {
  for (const wire of [undefined, null, 1, "text", {}, { code: 1, message: "m" }, { code: "X" }]) {
    assert.equal(fromWire(wire).code, "BRIDGE_PROTOCOL");
  }
});
