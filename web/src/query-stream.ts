/**
 * One query on the page: an iterator of events that pulls from Python only when it is read.
 *
 * Each read takes an event of the batch at hand or, when there is none, pulls one batch. Nothing is pulled ahead, so a
 * reader that waits makes the model wait.
 */
import { UnspoolError, fromWire, reasonText } from "./errors.js";
import type { Path, ProgressEvent, StructuredEvent, TerminalEvent } from "./events.js";
import type { PageModels } from "./page-models.js";
import { PartialValue } from "./partial-value.js";
import type { PreparedQuery } from "./request.js";
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

/** The events of one query. Start: the first read. End: one terminal event, `return()`, or a rejected read. */
export interface QueryStream<T> extends AsyncIterableIterator<StructuredEvent<T>> {
  /** The answer's text, as far as it has been read. */
  readonly text: string;
  /** The unvalidated value, as far as it has been read; undefined before it begins. It grows in place. */
  readonly partialValue: unknown;
  /** Stop the query: the request is aborted, and Python has let go of it when the promise settles. */
  return(): Promise<IteratorResult<StructuredEvent<T>, undefined>>;
}

type Step<T> = IteratorResult<StructuredEvent<T>, undefined>;
type WireEvent = ProgressEvent | { readonly type: TerminalEvent<unknown>["type"]; readonly [field: string]: unknown };
/** A path as it is sent: after the first `keep` steps of the path before it. */
type Placed = { keep?: number; path?: Path };

const OVER = { done: true, value: undefined } as const;
const CLOSED = Symbol("closed");
const ABORTED = Symbol("aborted");

export class Call<T> {
  readonly partial = new PartialValue();
  text = "";
  readonly #home: CallHome;
  readonly #query: PreparedQuery;
  #phase: "idle" | "live" | "over" = "idle";
  /** Number of the call; undefined until it is opened in Python and again once it is closed there. */
  #id: number | undefined;
  #pageModel: string | undefined;
  #events: WireEvent[] = [];
  #nextEvent = 0;
  #path: Path = [];
  #failure: UnspoolError | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #takeBatch: ((text: string) => void) | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;
  #abortEndsWait = false;

  constructor(home: CallHome, query: PreparedQuery) {
    this.#home = home;
    this.#query = query;
  }

  /** Reads wait for each other, so that events come in order however they are asked for. */
  next(): Promise<Step<T>> {
    const step = this.#tail.then(() => this.#step());
    this.#tail = step.catch(() => {});
    return step;
  }

  async close(): Promise<void> {
    const closed = this.#finish();
    this.#interrupt?.(CLOSED);
    await closed;
  }

  /** The host's answer to a pull. */
  batch(text: string): void {
    this.#takeBatch?.(text);
  }

  /** The connection is over. Events that have arrived are still given. */
  fail(error: UnspoolError): void {
    this.#failure = error;
    this.#interrupt?.(error);
  }

  async #step(): Promise<Step<T>> {
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
      if (thrown === ABORTED)
        return { done: false, value: { type: "cancelled", error: this.#withProgress(aborted()) } };
      throw this.#withProgress(thrown instanceof UnspoolError ? thrown : protocolError(reasonText(thrown), thrown));
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
    if (pageModel !== undefined) this.#pageModel = this.#home.pageModels.add(pageModel);
    const request = await this.#wait(this.#query.text(this.#pageModel), { abortEndsWait: true });
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
    const { events, done } = readBatch(text);
    this.#events = events;
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
        return await this.#complete(event as WireEvent & { result: unknown });
      case "parsingFailed":
      case "generationFailed":
      case "cancelled": {
        const error = this.#withProgress(fromWire((event as { error?: unknown }).error));
        void this.#finish();
        return { type: event.type, error };
      }
      case "textDelta":
        this.text += event.delta;
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
        void this.#finish();
        const details = { issues, cause, text: this.text, partialValue: event.result };
        return { type: "parsingFailed", error: new UnspoolError("OUTPUT_INVALID", message, details) };
      }
      event = { ...event, result: checked.value };
    }
    void this.#finish();
    return event as unknown as TerminalEvent<T>;
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
    if (this.#pageModel !== undefined) this.#home.pageModels.remove(this.#pageModel);
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

/** Closes the call of a stream that was dropped without being read to its end. */
const abandoned = new FinalizationRegistry<Call<never>>((call) => void call.close());

/** Make the stream that a caller holds. The connection knows only the call inside, so that dropping the stream shows. */
export function streamOf<T>(call: Call<T>): QueryStream<T> {
  const stream: QueryStream<T> = {
    [Symbol.asyncIterator]: () => stream,
    next: () => call.next().finally(() => stream), // a stream that somebody waits for is not dropped
    async return() {
      await call.close();
      return OVER;
    },
    get text() {
      return call.text;
    },
    get partialValue() {
      return call.partial.value;
    },
  };
  abandoned.register(stream, call as unknown as Call<never>);
  return stream;
}

function readBatch(text: string): { events: WireEvent[]; done: boolean } {
  const answer = JSON.parse(text) as { ok?: unknown; value?: { events?: unknown; done?: unknown }; error?: unknown };
  if (answer.ok === false) throw fromWire(answer.error);
  const { events, done } = answer.value ?? {};
  if (answer.ok !== true || !Array.isArray(events) || typeof done !== "boolean")
    throw protocolError("A batch has no events.");
  return { events: events as WireEvent[], done };
}

function protocolError(message: string, cause?: unknown): UnspoolError {
  return new UnspoolError("BRIDGE_PROTOCOL", message, { cause });
}

function aborted(): UnspoolError {
  return new UnspoolError("ABORTED", "The call was stopped by its signal.");
}
