import assert from "node:assert/strict";
import { test } from "node:test";
import { WireFault, isFromHost, isToHost, tagged, type FromHost, type ToHost } from "../lib/wire.js";

const TO_HOST: { readonly [K in ToHost["type"]]: ToHost & { type: K } } = {
  boot: { type: "boot", options: { indexURL: "https://x/", packages: [], modules: {} }, lock: "l" },
  open: { type: "open", call: 1, request: "{}" },
  pull: { type: "pull", call: 1 },
  cancel: { type: "cancel", call: 1 },
  close: { type: "close", call: 1 },
  step: { type: "step", stream: 1, text: "{}" },
  told: { type: "told", ask: 1, value: null },
  refused: { type: "refused", ask: 1, error: { code: "X", message: "m" } },
  ping: { type: "ping" },
};

const FROM_HOST: { readonly [K in FromHost["type"]]: FromHost & { type: K } } = {
  alive: { type: "alive", locked: true },
  progress: { type: "progress", progress: { stage: "runtime", loadedBytes: 0 } },
  ready: { type: "ready", versions: { unspool: "0", pyodide: "0" } },
  batch: { type: "batch", call: 1, text: "{}" },
  closed: { type: "closed", call: 1 },
  stepped: { type: "stepped", stream: 1, text: "{}" },
  ask: { type: "ask", ask: 1, op: "read", text: "" },
  drop: { type: "drop", stream: "s" },
  fatal: { type: "fatal", error: { code: "X", message: "m" } },
  pong: { type: "pong" },
};

for (const [name, messages, is] of [
  ["to the host", TO_HOST, isToHost],
  ["from the host", FROM_HOST, isFromHost],
] as const) {
  for (const message of Object.values(messages) as (ToHost | FromHost)[]) {
    test(`${message.type} (${name}) survives a structured clone and JSON, and every field is needed`, () => {
      const sent = tagged(message);
      assert.ok(is(structuredClone(sent)));
      assert.deepEqual(JSON.parse(JSON.stringify(sent)), sent);
      for (const field of Object.keys(message)) {
        const { [field as keyof typeof sent]: _, ...rest } = sent;
        assert.throws(() => is(rest), WireFault, field);
        assert.throws(() => is({ ...sent, [field]: Symbol("wrong") }), WireFault, field);
      }
    });
  }

  test(`foreign data is not ours (${name})`, () => {
    for (const data of [undefined, null, 1, "text", [], {}, { type: "pull", call: 1 }, new Date(0)])
      assert.equal(is(data), false);
  });

  test(`an unknown type, an inherited one and another release are faults (${name})`, () => {
    for (const type of ["surprise", "toString", "__proto__", 1, undefined])
      assert.throws(() => is({ unspool: 1, type }), WireFault);
    assert.throws(() => is({ ...tagged(Object.values(messages)[0] as ToHost), unspool: 2 }), /two releases/);
  });
}
