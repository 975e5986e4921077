/** The page's side against the real Python side, in Node: the host of the page, and the host of the worker behind a channel. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import {
  UnspoolError,
  connect,
  type Message,
  type ModelSpec,
  type PageModel,
  type PageRequest,
  type StructuredEvent,
  type Unspool,
} from "../lib/index.js";
import { bootPython, type Pyodide } from "../lib/boot.js";
import { failing } from "./connections.js";
import { collect, FakePython, FakeWorker, settle } from "./support.js";

const dist = process.env["UNSPOOL_DIST"] ?? fileURLToPath(new URL("../../dist", import.meta.url));
const indexURL = `${pathToFileURL(dist).href}/pyodide/`;
const skip = existsSync(`${dist}/pyodide/pyodide.mjs`) ? false : `no self-hosted folder in ${dist}: run \`make dist\``;

const MODULES = {
  places: `
from pydantic import BaseModel, Field
import unspool as us

class Place(BaseModel):
    """A place to visit."""
    city: str
    sights: list[str] = Field(max_length=3)
    population: int | None = None

async def slowly(request):
    import asyncio
    yield '{"city": "Par'
    await asyncio.Event().wait()

lm = us.llms.FunctionModel(slowly)
heard = []

def hearing(request):
    heard.append([(message.role, message.text) for message in request.messages])
    texts = ['{"city": 5, "sights": []}', '{"city": "Rome", "sights": ["a", "b", "c", "d"]}', '{"city": "Rome", "sights": []}']
    return [texts[min(len(heard), 3) - 1]]

hears = us.llms.FunctionModel(hearing)

class Trip(BaseModel):
    place: Place
    days: list[Place]

started = us.llms.FunctionModel(lambda request: ['{"city": "Rome", "sights": []}'])
`,
};
const TEXT = '{"city": "Par\\u00eds 👋", "sights": ["Louvre", "Orsay"], "population": 2100000}';
const VALUE = { city: "París 👋", sights: ["Louvre", "Orsay"], population: 2100000 };

/** Count Python objects that JavaScript holds, as Pyodide's own tests do: by what its finalization registry is told. */
const proxies = new Set<object>();
const OriginalRegistry = globalThis.FinalizationRegistry;

