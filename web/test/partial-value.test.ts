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

test("the state of each part", () => {
  const partial = new PartialValue();
  const states = (): string[] => [[], ["a"], ["b"], ["b", 0], ["c"]].map((path) => partial.state(path));
  assert.deepEqual(states(), ["absent", "absent", "absent", "absent", "absent"]);
  const seen: string[][] = [];
  for (const event of eventsOf({ a: "x", b: [null] })) {
    partial.apply(event);
    seen.push(states());
  }
  assert.deepEqual(
    seen.map((row) => row.map((state) => state[0]).join("")),
    ["gaaaa", "ggaaa", "ggaaa", "gcaaa", "gcgaa", "gcgaa", "gcgga", "gcgca", "gccca", "gccca", "cccca"],
  );
  assert.equal(partial.state(["b", "0"]), "complete");
  assert.equal(partial.state(["b", "length"]), "absent");
});

test("an immutable value changes once for what is applied together", () => {
  const partial = new PartialValue("immutable");
  const whole = { a: ["x", { b: 1 }], c: "text" };
  const events = [...eventsOf(whole)];
  const values: unknown[] = [];
  for (let at = 0; at < events.length; at += 5) {
    partial.apply(...events.slice(at, at + 5));
    values.push(partial.value);
    assert.ok(Object.isFrozen(partial.value));
  }
  assert.equal(new Set(values).size, new Set(values.map((value) => JSON.stringify(value))).size);
  assert.deepEqual(values.at(-1), whole);
  assert.deepEqual(values[0], { a: ["x"] });
});

test("a value in one piece may be an object: a name of Python's", () => {
  const partial = new PartialValue();
  const value = { pythonName: "Color.RED" };
  partial.apply({ type: "objectStart", path: [], kind: "object" });
  partial.apply({ type: "fieldStart", path: ["color"] }, { type: "fieldEnd", path: ["color"], value });
  assert.deepEqual(partial.value, { color: value });
  assert.equal(partial.state(["color"]), "complete");
});
