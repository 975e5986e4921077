/** The tool calls of one response, out of decoded events: by an integration of Python's, or by an adapter of the page's. */
import { endedBy } from "./disposing.js";
import { UnspoolError, reasonText } from "./errors.js";
import { eventText } from "./event-text.js";
import type { Path } from "./events.js";
import type { FieldState } from "./live-value.js";
import type { PythonStream, PythonStreams, StepAnswer, WireDiagnostic } from "./python-streams.js";
import { LiveTexts, type PoolOptions, type StructuredCompletion, type StructuredUpdate } from "./structured-pool.js";
import { abandoned, checkedOptions, disposed, streamError } from "./structured-stream.js";

/** Whose events an integration understands. */
export type IntegrationName =
  | "ag-ui"
  | "anthropic"
  | "assistant-ui"
  | "bedrock"
  | "cohere"
  | "gemini"
  | "langchain"
  | "mistral"
  | "openai"
  | "openai-chat"
  | "vercel-ai";

/** A hint for whoever debugs a stream. It holds no event and no argument text, but ids and error messages. */
export interface StructuredDiagnostic {
  /**
   * NO_TOOL_EVENTS: the events ended without any call, which is right for an answer of text alone. UNMATCHED_TOOL_EVENT: an
   * event about a call that is not known. STREAM_ERROR: the session has failed.
   */
  readonly code: "NO_TOOL_EVENTS" | "UNMATCHED_TOOL_EVENT" | "STREAM_ERROR";
  readonly message: string;
  readonly adapter: string;
  readonly eventType?: string;
  readonly id?: unknown;
  /** The error itself, of STREAM_ERROR. */
  readonly error?: unknown;
}

export interface SessionOptions extends PoolOptions {
  /** Called with each hint. What it throws is ignored. */
  readonly onDiagnostic?: ((diagnostic: StructuredDiagnostic) => unknown) | undefined;
}

/** One step of one call. Ids are any value, compared as a Map does. */
export type StructuredOperation<Id = unknown> =
  | { readonly type: "start"; readonly id: Id; readonly name?: string | null | undefined }
  | { readonly type: "abort"; readonly id: Id }
  | { readonly type: "delta"; readonly id: Id; readonly text: string }
  | { readonly type: "end"; readonly id: Id; readonly finalText?: string | null | undefined };

/** Gives the operations of an event, in order; an empty list for events about other things. */
export type EventMapper<E, Id> = (event: E) => readonly StructuredOperation<Id>[];

/** Makes a session for one response. */
export type StructuredAdapter<E = unknown, Id = string> = (options?: SessionOptions) => StructuredSession<E, Id>;

/** What came of one event: Python's answer, or what the mapper threw before Python heard of it. */
export type Outcome = StepAnswer | { readonly thrown: Error };

/** Push every event, then finish; close it when done, however it ended. A failure ends the session and all its calls. */
export class StructuredSession<E = unknown, Id = string> {
  readonly #python: PythonStream;
  readonly #texts: LiveTexts<Id>;
  readonly #mapEvent: EventMapper<E, Id> | undefined;
  readonly #adapter: string;
  readonly #onDiagnostic: SessionOptions["onDiagnostic"];
  #failure: unknown;
  #failed = false;
  #finished = false;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(home: PythonStreams, how: IntegrationName | EventMapper<E, Id>, given: unknown) {
    const isRecord = typeof given === "object" && given !== null && !Array.isArray(given);
    const { onDiagnostic, ...rest } = (isRecord ? given : {}) as SessionOptions;
    const { snapshots, options } = checkedOptions(isRecord ? rest : given);
    this.#onDiagnostic = onDiagnostic;
    this.#texts = new LiveTexts(snapshots);
    this.#mapEvent = typeof how === "function" ? how : undefined;
    this.#adapter = typeof how === "function" ? "custom" : how;
    this.#python = home.open({ kind: "session", options, ...(typeof how === "string" && { integration: how }) });
    abandoned.register(this, this.#python);
  }

  /** The ids of the open calls in the order of their starts, after the last event that was answered; a copy. */
  get activeIds(): Id[] {
    return this.#texts.ids;
  }

  /** Tell whether the value at a path of an open call can still change. Throws UNKNOWN_STREAM. */
  fieldState(id: Id, path: Path): FieldState {
    return this.#texts.fieldState(id, path);
  }

  /**
   * Read the next event. Gives every update it caused, in order; rejects with the fault of a call or of the event, or with
   * what the mapper threw. Afterwards every call of this and of `finish` rejects with the same error.
   */
  async pushAll(event: E): Promise<StructuredUpdate<Id>[]> {
    return await this.#inOrder(this.send([event]), ([outcome]) => [...this.take(outcome!, event)]);
  }