describe("real Python", { skip }, () => {
  let us: Unspool;

  before(async () => {
    us = await connect({ worker: false, indexURL, modules: MODULES });
  });
  after(() => us.dispose());

  const scripted = (text: string, chunkChars?: number): ModelSpec => ({
    provider: "scripted",
    text,
    ...(chunkChars !== undefined && { chunkChars }),
  });

  test("a type of a registered module", async () => {
    const query = { prompt: "Where to?", schema: "places:Place" } as const;
    for (const size of [1, 3, 7, undefined]) {
      const stream = us.queryStream<typeof VALUE>({ ...query, lm: scripted(TEXT, size) });
      const events = await collect(stream);
      const last = events.at(-1);
      assert.ok(last?.type === "generationComplete", JSON.stringify(last));
      assert.deepEqual(last.result, VALUE);
      assert.equal(stream.text, TEXT);
      assert.deepEqual(stream.partialValue, VALUE);
    }
    assert.deepEqual(await us.query({ ...query, lm: { object: "places:started" } }), {
      city: "Rome",
      sights: [],
      population: null,
    });
  });

  test("a JSON Schema", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    assert.deepEqual(await us.query({ prompt: "p", schema, lm: scripted(TEXT) }), VALUE);
    const error = await failing(us.query({ prompt: "p", schema, lm: scripted('{"town": "x"}') }));
    assert.equal(error.code, "OUTPUT_INVALID");
    assert.equal(error.text, '{"town": "x"}');
    assert.deepEqual(error.partialValue, { town: "x" });
  });

  test("a Standard Schema: what it mends is no fault of Python's", async () => {
    const schema = z
      .object({ city: z.string().transform((city) => city.length), sights: z.array(z.string()).default([]) })
      .strict();
    assert.deepEqual(await us.query({ prompt: "p", schema, lm: scripted('{"city": "Rome"}', 2) }), {
      city: 4,
      sights: [],
    });
    const error = await failing(us.query({ prompt: "p", schema, lm: scripted('{"city": 3}') }));
    assert.deepEqual([error.code, error.issues.map(({ path }) => path)], ["OUTPUT_INVALID", [["city"]]]);
  });

  test("partials and items: the value grows on the page", async () => {
    const trip = { place: VALUE, days: [VALUE, { ...VALUE, city: "Rome" }] };
    const text = JSON.stringify(trip);
    for (const schema of ["places:Trip", { type: "object" }, z.object({ place: z.unknown(), days: z.unknown() })]) {
      for (const size of [1, 7, undefined]) {
        for (const snapshots of ["live", "immutable"] as const) {
          const query = { prompt: "p", schema: schema as "places:Trip", lm: scripted(text, size) };
          let before = 0;
          let last: unknown;
          for await (const { value, complete, state } of us.queryStream(query).partials({ snapshots })) {
            const length = JSON.stringify(value).length;
            if (!complete) assert.ok(length >= before, "what is shown never shrinks");
            before = length;
            last = value;
            if (length === text.length && complete) assert.equal(state(), "complete");
          }
          assert.deepEqual(last, trip);
        }
        const query = { prompt: "p", schema: schema as "places:Trip", lm: scripted(text, size) };
        assert.deepEqual(await collect(us.queryStream(query).items("days")), trip.days);
        assert.deepEqual(await collect(us.queryStream(query).items("days.1.sights")), VALUE.sights);
      }
    }
    const query = { prompt: "p", lm: scripted(text) };
    const nowhere = us.queryStream({ ...query, schema: "places:Trip" }).items("place");
    assert.equal((await failing(nowhere.next())).code, "INVALID_OPTIONS");
  });

  test("parts are judged as they close", async () => {
    const text = '{"place": {"city": 5, "sights": []}, "days": []}';
    const query = { prompt: "p", schema: "places:Trip", lm: scripted(text, 4) } as const;
    const told = (await collect(us.queryStream({ ...query, check: "report" }))).filter(
      ({ type }) => type === "fieldInvalid",
    );
    assert.deepEqual(told.map((event) => "path" in event && event.path), [["place", "city"]]);
    const stream = us.queryStream({ ...query, check: "stop" });
    const events = await collect(stream);
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ["fieldInvalid", "parsingFailed"],
    );
    assert.ok(stream.text.length < 30, stream.text);
    assert.deepEqual(stream.end?.type === "parsingFailed" && stream.end.error.issues.map(({ path }) => path), [
      ["place", "city"],
    ]);
    const [a, c] = ["a", "c"].map((city) => ({ city, sights: [] }));
    const lm = scripted(JSON.stringify({ place: c, days: [a, {}, c] }), 5);
    for (const [check, given] of [[undefined, [a, c]], ["report", [a, c]], ["stop", [a]]] as const) {
      const items = us.queryStream({ ...query, lm, check });
      const days = items.items("days");
      for (const day of given) assert.deepEqual((await days.next()).value, day);
      assert.equal((await failing(days.next())).code, "OUTPUT_INVALID");
      assert.equal((await failing(items.result())).code, "OUTPUT_INVALID");
    }
  });

  test("a further turn: with the model's own answer and what was wrong with it", async () => {
    const query = { prompt: "Where?", schema: "places:Place", lm: { object: "places:hears" } } as const;
    const asked = { ...query, examples: [["Here?", VALUE]] as const, maxRepairs: 2 };
    const given = await us.query<typeof VALUE, true>({ ...asked, returnsMessage: true });
    assert.deepEqual(given.value, { city: "Rome", sights: [], population: null });
    assert.deepEqual(given.message.parts, [{ type: "text", text: '{"city": "Rome", "sights": []}' }]);
    const error = await failing(us.query({ ...query, examples: [["Here?", { city: 5 }]] }));
    assert.deepEqual([error.code, /examples\[0\]/.test(error.message)], ["INVALID_OPTIONS", true]);
  });

  test("what is missing is filled in", async () => {
    const known = { schema: "places:Trip", value: { place: { city: "Rome" }, days: [VALUE] } } as const;
    const text = JSON.stringify({ place: { city: "Paris", sights: ["a"] }, days: [VALUE] });
    const place = { city: "Rome", sights: ["a"], population: null };
    const asked = { ...known, protocol: "json", returnsMessage: true } as const;
    const { value, message } = await us.complete<unknown, true>({ ...asked, lm: scripted(text) });
    assert.deepEqual(value, { place, days: [VALUE] });
    assert.deepEqual(message?.parts, [{ type: "text", text }]);
    const whole = await us.complete<unknown, true>({ ...asked, lm: scripted("never read"), value: { place, days: [] } });
    assert.deepEqual(whole, { value: { place, days: [] }, message: undefined });
    const wrong = us.complete({ ...known, lm: scripted(text), value: { place: { city: 5 }, days: [] } });
    assert.equal((await failing(wrong)).code, "INVALID_OPTIONS");
    const plain = us.complete({ lm: scripted(text), value: {}, schema: { type: "object" } as never });
    assert.equal((await failing(plain)).code, "UNSUPPORTED");
  });

  test("lenient reading names what it has put right", async () => {
    const lm = scripted("{'city': 'Rome', \"sights\": [],}");
    const stream = us.queryStream({ prompt: "p", schema: { type: "object" }, lm, lenient: true });
    await collect(stream);
    assert.deepEqual(
      stream.repairs.map(({ kind }) => kind),
      ["single-quotes", "single-quotes", "trailing-comma"],
    );
  });

  test("plain text", async () => {
    assert.equal(await us.query({ prompt: "p", lm: scripted("Hello, 👋 world", 4) }), "Hello, 👋 world");
  });

  test("a round trip of a tool", async () => {
    const tools = [{ name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];
    const heard: PageRequest[] = [];
    const lm: PageModel = (request) => {
      heard.push(request);
      const last = request.messages.at(-1)!;
      const part = last.parts[0]!;
      if (part.type === "toolResult") return [`It is ${part.text}.`];
      const size = part.type === "text" && part.text === "big" ? ', "n": 9007199254740993' : "";
      const call = { index: 0, id: "c1", function: { name: "weather", arguments: `{"city": "Lima"${size}}` } };
      return [{ choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] }];
    };
    const asked = await us.call({ prompt: "?", lm, tools, toolChoice: "required" });
    assert.equal(asked.message.finishReason, "tool_calls");
    assert.deepEqual(asked.toolCalls, [{ id: "c1", name: "weather", truncated: false, args: { city: "Lima" } }]);
    const saved = JSON.parse(JSON.stringify(asked.message)) as Message;
    const results = { role: "tool", parts: [{ type: "toolResult", callId: "c1", text: "21 °C", isError: undefined }] } as const;
    const prompt = [{ role: "user", content: [{ type: "text", text: "?" }] }, saved, results] as const;
    const reply = await us.call({ prompt, lm, tools });
    assert.deepEqual([reply.text, reply.toolCalls], ["It is 21 °C.", []]);
    assert.deepEqual(
      heard.map(({ messages, toolChoice }) => [messages.map(({ role }) => role), toolChoice]),
      [
        [["user"], "required"],
        [["user", "assistant", "tool"], undefined],
      ],
    );
    const unsafe = await failing(us.call({ prompt: "big", lm, tools }));
    assert.equal(unsafe.code, "UNSAFE_INTEGER");
    assert.equal(unsafe.partial?.parts[0]?.type, "toolCall");
    const dead = await failing(us.query({ prompt: "?", lm, options: { tools } }));
    assert.match(dead.message, /use call\(\) in place of a query/);
    const reason = new Error("mine");
    const failed = await failing(us.query({ prompt: "?", lm: () => Promise.reject(reason) }));
    assert.equal(failed.cause, reason);
  });

  test("a function of the page is a model, and hears what is asked", async () => {
    let asked: unknown;
    const lm: PageModel = async function* (request) {
      asked = request;
      for (const piece of TEXT.match(/.{1,5}/gsu) ?? []) yield piece;
    };
    const options = { temperature: 0.5, maxOutputTokens: 9, stop: ["END"], seed: 4, extra: { top_k: 2 } };
    assert.deepEqual(
      await us.query({ prompt: "Where?", schema: "places:Place", system: "Be brief.", lm, options }),
      VALUE,
    );
    const { messages, model, ...rest } = asked as Parameters<PageModel>[0];
    assert.deepEqual(rest, options);
    assert.match(model, /^page-/);
    assert.deepEqual([...new Set(messages.map(({ role }) => role))], ["system", "user"]);
    assert.match(JSON.stringify(messages), /Be brief\..*Where\?/s);
  });

  test("a function of the page may give OpenAI chat chunks, our chunks, or bytes", async () => {
    const chat = (delta: object, finish_reason: string | null = null): object => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    const forms: PageModel[] = [
      () => [chat({ role: "assistant", content: "Hel" }), chat({ content: "lo" }), chat({}, "stop")],
      () => [
        { type: "block-start", index: 0, kind: "text" },
        { type: "text-delta", index: 0, text: "Hello" },
        { type: "block-end", index: 0 },
        { type: "finish", reason: "stop" },
      ],
      () =>
        new ReadableStream({
          start(c) {
            c.enqueue(new TextEncoder().encode("Hello"));
            c.close();
          },
        }),
    ];
    for (const lm of forms) assert.equal(await us.query({ prompt: "p", lm }), "Hello");
  });

  test("errors of a page's function arrive with their code, and the text so far", async () => {
    const lm: PageModel = async function* () {
      yield "so far";
      throw new UnspoolError("RATE_LIMIT", "quota");
    };
    const error = await failing(us.query({ prompt: "p", lm }));
    assert.deepEqual([error.code, error.text], ["RATE_LIMIT", "so far"]);
    const events = await collect(
      us.queryStream({ prompt: "p", lm: () => Promise.reject(new TypeError("Failed to fetch")) }),
    );
    const last = events.at(-1);
    assert.ok(last?.type === "generationFailed");
    assert.equal(last.error.code, "PROVIDER");
    assert.match(last.error.message, /Failed to fetch/);
  });

  test("aborting ends with one cancelled event, for models of Python and of the page", async () => {
    let heard: AbortSignal | undefined;
    const page: PageModel = async function* (_, { signal }) {
      heard = signal;
      yield '{"city": "Par';
      await new Promise(() => {});
    };
    for (const lm of [{ object: "places:lm" }, page]) {
      const stop = new AbortController();
      const stream = us.queryStream({ prompt: "p", schema: "places:Place", lm, signal: stop.signal });
      const events: StructuredEvent[] = [];
      for await (const event of stream) {
        events.push(event);
        if (event.type === "stringFieldDelta") stop.abort();
      }
      const last = events.at(-1);
      assert.ok(last?.type === "cancelled", JSON.stringify(last));
      assert.deepEqual(
        [last.error.code, last.error.text, last.error.partialValue],
        ["ABORTED", '{"city": "Par', { city: "Par" }],
      );
      assert.equal(events.filter(({ type }) => type === "cancelled").length, 1);
    }
    await settle();
    assert.equal(heard?.aborted, true);
  });

  test("leaving early closes a model of the page", async () => {
    let finalized = false;
    const lm: PageModel = async function* () {
      try {
        for (;;) yield "x";
      } finally {
        finalized = true;
      }
    };
    for await (const _ of us.queryStream({ prompt: "p", lm })) break;
    await settle();
    assert.ok(finalized);
  });

  test("bad input is a typed error, and Python answers afterwards", async () => {
    const ask = { prompt: "p", schema: { type: "array" }, lm: scripted("[]") } as const;
    const deep = "[".repeat(20_000);
    for (const [wrong, code] of [
      [{ lm: scripted(deep) }, "OUTPUT_TOO_LARGE"],
      [{ lm: scripted("[1,") }, "OUTPUT_INVALID"],
      [{ lm: scripted("no json") }, "OUTPUT_INVALID"],
      [{ lm: scripted("[9007199254740993]") }, "UNSAFE_INTEGER"],
      [{ lm: { provider: "nobody" } }, "INVALID_OPTIONS"],
      [{ lm: { object: "places:Place" } }, "INVALID_OPTIONS"],
      [{ lm: { object: "nowhere:lm" } }, "MODULE_ERROR"],
      [{ schema: "places:Nothing" }, "MODULE_ERROR"],
      [{ schema: JSON.parse(`${'{"items":'.repeat(3000)}{}${"}".repeat(3000)}`) as object }, undefined],
      [{ prompt: [{ role: "alien", content: "x" }] }, "INVALID_OPTIONS"],
      [{ options: { temperature: "hot" } }, "INVALID_OPTIONS"],
      [{ maxChars: 0 }, "INVALID_OPTIONS"],
    ] as const) {
      const error = await failing(us.query({ ...ask, ...wrong } as never));
      if (code !== undefined) assert.equal(error.code, code, `${JSON.stringify(wrong).slice(0, 80)}: ${String(error)}`);
      assert.deepEqual(await us.query({ ...ask, lm: scripted("[1]") }), [1]);
    }
  });

  test("a lone surrogate crosses in both directions", async () => {
    const lm: PageModel = () => ['"a\\ud800b"'];
    assert.equal(await us.query({ prompt: "half \udc00", schema: {}, lm }), "a\ud800b");
  });

  test("two connections live side by side, and disposing one leaves the other", async () => {
    const other = await connect({ worker: false, indexURL });
    const pending = failing(other.query({ prompt: "p", lm: () => new Promise(() => {}) }));
    assert.equal(
      (await failing(other.query({ prompt: "p", schema: "places:Place", lm: scripted("{}") }))).code,
      "MODULE_ERROR",
    );
    other.dispose();
    assert.equal((await pending).code, "DISPOSED");
    assert.equal(await us.query({ prompt: "p", lm: scripted("still here") }), "still here");
  });
});

