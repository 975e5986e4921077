import assert from "node:assert/strict";
import { test } from "node:test";
import { PartialValue, type StructuredEvent } from "../lib/index.js";

type Progress = Exclude<
  StructuredEvent,
  { type: "generationComplete" | "parsingFailed" | "generationFailed" | "cancelled" }
>;

/** The events of a value whose strings come in pieces of one character, as the Python side gives them. */
function* eventsOf(value: unknown, path: (string | number)[] = []): Generator<Progress> {
  if (typeof value === "string") {
    for (const delta of value) yield { type: "stringFieldDelta", path, delta };
  } else if (typeof value === "object" && value !== null) {
    const kind = Array.isArray(value) ? "array" : "object";
    yield { type: "objectStart", path, kind };
    for (const [key, member] of Object.entries(value)) {
      const at = [...path, kind === "array" ? Number(key) : key];
      yield { type: "fieldStart", path: at };
      yield* eventsOf(member, at);
      yield { type: "fieldEnd", path: at, value: member };
    }
    yield { type: "objectEnd", path, kind, value };
  }
}

for (const value of [
  {},
  [],
  { a: "text 👋", b: [1, null, true, { c: "" }], d: { e: { f: [[[]], "x"] } } },
  [["a"], "b", -0.5],
  JSON.parse('{"__proto__": {"toString": "x"}, "constructor": "y", "": 0, "0": {"1": 2}}'),
  "root text",
]) {
  test(`the events of a value build it: ${JSON.stringify(value)}`, () => {
    const partial = new PartialValue();
    assert.equal(partial.value, undefined);
    for (const event of eventsOf(value)) partial.apply(event);
    assert.equal(JSON.stringify(partial.value), JSON.stringify(value));
  });
}

test("a member called __proto__ is data", () => {
  const partial = new PartialValue();
  for (const event of eventsOf(JSON.parse('{"__proto__": {"polluted": 1}}'))) partial.apply(event);
  assert.equal((partial.value as { polluted?: number }).polluted, undefined);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  assert.ok(Object.hasOwn(partial.value as object, "__proto__"));
});

test("the value grows in place", () => {
  const partial = new PartialValue();
  const seen: string[] = [];
  let root: unknown;
  for (const event of eventsOf({ a: "xy", b: [1] })) {
    partial.apply(event);
    root ??= partial.value;
    assert.equal(partial.value, root);
    seen.push(JSON.stringify(partial.value));
  }
  assert.deepEqual([...new Set(seen)], ["{}", '{"a":"x"}', '{"a":"xy"}', '{"a":"xy","b":[]}', '{"a":"xy","b":[1]}']);
});
