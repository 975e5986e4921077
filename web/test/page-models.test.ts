import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { UnspoolError, connect, type PageModel, type PageRequest, type Unspool } from "../lib/index.js";
import type { BootHooks } from "../lib/boot.js";
import { FakePython, FakeWorker, collect, gate, settle, type FakeRequest } from "./support.js";

const ASK = { messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }] };

/** Python with a model of the page: every piece becomes one text event, an error of the page a terminal one. */
async function* reader(request: FakeRequest, { page }: BootHooks): AsyncGenerator<Record<string, unknown>[]> {
  let stream: string | undefined;
  let over = false;
  try {
    stream = await page.open(JSON.stringify({ ...ASK, model: request.lm["model"] }));
    for (;;) {
      const text = await page.read(stream);
      if (text === null) break;
      yield [{ type: "textDelta", delta: text }];
    }
    over = true;
    yield [{ type: "generationComplete", result: null }];
  } catch (error) {
    over = true;
    yield [
      {
        type: "generationFailed",
        error: error instanceof UnspoolError ? error.toWire() : { code: "BUG", message: String(error) },
      },
    ];
  } finally {
    if (!over && stream !== undefined) page.abort(stream);
  }
}

const connections = new Set<Unspool>();
afterEach(() => {
  for (const us of connections) us.dispose();
  connections.clear();
});

async function start(): Promise<{ us: Unspool; python: FakePython }> {
  const python = new FakePython(reader);
  const us = await connect({ worker: new FakeWorker(python), indexURL: "https://host.example/" });
  connections.add(us);
  return { us, python };
}

async function pieces(lm: PageModel): Promise<unknown[]> {
  const { us } = await start();
  try {
    return (await collect(us.queryStream({ prompt: "p", lm }))).map((event) => {
      if (event.type === "textDelta") return JSON.parse(event.delta) as unknown;
      return "error" in event ? event.error.code : event.type;
    });
  } finally {
    us.dispose();
  }
}

test("every form of an answer is read", async () => {
  const chunk = { choices: [{ delta: { content: "x" } }] };
  async function* generator(): AsyncGenerator<string | object> {
    yield "a";
    yield chunk;
  }
  const expected = [["a"], [chunk], "generationComplete"];
  assert.deepEqual(await pieces(generator), expected);
  assert.deepEqual(await pieces(async () => generator()), expected);
  assert.deepEqual(await pieces(() => ["a", chunk]), expected);
  assert.deepEqual(await pieces(() => streamOf<string | object>(["a", chunk])), expected);
  assert.deepEqual(await pieces(() => []), ["generationComplete"]);
});

test("a stream without asynchronous iteration is read through its reader, and unlocked (F7)", async () => {
  const stream = streamOf(["a"]);
  Object.defineProperty(stream, Symbol.asyncIterator, { value: undefined });
  assert.deepEqual(await pieces(() => stream), [["a"], "generationComplete"]);
  assert.equal(stream.locked, false);
});

test("bytes are decoded across every cut (F2)", async () => {
  const bytes = new TextEncoder().encode("использовать 👋");
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const texts = (await pieces(() => [bytes.slice(0, cut), bytes.slice(cut)])).slice(0, -1) as string[][];
    assert.equal(texts.flat().join(""), "использовать 👋");
  }
  assert.deepEqual(await pieces(() => [bytes.slice(0, 1)]), [[""], ["\ufffd"], "generationComplete"]);
});

test("the function gets the request and a signal", async () => {
  let seen: PageRequest | undefined;
  await pieces((request, { signal }) => {
    seen = request;
    assert.equal(signal.aborted, false);
    return [];
  });
  assert.deepEqual(seen?.messages, ASK.messages);
});

test("nothing is read ahead of Python", async () => {
  const { us } = await start();
  let given = 0;
  async function* lm(): AsyncGenerator<string> {
    for (;;) {
      given += 1;
      yield "x";
    }
  }
  const stream = us.queryStream({ prompt: "p", lm });
  await stream.next();
  await settle();
  assert.equal(given, 1);
  await stream.next();
  await settle();
  assert.equal(given, 2);
  us.dispose();
});

test("errors of the function keep their code, others are the provider's fault", async () => {
  assert.deepEqual(
    await pieces(() => {
      throw new Error("x");
    }),
    ["PROVIDER"],
  );
  assert.deepEqual(await pieces(() => Promise.reject(new UnspoolError("RATE_LIMIT", "m"))), ["RATE_LIMIT"]);
  assert.deepEqual(
    await pieces(async function* () {
      yield "a";
      throw new UnspoolError("OVERLOADED", "m");
    }),
    [["a"], "OVERLOADED"],
  );
});

