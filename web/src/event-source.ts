/** One way to read every kind of source of decoded events: a list, an iterable of either kind, or a ReadableStream. */
import { UnspoolError } from "./errors.js";

export type EventSource<E> = Iterable<E | PromiseLike<E>> | AsyncIterable<E> | ReadableStream<E>;

/** Events are given in batches; a batch is never read ahead of its reader. */
export interface OpenSource<E> {
  /** Wait for the next events; undefined at the end, where nothing is left to close. */
  next(): Promise<readonly E[] | undefined>;
  /** Leave early. Settles when the source has done what it does then, which may be never. */
  close(reason: unknown): Promise<void>;
}

/** Most events of a list in one message. */
const MAX_BATCH_EVENTS = 64;

/** Acquire a source. Throws UnspoolError INVALID_OPTIONS, naming `what`, for what is none; a single event and text are none. */
export function openSource<E>(events: EventSource<E>, what = "The source of events"): OpenSource<E> {
  if (Array.isArray(events)) return ofList<E>(events);
  if ((typeof events === "object" && events !== null) || typeof events === "function") {
    if ("getReader" in events) return ofReader(events.getReader());
    if (Symbol.asyncIterator in events) return ofIterator<E>(events[Symbol.asyncIterator]());
    if (Symbol.iterator in events) return ofIterator<E>(events[Symbol.iterator]() as Iterator<E>);
  }
  throw new UnspoolError("INVALID_OPTIONS", `${what} must be an iterable, an async iterable or a ReadableStream.`);
}

/** What is in a list is there already: nobody can tell when it is read, so many events go together. */
function ofList<E>(events: readonly (E | PromiseLike<E>)[]): OpenSource<E> {
  let at = 0;
  return {
    async next() {
      if (at >= events.length) return undefined;
      const batch = [await events[at++]!];
      while (batch.length < MAX_BATCH_EVENTS && at < events.length && !isThenable(events[at])) {
        batch.push(events[at++] as Awaited<E>);
      }
      return batch;
    },
    async close() {},
  };
}

function ofReader<E>(reader: ReadableStreamDefaultReader<E>): OpenSource<E> {
  return {
    async next() {
      const { done, value } = asResult<E>(await reader.read());
      if (done !== true) return [value as E];
      reader.releaseLock();
      return undefined;
    },
    async close(reason) {
      const cancelled = reader.cancel(reason);
      reader.releaseLock(); // at once: the cancelling may never settle
      await cancelled;
    },
  };
}

function ofIterator<E>(iterator: Iterator<E | PromiseLike<E>> | AsyncIterator<E>): OpenSource<E> {
  return {
    async next() {
      const { done, value } = asResult<E | PromiseLike<E>>(await iterator.next());
      return done === true ? undefined : [await (value as E)];
    },
    async close() {
      await iterator.return?.();
    },
  };
}

function asResult<E>(result: IteratorResult<E, unknown> | ReadableStreamReadResult<E>): {
  readonly done?: boolean;
  readonly value?: unknown;
} {
  if (typeof result !== "object" || result === null) throw new TypeError("The source gave no iterator result.");
  return result;
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
