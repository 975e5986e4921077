import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveValue, type Patch } from "../lib/live-value.js";

const set = (path: (string | number)[], value: unknown): Patch => ({ op: "set", path, value }) as Patch;
const append = (path: (string | number)[], value: string): Patch => ({ op: "append", path, value });
const complete = (...path: (string | number)[]): Patch => ({ op: "complete", path });

/** The patches of `{"a":[1,"xy"],"b":true}`, step by step. */
const STEPS: Patch[][] = [
  [set([], {}), set(["a"], []), set(["a", 0], 1), complete("a", 0), set(["a", 1], ""), append(["a", 1], "x")],
  [append(["a", 1], "y"), complete("a", 1), complete("a")],
  [set(["b"], true), complete("b"), complete()],
];

test("a live value is one object that grows (S24, S48)", () => {
  const live = new LiveValue("live");
  assert.equal(live.value, undefined);
  live.apply(STEPS[0]!);
  const first = live.value;
  assert.deepEqual(first, { a: [1, "x"] });
  live.apply(STEPS[1]!);
  live.apply(STEPS[2]!);
  assert.equal(live.value, first);
  assert.deepEqual(first, { a: [1, "xy"], b: true });
});

test("a container of a patch is not the one in the value (S25)", () => {
  for (const snapshots of ["live", "immutable"] as const) {
    const value = new LiveValue(snapshots);
    const patch = set([], {});
    value.apply([patch, set(["a"], 1)]);
    assert.deepEqual(patch.op === "set" && patch.value, {});
  }
});

test("immutable values are frozen, never change, and share what has not changed (S49–S51)", () => {
  const value = new LiveValue("immutable");
  const seen = STEPS.map((patches) => {
    value.apply(patches);
    return value.value as { a: unknown[] };
  });
  assert.deepEqual(seen, [{ a: [1, "x"] }, { a: [1, "xy"] }, { a: [1, "xy"], b: true }]);
  assert.equal(seen[1]!.a, seen[2]!.a);
  for (const one of seen) assert.ok(Object.isFrozen(one) && Object.isFrozen(one.a));
  value.apply([complete()]);
  assert.equal(value.value, seen[2]);
});

test("an own member called __proto__ is data (S17)", () => {
  for (const snapshots of ["live", "immutable"] as const) {
    const value = new LiveValue(snapshots);
    value.apply([set([], {}), set(["__proto__"], {}), set(["__proto__", "polluted"], true)]);
    value.apply([set(["__proto__", "more"], ""), append(["__proto__", "more"], "x")]);
    assert.deepEqual(value.value, JSON.parse('{"__proto__":{"polluted":true,"more":"x"}}'));
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  }
});

test("a root of text grows; a set of the root begins anew (S63)", () => {
  const value = new LiveValue("live");
  value.apply([set([], ""), append([], "a")]);
  value.apply([append([], "b"), complete()]);
  assert.equal(value.value, "ab");
  assert.equal(value.fieldState([]), "complete");
  value.apply([set([], []), set([0], null), complete(0)]);
  assert.deepEqual(value.value, [null]);
  assert.deepEqual([value.fieldState([]), value.fieldState([0])], ["partial", "complete"]);
});

test("field states (S27–S31)", () => {
  const value = new LiveValue("live");
  assert.equal(value.fieldState([]), "partial");
  assert.equal(value.fieldState(["a"]), "partial");
  value.apply(STEPS[0]!);
  for (const [path, state] of [
    [[], "partial"],
    [["a"], "partial"],
    [["a", 0], "complete"],
    [["a", "0"], "complete"],
    [["a", 0, "unknown"], "complete"],
    [["a", 1], "partial"],
    [["a", 1, 0], "partial"],
    [["a", 2], "partial"],
    [["a", "length"], "partial"],
    [["toString"], "partial"],
  ] as const) {
    assert.equal(value.fieldState(path), state, JSON.stringify(path));
  }
  value.apply(STEPS[1]!);
  assert.deepEqual(
    [value.fieldState(["a", 1]), value.fieldState(["a", 9]), value.fieldState(["b"])],
    ["complete", "complete", "partial"],
  );
  value.apply([set(["a"], "")]); // a repeated key opens the member again (S30)
  assert.deepEqual([value.fieldState(["a"]), value.fieldState(["a", 1])], ["partial", "partial"]);
  value.apply([complete("a"), ...STEPS[2]!]);
  assert.deepEqual([value.fieldState([]), value.fieldState(["nowhere", 7])], ["complete", "complete"]);
});
