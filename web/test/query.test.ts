/** A query that is waited for: further turns, a value for answers that stay invalid, and the message. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Message, Usage } from "../lib/index.js";
import { failing, inBoth, inWorker } from "./connections.js";
import type { Batch, FakeRequest, Script } from "./support.js";

const QUERY = { prompt: "p", lm: { provider: "scripted", text: "" }, schema: { type: "object" } } as const;
const MESSAGE: Message = { role: "assistant", parts: [{ type: "text", text: "1" }] };

const invalid = (text: string, more: object = {}): Batch => [
  { type: "textDelta", delta: text },
  { type: "parsingFailed", error: { code: "OUTPUT_INVALID", message: `not ${text}`, text, ...more } },
];
const valid = (result: unknown, message?: Message): Batch => [{ type: "generationComplete", result, message }];

/** One answer for each query, the last one again and again. */
function answers(...list: Batch[]): Script {
  let next = 0;
  return async function* () {
    yield list[Math.min(next++, list.length - 1)]!;
  };
}

inBoth("a further turn shows the model its answer and what was wrong with it", async (make) => {
  const { us, python } = await make(answers(invalid("a"), invalid("b"), valid(3)));
  assert.equal(await us.query({ ...QUERY, maxRepairs: 2 }), 3);
  assert.deepEqual(
    python.requests.map(({ repair }: FakeRequest) => repair),
    [undefined, { answer: "a", fault: "not a" }, { answer: "b", fault: "not b" }],
  );
  us.dispose();
});

test("the last error holds the earlier ones", async () => {
  const { us, python } = await inWorker(answers(invalid("a"), invalid("b"), invalid("c")));
  const error = await failing(us.query({ ...QUERY, maxRepairs: 2 }));
  assert.deepEqual([error.text, error.attempts.map(({ text }) => text)], ["c", ["a", "b"]]);
  assert.equal(python.requests.length, 3);
  assert.deepEqual((await failing(us.query(QUERY))).attempts, []);
  assert.equal(python.requests.length, 4);
  us.dispose();
});

test("a model that repeats itself is not asked again", async () => {
  const { us, python } = await inWorker(answers(invalid("a")));
  assert.deepEqual((await failing(us.query({ ...QUERY, maxRepairs: 8 }))).attempts.length, 1);
  assert.equal(python.requests.length, 2);
  us.dispose();
});

test("only a whole answer that is invalid is asked for again, or has a default", async () => {
  const call = { type: "toolCall", id: "1", name: "f", arguments: "{}", truncated: false };
  const tools = invalid("", { partial: { role: "assistant", parts: [call] } });
  const cut: Batch = [{ type: "parsingFailed", error: { code: "OUTPUT_TRUNCATED", message: "cut" } }];
  const network: Batch = [{ type: "generationFailed", error: { code: "NETWORK", message: "gone" } }];
  const cancelled: Batch = [{ type: "cancelled", error: { code: "ABORTED", message: "stopped" } }];
  const long: Batch = [{ type: "parsingFailed", error: { code: "OUTPUT_TOO_LARGE", message: "long" } }];
  for (const [batch, code] of [
    [tools, "OUTPUT_INVALID"],
    [cut, "OUTPUT_TRUNCATED"],
    [long, "OUTPUT_TOO_LARGE"],
    [network, "NETWORK"],
    [cancelled, "ABORTED"],
  ] as const) {
    const { us, python } = await inWorker(answers(batch, valid(1)));
    assert.equal((await failing(us.query({ ...QUERY, maxRepairs: 1 }))).code, code);
    assert.equal(python.requests.length, 1);
    us.dispose();
    const again = await inWorker(answers(batch));
    assert.equal((await failing(again.us.query({ ...QUERY, default: 0 }))).code, code);
    again.us.dispose();
  }
});

test("what a Standard Schema refuses is asked for again, in its words", async () => {
  const { us, python } = await inWorker(
    answers([{ type: "textDelta", delta: '{"n": 5}' }, ...valid({ n: 5 })], valid({ n: 1 })),
  );
  const schema = z.object({ n: z.number().max(1) });
  assert.deepEqual(await us.query({ ...QUERY, schema, maxRepairs: 1 }), { n: 1 });
  const { answer, fault } = python.requests[1]!["repair"] as { answer: string; fault: string };
  assert.equal(answer, '{"n": 5}');
  assert.match(fault, /n: /);
  us.dispose();
});

test("the message goes with the value, if it is asked for", async () => {
  const { us, python } = await inWorker(answers(valid(1, MESSAGE), invalid("x", { partial: MESSAGE })));
  assert.deepEqual(await us.query<number, true>({ ...QUERY, returnsMessage: true }), { value: 1, message: MESSAGE });
  assert.equal(python.requests[0]!["returnsMessage"], true);
  assert.deepEqual(await us.query<number, true>({ ...QUERY, returnsMessage: true, default: 7 }), {
    value: 7,
    message: MESSAGE,
  });
  us.dispose();
});

test("what is known goes to Python, in the place of a prompt", async () => {
  const { us, python } = await inWorker(answers(invalid("a"), valid({ name: "Lima", people: 9 }, MESSAGE)));
  const { lm } = QUERY;
  const known = { value: { name: "Lima" }, schema: "models:City", lm } as const;
  assert.deepEqual(await us.complete({ ...known, maxRepairs: 1 }), { name: "Lima", people: 9 });
  const sent = python.requests.map(({ complete, schema, protocol, repair }) => ({ complete, schema, protocol, repair }));
  const first = { complete: { name: "Lima" }, schema: { type: "models:City" }, protocol: undefined, repair: undefined };
  assert.deepEqual(sent, [first, { ...first, repair: { answer: "a", fault: "not a" } }]);
  us.dispose();
});

