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

/** Read until an event of a type, or the end. */
export async function until(id, type) {
  for (;;) {
    const event = await next(id);
    if (event.type === type || event.done || event.threw) return event;
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

export async function query(options) {
  try {
    return { value: await connection.query(options) };
  } catch (error) {
    return { threw: told(error) };
  }
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
