/** Models that are functions on the page. Python pulls what they give, one piece at a time, and can stop them. */
import { UnspoolError, isUnspoolError, reasonText } from "./errors.js";
import { openSource, type OpenSource } from "./event-source.js";
import type { Message } from "./message.js";
import type { FromHost, ToHost } from "./wire.js";

/** What Python asks of a model: one call in neutral terms. */
export interface PageRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly reasoningEffort?: string;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly toolChoice?: string;
  /** With `protocol: "native"`: what the model is to hold its answer to. */
  readonly outputSchema?: {
    readonly name: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly strict: boolean;
  };
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Text, UTF-8 bytes of text (cut anywhere), one of our chunks, or one OpenAI chat completion chunk. */
export type PagePiece = string | Uint8Array | object;
export type PageAnswer = AsyncIterable<PagePiece> | Iterable<PagePiece> | ReadableStream<PagePiece>;
export type PageModel = (
  request: PageRequest,
  context: { readonly signal: AbortSignal },
) => PageAnswer | Promise<PageAnswer>;

/** One answer that is being read. */
interface Source {
  readonly model: string;
  readonly stop: AbortController;
  readonly decoder: TextDecoder;
  /** Undefined before the model has begun to answer, and once it is over. */
  pieces: OpenSource<PagePiece> | undefined;
}

type AskMessage = FromHost & { type: "ask" };

export class PageModels {
  readonly #post: (message: ToHost) => void;
  readonly #models = new Map<string, PageModel>();
  readonly #sources = new Map<string, Source>();
  /** What the functions have thrown: an error crosses to Python without its `cause`. */
  readonly #failures = new Map<string, unknown>();
  #last = 0;

  constructor(post: (message: ToHost) => void) {
    this.#post = post;
  }

  /** Make a function known; the name given back stands for it in a request. */
  add(model: PageModel): string {
    const name = `page-${++this.#last}`;
    this.#models.set(name, model);
    return name;
  }

  /** Forget a function and stop whatever it is still giving. */
  remove(name: string): void {
    this.#models.delete(name);
    this.#failures.delete(name);
    for (const [stream, source] of this.#sources) if (source.model === name) this.drop(stream);
  }

  /** Give what made a function fail; undefined for one that has not, and for the words of our own. */
  failure(name: string | undefined): unknown {
    return name === undefined ? undefined : this.#failures.get(name);
  }

  /** Stop everything: the connection is over. */
  clear(): void {
    for (const name of [...this.#models.keys()]) this.remove(name);
  }

  /** Stop one answer. */
  drop(stream: string): void {
    const source = this.#sources.get(stream);
    this.#sources.delete(stream);
    source?.stop.abort(new UnspoolError("ABORTED", "The call was stopped."));
  }

  /** Answer the host. Never rejects. */
  async answer({ ask, op, text }: AskMessage): Promise<void> {
    try {
      const value = op === "open" ? await this.#open(JSON.parse(text) as PageRequest) : await this.#read(text);
      this.#post({ type: "told", ask, value });
    } catch (thrown) {
      const error = isUnspoolError(thrown) ? thrown : new UnspoolError("PROVIDER", reasonText(thrown));
      this.#post({ type: "refused", ask, error: error.toWire() });
    }
  }

  async #open(request: PageRequest): Promise<string> {
    const model = this.#models.get(request.model);
    if (model === undefined) throw new UnspoolError("MODEL_NOT_FOUND", "The model function is not there any more.");
    const stream = `${request.model}.${++this.#last}`;
    const stop = new AbortController();
    const source: Source = { model: request.model, stop, decoder: new TextDecoder(), pieces: undefined };
    this.#sources.set(stream, source);
    const giving = (async () => await model(request, { signal: stop.signal }))();
    try {
      const pieces = reading(await unlessStopped(stop.signal, giving));
      source.pieces = pieces;
      stop.signal.addEventListener("abort", () => release(pieces), { once: true });
      return stream;
    } catch (thrown) {
      this.#sources.delete(stream);
      this.#failed(request.model, thrown);
      giving.then((late) => release(reading(late))).catch(() => {}); // an answer that comes after the stop
      throw thrown;
    }
  }

  #failed(model: string, thrown: unknown): void {
    const cause = isUnspoolError(thrown) ? thrown.cause : thrown;
    if (cause !== undefined && this.#models.has(model)) this.#failures.set(model, cause);
  }

  async #read(stream: string): Promise<string | null> {
    const source = this.#sources.get(stream);
    if (source === undefined) throw new UnspoolError("ABORTED", "The answer was stopped or is over.");
    const { pieces, decoder, stop } = source;
    try {
      const batch = pieces && (await unlessStopped(stop.signal, pieces.next()));
      if (batch !== undefined) return JSON.stringify(batch.map((piece) => pieceOf(piece, decoder)));
      source.pieces = undefined;
      const rest = decoder.decode(); // of a character that was cut by the end
      if (rest !== "") return JSON.stringify([rest]);
      this.#sources.delete(stream);
      return null;
    } catch (thrown) {
      this.#sources.delete(stream);
      this.#failed(source.model, thrown);
      if (pieces !== undefined) release(pieces);
      throw thrown;
    }
  }
}

/** Wait, but no longer than until the signal. What comes later is ignored. */
async function unlessStopped<T>(signal: AbortSignal, waited: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let onAbort!: () => void;
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([waited, stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A list is read one by one, so that a wrong piece takes nothing with it. */
function reading(answer: PageAnswer): OpenSource<PagePiece> {
  return openSource<PagePiece>(Array.isArray(answer) ? answer.values() : answer, "The answer of a model function");
}

function release(pieces: OpenSource<PagePiece>): void {
  void pieces.close(new UnspoolError("ABORTED", "The call was stopped.")).catch(() => {});
}

function pieceOf(value: unknown, decoder: TextDecoder): string | object {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return decoder.decode(value, { stream: true });
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UnspoolError(
    "INVALID_CHUNK",
    `A model function gave ${value === null ? "null" : typeof value}; it may give text, bytes or objects.`,
  );
}
