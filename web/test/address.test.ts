import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelSpec } from "../lib/index.js";
import { absolute } from "../lib/address.js";
import { prepareQuery } from "../lib/request.js";

test("addresses of a model are taken from the page", async () => {
  (globalThis as { document?: unknown }).document = { baseURI: "http://site.test/app/index.html" };
  try {
    const sent = async (lm: ModelSpec): Promise<unknown> =>
      (JSON.parse(await prepareQuery({ prompt: "?", lm }).text({})) as { lm: unknown }).lm;
    assert.deepEqual(await sent({ provider: "wllama", modelUrl: "model.gguf", wllamaUrl: "/wllama/index.js" }), {
      provider: "wllama",
      modelUrl: "http://site.test/app/model.gguf",
      wllamaUrl: "http://site.test/wllama/index.js",
    });
    assert.deepEqual(await sent({ provider: "ollama", model: "a/b", baseURL: "/api" }), {
      provider: "ollama",
      model: "a/b",
      baseURL: "http://site.test/api",
    });
  } finally {
    delete (globalThis as { document?: unknown }).document;
  }
});

test("an address that is none is refused", () => {
  assert.throws(() => absolute("not an address"), { code: "INVALID_OPTIONS" });
});
