/** Connections of a test to a Python that is a double: in a worker and in the page. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Unspool as UnspoolClass } from "../lib/client.js";
import { Connection } from "../lib/connection.js";
import { connect, isUnspoolError, type Unspool, type UnspoolError } from "../lib/index.js";
import { inlineHost } from "../lib/inline-host.js";
import { FakePython, FakeWorker, type Script } from "./support.js";

export const INDEX = "https://host.example/py";

/** A connection that a failed test leaves behind would keep the process alive. */
const connections = new Set<Unspool>();
afterEach(() => {
  for (const us of connections) us.dispose();
  connections.clear();
});

export async function inWorker(script: Script): Promise<{ us: Unspool; python: FakePython; worker: FakeWorker }> {
  const python = new FakePython(script);
  const worker = new FakeWorker(python);
  const us = await connect({ worker, indexURL: INDEX });
  connections.add(us);
  return { us, python, worker };
}

export async function inPage(script: Script): Promise<{ us: Unspool; python: FakePython }> {
  const python = new FakePython(script);
  const connection = new Connection();
  connection.attach(inlineHost(connection, python.boot));
  connection.post({ type: "boot", options: { indexURL: INDEX, packages: [], modules: {} }, lock: "" });
  const us = new UnspoolClass(connection, await connection.ready);
  connections.add(us);
  return { us, python };
}

/** Both hosts must behave alike: every test of this kind runs in the worker and in the page. */
export function inBoth(name: string, body: (make: typeof inWorker | typeof inPage) => Promise<void>): void {
  test(`${name} (worker)`, () => body(inWorker));
  test(`${name} (page)`, () => body(inPage));
}

export async function failing(work: Promise<unknown>): Promise<UnspoolError> {
  const error: unknown = await work.then(
    () => assert.fail("it did not reject"),
    (reason: unknown) => reason,
  );
  assert.ok(isUnspoolError(error), String(error));
  return error;
}
