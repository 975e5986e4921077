/** The page's side: start Python, ask a model for a value, read its events. */
import { absolute } from "./address.js";
import { Call } from "./call.js";
import { Connection } from "./connection.js";
import { endedBy } from "./disposing.js";
import { UnspoolError } from "./errors.js";
import { callModel, type ModelCallOptions, type Reply } from "./model-call.js";
import { ask, fillIn, type Answered, type Completed, type CompletionOptions, type WholeQueryOptions } from "./query.js";
import { streamOf, type QueryStream } from "./query-stream.js";
import { prepareQuery, refuseUnknown, type QueryOptions } from "./request.js";
import type { InputOf, ResultOf, StandardInput, UntypedInput } from "./schema.js";
import { Structured } from "./structured.js";
import type { BootOptions, BootProgress, Versions } from "./wire.js";
import type { WorkerLike } from "./worker-link.js";

export interface ConnectOptions {
  /**
   * Where Python lives: true for a worker of our own (the default), false for the page itself, the URL of a module worker
   * that imports "unspool/worker", or such a worker. A worker that is given is terminated at the end.
   */
  readonly worker?: boolean | string | URL | WorkerLike | undefined;
  /** Folder of Pyodide's files; relative to the page. */
  readonly indexURL: string | URL;
  /** Its lock file; default: `pyodide-lock.json` in that folder. */
  readonly lockFileURL?: string | URL | undefined;
  /**
   * Further packages: names in the lock file, or URLs of wheels. `pydantic` and `unspool` come from the lock file, unless a
   * wheel of theirs is given here.
   */
  readonly packages?: readonly string[] | undefined;
  /** Python modules for `schema: "module:Type"` and `lm: { object: "module:name" }`: name to source text. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  readonly onProgress?: ((progress: BootProgress) => void) | undefined;
  /** Gives up starting. It has no effect afterwards: `dispose()` ends a connection. */
  readonly signal?: AbortSignal | undefined;
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
  ): QueryStream<ResultOf<S>, InputOf<S>>;
  queryStream(options: QueryOptions<undefined>): QueryStream<string>;
  queryStream<T = unknown>(options: QueryOptions<UntypedInput> & { readonly schema: UntypedInput }): QueryStream<T>;
  queryStream(options: QueryOptions): QueryStream<unknown> {
    return streamOf(new Call<unknown>(this.#connection, prepareQuery(options)));
  }

  /**
   * Ask a model and wait for the validated value; with `returnsMessage` for `{ value, message }`. Rejects with UnspoolError,
   * which holds what had arrived.
   */
  query<const S extends StandardInput, M extends boolean = false, D = never>(
    options: WholeQueryOptions<S, M, D> & { readonly schema: S },
  ): Promise<Answered<ResultOf<S> | D, M>>;
  query<M extends boolean = false>(options: WholeQueryOptions<undefined, M>): Promise<Answered<string, M>>;
  query<T = unknown, M extends boolean = false>(
    options: WholeQueryOptions<UntypedInput, M, T> & { readonly schema: UntypedInput },
  ): Promise<Answered<T, M>>;
  async query(options: WholeQueryOptions): Promise<unknown> {
    return await ask(this.#connection, options);
  }

  /**
   * Have a model fill in what is missing of a value of a Python type, and nothing else: what is given always holds. When
   * nothing is missing no model is asked. Rejects as `query` does; UNSUPPORTED for a JSON Schema.
   */
  async complete<T = unknown, M extends boolean = false>(options: CompletionOptions<M, T>): Promise<Completed<T, M>> {
    return (await fillIn(this.#connection, options)) as Completed<T, M>;
  }

  /**
   * Call a model and wait for its message, whatever it says: it may ask for tools, which you run, and whose results you
   * send with the next call. Rejects with UnspoolError, whose `partial` is the message as far as it came.
   */
  async call(options: ModelCallOptions): Promise<Reply> {
    return await callModel(this.#connection, options);
  }

  /** End the connection: the worker is terminated, and every read and query that waits rejects with DISPOSED. Idempotent. */
  dispose(): void {
    this.#connection.end(new UnspoolError("DISPOSED", "The connection was disposed of."));
  }

  /** For `using`, where the runtime knows it: `dispose()`. */
  declare readonly [Symbol.dispose]: () => void;
}
endedBy(Unspool, "dispose");

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
