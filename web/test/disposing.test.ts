/** `using` and `await using`, and a runtime that does not know them. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type * as disposing from "../lib/disposing.js";
import { failing, inWorker } from "./connections.js";
import { ANSWER, batches, settle } from "./support.js";

type Disposing = typeof disposing;

const QUERY = { prompt: "p", lm: { provider: "scripted", text: "" }, schema: { type: "object" } } as const;

test("a connection ends with its block", async () => {
  const { us, worker } = await inWorker(batches());
  {
    using held = us;
    assert.equal(held, us);
  }
  assert.equal(worker.terminated, true);
  assert.equal((await failing(us.query(QUERY))).code, "DISPOSED");
});

test("a query, its partials and its items are left with their block", async () => {
  const { us, python } = await inWorker(batches(...ANSWER));
  {
    await using stream = us.queryStream(QUERY);
    await stream.next();
    assert.equal(python.open, 1);
  }
  assert.equal(python.open, 0);
  {
    await using partials = us.queryStream(QUERY).partials();
    await partials.next();
    assert.equal(python.open, 1);
    await using items = us.queryStream(QUERY).items("a");
    assert.equal((await items.next()).done, true);
  }
  await settle();
  assert.equal(python.open, 0);
  us.dispose();
});

test("incremental streams are closed with their block", async () => {
  const { us } = await inWorker(batches());
  const made = [us.createStructuredStream(), us.createStructuredStreamPool(), us.createStructuredStream("openai")];
  for (const stream of made) {
    {
      using held = stream;
      assert.equal(held, stream);
    }
    const pushed = "pushAll" in stream ? stream.pushAll({}) : "start" in stream ? stream.start("a") : stream.push("1");
    assert.equal((await failing(pushed)).code, "STREAM_DISPOSED");
  }
  us.dispose();
});

test("without the symbols nothing is added", async () => {
  const text = await readFile(new URL("../lib/disposing.js", import.meta.url), "utf8");
  const bare = `const Symbol = {};\n${text}`;
  const { endedBy, leftBy } = (await import(`data:text/javascript,${encodeURIComponent(bare)}`)) as Disposing;
  class Ends {
    end(): void {}
  }
  endedBy(Ends, "end");
  assert.deepEqual(Reflect.ownKeys(Ends.prototype), ["constructor", "end"]);
  assert.deepEqual(Reflect.ownKeys(leftBy({}, async () => {})), []);
});