describe("real Python behind a channel", { skip }, () => {
  test("a whole query crosses as clones; a dead interpreter rejects what waits, and a new start works", async (t) => {
    let pyodide: (Pyodide & { runPython(code: string): unknown }) | undefined;
    const python = new FakePython();
    const boot: typeof bootPython = async (options, hooks) => {
      const watched = globalThis as unknown as { runtimeSeen?: (runtime: typeof pyodide) => void };
      watched.runtimeSeen = (seen) => (pyodide = seen);
      return await bootPython(options, hooks);
    };
    const worker = new FakeWorker(Object.assign(python, { boot }));
    t.after(() => worker.terminate());
    const us = await connect({
      worker,
      indexURL,
      modules: { ...MODULES, reach: "import js, pyodide_js\njs.runtimeSeen(pyodide_js)\n" },
    });
    assert.deepEqual(
      await us.query({ prompt: "p", schema: "places:Place", lm: { provider: "scripted", text: TEXT, chunkChars: 5 } }),
      VALUE,
    );
    const waiting = failing(us.query({ prompt: "p", schema: "places:Place", lm: { object: "places:lm" } }));
    await settle();
    assert.ok(pyodide !== undefined);
    assert.throws(() => pyodide!.runPython('import json; json.loads("[" * 100_000)'));
    const error = await waiting;
    assert.equal(error.code, "WORKER_DIED");
    assert.equal(error.text, '{"city": "Par');
    assert.deepEqual(error.partialValue, { city: "Par" });
    assert.ok(worker.terminated);

    const again = await connect({
      worker: new FakeWorker(Object.assign(new FakePython(), { boot: bootPython })),
      indexURL,
    });
    assert.equal(await again.query({ prompt: "p", lm: { provider: "scripted", text: "back" } }), "back");
    again.dispose();
  });
});

