/** Doubles of what lies beyond the page: Python behind its bridge, a worker, and Web Locks. */
import assert from "node:assert/strict";
import type { Boot, BootHooks } from "../lib/boot.js";
import { tagged, type BootOptions } from "../lib/wire.js";
import type { WorkerLike } from "../lib/worker-link.js";
import { PythonHost } from "../lib/worker-host.js";

export type Batch = readonly Record<string, unknown>[];

export interface FakeRequest {
  readonly prompt: unknown;
  readonly schema?: Record<string, unknown>;
  readonly lm: Record<string, unknown>;
  readonly [member: string]: unknown;
}

/** A batch with the names of fields that have more than one. */
export type NamedBatch = Batch & { readonly names?: Readonly<Record<string, readonly string[]>> };

/** What a fake Python gives for a request, batch by batch. */
export type Script = (request: FakeRequest, hooks: BootHooks) => AsyncIterable<Batch>;

const TERMINAL = new Set(["generationComplete", "parsingFailed", "generationFailed", "cancelled"]);

interface FakeCall {
  readonly batches: AsyncIterator<Batch>;
  readonly cancelled: Promise<Batch>;
  cancel(): void;
}

/** `unspool.bridge`, scripted. Every call of it is written to `log`. */
export class FakePython {
  readonly log: string[] = [];
  readonly boots: BootOptions[] = [];
  requests: FakeRequest[] = [];
  destroyed = 0;
  hooks!: BootHooks;
  /** Replaces the answer to an operation when it gives text. */
  tamper: (operation: string, text: string) => string | Promise<string> | undefined = () => undefined;
  /** What the incremental streams answer. */
  step: (text: string) => string = () => assert.fail("no steps are scripted");
  readonly #script: Script;
  readonly #calls = new Map<string, FakeCall>();
  #last = 0;

  constructor(script: Script = async function* () {}) {
    this.#script = script;
  }

  /** Calls that are open in Python. */
  get open(): number {
    return this.#calls.size;
  }

  readonly boot: Boot = async (options, hooks) => {
    this.boots.push(options);
    this.hooks = hooks;
    hooks.progress({ stage: "runtime", loadedBytes: 0 });
    return {
      versions: { unspool: "0", pyodide: "0" },
      bridge: {
        open: async (text) => (await this.#tampered("open", text)) ?? this.#open(text),
        pull: async (text) => (await this.#tampered("pull", text)) ?? (await this.#pull(text)),
        close: async (text) => (await this.#tampered("close", text)) ?? (await this.#close(text)),
        cancel: (text) => {
          this.log.push("cancel");
          this.#calls.get(idOf(text))?.cancel();
          return ok(null);
        },
        step: (text) => this.step(text),
        destroy: () => void (this.destroyed += 1),
      },
    };
  };

  #tampered(operation: string, text: string): string | Promise<string> | undefined {
    this.log.push(operation);
    return this.tamper(operation, text);
  }

  #open(text: string): string {
    const request = JSON.parse(text) as FakeRequest;
    this.requests.push(request);
    const id = `c${++this.#last}`;
    let cancel!: () => void;
    const cancelled = new Promise<Batch>((resolve) => {
      cancel = () => resolve([{ type: "cancelled", error: { code: "ABORTED", message: "stopped in Python" } }]);
    });
    this.#calls.set(id, { batches: this.#script(request, this.hooks)[Symbol.asyncIterator](), cancelled, cancel });
    return ok({ id });
  }

  async #pull(text: string): Promise<string> {
    const call = this.#calls.get(idOf(text));
    if (call === undefined)
      return JSON.stringify({ ok: false, error: { code: "UNKNOWN_CALL", message: "no such call" } });
    const next = call.batches.next().then(({ value, done }): Batch => (done === true ? [] : (value as Batch)));
    next.catch(() => {});
    const events = await Promise.race([call.cancelled, next]);
    const done = events.length === 0 || events.some(({ type }) => TERMINAL.has(String(type)));
    return ok({ events, done, names: (events as NamedBatch).names });
  }

