/**
 * The host of Python: answers the page's messages by calling `unspool.bridge` with text. Runs in a worker (`serveWorker`)
 * or in the page itself (inline-host). Only text leaves it, never an object of Python's.
 */
import { bootPython, isFatal, type Boot, type Bridge } from "./boot.js";
import { UnspoolError, fromWire, isUnspoolError, reasonText } from "./errors.js";
import { WireFault, isToHost, tagged, type BootProgress, type FromHost, type ToHost } from "./wire.js";

/** The text that names the call to Python, or the answer that says why there is no call. */
type Opened = { readonly key: string } | { readonly refusal: string };

interface Ask {
  resolve(value: string | null): void;
  reject(error: UnspoolError): void;
}

export interface HostSetup {
  post(message: FromHost): void;
  /** Take the Web Lock of this name for as long as this realm lives; false when that cannot be. */
  hold?(lock: string): Promise<boolean>;
  readonly boot?: Boot;
}

export class PythonHost {
  readonly #setup: HostSetup;
  readonly #calls = new Map<number, Promise<Opened>>();
  readonly #asks = new Map<number, Ask>();
  #bridge: Bridge | undefined;
  #booting = false;
  #stopped = false;
  #lastAsk = 0;

  constructor(setup: HostSetup) {
    this.#setup = setup;
  }

  /** Take one message of the page's. Foreign messages are ignored; a broken one ends the host. Never throws. */
  receive(data: unknown): void {
    try {
      if (isToHost(data)) this.#handle(data);
    } catch (thrown) {
      if (!(thrown instanceof WireFault)) throw thrown;
      this.#end(new UnspoolError("BRIDGE_PROTOCOL", thrown.message));
    }
  }

  /** Report that this host cannot go on, and stop. */
  fail(error: UnspoolError): void {
    this.#end(error);
  }

  /** Stop every call, give Python's objects back, say nothing more. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const bridge = this.#bridge;
    this.#dropAsks(new UnspoolError("DISPOSED", "The connection was disposed of."));
    const calls = [...this.#calls.keys()];
    try {
      if (bridge !== undefined) await Promise.allSettled(calls.map((call) => this.#close(call)));
      bridge?.destroy();
    } catch {
      // A dead interpreter has nothing to give back.
    }
  }

  #handle(message: ToHost): void {
    switch (message.type) {
      case "boot":
        return void this.#boot(message);
      case "open":
        return this.#open(message.call, message.request);
      case "pull":
        return void this.#pull(message.call);
      case "cancel":
        return void this.#cancel(message.call);
      case "close":
        return void this.#close(message.call).then(() => this.#post({ type: "closed", call: message.call }));
      case "step":
        return void this.#step(message);
      case "told":
        return this.#takeAsk(message.ask)?.resolve(message.value);
      case "refused":
        return this.#takeAsk(message.ask)?.reject(fromWire(message.error));
      case "ping":
        return this.#post({ type: "pong" });
      default:
        return message satisfies never;
    }
  }

  async #boot(message: ToHost & { type: "boot" }): Promise<void> {
    if (this.#booting) return this.#end(new UnspoolError("BRIDGE_PROTOCOL", "A host boots once."));
    this.#booting = true;
    const { hold, boot = bootPython } = this.#setup;
    if (hold !== undefined) this.#post({ type: "alive", locked: await hold(message.lock) });
    try {
      const booted = await boot(message.options, {
        progress: (progress) => this.#post({ type: "progress", progress }),
        fatal: (error) => this.#die(error),
        page: {
          open: (request) => this.#ask("open", request) as Promise<string>,
          read: (stream) => this.#ask("read", stream),
          abort: (stream) => this.#post({ type: "drop", stream }),
          progress: (text) => this.#post({ type: "progress", progress: JSON.parse(text) as BootProgress }),
        },
      });
      if (this.#stopped) return booted.bridge.destroy();
      this.#bridge = booted.bridge;
      this.#post({ type: "ready", versions: booted.versions });
    } catch (thrown) {
      this.#end(isUnspoolError(thrown) ? thrown : new UnspoolError("BOOT_FAILED", reasonText(thrown)));
    }
  }

  #open(call: number, request: string): void {
    this.#calls.set(call, this.#answer((bridge) => bridge.open(request)).then(openedAs));
  }

  async #pull(call: number): Promise<void> {
    const opened = await this.#calls.get(call);
    if (opened === undefined) return this.#batch(call, failure("UNKNOWN_CALL", `There is no call ${call}.`));
    if ("refusal" in opened) return this.#batch(call, opened.refusal);
    this.#batch(call, await this.#answer((bridge) => bridge.pull(opened.key)));
  }

  async #cancel(call: number): Promise<void> {
    const opened = await this.#calls.get(call);
    if (opened !== undefined && "key" in opened) await this.#answer((bridge) => bridge.cancel(opened.key));
  }

  async #close(call: number): Promise<void> {
    const opening = this.#calls.get(call);
    this.#calls.delete(call);
    const opened = await opening;
    if (opened !== undefined && "key" in opened) await this.#answer((bridge) => bridge.close(opened.key));
  }

  async #step({ stream, text }: ToHost & { type: "step" }): Promise<void> {
    this.#post({ type: "stepped", stream, text: await this.#answer((bridge) => bridge.step(text)) });
  }

  /** Call Python and give its answer; what it throws becomes an answer too, so that no message goes unanswered. */
  async #answer(use: (bridge: Bridge) => string | Promise<string>): Promise<string> {
    if (this.#bridge === undefined) return failure("BRIDGE_PROTOCOL", "Python has not started yet.");
    try {
      return await use(this.#bridge);
    } catch (thrown) {
      if (isFatal(thrown)) this.#die(thrown);
      return failure("BRIDGE_PROTOCOL", reasonText(thrown));
    }
  }

  #ask(op: "open" | "read", text: string): Promise<string | null> {
    if (this.#stopped) return Promise.reject(new UnspoolError("DISPOSED", "The connection was disposed of."));
    const ask = ++this.#lastAsk;
    return new Promise((resolve, reject) => {
      this.#asks.set(ask, { resolve, reject });
      this.#post({ type: "ask", ask, op, text });
    });
  }

  #takeAsk(ask: number): Ask | undefined {
    const found = this.#asks.get(ask);
    this.#asks.delete(ask);
    return found;
  }