test("what the function threw is the cause of the error, which crosses as words", async () => {
  const reason = new TypeError("x");
  const first = () => {
    throw reason;
  };
  async function* later(): AsyncGenerator<string> {
    yield "a";
    throw reason;
  }
  async function* own(): AsyncGenerator<string> {
    throw new UnspoolError("OVERLOADED", "m", { cause: reason });
  }
  for (const lm of [first, () => Promise.reject(reason), later, own]) {
    const { us } = await start();
    const error: unknown = await us.query({ prompt: "p", lm }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof UnspoolError);
    assert.equal(error.cause, reason);
  }
  const { us } = await start();
  const lm = () => Promise.reject(new UnspoolError("OVERLOADED", "m"));
  const error: unknown = await us.query({ prompt: "p", lm }).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof UnspoolError && error.cause === undefined);
});

test("an answer or a piece of the wrong kind is refused", async () => {
  for (const answer of [undefined, null, 5, "text", {}]) {
    assert.deepEqual(await pieces((() => answer) as never), ["INVALID_OPTIONS"], String(answer));
  }
  for (const piece of [undefined, null, 5, true, ["a"], () => {}]) {
    assert.deepEqual(await pieces(() => [piece] as never), ["INVALID_CHUNK"], String(piece));
  }
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  assert.deepEqual(await pieces(() => [cyclic]), ["PROVIDER"]);
  assert.deepEqual(await pieces(() => [{ big: 1n }]), ["PROVIDER"]);
});

/** Ways of stopping that the model must hear of. */
const STOPS: Record<string, (context: { us: Unspool; stop: AbortController; stream: AsyncIterator<unknown> }) => void> =
  {
    "the signal": ({ stop }) => stop.abort(),
    "return()": ({ stream }) => void stream.return?.(),
    "dispose()": ({ us }) => us.dispose(),
  };

for (const [name, end] of Object.entries(STOPS)) {
  for (const where of ["opening", "waiting for a piece"] as const) {
    test(`${name} stops a model that is ${where}`, async () => {
      const { us, python } = await start();
      const stop = new AbortController();
      let signal: AbortSignal | undefined;
      let returned = false;
      const lm: PageModel = (_, context) => {
        signal = context.signal;
        if (where === "opening") return new Promise(() => {});
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => new Promise<never>(() => {}),
            return: async () => ((returned = true), { done: true as const, value: undefined }),
          }),
        };
      };
      const stream = us.queryStream({ prompt: "p", lm, signal: stop.signal });
      const waiting = stream.next().catch((error: unknown) => error);
      await settle();
      assert.equal(signal?.aborted, false);
      end({ us, stop, stream });
      await waiting;
      await settle();
      assert.equal(signal?.aborted, true);
      assert.equal(returned, where !== "opening");
      if (name !== "dispose()") assert.equal(python.open, 0);
      us.dispose();
    });
  }
}

test("a stream is cancelled and unlocked when the reader leaves", async () => {
  const { us } = await start();
  let cancelled = false;
  const source = new ReadableStream<string>({
    pull: (controller) => controller.enqueue("x"),
    cancel: () => void (cancelled = true),
  });
  for await (const _ of us.queryStream({ prompt: "p", lm: () => source })) break;
  await settle();
  assert.ok(cancelled);
  assert.equal(source.locked, false);
  us.dispose();
});

test("an answer that comes after the stop is cancelled", async () => {
  const { us } = await start();
  const stop = new AbortController();
  const answer = gate<ReadableStream<string>>();
  const events = collect(us.queryStream({ prompt: "p", lm: () => answer.passed, signal: stop.signal }));
  await settle();
  stop.abort();
  await events;
  let cancelled = false;
  answer.open(new ReadableStream({ cancel: () => void (cancelled = true) }));
  await settle();
  assert.ok(cancelled);
  us.dispose();
});

test("a model is forgotten when its query is over", async () => {
  const { us, python } = await start();
  await us.query({ prompt: "p", lm: () => ["x"] });
  const name = python.requests[0]?.lm["model"];
  await assert.rejects(python.hooks.page.open(JSON.stringify({ ...ASK, model: name })), { code: "MODEL_NOT_FOUND" });
  await assert.rejects(python.hooks.page.read("gone"), { code: "ABORTED" });
  us.dispose();
});

function streamOf<T>(items: readonly T[]): ReadableStream<T> {
  return new ReadableStream<T>({
    start(controller) {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}