describe("objects of Python's in JavaScript", { skip }, () => {
  test("none is left by streams that end, fail, are cancelled or are left (F43)", async () => {
    globalThis.FinalizationRegistry = class<T> extends OriginalRegistry<T> {
      override register(target: WeakKey, held: T, token?: WeakKey): void {
        if (token !== undefined) proxies.add(token);
        super.register(target, held, token);
      }
      override unregister(token: WeakKey): boolean {
        proxies.delete(token);
        return super.unregister(token);
      }
    };
    try {
      const us = await connect({ worker: false, indexURL, modules: MODULES });
      const round = async (): Promise<void> => {
        const place = { prompt: "p", schema: "places:Place" } as const;
        await us.query({ ...place, lm: { provider: "scripted", text: TEXT, chunkChars: 9 } });
        await us.query({ ...place, lm: () => [TEXT] });
        await failing(us.query({ ...place, lm: { provider: "scripted", text: "{" } }));
        await failing(us.query({ ...place, lm: () => Promise.reject(new Error("x")) }));
        for await (const _ of us.queryStream({ ...place, lm: { object: "places:lm" } })) break;
        for await (const _ of us.queryStream({
          ...place,
          lm: async function* () {
            for (;;) yield " ";
          },
        }))
          break;
        const stop = new AbortController();
        for await (const _ of us.queryStream({ ...place, lm: { object: "places:lm" }, signal: stop.signal }))
          stop.abort();
        await settle();
      };
      await round();
      assert.ok(proxies.size > 0, "the counter counts nothing");
      const before = proxies.size;
      for (let n = 0; n < 10; n += 1) await round();
      assert.equal(proxies.size, before);
      us.dispose();
      await settle();
    } finally {
      globalThis.FinalizationRegistry = OriginalRegistry;
    }
  });
});
