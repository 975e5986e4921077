/**
 * A worker as a host of Python, seen from the page: passes messages, and notices when the worker is gone.
 *
 * A worker that is terminated, crashes or closes itself sends no event. It holds a Web Lock while it lives, so the page is
 * told of its end by being granted that lock. Where there are no locks the page asks for a sign of life now and then.
 */
import { UnspoolError, fromWire } from "./errors.js";
import { WireFault, isFromHost, tagged, type FromHost, type Host, type HostEvents } from "./wire.js";

const PING_EVERY_MS = 1000;
/** Without locks: a worker that answers none of this many pings in a row is taken for dead. Importing a large package can
 * keep a living one silent for seconds. */
const PINGS_UNANSWERED = 30;
/** A worker that has said nothing by then was terminated before it could hold its lock, or its script does not arrive. */
const SILENT_START_MS = 120_000;

/** What is used of a `Worker`. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  terminate(): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

export interface WorkerHost extends Host {
  /** Name of the lock that the worker is asked to hold. */
  readonly lock: string;
}

/** Make a worker that runs our own script, which lies beside this file. */
export function defaultWorker(): WorkerLike {
  if (isForeign(new URL(import.meta.url))) return moduleWorker(new URL("./unspool.worker.js", import.meta.url));
  // Spelled out in one expression: this is what bundlers look for.
  return new Worker(new URL("./unspool.worker.js", import.meta.url), { type: "module", name: "unspool" });
}

/** Make a worker out of a module. A page may only start workers of its own origin; a blob of its origin may import others. */
export function moduleWorker(url: URL): WorkerLike {
  if (!isForeign(url)) return new Worker(url, { type: "module", name: "unspool" });
  const blob = new Blob([`import ${JSON.stringify(url.href)};`], { type: "text/javascript" });
  const blobURL = URL.createObjectURL(blob);
  const worker = new Worker(blobURL, { type: "module", name: "unspool" });
  const release = (): void => URL.revokeObjectURL(blobURL);
  worker.addEventListener("message", release, { once: true });
  worker.addEventListener("error", release, { once: true });
  return worker;
}

function isForeign(url: URL): boolean {
  const page = globalThis.location as Location | undefined;
  return page !== undefined && url.origin !== page.origin && /^https?:$/.test(url.protocol);
}

/** Link a worker. Terminates it on `terminate()` and on every sign that it cannot be used any more. */
export function workerHost(worker: WorkerLike, events: HostEvents, locks = pageLocks()): WorkerHost {
  let alive = false;
  const lock = `unspool-worker-${uniqueName()}`;
  const watch = new AbortController();
  let over = false;

  const stop = (): void => {
    over = true;
    clearTimeout(silence);
    watch.abort();
    worker.removeEventListener("message", onMessage);
    worker.removeEventListener("error", onError);
    worker.removeEventListener("messageerror", onMessageError);
    worker.terminate();
  };
  const die = (error: UnspoolError): void => {
    if (over) return;
    stop();
    events.died(error);
  };
  const silence = setTimeout(() => {
    const hint = "it was terminated, or its script does not arrive";
    die(new UnspoolError("BOOT_FAILED", `The worker has said nothing for ${SILENT_START_MS / 1000} seconds: ${hint}.`));
  }, SILENT_START_MS);
  const post: Host["post"] = (message) => {
    if (!over) worker.postMessage(tagged(message));
  };

  let unanswered = 0;
  const ping = (): void => {
    const timer = setInterval(() => {
      if (++unanswered > PINGS_UNANSWERED) die(new UnspoolError("WORKER_DIED", "The worker does not answer any more."));
      else post({ type: "ping" });
    }, PING_EVERY_MS);
    watch.signal.addEventListener("abort", () => clearInterval(timer));
  };
  const awaitLock = (manager: LockManager): void => {
    manager
      .request(lock, { signal: watch.signal }, () => die(new UnspoolError("WORKER_DIED", "The worker has ended.")))
      .catch(() => {
        if (!over) ping();
      });
  };

  const take = (message: FromHost): void => {
    unanswered = 0;
    if (message.type === "alive") {
      alive = true;
      clearTimeout(silence);
      if (message.locked && locks !== undefined) awaitLock(locks);
      else ping();
    } else if (message.type === "fatal") {
      die(fromWire(message.error));
    } else if (message.type !== "pong") {
      events.message(message);
    }
  };
  const onMessage = (event: Event): void => {
    try {
      const { data } = event as MessageEvent<unknown>;
      if (isFromHost(data)) take(data);
    } catch (thrown) {
      if (!(thrown instanceof WireFault)) throw thrown;
      die(new UnspoolError("BRIDGE_PROTOCOL", thrown.message));
    }
  };
  const onError = (event: Event): void => {
    event.preventDefault();
    const { message } = event as ErrorEvent;
    const reason = message ? `: ${message}` : "";
    if (alive) return die(new UnspoolError("WORKER_DIED", `The worker failed${reason}.`));
    const hint = "a file of it may be missing, or refused by the security policy (worker-src, script-src)";
    die(new UnspoolError("BOOT_FAILED", `The worker's script did not start${reason}; ${hint}.`));
  };
  const onMessageError = (): void => {
    die(new UnspoolError("BRIDGE_PROTOCOL", "A message from the worker could not be decoded."));
  };

  worker.addEventListener("message", onMessage);
  worker.addEventListener("error", onError);
  worker.addEventListener("messageerror", onMessageError);
  return {
    lock,
    post,
    terminate() {
      if (!over) stop();
    },
  };
}

function pageLocks(): LockManager | undefined {
  return (globalThis.navigator as Navigator | undefined)?.locks;
}

/** A name that no other page of the origin uses. (`crypto.randomUUID` is missing in insecure contexts.) */
function uniqueName(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join("-");
}