  #dropAsks(error: UnspoolError): void {
    const asks = [...this.#asks.values()];
    this.#asks.clear();
    for (const ask of asks) ask.reject(error);
  }

  #batch(call: number, text: string): void {
    this.#post({ type: "batch", call, text });
  }

  #die(error: unknown): void {
    this.#end(new UnspoolError("WORKER_DIED", `The Python interpreter died: ${reasonText(error)}`));
  }

  #end(error: UnspoolError): void {
    this.#post({ type: "fatal", error: error.toWire() });
    this.#stopped = true;
  }

  #post(message: FromHost): void {
    if (!this.#stopped) this.#setup.post(message);
  }
}

function openedAs(text: string): Opened {
  try {
    const answer = JSON.parse(text) as { ok: boolean; value: { id: string } };
    return answer.ok ? { key: JSON.stringify({ id: answer.value.id }) } : { refusal: text };
  } catch (thrown) {
    return { refusal: failure("BRIDGE_PROTOCOL", `Python's answer to open is no answer: ${reasonText(thrown)}`) };
  }
}

function failure(code: string, message: string): string {
  return JSON.stringify({ ok: false, error: new UnspoolError(code, message).toWire() });
}

/** What a dedicated worker's global scope offers, as far as it is used here. */
export interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(type: "message" | "messageerror", listener: (event: { readonly data: unknown }) => void): void;
}

/** Make a dedicated module worker a host of Python. */
export function serveWorker(scope: WorkerScope): void {
  const host = new PythonHost({ post: (message) => scope.postMessage(tagged(message)), hold: holdLock });
  scope.addEventListener("message", (event) => host.receive(event.data));
  scope.addEventListener("messageerror", () =>
    host.fail(new UnspoolError("BRIDGE_PROTOCOL", "A message to the worker could not be decoded.")),
  );
}

async function holdLock(name: string): Promise<boolean> {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  if (locks === undefined) return false;
  return await new Promise((resolve) => {
    const lifetime = locks.request(name, () => {
      resolve(true);
      return new Promise(() => {});
    });
    lifetime.catch(() => resolve(false)); // opaque origins have the interface but no locks
  });
}
