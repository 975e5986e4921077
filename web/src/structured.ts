/** The incremental streams of a connection: JSON texts, pools of them, and the tool calls in somebody else's events. */
import { UnspoolError } from "./errors.js";
import type { EventSource } from "./event-source.js";
import type { PythonStreams } from "./python-streams.js";
import { checkedSignal, readUpdates } from "./read-structured.js";
import { StructuredStreamPool, type PoolOptions, type StructuredUpdate } from "./structured-pool.js";
import {
  StructuredSession,
  type EventMapper,
  type IntegrationName,
  type SessionOptions,
  type StructuredAdapter,
} from "./structured-session.js";
import { StructuredStream, type StreamOptions } from "./structured-stream.js";

interface ReadOptions {
  /** Limits and modes of the calls. */
  readonly limits?: PoolOptions | undefined;
  /** Stops the reading at once, even while the source stalls; the read rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with hints for debugging. What it throws is ignored. */
  readonly onDiagnostic?: SessionOptions["onDiagnostic"];
}

/** Exactly one of `integration`, for the events of an SDK, and `adapter`, for a protocol of your own. */
export type ReadStructuredOptions<E = unknown, Id = string> = ReadOptions &
  (
    | { readonly integration: IntegrationName; readonly adapter?: undefined }
    | { readonly adapter: StructuredAdapter<E, Id>; readonly integration?: undefined }
  );

export class Structured {
  readonly #python: PythonStreams;

  constructor(python: PythonStreams) {
    this.#python = python;
  }

  /**
   * Make a stream for one JSON text; of an adapter or the name of an integration, a session for the events of one response.
   * Throws UnspoolError INVALID_OPTIONS; a limit that is out of range rejects the first step with it.
   */
  createStructuredStream(options?: StreamOptions): StructuredStream;
  createStructuredStream<E, Id>(adapter: StructuredAdapter<E, Id>): StructuredSession<E, Id>;
  createStructuredStream(integration: IntegrationName, options?: SessionOptions): StructuredSession;
  createStructuredStream(
    what?: StreamOptions | StructuredAdapter | IntegrationName,
    options?: SessionOptions,
  ): StructuredStream | StructuredSession {
    if (typeof what === "function") return what();
    if (typeof what === "string") return new StructuredSession(this.#python, what, options);
    return new StructuredStream(this.#python, what);
  }

  /** Make a pool of JSON texts that arrive interleaved, each under an id: any value, compared as a Map does. */
  createStructuredStreamPool<Id = string>(options?: PoolOptions): StructuredStreamPool<Id> {
    return new StructuredStreamPool<Id>(this.#python, options);
  }

  /**
   * Make a factory of sessions for a protocol of your own. The function runs on the page and gives the operations of an
   * event, in order; only they cross. It should keep nothing between events: sessions share it.
   */
  defineAdapter<E, Id = string>(mapEvent: EventMapper<E, Id>): StructuredAdapter<E, Id> {
    if (typeof mapEvent !== "function")
      throw new UnspoolError("INVALID_OPTIONS", "mapEvent must be a function from an event to a list of operations.");
    return (options) => new StructuredSession(this.#python, mapEvent, options);
  }

  /**
   * Read the tool calls out of a stream that someone else has opened and decoded. Nothing is read before the first update
   * is asked for, and the next event not before the updates of the last one have been taken; of a list, which is there
   * already, up to 64 events go together.
   *
   * Throws UnspoolError INVALID_OPTIONS. A read rejects with the fault of a call or of an event, with the error of the
   * source or of the mapper as it is, with the signal's reason, or with the end of the connection.
   */
  readStructured<E, Id = string>(
    events: EventSource<E>,
    options: ReadStructuredOptions<E, Id>,
  ): AsyncGenerator<StructuredUpdate<Id>, void, undefined> {
    const { adapter, integration, limits, signal, onDiagnostic } = options ?? {};
    const one = adapter === undefined ? typeof integration === "string" : integration === undefined;
    if (!one || (adapter !== undefined && typeof adapter !== "function"))
      throw new UnspoolError("INVALID_OPTIONS", "Give exactly one of integration and adapter.");
    const make = adapter ?? ((given) => new StructuredSession<E, Id>(this.#python, integration!, given));
    return readUpdates(events, () => sessionOf(make({ ...limits, onDiagnostic })), checkedSignal(signal));
  }
}

function sessionOf<E, Id>(made: StructuredSession<E, Id>): StructuredSession<E, Id> {
  if (made instanceof StructuredSession) return made;
  throw new UnspoolError("INVALID_OPTIONS", "adapter must be what defineAdapter gives.");
}
