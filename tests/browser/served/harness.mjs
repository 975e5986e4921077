// What the browser tests call in the page. Everything that goes in or out is plain data.
import { connect, isUnspoolError } from "/unspool/index.js";

const streams = new Map();
let connection;
let worker;
let probes = 0;

const told = (error) => (isUnspoolError(error) ? error.toWire() : { code: "FOREIGN", message: String(error?.stack ?? error) });
const plain = (event) => (event.error === undefined ? event : { ...event, error: told(event.error) });

/** Start Python: where is "worker", "page", or "default" for a worker that the shim makes by itself. */
export async function start(where, options = {}) {
  const home = { worker: () => (worker = new Worker("/probe-worker.mjs", { type: "module" })), page: () => false };
  const settings = { worker: (home[where] ?? (() => true))(), indexURL: "/probe/", lockFileURL: "/pyodide/pyodide-lock.json" };
  try {
    connection = await connect({ ...settings, ...options });
  } catch (error) {
    return { threw: told(error) };
  }
  return { versions: connection.versions };
}

/** Begin a stream; nothing is sent before the first `next`. */
export function open(id, options) {
  const controller = new AbortController();
  const stream = connection.queryStream({ ...options, signal: controller.signal });
  streams.set(id, { stream, controller });
}

/** Read one event: the event, `{ done: true }`, or `{ threw: error }`. */
export async function next(id) {
  try {
    const step = await streams.get(id).stream.next();
    return step.done ? { done: true } : plain(step.value);
  } catch (error) {
    return { threw: told(error) };
  }
}

/** Read until an event of a type, or the end; `stop` aborts there, with no way through the test in between. */
export async function until(id, type, { stop = false } = {}) {
  for (;;) {
    const event = await next(id);
    if (event.type !== type && !event.done && !event.threw) continue;
    if (stop) abort(id);
    return event;
  }
}

/** Read everything: the events, and what the stream threw, if it did. */
export async function drain(id) {
  const events = [];
  for (;;) {
    const event = await next(id);
    if (event.done || event.threw) return { events, ...event };
    events.push(event);
  }
}

export async function run(options) {
  const id = `run-${++probes}`;
  open(id, options);
  const all = await drain(id);
  streams.delete(id);
  return all;
}

/** The same with a model that is a function of the page. */
export const runWith = (lm, options = {}) =>
  run({ prompt: "Who?", schema: { type: "object", additionalProperties: true }, lm, ...options });

/** Call a model, send this as the result of each tool that it asks for, and call it again. */
export async function roundTrip(options, result) {
  const asked = await connection.call({ ...options, toolChoice: "required" });
  const parts = asked.toolCalls.map(({ id }) => ({ type: "toolResult", callId: id, text: result }));
  const prompt = [{ role: "user", content: options.prompt }, asked.message, { role: "tool", parts }];
  const { text } = await connection.call({ ...options, prompt });
  return { calls: asked.toolCalls, text };
}

export async function query(options) {
  try {
    return { value: await connection.query(options) };
  } catch (error) {
    return { threw: told(error) };
  }
}

export async function complete(options) {
  try {
    return { value: await connection.complete(options) };
  } catch (error) {
    return { threw: told(error) };
  }
}

/** Read a query for the value that grows: each value as text, with the state of a part, and what was thrown. */
export async function partials(options, watched, settings) {
  const seen = [];
  const stream = connection.queryStream(options);
  try {
    for await (const { value, complete, invalid, state } of stream.partials(settings)) {
      seen.push([JSON.stringify(value), complete, state(watched), invalid.map(({ path }) => path)]);
    }
  } catch (error) {
    return { seen, threw: told(error) };
  }
  return { seen, usage: stream.end.usage ?? null };
}

/** Read a query for the elements of a list; leave it after some, if told so. */
export async function items(options, path, { leaveAfter } = {}) {
  const seen = [];
  try {
    for await (const item of connection.queryStream(options).items(path)) {
      seen.push(structuredClone(item));
      if (seen.length === leaveAfter) break;
    }
  } catch (error) {
    return { seen, threw: told(error) };
  }
  return { seen };
}

/**
 * Read tool calls out of events that a ReadableStream gives: the updates, what was thrown, and what became of the source.
 * `leaveAfter`, `abortAfter` and `killAfter` are numbers of updates.
 */
export async function readCalls(events, options, { leaveAfter, abortAfter, killAfter } = {}) {
  const source = { pulled: 0, cancelled: false };
  const stream = new ReadableStream(
    {
      pull(controller) {
        if (source.pulled === events.length) return controller.close();
        controller.enqueue(events[source.pulled++]);
      },
      cancel: () => void (source.cancelled = true),
    },
    { highWaterMark: 0 },
  );
  const controller = new AbortController();
  const updates = [];
  const end = (threw) => ({ updates, ...source, locked: stream.locked, ...threw });
  try {
    for await (const update of connection.readStructured(stream, { ...options, signal: controller.signal })) {
      updates.push(structuredClone(update));
      if (updates.length === leaveAfter) break;
      if (updates.length === abortAfter) controller.abort();
      if (updates.length === killAfter) worker.terminate();
    }
  } catch (error) {
    return end({ threw: error === controller.signal.reason ? { code: "THE REASON" } : told(error) });
  }
  return end();
}

/** Read the stream of an SDK, out of the bundle at an address: the completed calls, and what was thrown. */
export async function readSdk(bundle, name, given, integration) {
  const { streams, made } = await import(bundle);
  const calls = [];
  try {
    const events = await (typeof given === "string" ? streams : made)[name](given);
    for await (const { type, id, name, value } of connection.readStructured(events, { integration })) {
      if (type === "complete") calls.push({ id, name, value });
    }
  } catch (error) {
    return { calls, threw: told(error) };
  }
  return { calls };
}

export const partial = (id) => ({ text: streams.get(id).stream.text, value: streams.get(id).stream.partialValue });
export const abort = (id) => streams.get(id).controller.abort();
export const leave = async (id) => void (await streams.get(id).stream.return());
export const dispose = () => connection.dispose();
export const terminate = () => worker.terminate();

/** Evaluate JavaScript where Python is. */
export function probe(code) {
  if (worker === undefined) return Promise.resolve((0, eval)(code));
  const id = ++probes;
  return new Promise((resolve, reject) => {
    worker.addEventListener("message", function listen({ data }) {
      if (data?.probed !== id) return;
      worker.removeEventListener("message", listen);
      if ("error" in data) reject(new Error(data.error));
      else resolve(data.value);
    });
    worker.postMessage({ probe: code, id });
  });
}
