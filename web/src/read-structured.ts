/** The updates of tool calls out of a source of decoded events, and everything closed at the end. */
import { UnspoolError } from "./errors.js";
import { openSource, type EventSource, type OpenSource } from "./event-source.js";
import type { StructuredUpdate } from "./structured-pool.js";
import type { StructuredSession } from "./structured-session.js";

/**
 * Read events, give the updates of each, and only then read on. Nothing is acquired before the first read. On the end of
 * the source the calls still open are finished; on every other way out they are dropped and the source is closed.
 */
export async function* readUpdates<E, Id>(
  events: EventSource<E>,
  makeSession: () => StructuredSession<E, Id>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StructuredUpdate<Id>, void, undefined> {
  if (signal?.aborted === true) throw signal.reason;
  const session = makeSession();
  const stop = new Stop(signal, session);
  let source: OpenSource<E> | undefined;
  let failure: { readonly reason: unknown } | undefined;
  try {
    source = openSource(events);
    for (;;) {
      const batch: readonly E[] | undefined = await stop.wait(source.next());
      if (batch === undefined) break;
      const outcomes = await stop.wait(session.send(batch));
      for (const [n, outcome] of outcomes.entries()) {
        for (const update of session.take(outcome, batch[n])) {
          yield update;
          stop.check();
        }
      }
    }
    source = undefined;
    for (const update of session.take(await stop.wait(session.sendFinish()))) {
      yield update;
      stop.check();
    }
  } catch (thrown) {
    failure = { reason: thrown };
    throw thrown;
  } finally {
    session.close();
    try {
      if (source !== undefined) await stop.wait(source.close(failure?.reason));
    } catch (thrown) {
      if (failure === undefined) throw thrown; // else what went wrong first is what is told
    } finally {
      stop.forget();
    }
  }
}

/** What a signal does: the calls are dropped and whoever waits is told at once; the source may take its time. */
class Stop {
  readonly #signal: AbortSignal | undefined;
  readonly #session: { close(): void };
  #interrupt: ((reason: unknown) => void) | undefined;

  constructor(signal: AbortSignal | undefined, session: { close(): void }) {
    this.#signal = signal;
    this.#session = session;
    signal?.addEventListener("abort", this.#onAbort);
  }

  check(): void {
    if (this.#signal?.aborted === true) throw this.#signal.reason;
  }

  /** Wait for work, but no longer than until the signal. What comes of it later is ignored. */
  wait<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#signal?.aborted === true) reject(this.#signal.reason);
      this.#interrupt = reject;
      work.then(resolve, reject);
    });
  }

  forget(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#session.close();
    this.#interrupt?.(this.#signal!.reason);
  };
}

/** Check a signal before anything is made. */
export function checkedSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal === "object" && "aborted" in signal && "addEventListener" in signal) return signal as AbortSignal;
  throw new UnspoolError("INVALID_OPTIONS", "signal must be an AbortSignal.");
}
