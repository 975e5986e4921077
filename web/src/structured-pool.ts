/** Many JSON texts at once, told apart by id. */
import { endedBy } from "./disposing.js";
import { UnspoolError } from "./errors.js";
import type { Path } from "./events.js";
import { LiveValue, type FieldState, type Snapshots } from "./live-value.js";
import type { PythonStream, PythonStreams, WireUpdate } from "./python-streams.js";
import {
  abandoned,
  checkedOptions,
  disposed,
  stateOf,
  streamError,
  textOf,
  type StreamOptions,
  type StreamState,
} from "./structured-stream.js";

export interface PoolOptions extends StreamOptions {
  /** Most texts open at once; default 256. */
  readonly maxActiveStreams?: number | null | undefined;
}

/** A text began ("start") or went on ("update"). */
export interface StructuredProgress<Id = string> extends StreamState {
  readonly type: "start" | "update";
  readonly id: Id;
  /** The tool's name, of a session's calls; absent while nothing has said it. */
  readonly name?: string;
}

/** The end of one text. It does not say that a tool has run, or that the value fits a schema. */
export interface StructuredCompletion<Id = string> extends StreamState {
  readonly type: "complete";
  readonly id: Id;
  /** As of `StructuredProgress`. */
  readonly name?: string;
  /** The whole text; the final text, when one was given. */
  readonly text: string;
  /** The value of the text. Live: separate from `partialValue`; immutable: the same frozen value. */
  readonly value: unknown;
}

export type StructuredUpdate<Id = string> = StructuredProgress<Id> | StructuredCompletion<Id>;

/**
 * The open texts of a pool or session, as the page holds them. Ids are any value, compared as a Map does; those that JSON
 * cannot hold cross as a list of one number.
 */
export class LiveTexts<Id> {
  readonly #snapshots: Snapshots;
  readonly #values = new Map<unknown, LiveValue>();
  readonly #others: unknown[] = [];
  readonly #numbers = new Map<unknown, number>();

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  get ids(): Id[] {
    return [...this.#values.keys()] as Id[];
  }

  get size(): number {
    return this.#values.size;
  }

  has(id: unknown): boolean {
    return this.#values.has(id);
  }

  /** Take an update of Python's: its patches, and its place among the open texts. */
  take(wire: WireUpdate): StructuredUpdate<Id> {
    const id = this.decode(wire.id) as Id;
    const value = (wire.type === "start" ? undefined : this.#values.get(id)) ?? new LiveValue(this.#snapshots);
    value.apply(wire.changes);
    const name = wire.name === undefined ? {} : { name: wire.name };
    const state = stateOf(wire, value);
    if (wire.type !== "complete") {
      this.#values.set(id, value);
      return { type: wire.type, id, ...name, ...state };
    }
    this.#values.delete(id);
    const text = wire.text!;
    const whole: unknown = this.#snapshots === "immutable" ? value.value : JSON.parse(text);
    return { type: "complete", id, ...name, ...state, text, value: whole };
  }

  drop(id: unknown): void {
    this.#values.delete(id);
  }

  clear(): void {
    this.#values.clear();
  }

  /** Drop all texts but these (ids as they cross). */
  keep(wireIds: readonly unknown[]): void {
    const ids = new Set(wireIds.map((id) => this.decode(id)));
    for (const id of this.#values.keys()) if (!ids.has(id)) this.#values.delete(id);
  }

  fieldState(id: unknown, path: Path): FieldState {
    const value = this.#values.get(id);
    if (value === undefined)
      throw new UnspoolError("UNKNOWN_STREAM", `No stream ${String(id)} is open.`, { id, operation: "field_state" });
    return value.fieldState(path);
  }

  encode(id: unknown): unknown {
    if (typeof id === "string" || typeof id === "boolean" || (typeof id === "number" && Number.isFinite(id))) return id;
    const number = this.#numbers.get(id) ?? this.#others.push(id) - 1;
    this.#numbers.set(id, number);
    return [number];
  }

  decode(id: unknown): unknown {
    return Array.isArray(id) && this.#others.length > 0 ? this.#others[id[0] as number] : id;
  }

  /** The id of an error of Python's, as it was given. */
  decoded(error: UnspoolError): UnspoolError {
    if (!Array.isArray(error.id)) return error;
    return new UnspoolError(error.code, error.message, {
      ...error.toWire(),
      id: this.decode(error.id),
      cause: error.cause,
    });
  }
}

/** JSON texts that arrive interleaved. A text that fails is taken out; the others are as they were. */
export class StructuredStreamPool<Id = string> {
  readonly #python: PythonStream;
  readonly #texts: LiveTexts<Id>;
  #closed = false;

  constructor(home: PythonStreams, given: unknown) {
    const { snapshots, options } = checkedOptions(given);
    this.#texts = new LiveTexts(snapshots);
    this.#python = home.open({ kind: "pool", options });
    abandoned.register(this, this.#python);
  }

  /** The ids of the open texts in the order of their starts, after the last step that was answered; a copy. */
  get activeIds(): Id[] {
    return this.#texts.ids;
  }

  get size(): number {
    return this.#texts.size;
  }

  has(id: Id): boolean {
    return this.#texts.has(id);
  }

  /** Open a text. Rejects with DUPLICATE_STREAM, MAX_ACTIVE_STREAMS_EXCEEDED, or as `push` does. */
  async start(id: Id, initialChunk?: string): Promise<StructuredProgress<Id>> {
    const initial = initialChunk === undefined ? [] : [initialChunk];
    return (await this.#step("start", id, initial)) as StructuredProgress<Id>;
  }

  /** Read the next piece of a text. Rejects with UNKNOWN_STREAM, or the fault of the text, which is out then. */
  async push(id: Id, delta: string): Promise<StructuredProgress<Id>> {
    return (await this.#step("push", id, [textOf(delta)])) as StructuredProgress<Id>;
  }

  /** End a text. A final text is what counts; where it differs it is read in place of the pieces. */
  async finish(id: Id, finalText?: string): Promise<StructuredCompletion<Id>> {
    const final = finalText === undefined ? [] : [finalText];
    return (await this.#step("finish", id, final)) as StructuredCompletion<Id>;
  }

  /** Drop a text; gives whether it was open. */
  async abort(id: Id): Promise<boolean> {
    const { value } = await this.#python.step(JSON.stringify(["abort", this.#texts.encode(id)]));
    this.#texts.drop(id);
    return value === true;
  }

  /** Tell whether the value at a path of an open text can still change. Throws UNKNOWN_STREAM. */
  fieldState(id: Id, path: Path): FieldState {
    return this.#texts.fieldState(id, path);
  }

  /** Drop every text. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#texts.clear();
    this.#python.close(disposed());
  }

  /** For `using`, where the runtime knows it: `close()`. */
  declare readonly [Symbol.dispose]: () => void;

  async #step(operation: string, id: Id, given: readonly unknown[]): Promise<StructuredUpdate<Id>> {
    const step = JSON.stringify([operation, this.#texts.encode(id), ...given]);
    const { error, updates } = await this.#python.step(step);
    if (error === undefined) return this.#texts.take(updates![0]!);
    if (operation !== "start") this.#texts.drop(id);
    throw this.#texts.decoded(streamError(error));
  }
}
endedBy(StructuredStreamPool, "close");
