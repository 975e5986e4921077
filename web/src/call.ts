/**
 * One query on the page, from its opening in Python to its end: it pulls from Python only when it is read.
 *
 * Each read takes an event of the batch at hand or, when there is none, pulls one batch. Nothing is pulled ahead, so a
 * reader that waits makes the model wait.
 */
import { UnspoolError, fromWire, reasonText } from "./errors.js";
import type { FieldInvalid, Path, ProgressEvent, Repair, StructuredEvent, TerminalEvent } from "./events.js";
import type { Message } from "./message.js";
import type { PageModels } from "./page-models.js";
import { PartialValue } from "./partial-value.js";
import type { PreparedQuery, Reading } from "./request.js";
import type { ToHost } from "./wire.js";

/** What a query needs of its connection. */
export interface CallHome {
  /** Why the connection is over; undefined while it lives. */
  readonly failure: UnspoolError | undefined;
  readonly pageModels: PageModels;
  enter(call: Call<unknown>): number;
  post(message: ToHost): void;
  /** Close the call in Python. Settles when that is done or the connection is over; never rejects. */
  close(id: number): Promise<void>;
}

type Failed = Exclude<TerminalEvent<unknown>, { readonly type: "generationComplete" }>;
type Step<T> = IteratorResult<StructuredEvent<T>, undefined>;
type WireEvent = ProgressEvent | { readonly type: TerminalEvent<unknown>["type"]; readonly [field: string]: unknown };
/** A path as it is sent: after the first `keep` steps of the path before it. */
type Placed = { keep?: number; path?: Path };

export const OVER = { done: true, value: undefined } as const;
const CLOSED = Symbol("closed");
const ABORTED = Symbol("aborted");

export class Call<T> {
  readonly partial = new PartialValue();
  readonly invalid: FieldInvalid[] = [];
  /** By each name of a field that has more than one, of types of Python: the others. */
  names: ReadonlyMap<string | number, readonly string[]> = new Map();
  readonly reading: Reading = {};
  text = "";
  repairs: readonly Repair[] = [];
  /** The last event, once it has been read. */
  end: TerminalEvent<T> | undefined;
  readonly #home: CallHome;
  readonly #query: PreparedQuery;
  #phase: "idle" | "live" | "over" = "idle";
  /** Number of the call; undefined until it is opened in Python and again once it is closed there. */
  #id: number | undefined;
  #events: WireEvent[] = [];
  #nextEvent = 0;
  #path: Path = [];
  #failure: UnspoolError | undefined;
  /** What rejected the read that was the last. */
  #broken: UnspoolError | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #takeBatch: ((text: string) => void) | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;
  #abortEndsWait = false;

  constructor(home: CallHome, query: PreparedQuery) {
    this.#home = home;
    this.#query = query;
  }

  get hasBegun(): boolean {
    return this.#phase !== "idle";
  }

  get isText(): boolean {
    return this.#query.schema === undefined;
  }

  /** Reads wait for each other, so that all comes in order however it is asked for. */
  inOrder<V>(read: () => Promise<V>): Promise<V> {
    const done = this.#tail.then(read);
    this.#tail = done.catch(() => {});
    return done;
  }

  async close(): Promise<void> {
    const closed = this.#finish();
    this.#interrupt?.(CLOSED);
    await closed;
  }

  /** The host's answer to a pull. */
  answer(text: string): void {
    this.#takeBatch?.(text);
  }

  /** The connection is over. Events that have arrived are still given. */
  fail(error: UnspoolError): void {
    this.#failure = error;
    this.#interrupt?.(error);
  }

