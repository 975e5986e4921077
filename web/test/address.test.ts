import assert from "node:assert/strict";
import { test } from "node:test";
import { absolute } from "../lib/address.js";
import { prepareQuery } from "../lib/request.js";

test("addresses of a model are taken from the page", async () => {
  (globalThis as { document?: unknown }).document = { baseURI: "http://site.test/app/index.html" };
  try {
    const lm = { provider: "wllama", modelUrl: "model.gguf", wllamaUrl: "/wllama/index.js", model: "a/b" };
    const sent = JSON.parse(await prepareQuery({ prompt: "?", lm }).text(undefined)) as { lm: typeof lm };
    assert.deepEqual(sent.lm, {
      provider: "wllama",
      modelUrl: "http://site.test/app/model.gguf",
      wllamaUrl: "http://site.test/wllama/index.js",
      model: "a/b",
    });
  } finally {
    delete (globalThis as { document?: unknown }).document;
  }
});

test("an address that is none is refused", () => {
  assert.throws(() => absolute("not an address"), { code: "INVALID_OPTIONS" });
});
