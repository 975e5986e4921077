/** A call for the whole message: tools are asked for, run by the caller, and answered with the next call. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message, PromptMessage } from "../lib/index.js";
import { failing, inBoth, inWorker } from "./connections.js";
import { batches, gate, settle, type Batch, type FakeRequest } from "./support.js";

const CALL = { prompt: "p", lm: { provider: "scripted", text: "" } } as const;
const TOOLS = [{ name: "weather", description: "d", parameters: { type: "object" } }] as const;
const said = (...parts: Message["parts"]): Batch => [
  { type: "generationComplete", result: null, message: { role: "assistant", parts, finishReason: "stop" } },
];
const asks = { type: "toolCall", id: "c1", name: "weather", arguments: '{"city": "Lima"}', truncated: false } as const;

inBoth("a round trip of a tool", async (make) => {
  const { us, python } = await make(async function* ({ prompt }: FakeRequest) {
    yield Array.isArray(prompt) ? said({ type: "text", text: "It is " }, { type: "text", text: "21 °C." }) : said(asks);
  });
  const asked = await us.call({ ...CALL, system: "s", tools: TOOLS, toolChoice: "required", options: { seed: 1 } });
  assert.deepEqual([asked.text, asked.toolCalls], ["", [{ id: "c1", name: "weather", truncated: false, args: { city: "Lima" } }]]);
  const prompt: PromptMessage[] = [
    { role: "user", content: "p" },
    asked.message,
    { role: "tool", parts: [{ type: "toolResult", callId: asked.toolCalls[0]!.id, text: "21 °C" }] },
  ];
  const reply = await us.call({ ...CALL, prompt, tools: TOOLS });
  assert.deepEqual([reply.text, reply.toolCalls, reply.message.finishReason], ["It is 21 °C.", [], "stop"]);
  const [first, second] = python.requests;
  assert.deepEqual(first, {
    ...CALL,
    system: "s",
    wants: "message",
    options: { seed: 1, tools: TOOLS, toolChoice: "required" },
  });
  assert.deepEqual([second!.prompt, second!["options"]], [prompt, { tools: TOOLS }]);
  us.dispose();
});

test("arguments: none, and such as were cut", async () => {
  const parts = [{ ...asks, arguments: " " }, { ...asks, id: "c2", arguments: '{"ci', truncated: true }];
  const { us } = await inWorker(batches(said(...parts)));
  assert.deepEqual((await us.call(CALL)).toolCalls, [
    { id: "c1", name: "weather", truncated: false, args: {} },
    { id: "c2", name: "weather", truncated: true },
  ]);
  us.dispose();
});

test("a failure rejects with what had come; the signal stops the call", async () => {
  const partial = { role: "assistant", parts: [{ type: "text", text: "Half" }] };
  const error = { code: "NETWORK", message: "gone", text: "Half", partial };
  const failed = await inWorker(batches([{ type: "generationFailed", error }]));
  const thrown = await failing(failed.us.call(CALL));
  assert.deepEqual([thrown.code, thrown.text, thrown.partial], ["NETWORK", "Half", partial]);
  failed.us.dispose();

  const waiting = gate();
  const { us, python } = await inWorker(async function* () {
    await waiting.passed;
  });
  const controller = new AbortController();
  const call = failing(us.call({ ...CALL, signal: controller.signal }));
  await settle();
  controller.abort();
  assert.equal((await call).code, "ABORTED");
  await settle();
  assert.equal(python.open, 0);
  assert.equal((await failing(us.call({ ...CALL, signal: controller.signal }))).code, "ABORTED");
  assert.equal(python.requests.length, 1);
  waiting.open();
  us.dispose();
});

test("what is no call is refused", async () => {
  const { us, python } = await inWorker(batches([{ type: "generationComplete", result: null }]));
  for (const wrong of [{ schema: {} }, { prompt: 1 }, { lm: null }, { signal: {} }, { maxRepairs: 1 }])
    assert.equal((await failing(us.call({ ...CALL, ...wrong } as never))).code, "INVALID_OPTIONS");
  assert.equal((await failing(us.call(undefined as never))).code, "INVALID_OPTIONS");
  assert.deepEqual(python.requests, []);
  assert.equal((await failing(us.call(CALL))).code, "BRIDGE_PROTOCOL");
  us.dispose();
  assert.equal((await failing(us.call(CALL))).code, "DISPOSED");
});
