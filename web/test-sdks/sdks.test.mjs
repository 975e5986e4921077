/** The real SDKs as sources of `readStructured`, reading recorded responses from a server on loopback. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connect } from "../lib/index.js";
import { serveRecordings } from "./replay-server.mjs";
import { made, streams } from "./streams.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = process.env.UNSPOOL_DIST ?? here("../../dist");
const wire = join(process.env.UNSPOOL_TEST_DATA ?? here("../../../shared/data"), "wire");
const skip = !existsSync(`${dist}/pyodide/pyodide.mjs`)
  ? `no self-hosted folder in ${dist}: run \`make dist\``
  : !existsSync(`${wire}/manifest.json`) && `no recordings in ${wire}: set UNSPOOL_TEST_DATA`;

const recordings = skip ? [] : JSON.parse(readFileSync(`${wire}/manifest.json`, "utf8")).files;

/** Stream → dialect of its recordings, integration. */
const READ = {
  openai: ["openai-responses", "openai"],
  "openai-chat": ["openai-chat", "openai-chat"],
  anthropic: ["anthropic", "anthropic"],
  "anthropic beta": ["anthropic", "anthropic"],
  gemini: ["gemini", "gemini"],
  "gemini interactions": ["gemini-interactions", "gemini"],
  cohere: ["cohere", "cohere"],
  mistral: ["mistral", "mistral"],
  bedrock: ["bedrock", "bedrock"],
  "ag-ui": ["ag-ui", "ag-ui"],
  "ai ui messages": ["vercel-ui", "vercel-ai"],
  "assistant-ui": ["vercel-ui", "assistant-ui"],
};

function withCalls(dialect) {
  return recordings.filter(
    ({ dialect: of, file, expect }) =>
      of === dialect &&
      /\.(sse|eventstream)$/.test(file) &&
      !file.includes("/invoke-") &&
      expect.tool_calls?.length > 0,
  );
}

/** Read to the end, with the live value of each update checked against its call's value so far. */
async function read(us, events, integration) {
  const completed = [];
  let error;
  try {
    for await (const update of us.readStructured(events, { integration })) {
      if (update.type !== "complete") continue;
      assert.deepEqual(update.partialValue, update.value);
      assert.deepEqual(JSON.parse(update.text), update.value);
      completed.push(update);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { completed, error };
}

describe("SDKs", { skip }, () => {
  let us;
  let server;
  before(async () => {
    us = await connect({ worker: false, indexURL: `${pathToFileURL(dist).href}/pyodide/` });
    server = await serveRecordings(wire);
  });
  after(() => {
    us?.dispose();
    server?.stop();
  });

  for (const [name, [dialect, integration]] of Object.entries(READ)) {
    for (const { file, expect } of withCalls(dialect)) {
      test(`${name}: ${file}`, async () => {
        const events = await streams[name](`${server.url}/${file}`);
        const { completed, error } = await read(us, events, integration);
        const wanted = [...expect.tool_calls, ...(expect.server_tool_calls ?? [])];
        if (expect.errors === undefined) assert.equal(error, undefined, error?.stack);
        else assert.ok(error instanceof Error);
        assert.deepEqual(
          completed.map(({ value }) => JSON.stringify(value)).sort(),
          wanted.map((call) => JSON.stringify(call.arguments_json)).sort(),
        );
      });
    }
  }

  const calls = [
    { id: "call_1", name: "weather", text: '{"city":"San Francisco 👋","days":[1,2.5,true,null]}' },
    { id: "call_2", name: "clock", text: "{}" },
  ];
  for (const [name, stream] of Object.entries(made)) {
    const integration = name.startsWith("ai ") ? "vercel-ai" : name;
    test(`${name}: calls of our own`, async () => {
      const { completed, error } = await read(us, await stream(calls), integration);
      assert.equal(error, undefined, error?.stack);
      assert.deepEqual(
        completed.map(({ id, value }) => [id, value]),
        calls.map(({ id, text }) => [id, JSON.parse(text)]),
      );
    });
  }

  test("every SDK was read", () => {
    for (const [name, [dialect]] of Object.entries(READ)) assert.ok(withCalls(dialect).length > 0, name);
    assert.deepEqual(Object.keys(READ).sort(), Object.keys(streams).sort());
  });

  test("leaving early ends the request of the SDK", async () => {
    const events = await streams.openai(`${server.url}/openai-responses/parallel-tool-calls.sse`);
    for await (const _ of us.readStructured(events, { integration: "openai" })) break;
    assert.equal(events.controller.signal.aborted, true);
  });
});