test("a completion has the options of a query that is waited for", async () => {
  const { us, python } = await inWorker(answers(invalid("a", { partial: MESSAGE }), valid(5)));
  const known = { value: [{}], schema: "models:Cities", lm: QUERY.lm, returnsMessage: true } as const;
  assert.deepEqual(await us.complete({ ...known, default: null }), { value: null, message: MESSAGE });
  assert.deepEqual(await us.complete({ ...known, protocol: "json" }), { value: 5, message: undefined }, "nobody was asked");
  assert.deepEqual([python.requests[1]!["protocol"], python.requests[1]!["prompt"]], ["json", ""]);
  await us.complete({ ...known, prompt: "The e-mail." });
  assert.equal(python.requests[2]!["prompt"], "The e-mail.");
  for (const wrong of [{ value: 5 }, { value: null }, { value: undefined }, { prompt: 5 }, { maxRepairs: 9 }, { nme: 1 }]) {
    assert.equal((await failing(us.complete({ ...known, ...wrong } as never))).code, "INVALID_OPTIONS");
  }
  assert.equal(python.requests.length, 3);
  us.dispose();
});

type Counts = Omit<Usage, "type">;

/** The message of an answer that cost this much. */
const costing = (usage?: Counts): Message => ({
  ...MESSAGE,
  ...(usage !== undefined && { usage: { type: "usage", ...usage } }),
});

test("the message says what all attempts cost", async () => {
  const asking = { ...QUERY, maxRepairs: 2, returnsMessage: true } as const;
  const first = costing({ inputTokens: 10, outputTokens: 5, totalTokens: 15, raw: { a: 1 } });
  const second = costing({ inputTokens: 20, outputTokens: 6, totalTokens: 26, cachedInputTokens: 8, raw: { b: 1 } });
  const third = costing({ inputTokens: 30, outputTokens: 7, totalTokens: 37, cachedInputTokens: 16, raw: { c: 1 } });
  const sum = { inputTokens: 60, outputTokens: 18, totalTokens: 78, cachedInputTokens: 24 };
  const failed = [invalid("a", { partial: first }), invalid("b", { partial: second })];
  const { us } = await inWorker(answers(...failed, valid(3, third)));
  assert.deepEqual(await us.query<number, true>(asking), { value: 3, message: costing(sum) });
  us.dispose();
  const kept = await inWorker(answers(...failed, invalid("c", { partial: third })));
  assert.deepEqual(await kept.us.query<number, true>({ ...asking, default: 7 }), { value: 7, message: costing(sum) });
  kept.us.dispose();
  const once = await inWorker(answers(valid(3, third)));
  assert.deepEqual(await once.us.query<number, true>(asking), { value: 3, message: third }, "its own stays as it was");
  once.us.dispose();
});

test("what was not reported counts for nothing", async () => {
  const some = { inputTokens: 3, reasoningTokens: 0 };
  for (const [first, second, all] of [
    [undefined, some, some],
    [some, undefined, some],
    [some, { inputTokens: null as never, outputTokens: 4 }, { inputTokens: 3, outputTokens: 4, reasoningTokens: 0 }],
    [undefined, undefined, undefined],
  ] as [Counts?, Counts?, Counts?][]) {
    const { us } = await inWorker(answers(invalid("a", { partial: costing(first) }), valid(3, costing(second))));
    const { message } = await us.query<number, true>({ ...QUERY, maxRepairs: 1, returnsMessage: true });
    assert.deepEqual(message, costing(all));
    us.dispose();
  }
});

test("what a Standard Schema refused was paid for too", async () => {
  const used = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  const { us } = await inWorker(answers(valid({ n: 5 }, costing(used)), valid({ n: 1 }, costing(used))));
  const { message } = await us.query({
    ...QUERY,
    schema: z.object({ n: z.number().max(1) }),
    maxRepairs: 1,
    returnsMessage: true,
  });
  assert.deepEqual(message, costing({ inputTokens: 2, outputTokens: 4, totalTokens: 6 }));
  us.dispose();
});

test("options of a query that is waited for", async () => {
  const { us, python } = await inWorker(answers(valid(1)));
  for (const maxRepairs of [-1, 9, 1.5, Number.NaN, "2", null]) {
    const error = await failing(us.query({ ...QUERY, maxRepairs: maxRepairs as never }));
    assert.equal(error.code, "INVALID_OPTIONS");
  }
  for (const given of [{ temperature: 0 }, { maxOutputTokens: 5 }]) {
    const misplaced = await failing(us.query({ ...QUERY, ...given } as never));
    assert.match(misplaced.message, /it belongs in options: \{ (temperature|maxOutputTokens) \}/);
  }
  for (const only of [{ maxRepairs: 1 }, { default: 1 }]) {
    assert.throws(() => us.queryStream({ ...QUERY, ...only } as never), { code: "INVALID_OPTIONS" });
  }
  assert.throws(() => us.queryStream({ ...QUERY, check: "stop" }), { code: "INVALID_OPTIONS" });
  assert.deepEqual(python.requests, []);
  const examples = [["q", { a: 1 }]] as const;
  await us.query({ ...QUERY, schema: "m:T", examples, check: "stop", lenient: true });
  assert.deepEqual(
    [python.requests[0]!["examples"], python.requests[0]!["check"], python.requests[0]!["lenient"]],
    [[["q", { a: 1 }]], "stop", true],
  );
  us.dispose();
});
