/** The page's side: start Python, ask a model for a value, read its events. */
import { absolute } from "./address.js";
import { UnspoolError } from "./errors.js";
import type { StructuredEvent } from "./events.js";
import { PageModels } from "./page-models.js";
import { Call, streamOf, type CallHome, type QueryStream } from "./query-stream.js";
import { PythonStreams } from "./python-streams.js";
import { prepareQuery, refuseUnknown, type QueryOptions } from "./request.js";
import type { ResultOf, StandardInput, UntypedInput } from "./schema.js";
import { Structured } from "./structured.js";
import type { BootOptions, BootProgress, FromHost, Host, HostEvents, ToHost, Versions } from "./wire.js";
import { defaultWorker, moduleWorker, workerHost, type WorkerLike } from "./worker-link.js";

export interface ConnectOptions {
  /**
   * Where Python lives: true for a worker of our own (the default), false for the page itself, the URL of a module worker
   * that imports "unspool/worker", or such a worker. A worker that is given is terminated at the end.
   */
  readonly worker?: boolean | string | URL | WorkerLike;
  /** Folder of Pyodide's files; relative to the page. */
  readonly indexURL: string | URL;
  /** Its lock file; default: `pyodide-lock.json` in that folder. */
  readonly lockFileURL?: string | URL;
  /**
   * Further packages: names in the lock file, or URLs of wheels. `pydantic` and `unspool` come from the lock file, unless a
   * wheel of theirs is given here.
   */
  readonly packages?: readonly string[];
  /** Python modules for `schema: "module:Type"` and `lm: { object: "module:name" }`: name to source text. */
  readonly modules?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: BootProgress) => void;
  /** Gives up starting. It has no effect afterwards: `dispose()` ends a connection. */
  readonly signal?: AbortSignal;
}

const CONNECT_OPTIONS = [
  "worker",
  "indexURL",
  "lockFileURL",
  "packages",
  "modules",
  "onProgress",
  "signal",
] as const satisfies readonly (keyof ConnectOptions)[];

/**
 * Start Python and connect to it.
 *
 * Rejects with UnspoolError: BOOT_FAILED, MODULE_ERROR, INVALID_OPTIONS, ABORTED, WORKER_DIED, BRIDGE_PROTOCOL.
 */
