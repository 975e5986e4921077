/** One JSON text in pieces, a value that grows. Python reads the text; the value is kept here. */
import { endedBy } from "./disposing.js";
import { UnspoolError, fromWire, type WireError } from "./errors.js";
import type { Path } from "./events.js";
import { LiveValue, type FieldState, type Patch, type Snapshots } from "./live-value.js";
import type { PythonStream, PythonStreams, WireUpdate } from "./python-streams.js";

/** Limits and modes of one text. What is absent or null is the default; a wrong one rejects the first step. */
export interface StreamOptions {
  /** Most UTF-8 bytes, white space included; default 16 MiB. */
  readonly maxBytes?: number | null | undefined;
  /** Most open containers; default 128, at most 512. */
  readonly maxDepth?: number | null | undefined;
  /** "live" (default): one value that changes in place; "immutable": frozen values that never change. */
  readonly snapshots?: Snapshots | undefined;
  /** Whether a repeated key replaces the value ("last", the default) or is a fault. */
  readonly duplicateKeys?: "last" | "error" | null | undefined;
  /** Whether numbers and literals are shown when they are proved complete (the default), or as far as they go. */
  readonly scalars?: "complete" | "eager" | null | undefined;
}

/** What is known after one step. */
export interface StreamState {
  /** The value so far; undefined before it begins. */
  readonly partialValue: unknown;
  /** The patches of this step, in document order. */
  readonly changes: readonly Patch[];
  readonly bytesSeen: number;
  /** Open containers. */
  readonly depth: number;
  /** Whether the root value is complete. */
  readonly complete: boolean;
  /** Whether the text so far ends inside a key or a string. */
  readonly inString: boolean;
}

export class StructuredStream {
  readonly #python: PythonStream;
  readonly #value: LiveValue;
  #state: StreamState = START;
  #failure: UnspoolError | undefined;
  #finished: Promise<StreamState> | undefined;

  constructor(home: PythonStreams, given: unknown) {
    const { snapshots, options } = checkedOptions(given);
    this.#value = new LiveValue(snapshots);
    this.#python = home.open({ kind: "text", options });
    abandoned.register(this, this.#python);
  }

  /** The value so far, after an error the value before the piece at fault. */
  get value(): unknown {
    return this.#value.value;
  }

  /** The state after the last step that was answered, without changes. Throws the fault of the text, or STREAM_DISPOSED. */
  get state(): StreamState {
    if (this.#failure !== undefined) throw this.#failure;
    return { ...this.#state, changes: [] };
  }

  /** Tell whether the value at a path, which may lead nowhere, can still change. */
  fieldState(path: Path): FieldState {
    return this.#value.fieldState(path);
  }

  /**
   * Read the next piece; it may cut a number, an escape or a surrogate pair in two. Rejects with UnspoolError, with
   * `byteOffset` for a fault of the text; the stream is dead then, and nothing of the piece is in the value.
   */
  async push(chunk: string): Promise<StreamState> {
    if (this.#finished === undefined || this.#failure !== undefined) return await this.#step(["push", textOf(chunk)]);
    await this.#finished;
    return this.#pushAfterEnd(chunk);
  }

  /** Say that the text is over. A second time changes nothing. Python lets go of the text; what is known stays here. */
  async finish(): Promise<StreamState> {
    if (this.#finished !== undefined) {
      if (this.#failure === undefined) await this.#finished;
      return this.state;
    }
    this.#finished = this.#step(["finish"]);
    const state = await this.#finished;
    this.#python.close();
    return state;
  }

  /** Release the stream: value and field states stay, all else is STREAM_DISPOSED. Idempotent. */
  close(): void {
    this.#failure = disposed();
    this.#python.close(this.#failure);
  }

  /** For `using`, where the runtime knows it: `close()`. */
  declare readonly [Symbol.dispose]: () => void;

  async #step(step: readonly unknown[]): Promise<StreamState> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const { error, updates } = await this.#python.step(JSON.stringify(step));
      if (error !== undefined) throw streamError(error);
      const update = updates![0]!;
      this.#value.apply(update.changes);
      this.#state = stateOf(update, this.#value);
      return this.#state;
    } catch (thrown) {
      this.#failure ??= thrown as UnspoolError;
      this.#python.close(this.#failure);
      throw this.#failure;
    }
  }

  /** Only white space may follow the text; Python has let go of it. */
  #pushAfterEnd(chunk: string): StreamState {
    const state = this.state;
    if (typeof chunk !== "string") this.#failure = fault("INVALID_CHUNK", "A piece of the text must be text.");
    else {
      const at = chunk.search(/[^ \t\n\r]/);
      const byteOffset = state.bytesSeen + Math.max(at, 0);
      if (at >= 0) this.#failure = fault("TRAILING_DATA", `The text goes on at byte ${byteOffset}.`, byteOffset);
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#state = { ...state, bytesSeen: state.bytesSeen + chunk.length };
    return this.#state;
  }
}
endedBy(StructuredStream, "close");

const START: StreamState = {
  partialValue: undefined,
  changes: [],
  bytesSeen: 0,
  depth: 0,
  complete: false,
  inString: false,
};

/** Closes the streams of Python whose owner on the page was dropped without being closed. */
export const abandoned = new FinalizationRegistry<PythonStream>((stream) => stream.close());

export function stateOf(update: WireUpdate, value: LiveValue): StreamState {
  const { changes, bytesSeen, depth, complete, inString } = update;
  return { partialValue: value.value, changes, bytesSeen, depth, complete, inString };
}

/** What is not text is for Python to refuse. */
export function textOf(chunk: unknown): string | null {
  return typeof chunk === "string" ? chunk : null;
}

export function disposed(adapter?: string): UnspoolError {
  return new UnspoolError("STREAM_DISPOSED", "The stream was closed.", adapter === undefined ? {} : { adapter });
}

/** Make an error of a step's, with its cause. */
export function streamError(wire: WireError): UnspoolError {
  const { code, message, cause, ...details } = wire as WireError & { readonly cause?: unknown };
  return new UnspoolError(code, message, { ...details, cause: cause === undefined ? undefined : fromWire(cause) });
}

/** Take out what is the page's own part, and refuse what JSON would change on the way to Python. */
export function checkedOptions(given: unknown): {
  readonly snapshots: Snapshots;
  readonly options: Readonly<Record<string, unknown>>;
} {
  if (given !== undefined && (typeof given !== "object" || given === null || Array.isArray(given)))
    throw new UnspoolError("INVALID_OPTIONS", "The options must be an object.");
  const { snapshots = "live", ...rest } = (given ?? {}) as Record<string, unknown>;
  if (snapshots !== "live" && snapshots !== "immutable")
    throw new UnspoolError("INVALID_OPTIONS", 'snapshots must be "live" or "immutable".');
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || value === null) continue;
    if (typeof value !== "string" && !(typeof value === "number" && Number.isFinite(value)))
      throw new UnspoolError("INVALID_OPTIONS", `${name} cannot be ${String(value)}.`);
    options[name] = value;
  }
  return { snapshots, options };
}

function fault(code: string, message: string, byteOffset?: number): UnspoolError {
  return new UnspoolError(code, message, { operation: "push", ...(byteOffset !== undefined && { byteOffset }) });
}
