/**
 * The page's line to incremental streams in Python. Steps that are ready together go in one message, and a stream has one
 * message on its way at a time, so that what comes meanwhile goes together again.
 */
import { UnspoolError, fromWire, type WireError } from "./errors.js";
import type { Path } from "./events.js";
import type { Patch } from "./live-value.js";
import type { ToHost } from "./wire.js";

/** What Python is to open: kind, options, and for a session its integration. */
export interface Opening {
  readonly kind: "text" | "pool" | "session";
  readonly options: Readonly<Record<string, unknown>>;
  readonly integration?: string;
}

export interface WireUpdate {
  readonly type: "start" | "update" | "complete";
  readonly id: unknown;
  readonly name?: string;
  readonly changes: readonly Patch[];
  readonly bytesSeen: number;
  readonly depth: number;
  readonly complete: boolean;
  readonly inString: boolean;
  readonly text?: string;
}

export interface WireDiagnostic {
  readonly code: "NO_TOOL_EVENTS" | "UNMATCHED_TOOL_EVENT" | "STREAM_ERROR";
  readonly message: string;
  readonly adapter: string;
  readonly eventType?: string;
  readonly id?: unknown;
}

/** Python's answer to one step: updates or a value, or an error. */
export interface StepAnswer {
  readonly updates?: readonly WireUpdate[];
  readonly value?: boolean;
  readonly error?: WireError;
  readonly diagnostics?: readonly WireDiagnostic[];
  /** The ids of all open calls, when some were dropped without an update. */
  readonly open?: readonly unknown[];
}

interface Waiting {
  readonly step: string;
  resolve(answer: StepAnswer): void;
  reject(error: UnspoolError): void;
}

const MAX_MESSAGE_CHARS = 4 * 1024 * 1024;

/** The streams of one connection. */
export class PythonStreams {
  readonly #post: (message: ToHost) => void;
  readonly #streams = new Map<number, PythonStream>();
  #failure: UnspoolError | undefined;
  #last = 0;

  constructor(post: (message: ToHost) => void) {
    this.#post = post;
  }

  /** Make a stream. Python hears of it with its first step. */
  open(opening: Opening): PythonStream {
    const id = ++this.#last;
    const stream = new PythonStream(opening, {
      send: (message) => {
        if (this.#failure !== undefined) return stream.close(this.#failure);
        this.#streams.set(id, stream);
        this.#post({ type: "step", stream: id, text: `{"id":${id},${message}}` });
      },
      forget: () => {
        if (this.#streams.delete(id)) this.#post({ type: "step", stream: id, text: `{"id":${id},"close":true}` });
      },
    });
    return stream;
  }

  /** The host's answer to the steps of a stream; one that is closed by now is no more. */
  answer(stream: number, text: string): void {
    this.#streams.get(stream)?.answer(text);
  }

  /** The connection is over. */
  fail(error: UnspoolError): void {
    this.#failure = error;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.close(error);
  }
}

interface Line {
  send(message: string): void;
  forget(): void;
}

/** One stream in Python. */
export class PythonStream {
  readonly #line: Line;
  #opening: Opening | undefined;
  #failure: UnspoolError | undefined;
  #queue: Waiting[] = [];
  #sent: Waiting[] = [];
  #scheduled = false;

  constructor(opening: Opening, line: Line) {
    this.#opening = opening;
    this.#line = line;
  }

  /** Have a step (JSON text) taken, after those before it. Rejects when the stream is closed or the connection ends. */
  step(step: string): Promise<StepAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#queue.push({ step, resolve, reject });
      if (this.#scheduled || this.#sent.length > 0) return;
      this.#scheduled = true;
      queueMicrotask(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
  }

  answer(text: string): void {
    const sent = this.#sent;
    this.#sent = [];
    let answers: readonly StepAnswer[];
    try {
      answers = readAnswers(text, sent.length);
    } catch (thrown) {
      this.#sent = sent;
      return this.close(
        thrown instanceof UnspoolError
          ? thrown
          : new UnspoolError("BRIDGE_PROTOCOL", "Python's answer is no answer.", { cause: thrown }),
      );
    }
    for (const [n, { resolve }] of sent.entries()) resolve(answers[n]!);
    this.#flush();
  }

  /** Have Python drop the stream. What waits rejects, and so does what comes later. Idempotent: the first reason stays. */
  close(error = new UnspoolError("STREAM_DISPOSED", "The stream was closed.")): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#line.forget();
    const waiting = [...this.#sent, ...this.#queue];
    this.#sent = this.#queue = [];
    for (const { reject } of waiting) reject(error);
  }

  #flush(): void {
    if (this.#failure !== undefined || this.#queue.length === 0) return;
    let chars = 0;
    let count = 0;
    while (count < this.#queue.length && (count === 0 || chars < MAX_MESSAGE_CHARS))
      chars += this.#queue[count++]!.step.length;
    this.#sent = this.#queue.splice(0, count);
    const steps = `"steps":[${this.#sent.map(({ step }) => step).join(",")}]`;
    const opening = this.#opening;
    this.#opening = undefined;
    this.#line.send(opening === undefined ? steps : `"open":${JSON.stringify(opening)},${steps}`);
  }
}

function readAnswers(text: string, wanted: number): readonly StepAnswer[] {
  const answer = JSON.parse(text) as { ok?: unknown; value?: { answers?: unknown }; error?: unknown };
  if (answer.ok === false) throw fromWire(answer.error);
  const answers = answer.value?.answers;
  if (answer.ok !== true || !Array.isArray(answers) || answers.length !== wanted)
    throw new UnspoolError("BRIDGE_PROTOCOL", "Python did not answer each step.");
  for (const { updates } of answers as StepAnswer[]) for (const { changes } of updates ?? []) placePatches(changes);
  return answers as StepAnswer[];
}

/** Give the patches their whole paths: Python sends them after the first `keep` steps of the path before. */
function placePatches(patches: readonly Patch[]): void {
  let before: Path = [];
  for (const patch of patches as readonly { path: Path; keep?: number }[]) {
    if (patch.keep !== undefined) {
      patch.path = [...before.slice(0, patch.keep), ...patch.path];
      delete patch.keep;
    }
    before = patch.path;
  }
}