export async function connect(options: ConnectOptions): Promise<Unspool> {
  refuseUnknown(options, CONNECT_OPTIONS);
  const boot = bootOptions(options);
  if (options.signal?.aborted === true) throw aborted();
  const connection = new Connection(options.onProgress);
  const onAbort = (): void => connection.end(aborted());
  options.signal?.addEventListener("abort", onAbort);
  try {
    const lock = await connection.start(options.worker ?? true);
    connection.post({ type: "boot", options: boot, lock });
    return new Unspool(connection, await connection.ready);
  } catch (thrown) {
    connection.end(
      thrown instanceof UnspoolError ? thrown : new UnspoolError("BOOT_FAILED", String(thrown), { cause: thrown }),
    );
    throw connection.failure;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}

/** A running Python. Made by `connect`. */
export class Unspool extends Structured {
  /** Releases of what answers. */
  readonly versions: Versions;
  readonly #connection: Connection;

  constructor(connection: Connection, versions: Versions) {
    super(connection.pythonStreams);
    this.#connection = connection;
    this.versions = versions;
  }

  /**
   * Ask a model and read its answer as it comes. Nothing is sent before the first read.
   *
   * Throws UnspoolError INVALID_OPTIONS at once for a query that cannot be made. A read rejects with what keeps the query
   * from running at all: WORKER_DIED, DISPOSED, BRIDGE_PROTOCOL, MODULE_ERROR, MISSING_CREDENTIAL, INVALID_OPTIONS. All else
   * is one of the terminal events.
   */
  queryStream<const S extends StandardInput>(
    options: QueryOptions<S> & { readonly schema: S },
  ): QueryStream<ResultOf<S>>;
  queryStream(options: QueryOptions<undefined>): QueryStream<string>;
  queryStream<T = unknown>(options: QueryOptions<UntypedInput> & { readonly schema: UntypedInput }): QueryStream<T>;
  queryStream(options: QueryOptions): QueryStream<unknown> {
    return streamOf(new Call<unknown>(this.#connection, prepareQuery(options)));
  }

  /** Ask a model and wait for the validated value. Rejects with UnspoolError, which holds what had arrived. */
  async query<const S extends StandardInput>(options: QueryOptions<S> & { readonly schema: S }): Promise<ResultOf<S>>;
  async query(options: QueryOptions<undefined>): Promise<string>;
  async query<T = unknown>(options: QueryOptions<UntypedInput> & { readonly schema: UntypedInput }): Promise<T>;
  async query(options: QueryOptions): Promise<unknown> {
    const stream: AsyncIterable<StructuredEvent> = streamOf(new Call<unknown>(this.#connection, prepareQuery(options)));
    for await (const event of stream) {
      if (event.type === "generationComplete") return event.result;
      if ("error" in event) throw event.error;
    }
    throw new UnspoolError("BRIDGE_PROTOCOL", "The query ended without a terminal event.");
  }

  /** End the connection: the worker is terminated, and every read and query that waits rejects with DISPOSED. Idempotent. */
  dispose(): void {
    this.#connection.end(new UnspoolError("DISPOSED", "The connection was disposed of."));
  }
}

/** Routes messages between the calls of the page and the host. */
export class Connection implements CallHome, HostEvents {
  readonly pageModels = new PageModels((message) => this.post(message));
  readonly pythonStreams = new PythonStreams((message) => this.post(message));
  readonly ready: Promise<Versions>;
  failure: UnspoolError | undefined;
  #host: Host | undefined;
  readonly #calls = new Map<number, Call<unknown>>();
  readonly #closing = new Map<number, () => void>();
  readonly #onProgress: ConnectOptions["onProgress"];
  #lastCall = 0;
  #resolveReady!: (versions: Versions) => void;
  #rejectReady!: (error: UnspoolError) => void;

  constructor(onProgress?: ConnectOptions["onProgress"]) {
    this.#onProgress = onProgress;
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    this.ready.catch(() => {}); // `connect` waits for it only once the host is there
  }

  /** Make the host. Gives the name of the lock it is to hold; an inline host has no use for one. */
  async start(where: NonNullable<ConnectOptions["worker"]>): Promise<string> {
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
        return this.#calls.get(message.call)?.batch(message.text);
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

/** Every address is made absolute here: a worker may have another base, or (out of a blob) none. */
function bootOptions({ indexURL, lockFileURL, packages = [], modules = {} }: ConnectOptions): BootOptions {
  if (typeof indexURL !== "string" && !(indexURL instanceof URL)) {
    throw new UnspoolError("INVALID_OPTIONS", "indexURL must be the URL of the folder that holds Pyodide.");
  }
  if (typeof modules !== "object" || modules === null) {
    throw new UnspoolError("INVALID_OPTIONS", "modules must be an object: names to source texts.");
  }
  if (!Array.isArray(packages) || packages.some((name) => typeof name !== "string")) {
    throw new UnspoolError("INVALID_OPTIONS", "packages must be a list of names and URLs.");
  }
  const folder = absolute(indexURL).href;
  const given = packages.map((name) => (/\.whl$|:\/\//.test(name) ? absolute(name).href : name));
  const wheels = given.map((name) => name.slice(name.lastIndexOf("/") + 1));
  const own = ["pydantic", "unspool"].filter((name) => !wheels.some((file) => file.startsWith(`${name}-`)));
  return {
    indexURL: folder.endsWith("/") ? folder : `${folder}/`,
    ...(lockFileURL !== undefined && { lockFileURL: absolute(lockFileURL).href }),
    packages: [...own, ...given],
    modules,
  };
}

function aborted(): UnspoolError {
  return new UnspoolError("ABORTED", "The start was stopped by its signal.");
}