  async #close(text: string): Promise<string> {
    const call = this.#calls.get(idOf(text));
    this.#calls.delete(idOf(text));
    void call?.batches.return?.();
    return ok(null);
  }
}

/** A worker: another host behind a real message channel, so that everything is cloned. */
export class FakeWorker extends EventTarget implements WorkerLike {
  readonly host: PythonHost;
  readonly sent: Record<string, unknown>[] = [];
  terminated = false;
  readonly #channel = new MessageChannel();

  constructor(python: FakePython, { hold }: { hold?: (lock: string) => Promise<boolean> } = {}) {
    super();
    const { port1, port2 } = this.#channel;
    this.host = new PythonHost({
      post: (message) => port2.postMessage(tagged(message)),
      boot: python.boot,
      hold: hold ?? (async () => false),
    });
    port2.onmessage = (event) => this.host.receive(event.data);
    port1.onmessage = (event) => this.say(event.data);
  }

  /** Have the page receive this. */
  say(data: unknown): void {
    if (!this.terminated) this.dispatchEvent(new MessageEvent("message", { data }));
  }

  postMessage(message: unknown): void {
    this.sent.push(message as Record<string, unknown>);
    if (!this.terminated) this.#channel.port1.postMessage(message);
  }

  terminate(): void {
    this.terminated = true;
    this.#channel.port1.close();
    this.#channel.port2.close();
  }

  /** Types of what the page has sent, pings left out. */
  get types(): unknown[] {
    return this.sent.map(({ type }) => type).filter((type) => type !== "ping");
  }
}

/** Web Locks of one origin. */
export class FakeLocks {
  readonly #queues = new Map<string, (() => void)[]>();

  request = (name: string, ...rest: unknown[]): Promise<unknown> => {
    const callback = rest.at(-1) as () => unknown;
    const { signal } = (rest.length > 1 ? rest[0] : {}) as { signal?: AbortSignal };
    return new Promise((resolve, reject) => {
      const grant = (): void => void Promise.resolve(callback()).then(resolve, reject);
      const queue = this.#queues.get(name);
      if (queue === undefined) {
        this.#queues.set(name, []);
        return grant();
      }
      queue.push(grant);
      signal?.addEventListener("abort", () => {
        const at = queue.indexOf(grant);
        if (at >= 0) queue.splice(at, 1);
        reject(signal.reason);
      });
    });
  };

  /** What the browser does when the holder's realm ends. */
  release(name: string): void {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.delete(name);
    const [next, ...others] = queue;
    if (next === undefined) return;
    this.#queues.set(name, others);
    next();
  }

  get names(): string[] {
    return [...this.#queues.keys()];
  }
}

/** A promise to settle by hand. */
export function gate<T = void>(): { readonly passed: Promise<T>; open(value: T): void } {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => (open = resolve));
  return { passed, open };
}

/** Let everything that is already on its way arrive: message ports deliver in order, one turn at a time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The script that gives these batches, whatever is asked. */
export function batches(...list: Batch[]): Script {
  return async function* () {
    yield* list;
  };
}

export const COMPLETE = { type: "generationComplete", result: { a: 1 }, finishReason: "stop" } as const;

/** The events of the answer `{"a":1}`, in two batches. */
export const ANSWER: readonly Batch[] = [
  [
    { type: "textDelta", delta: '{"a":' },
    { type: "objectStart", path: [], kind: "object" },
    { type: "fieldStart", path: ["a"] },
  ],
  [
    { type: "textDelta", delta: "1}" },
    { type: "fieldEnd", path: ["a"], value: 1 },
    { type: "objectEnd", path: [], kind: "object", value: { a: 1 } },
    COMPLETE,
  ],
];

function idOf(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}

function ok(value: unknown): string {
  return JSON.stringify({ ok: true, value });
}