  /** Say that the events are over: the calls still open are ended, in the order of their starts. */
  async finish(): Promise<StructuredCompletion<Id>[]> {
    return await this.#inOrder(this.sendFinish(), (answer) => {
      const updates = [...this.take(answer)] as StructuredCompletion<Id>[];
      this.#python.close();
      return updates;
    });
  }

  /** Drop the calls that are open, whatever their text. Idempotent. */
  close(): void {
    if (!this.#failed) this.#fail(disposed(this.#adapter));
  }

  /** For `using`, where the runtime knows it: `close()`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Have Python read events, up to the first that the mapper fails on. */
  async send(events: readonly E[]): Promise<Outcome[]> {
    if (this.#failed) throw this.#failure;
    if (this.#finished)
      throw new UnspoolError("INTEGRATION_ERROR", "The session is finished.", { adapter: this.#adapter });
    const outcomes: (Outcome | Promise<Outcome>)[] = [];
    for (const event of events) {
      try {
        outcomes.push(this.#python.step(`["push",${this.#eventText(event)}]`));
      } catch (thrown) {
        outcomes.push({ thrown: asError(thrown) });
        break;
      }
      if (this.#failed) break; // the mapper itself has closed the session
    }
    return await Promise.all(outcomes);
  }

  async sendFinish(): Promise<Outcome> {
    if (this.#failed) throw this.#failure;
    if (this.#finished) return {};
    this.#finished = true;
    return await this.#python.step('["finish"]');
  }

  /** Give the updates of an outcome, each applied when it is taken, or throw its failure. */
  *take(outcome: Outcome, event?: E): Generator<StructuredUpdate<Id>, void> {
    if (this.#failed) throw this.#failure;
    if ("thrown" in outcome) {
      const eventType = typeOf(event);
      const error = annotated(outcome.thrown, this.#adapter, eventType);
      const message = `The event could not be read: ${error.name}.`;
      this.#fail(error);
      this.#tell({ code: "STREAM_ERROR", message, adapter: this.#adapter, ...(eventType && { eventType }) }, error);
      throw error;
    }
    const { error: wire, updates = [], diagnostics = [], open } = outcome;
    if (wire !== undefined) this.#fail(this.#errorOf(wire, event));
    for (const told of diagnostics) this.#tell(told, this.#failure);
    if (wire !== undefined) throw this.#failure;
    for (const update of updates) yield this.#texts.take(update);
    if (open !== undefined) this.#texts.keep(open);
  }

  /** Outcomes are taken in the order in which events were pushed, however long the worker takes. */
  async #inOrder<T, R>(sent: Promise<T>, take: (outcome: T) => R): Promise<R> {
    sent.catch(() => {});
    const taken = this.#tail.then(async () => {
      try {
        return take(await sent);
      } catch (thrown) {
        if (!this.#failed && !this.#finished) this.#fail(thrown);
        throw this.#failed ? this.#failure : thrown;
      }
    });
    this.#tail = taken.catch(() => {});
    return await taken;
  }

  #eventText(event: E): string {
    if (this.#mapEvent === undefined) return eventText(event);
    const operations: unknown = this.#mapEvent(event);
    if (!Array.isArray(operations)) throw new TypeError("The mapper of an adapter must give a list of operations.");
    const type = typeOf(event);
    return eventText({
      ...(type !== undefined && { type }),
      operations: operations.map((operation: unknown) => this.#crossing(operation)),
    });
  }

  #crossing(operation: unknown): unknown {
    if (typeof operation !== "object" || operation === null) return null;
    const { type, name, text, finalText } = operation as Record<string, unknown>;
    const id = "id" in operation ? { id: this.#texts.encode(operation.id) } : {};
    return { type, ...id, name, text, finalText };
  }

  #errorOf(wire: NonNullable<StepAnswer["error"]>, event: E | undefined): Error {
    const error = this.#texts.decoded(streamError(wire));
    // An error object inside an event crosses as its fields; whoever waits gets the object itself.
    const original = (event as { readonly error?: unknown } | null | undefined)?.error;
    if (error.code !== "INTEGRATION_ERROR" || !(original instanceof Error)) return error;
    return annotated(original, this.#adapter, error.eventType);
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.#failure = error;
    this.#texts.clear();
    this.#python.close(error instanceof UnspoolError ? error : disposed(this.#adapter));
  }

  #tell({ id, ...told }: WireDiagnostic, failure: unknown): void {
    try {
      this.#onDiagnostic?.({
        ...told,
        ...(id !== undefined && { id: this.#texts.decode(id) }),
        ...(told.code === "STREAM_ERROR" && { error: failure }),
      });
    } catch {
      // Someone else's logging.
    }
  }
}
endedBy(StructuredSession, "close");

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(reasonText(thrown), { cause: thrown });
}

/** Put what is known on an error of somebody else's; one that takes no attribute stays as it is. */
function annotated(error: Error, adapter: string, eventType: string | undefined): Error {
  for (const [name, value] of Object.entries({ code: "INTEGRATION_ERROR", adapter, eventType })) {
    try {
      const members = error as unknown as Record<string, unknown>;
      if (members[name] === undefined && value !== undefined) members[name] = value;
    } catch {
      // Frozen.
    }
  }
  return error;
}

/** The name of an event, for errors and diagnostics. */
function typeOf(event: unknown): string | undefined {
  if (Array.isArray(event)) return "operations";
  if (typeof event !== "object" || event === null) return undefined;
  const { type, event_type, kind } = event as Record<string, unknown>;
  return [type, event_type, kind].find((name) => typeof name === "string") as string | undefined;
}