  /** Read the rest of the batch at hand, or the next one; undefined after the end. To be called in order. */
  async batch(): Promise<StructuredEvent<T>[] | undefined> {
    const events: StructuredEvent<T>[] = [];
    do {
      const { done, value } = await this.step();
      if (done === true) break;
      events.push(value);
    } while (this.#nextEvent < this.#events.length);
    return events.length > 0 ? events : undefined;
  }

  /** Read what is left, with somebody who takes notice of it, and give the result. To be called in order. */
  async result(note?: (event: StructuredEvent<T>) => void): Promise<T> {
    for (;;) {
      const { done, value } = await this.step();
      if (done === true) break;
      note?.(value);
    }
    if (this.end?.type === "generationComplete") return this.end.result;
    const left = new UnspoolError("ABORTED", "The stream was left before its end: there is no result.");
    throw this.end?.error ?? this.#broken ?? this.#withProgress(left);
  }

  /** Read the next event. To be called in order. */
  async step(): Promise<Step<T>> {
    try {
      for (;;) {
        if (this.#phase === "over") return OVER;
        const event = this.#events[this.#nextEvent];
        if (event !== undefined) {
          this.#nextEvent += 1;
          this.#place(event as Placed);
          return { done: false, value: await this.#deliver(event) };
        }
        if (this.#phase === "idle") await this.#start();
        await this.#pull();
      }
    } catch (thrown) {
      if (thrown === CLOSED) return OVER;
      void this.#finish();
      if (thrown === ABORTED) return { done: false, value: this.ended("cancelled", aborted()) };
      this.#broken = this.#withProgress(thrown instanceof UnspoolError ? thrown : protocolError(reasonText(thrown), thrown));
      throw this.#broken;
    }
  }

  async #start(): Promise<void> {
    const { signal, pageModel } = this.#query;
    if (signal?.aborted === true) throw ABORTED;
    this.#failure ??= this.#home.failure;
    if (this.#failure !== undefined) throw this.#failure;
    this.#phase = "live";
    const id = this.#home.enter(this as Call<unknown>);
    signal?.addEventListener("abort", this.#onAbort);
    if (pageModel !== undefined) this.reading.pageModel = this.#home.pageModels.add(pageModel);
    const request = await this.#wait(this.#query.text(this.reading), { abortEndsWait: true });
    this.#id = id;
    this.#home.post({ type: "open", call: id, request });
  }

  async #pull(): Promise<void> {
    const id = this.#id;
    if (this.#failure !== undefined) throw this.#failure;
    if (id === undefined) throw protocolError("The query ended without a terminal event.");
    const arrived = new Promise<string>((resolve) => (this.#takeBatch = resolve));
    this.#home.post({ type: "pull", call: id });
    const text = await this.#wait(arrived);
    const { events, done, names, repairs } = readBatch(text);
    this.#events = events;
    if (names !== undefined) this.names = new Map(Object.entries(names));
    this.repairs = repairs;
    this.#nextEvent = 0;
    if (done) void this.#closeInPython();
  }

  #place(event: Placed): void {
    if (event.path === undefined) return;
    if (event.keep !== undefined) {
      event.path = [...this.#path.slice(0, event.keep), ...event.path];
      delete event.keep;
    }
    this.#path = event.path;
  }

  async #deliver(event: WireEvent): Promise<StructuredEvent<T>> {
    switch (event.type) {
      case "generationComplete":
        return (this.end = await this.#complete(event as WireEvent & { result: unknown }));
      case "parsingFailed":
      case "cancelled":
        return this.ended(event.type, fromWire((event as { error?: unknown }).error));
      case "generationFailed": {
        const cause = this.#home.pageModels.failure(this.reading.pageModel);
        return this.ended(event.type, fromWire((event as { error?: unknown }).error, cause));
      }
      case "textDelta":
        this.text += event.delta;
        if (this.isText) this.partial.apply({ type: "stringFieldDelta", path: [], delta: event.delta });
        return event;
      case "fieldInvalid":
        this.invalid.push(event);
        return event;
      case "fieldEnd":
      case "objectEnd":
        this.partial.apply(event);
        // Python leaves out strings and containers, which the page has by now: sending them again costs their size once more.
        return { ...event, value: event.value === undefined ? this.partial.at(event.path) : event.value };
      default:
        this.partial.apply(event);
        return event;
    }
  }

  async #complete(event: WireEvent & { result: unknown }): Promise<TerminalEvent<T>> {
    const validate = this.#query.schema?.validate;
    if (validate !== undefined) {
      const checked = await this.#wait(validate(event.result), { abortEndsWait: true });
      if (!("value" in checked)) {
        const { issues, message, cause } = checked;
        const { message: partial } = event as { message?: Message };
        const details = { issues, cause, partialValue: event.result, ...(partial !== undefined && { partial }) };
        return this.ended("parsingFailed", new UnspoolError("OUTPUT_INVALID", message, details));
      }
      event = { ...event, result: checked.value };
    }
    void this.#finish();
    return event as unknown as TerminalEvent<T>;
  }

  /** Be over, with this event. */
  ended(type: Failed["type"], error: UnspoolError): Failed {
    const event: Failed = { type, error: this.#withProgress(error) };
    void this.#finish();
    this.end = event;
    return event;
  }

  /** Wait for work, unless the call is closed, its connection ends or, where Python has no part in it, its signal aborts. */
  #wait<V>(work: Promise<V>, { abortEndsWait = false } = {}): Promise<V> {
    return new Promise<V>((resolve, reject) => {
      // The work may itself have ended the call before it gave its promise.
      if (this.#phase === "over") reject(CLOSED);
      else if (this.#failure !== undefined) reject(this.#failure);
      else if (abortEndsWait && this.#query.signal?.aborted === true) reject(ABORTED);
      const end = (): void => {
        this.#interrupt = undefined;
        this.#abortEndsWait = false;
      };
      this.#abortEndsWait = abortEndsWait;
      this.#interrupt = (reason) => {
        end();
        reject(reason);
      };
      work.then(resolve, reject).then(end);
    });
  }

  readonly #onAbort = (): void => {
    if (this.#id !== undefined) this.#home.post({ type: "cancel", call: this.#id });
    if (this.#abortEndsWait) this.#interrupt?.(ABORTED);
  };

  /** Be over: nothing more is read, and everything the call held is given back. Idempotent. */
  #finish(): Promise<void> {
    if (this.#phase === "over") return Promise.resolve();
    this.#phase = "over";
    this.#query.signal?.removeEventListener("abort", this.#onAbort);
    const closed = this.#closeInPython();
    if (this.reading.pageModel !== undefined) this.#home.pageModels.remove(this.reading.pageModel);
    return closed;
  }

  #closeInPython(): Promise<void> {
    const id = this.#id;
    this.#id = undefined;
    return id === undefined ? Promise.resolve() : this.#home.close(id);
  }

  /** The same error, with what had arrived by then. */
  #withProgress(error: UnspoolError): UnspoolError {
    const { text = this.text, partialValue = this.partial.value, ...rest } = error.toWire();
    return new UnspoolError(error.code, error.message, { ...rest, text, partialValue, cause: error.cause });
  }
}

interface Batch {
  readonly events: WireEvent[];
  readonly done: boolean;
  readonly names: Readonly<Record<string, readonly string[]>> | undefined;
  readonly repairs: readonly Repair[];
}

function readBatch(text: string): Batch {
  const answer = JSON.parse(text) as { ok?: unknown; value?: Partial<Batch>; error?: unknown };
  if (answer.ok === false) throw fromWire(answer.error);
  const { events, done, names, repairs = [] } = answer.value ?? {};
  if (answer.ok !== true || !Array.isArray(events) || typeof done !== "boolean")
    throw protocolError("A batch has no events.");
  return { events, done, names, repairs };
}

function protocolError(message: string, cause?: unknown): UnspoolError {
  return new UnspoolError("BRIDGE_PROTOCOL", message, { cause });
}

function aborted(): UnspoolError {
  return new UnspoolError("ABORTED", "The call was stopped by its signal.");
}
