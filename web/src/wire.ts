/**
 * Every message between the page and the host of Python: plain JSON-cloneable data, one closed union for each direction.
 *
 * Payloads are JSON *text* inside a message: Python makes it, the page decodes it with one `JSON.parse`, and nothing in
 * between looks inside. Messages without our tag are not ours and are ignored; messages with it that are otherwise wrong
 * end the connection.
 */
import type { UnspoolError, WireError } from "./errors.js";

/** Version of this file's shapes. Page and worker must come from the same release. */
export const PROTOCOL = 1;

/** What the host needs to start Python. URLs are absolute. */
export interface BootOptions {
  readonly indexURL: string;
  readonly lockFileURL?: string;
  /** Names in the lock file, or absolute URLs of wheels. */
  readonly packages: readonly string[];
  /** Python modules to register: name to source text. */
  readonly modules: Readonly<Record<string, string>>;
}

/** "model" comes later: a query waits for the file of a model in the page. */
export type BootStage = "runtime" | "packages" | "import" | "ready" | "model";

export interface BootProgress {
  readonly stage: BootStage;
  /** File that has just arrived, or what Pyodide's package loader says. */
  readonly detail?: string;
  /** Bytes of runtime and packages, or of the model's file, that have arrived so far, as far as the browser tells. */
  readonly loadedBytes: number;
  /** Size of the model's file, when it is known. */
  readonly totalBytes?: number;
}

export interface Versions {
  readonly unspool: string;
  readonly pyodide: string;
}

/** Page → host. `call` numbers are the page's; `lock` is the Web Lock that the worker is to hold while it lives. */
export type ToHost =
  | { readonly type: "boot"; readonly options: BootOptions; readonly lock: string }
  | { readonly type: "open"; readonly call: number; readonly request: string }
  | { readonly type: "pull"; readonly call: number }
  | { readonly type: "cancel"; readonly call: number }
  | { readonly type: "close"; readonly call: number }
  | { readonly type: "step"; readonly stream: number; readonly text: string }
  | { readonly type: "told"; readonly ask: number; readonly value: string | null }
  | { readonly type: "refused"; readonly ask: number; readonly error: WireError }
  | { readonly type: "ping" };

/** Host → page. `batch` answers one `pull`, `stepped` one `step`; `ask` wants a model of the page and is answered by `told` or `refused`. */
export type FromHost =
  | { readonly type: "alive"; readonly locked: boolean }
  | { readonly type: "progress"; readonly progress: BootProgress }
  | { readonly type: "ready"; readonly versions: Versions }
  | { readonly type: "batch"; readonly call: number; readonly text: string }
  | { readonly type: "closed"; readonly call: number }
  | { readonly type: "stepped"; readonly stream: number; readonly text: string }
  | { readonly type: "ask"; readonly ask: number; readonly op: "open" | "read"; readonly text: string }
  | { readonly type: "drop"; readonly stream: string }
  | { readonly type: "fatal"; readonly error: WireError }
  | { readonly type: "pong" };

/** The other end of the boundary, as the page sees it: a worker, or Python in the page itself. */
export interface Host {
  post(message: ToHost): void;
  /** Stop at once. Nothing is reported afterwards. Idempotent. */
  terminate(): void;
}

/** Where a host reports to. After `died` it is gone and says nothing more. */
export interface HostEvents {
  message(message: FromHost): void;
  died(error: UnspoolError): void;
}

export type Tagged<M> = M & { readonly unspool: typeof PROTOCOL };

const TO_HOST: Shapes<ToHost> = {
  boot: { options: "object", lock: "string" },
  open: { call: "number", request: "string" },
  pull: { call: "number" },
  cancel: { call: "number" },
  close: { call: "number" },
  step: { stream: "number", text: "string" },
  told: { ask: "number", value: "string|null" },
  refused: { ask: "number", error: "object" },
  ping: {},
};

const FROM_HOST: Shapes<FromHost> = {
  alive: { locked: "boolean" },
  progress: { progress: "object" },
  ready: { versions: "object" },
  batch: { call: "number", text: "string" },
  closed: { call: "number" },
  stepped: { stream: "number", text: "string" },
  ask: { ask: "number", op: "string", text: "string" },
  drop: { stream: "string" },
  fatal: { error: "object" },
  pong: {},
};

type Shapes<M extends { type: string }> = {
  readonly [K in M["type"]]: { readonly [F in Exclude<keyof Extract<M, { type: K }>, "type">]: string };
};

/** Put our tag on a message. */
export function tagged<M extends ToHost | FromHost>(message: M): Tagged<M> {
  return { unspool: PROTOCOL, ...message };
}

export const isToHost = reader<ToHost>(TO_HOST);
export const isFromHost = reader<FromHost>(FROM_HOST);

/** Thrown for a message that carries our tag and is wrong. */
export class WireFault extends Error {}

/** Make the check of one direction: true for a message of ours, false for somebody else's. Throws WireFault. */
function reader<M extends { type: string }>(shapes: Shapes<M>): (data: unknown) => data is Tagged<M> {
  return (data): data is Tagged<M> => {
    if (typeof data !== "object" || data === null || !("unspool" in data)) return false;
    const message = data as Record<string, unknown>;
    if (message["unspool"] !== PROTOCOL) {
      throw new WireFault(
        `The page speaks protocol ${PROTOCOL}, the other side ${String(message["unspool"])}: they are of two releases.`,
      );
    }
    const type = message["type"];
    if (typeof type !== "string" || !Object.hasOwn(shapes, type))
      throw new WireFault(`Unknown message ${String(type)}.`);
    for (const [field, wanted] of Object.entries(shapes[type as M["type"]])) {
      const value = message[field];
      const found = value === null ? "null" : typeof value;
      if (!(wanted as string).split("|").includes(found)) {
        throw new WireFault(`Message ${type}: ${field} is ${found}, not ${String(wanted)}.`);
      }
    }
    return true;
  };
}
