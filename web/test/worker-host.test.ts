import assert from "node:assert/strict";
import { test } from "node:test";
import type { FromHost, ToHost } from "../lib/wire.js";
import { tagged } from "../lib/wire.js";
import { PythonHost, serveWorker } from "../lib/worker-host.js";
import { ANSWER, FakeLocks, FakePython, batches, settle, type Script } from "./support.js";

const BOOT: ToHost = {
  type: "boot",
  options: { indexURL: "https://host.example/", packages: [], modules: {} },
  lock: "l",
};

async function booted(
  script?: Script,
): Promise<{ host: PythonHost; python: FakePython; sent: FromHost[]; tell(message: ToHost): Promise<void> }> {
  const python = new FakePython(script);
  const sent: FromHost[] = [];
  const host = new PythonHost({ post: (message) => sent.push(message), boot: python.boot });
  const tell = async (message: ToHost): Promise<void> => {
    host.receive(tagged(message));
    await settle();
  };
  await tell(BOOT);
  sent.length = 0;
  return { host, python, sent, tell };
}

const code = (message: FromHost | undefined): unknown =>
  message?.type === "batch" ? (JSON.parse(message.text) as { error?: { code: string } }).error?.code : message?.type;

test("one message answers one pull, with Python's text as it is", async () => {
  const { python, sent, tell } = await booted(batches(...ANSWER));
  await tell({ type: "open", call: 7, request: "{}" });
  assert.deepEqual(sent, []);
  await tell({ type: "pull", call: 7 });
  assert.deepEqual(sent, [
    { type: "batch", call: 7, text: JSON.stringify({ ok: true, value: { events: ANSWER[0], done: false } }) },
  ]);
  await tell({ type: "close", call: 7 });
  assert.deepEqual(sent.at(-1), { type: "closed", call: 7 });
  assert.equal(python.open, 0);
});

test("every message that wants an answer gets one, also for calls that are not there", async () => {
  const { sent, tell } = await booted();
  await tell({ type: "pull", call: 1 });
  await tell({ type: "cancel", call: 1 });
  await tell({ type: "close", call: 1 });
  await tell({ type: "ping" });
  await tell({ type: "told", ask: 9, value: null });
  await tell({ type: "refused", ask: 9, error: { code: "X", message: "m" } });
  assert.deepEqual(sent.map(code), ["UNKNOWN_CALL", "closed", "pong"]);
});

test("an answer to open that cannot be read is an answer to the pull", async () => {
  for (const text of ["", "{", "null", '{"ok":true}']) {
    const { python, sent, tell } = await booted();
    python.tamper = () => text;
    await tell({ type: "open", call: 1, request: "{}" });
    await tell({ type: "pull", call: 1 });
    await tell({ type: "close", call: 1 });
    assert.deepEqual(sent.map(code), ["BRIDGE_PROTOCOL", "closed"], text);
  }
});

test("a call before the start, or after a failed one, is answered", async () => {
  const sent: FromHost[] = [];
  const host = new PythonHost({ post: (message) => sent.push(message), boot: () => new Promise(() => {}) });
  host.receive(tagged({ type: "open", call: 1, request: "{}" }));
  host.receive(tagged({ type: "pull", call: 1 }));
  await settle();
  assert.deepEqual(sent.map(code), ["BRIDGE_PROTOCOL"]);
});

test("a host boots once", async () => {
  const { sent, tell } = await booted();
  await tell(BOOT);
  assert.ok(sent[0]?.type === "fatal");
  assert.equal(sent[0].error.code, "BRIDGE_PROTOCOL");
});

test("a broken message ends the host, a foreign one does not", async () => {
  const { host, python, sent, tell } = await booted();
  host.receive("hello");
  host.receive({ type: "pull" });
  await tell({ type: "ping" });
  assert.deepEqual(sent.map(code), ["pong"]);
  host.receive({ unspool: 1, type: "pull", call: "1" });
  assert.deepEqual(sent.map(code), ["pong", "fatal"]);
  python.hooks.progress({ stage: "ready", loadedBytes: 0 });
  await tell({ type: "ping" });
  assert.equal(sent.length, 2, "it says nothing more");
});

test("after stop nothing is said, asks are rejected, and Python's objects are given back once", async () => {
  const { host, python, sent, tell } = await booted(async function* () {
    await new Promise(() => {});
  });
  await tell({ type: "open", call: 1, request: "{}" });
  await tell({ type: "pull", call: 1 });
  const asked = python.hooks.page.open("{}");
  await settle();
  sent.length = 0;
  const stopping = Promise.all([host.stop(), host.stop()]);
  await assert.rejects(asked, { code: "DISPOSED" });
  await assert.rejects(python.hooks.page.read("s"), { code: "DISPOSED" });
  await stopping;
  assert.deepEqual([python.open, python.destroyed, sent.length], [0, 1, 0]);
});

test("a start that is overtaken by stop gives back what it made", async () => {
  const python = new FakePython();
  let go!: () => void;
  const host = new PythonHost({
    post: () => assert.fail("it spoke"),
    boot: async (options, hooks) => {
      await new Promise<void>((resolve) => (go = resolve));
      return await python.boot(options, { ...hooks, progress() {} });
    },
  });
  host.receive(tagged(BOOT));
  await host.stop();
  go();
  await settle();
  assert.equal(python.destroyed, 1);
});

test("a worker holds its lock before it says that it is alive", async () => {
  const scope = Object.assign(new EventTarget(), {
    sent: [] as Record<string, unknown>[],
    postMessage(message: unknown) {
      scope.sent.push(message as Record<string, unknown>);
    },
  });
  const locks = new FakeLocks();
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  try {
    serveWorker(scope as unknown as Parameters<typeof serveWorker>[0]);
    scope.dispatchEvent(
      new MessageEvent("message", {
        data: tagged({ ...BOOT, options: { ...BOOT.options, indexURL: "file:///nowhere/" } }),
      }),
    );
    await settle();
    assert.deepEqual(locks.names, ["l"]);
    assert.deepEqual(scope.sent[0], { unspool: 1, type: "alive", locked: true });
    assert.equal(scope.sent.at(-1)?.["type"], "fatal");
    scope.dispatchEvent(new Event("messageerror"));
  } finally {
    if (before === undefined) delete (globalThis as { navigator?: unknown }).navigator;
    else Object.defineProperty(globalThis, "navigator", before);
  }
});
