/** The page's end of the line to the host of Python: it tells calls, models and streams what is theirs. */
import { absolute } from "./address.js";
import type { Call, CallHome } from "./call.js";
import { UnspoolError } from "./errors.js";
import { PageModels } from "./page-models.js";
import { PythonStreams } from "./python-streams.js";
import type { BootProgress, FromHost, Host, HostEvents, ToHost, Versions } from "./wire.js";
import { defaultWorker, moduleWorker, workerHost, type WorkerLike } from "./worker-link.js";

/** Where Python lives: in a worker of our own, in the page, in a module worker at a URL, or in such a worker. */
export type Place = boolean | string | URL | WorkerLike;

export class Connection implements CallHome, HostEvents {
  readonly pageModels = new PageModels((message) => this.post(message));
  readonly pythonStreams = new PythonStreams((message) => this.post(message));
  readonly ready: Promise<Versions>;
  failure: UnspoolError | undefined;
  #host: Host | undefined;
  readonly #calls = new Map<number, Call<unknown>>();
  readonly #closing = new Map<number, () => void>();
  readonly #onProgress: ((progress: BootProgress) => void) | undefined;
  #lastCall = 0;
  #resolveReady!: (versions: Versions) => void;
  #rejectReady!: (error: UnspoolError) => void;

  constructor(onProgress?: (progress: BootProgress) => void) {
    this.#onProgress = onProgress;
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    this.ready.catch(() => {}); // `connect` waits for it only once the host is there
  }

  /** Make the host. Gives the name of the lock it is to hold; an inline host has no use for one. */
  async start(where: Place): Promise<string> {
    if (where === false) {
      const { inlineHost } = await import("./inline-host.js");
      this.#host = inlineHost(this);
      return "";
    }
    const host = workerHost(workerOf(where), this);
    this.#host = host;
    return host.lock;
  }

  /** Use a host that is already there. */
  attach(host: Host): void {
    this.#host = host;
  }

  post(message: ToHost): void {
    if (this.failure === undefined) this.#host?.post(message);
  }

  enter(call: Call<unknown>): number {
    const id = ++this.#lastCall;
    this.#calls.set(id, call);
    return id;
  }

  close(id: number): Promise<void> {
    this.#calls.delete(id);
    if (this.failure !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#closing.set(id, resolve);
      this.post({ type: "close", call: id });
    });
  }

  message(message: FromHost): void {
    switch (message.type) {
      case "progress":
        return this.#onProgress?.(message.progress);
      case "ready":
        return this.#resolveReady(message.versions);
      case "batch":
        return this.#calls.get(message.call)?.answer(message.text);
      case "closed":
        this.#closing.get(message.call)?.();
        return void this.#closing.delete(message.call);
      case "stepped":
        return this.pythonStreams.answer(message.stream, message.text);
      case "ask":
        return void this.pageModels.answer(message);
      case "drop":
        return this.pageModels.drop(message.stream);
      case "alive":
      case "pong":
      case "fatal":
        return; // the link's own affair
      default:
        return message satisfies never;
    }
  }

  died(error: UnspoolError): void {
    this.end(error);
  }

  /** Be over, for this reason. Idempotent: the first reason stays. */
  end(error: UnspoolError): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.#host?.terminate();
    this.#rejectReady(error);
    const [calls, closing] = [[...this.#calls.values()], [...this.#closing.values()]];
    this.#calls.clear();
    this.#closing.clear();
    this.pageModels.clear();
    this.pythonStreams.fail(error);
    for (const call of calls) call.fail(error);
    for (const resolve of closing) resolve();
  }
}

function workerOf(where: true | string | URL | WorkerLike): WorkerLike {
  if (where === true) return defaultWorker();
  if (typeof where === "string" || where instanceof URL) return moduleWorker(absolute(where));
  if (typeof where.postMessage === "function" && typeof where.terminate === "function") return where;
  throw new UnspoolError("INVALID_OPTIONS", "worker must be true, false, a URL or a Worker.");
}
