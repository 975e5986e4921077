import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { UnspoolError } from "../lib/index.js";
import type { FromHost } from "../lib/wire.js";
import { moduleWorker, workerHost } from "../lib/worker-link.js";
import { FakeLocks, FakePython, FakeWorker, settle } from "./support.js";

const OPTIONS = { indexURL: "https://host.example/", packages: [], modules: {} };

function events(): {
  messages: FromHost[];
  deaths: UnspoolError[];
  message(m: FromHost): void;
  died(e: UnspoolError): void;
} {
  const messages: FromHost[] = [];
  const deaths: UnspoolError[] = [];
  return { messages, deaths, message: (m) => messages.push(m), died: (e) => deaths.push(e) };
}

function hold(locks: FakeLocks): (name: string) => Promise<boolean> {
  return (name) =>
    new Promise((resolve) => {
      void locks.request(name, () => {
        resolve(true);
        return new Promise(() => {});
      });
    });
}

test("the lock of a worker that has ended is granted to the page: that is its death", async () => {
  const locks = new FakeLocks();
  const seen = events();
  const worker = new FakeWorker(new FakePython(), { hold: hold(locks) });
  const host = workerHost(worker, seen, locks as unknown as LockManager);
  host.post({ type: "boot", options: OPTIONS, lock: host.lock });
  await settle();
  assert.deepEqual(locks.names, [host.lock]);
  assert.deepEqual(seen.deaths, []);
  locks.release(host.lock);
  await settle();
  assert.deepEqual(
    seen.deaths.map(({ code }) => code),
    ["WORKER_DIED"],
  );
  assert.ok(worker.terminated);
  assert.ok(!worker.types.includes("ping"));
});

test("a worker that ends before it says anything is found by its silence", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const seen = events();
    const worker = new FakeWorker(new FakePython());
    const host = workerHost(worker, seen, new FakeLocks() as unknown as LockManager);
    worker.terminate();
    host.post({ type: "boot", options: OPTIONS, lock: host.lock });
    mock.timers.tick(119_000);
    assert.deepEqual(seen.deaths, []);
    mock.timers.tick(1_000);
    assert.deepEqual(
      seen.deaths.map(({ code }) => code),
      ["BOOT_FAILED"],
    );
  } finally {
    mock.timers.reset();
  }
});

test("terminating is no death, and stops the wait for the lock", async () => {
  const locks = new FakeLocks();
  const seen = events();
  const worker = new FakeWorker(new FakePython(), { hold: hold(locks) });
  const host = workerHost(worker, seen, locks as unknown as LockManager);
  host.post({ type: "boot", options: OPTIONS, lock: host.lock });
  await settle();
  host.terminate();
  host.terminate();
  locks.release(host.lock);
  await settle();
  assert.deepEqual(seen.deaths, []);
});

test("two connections of one origin use two locks", () => {
  const names = new Set(
    Array.from({ length: 20 }, () => workerHost(new FakeWorker(new FakePython()), events(), undefined)).map((host) => {
      host.terminate();
      return host.lock;
    }),
  );
  assert.equal(names.size, 20);
});

for (const [name, locks, held] of [
  ["no locks on the page", undefined, true],
  ["no lock in the worker", new FakeLocks() as unknown as LockManager, false],
  [
    "locks that are refused (opaque origin)",
    { request: () => Promise.reject(new DOMException("opaque", "SecurityError")) } as unknown as LockManager,
    true,
  ],
] as const) {
  test(`without a lock a silent worker is found by pings: ${name}`, async () => {
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      const seen = events();
      const worker = new FakeWorker(new FakePython(), { hold: async () => held });
      const host = workerHost(worker, seen, locks);
      host.post({ type: "boot", options: OPTIONS, lock: host.lock });
      await settle();
      for (let second = 0; second < 100; second += 1) {
        mock.timers.tick(1000);
        await settle();
      }
      assert.deepEqual(seen.deaths, []);
      assert.equal(worker.sent.filter(({ type }) => type === "ping").length, 100);
      worker.terminate(); // from outside: no event
      mock.timers.tick(100_000);
      assert.deepEqual(
        seen.deaths.map(({ code }) => code),
        ["WORKER_DIED"],
      );
      const sent = worker.sent.length;
      mock.timers.tick(100_000);
      assert.equal(worker.sent.length, sent);
    } finally {
      mock.timers.reset();
    }
  });
}

test("nothing is sent to, or taken from, a worker that is gone", async () => {
  const seen = events();
  const worker = new FakeWorker(new FakePython());
  const host = workerHost(worker, seen, undefined);
  worker.dispatchEvent(new Event("messageerror"));
  host.post({ type: "ping" });
  worker.dispatchEvent(new MessageEvent("message", { data: { unspool: 1, type: "closed", call: 1 } }));
  worker.dispatchEvent(new Event("error", { cancelable: true }));
  assert.equal(worker.sent.length, 0);
  assert.deepEqual(seen.messages, []);
  assert.deepEqual(
    seen.deaths.map(({ code }) => code),
    ["BRIDGE_PROTOCOL"],
  );
});

test("a script of another origin is imported by a worker of the page's own (F47)", async () => {
  const made: { url: string | URL; options: unknown }[] = [];
  class Recorder extends EventTarget {
    constructor(url: string | URL, options: unknown) {
      super();
      made.push({ url, options });
    }
    postMessage(): void {}
    terminate(): void {}
  }
  const globals = globalThis as unknown as Record<string, unknown>;
  globals["Worker"] = Recorder;
  globals["location"] = { origin: "https://page.example", href: "https://page.example/sub/" };
  try {
    moduleWorker(new URL("https://page.example/w.js"));
    moduleWorker(new URL('https://other.example/it\'s.js?a="b"'));
    assert.equal(String(made[0]?.url), "https://page.example/w.js");
    assert.match(String(made[1]?.url), /^blob:/);
    assert.deepEqual(
      made.map(({ options }) => (options as { type: string }).type),
      ["module", "module"],
    );
    const source = await (await fetch(String(made[1]?.url))).text();
    assert.equal(source, 'import "https://other.example/it\'s.js?a=%22b%22";');
  } finally {
    delete globals["Worker"];
    delete globals["location"];
  }
});
