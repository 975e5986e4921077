/** What a caller reads of one query: its events, the value that grows, or the elements of a list in it. */
import { OVER, type Call } from "./call.js";
import { leftBy } from "./disposing.js";
import { UnspoolError, invalid } from "./errors.js";
import type { FieldInvalid, Path, ProgressEvent, Repair, StructuredEvent, TerminalEvent } from "./events.js";
import type { Snapshots } from "./live-value.js";
import { PartialValue, type PartState } from "./partial-value.js";
import type { DeepPartial, ElementAt, ListPath } from "./partial-types.js";
import { isStandard, validator, type InferOutput, type StandardSchema } from "./schema.js";

/** A value while it is being written; a new object each time that something has come. */
export type PartialResult<T, Written = T> = {
  /**
   * Tell how far a part has come: a path, as a list of steps or with dots. Default: the whole. A field of a class of Python is
   * told by its name in the answer, or in the class. It looks at what has been read by now.
   */
  state(path?: Path | string): PartState;
  /** What has closed and cannot be right, of types of Python. */
  readonly invalid: readonly FieldInvalid[];
} & (
  | {
      readonly complete: false;
      /** What has arrived, not validated; undefined before it begins. A text may still be the beginning of one. */
      readonly value: DeepPartial<Written> | undefined;
    }
  | {
      readonly complete: true;
      /** The result. */
      readonly value: T;
    }
);

export interface PartialsOptions {
  /** "live" (default): one value that grows in place; "immutable": frozen values, which share what is as it was. */
  readonly snapshots?: Snapshots | undefined;
}

/** What is read of a query in place of its events. Leaving it stops the query. */
export type Reader<V> = AsyncIterableIterator<V> & AsyncDisposable;

/**
 * One query. Start: the first read. End: one terminal event, `return()`, or a rejected read. `T` is the type of the result,
 * `Written` that of what the model writes.
 */
export interface QueryStream<T, Written = T> extends AsyncIterableIterator<StructuredEvent<T>>, AsyncDisposable {
  /** The answer's text, as far as it has been read. */
  readonly text: string;
  /** The unvalidated value, as far as it has been read; undefined before it begins. It grows in place. */
  readonly partialValue: unknown;
  /** The terminal event, once it has been read: with the result, usage and finish reason, or the error. */
  readonly end: TerminalEvent<T> | undefined;
  /** What lenient reading has put right; known at the end. */
  readonly repairs: readonly Repair[];
  /**
   * Watch the value grow: once after each slice of the network that changed anything, and in the end with the result.
   * Rejects with the UnspoolError of a failed answer. In place of the events; throws INVALID_OPTIONS when the stream is read already.
   */
  partials(options?: PartialsOptions): Reader<PartialResult<T, Written>>;
  /**
   * Get the elements of one list of the answer, each as it closes. Of types of Python one that is known not to be valid is
   * passed over, and the error comes at the end; with `check: "stop"` at once. With an element's own Standard Schema, what its
   * `validate()` gives, and the first that it refuses ends the query. Rejects with the UnspoolError of a failed answer. In
   * place of the events; throws INVALID_OPTIONS when the stream is read already.
   *
   * `path`: where the list is, as a list of steps or with dots: `"report.items"`. Default: the answer itself.
   */
  items<const P extends ListPath = "">(path?: P & CheckedPath<Written, P>): Reader<ElementAt<Written, P>>;
  items<E extends StandardSchema>(path: ListPath, element: E): Reader<InferOutput<E>>;
  /**
   * Read the stream to its end and give the result, as `query` does; however much of it has been read in whatever way, and as
   * often as you like. Rejects with the UnspoolError of a failed answer, and with ABORTED when the stream was left before its end.
   */
  result(): Promise<T>;
  /** Stop the query: the request is aborted, and Python has let go of it when the promise settles. */
  return(): Promise<IteratorResult<StructuredEvent<T>, undefined>>;
}

type CheckedPath<T, P extends ListPath> = [ElementAt<T, P>] extends [never] ? never : unknown;

/** Closes the call of a stream that was dropped without being read to its end. */
const abandoned = new FinalizationRegistry<Call<never>>((call) => void call.close());

/** Make the stream that a caller holds. The connection knows only the call inside, so that dropping the stream shows. */
export function streamOf<T, Written = T>(call: Call<T>): QueryStream<T, Written> {
  let way: string | undefined;
  let note: ((event: StructuredEvent<T>) => void) | undefined;
  const take = (wanted: string): void => {
    if (way !== undefined) throw readAlready(way, wanted);
    if (call.hasBegun) throw invalid(`this stream was left: there is nothing for ${wanted} to read`);
    way = wanted;
    call.reading.judges = true;
  };
  const leave = async (): Promise<typeof OVER> => {
    await call.close();
    return OVER;
  };
  /** Read what is made of the events; whoever holds it, or waits for it, holds the stream. */
  const reader = <V>(read: Read<V>): Reader<V> => {
    const iterator: AsyncIterableIterator<V> = {
      [Symbol.asyncIterator]: () => iterator,
      next: () => call.inOrder(read).finally(() => stream),
      return: leave,
    };
    return leftBy(iterator, leave);
  };
  const events: Omit<QueryStream<T, Written>, typeof Symbol.asyncDispose> = {
    [Symbol.asyncIterator]: () => stream,
    next: () => {
      way ??= EVENTS;
      if (way !== EVENTS) return Promise.reject(readAlready(way, EVENTS));
      return call.inOrder(() => call.step()).finally(() => stream); // a stream that somebody waits for is not dropped
    },
    partials({ snapshots = "live" } = {}) {
      if (snapshots !== "live" && snapshots !== "immutable")
        throw invalid('snapshots must be "live" or "immutable"');
      take("partials()");
      return reader(partialsOf<T, Written>(call, snapshots));
    },
    items(path: ListPath = "", element?: StandardSchema): Reader<never> {
      if (element !== undefined && !isStandard(element)) throw invalid("the element's schema must be a Standard Schema");
      if (call.isText) throw invalid("there is no list in a text");
      const list = stepsOf(path);
      take("items()");
      call.reading.items = list;
      const items = itemsOf(call, list, element);
      note = items.take;
      return reader(items.read as Read<never>);
    },
    result: () => {
      if (call.end === undefined && (way === undefined || way === EVENTS)) way = "result()";
      return call.inOrder(() => call.result(note)).finally(() => stream);
    },
    return: leave,
    get text() {
      return call.text;
    },
    get partialValue() {
      return call.partial.value;
    },
    get end() {
      return call.end;
    },
    get repairs() {
      return call.repairs;
    },
  };
  const stream: QueryStream<T, Written> = leftBy(events, leave);
  abandoned.register(stream, call as unknown as Call<never>);
  return stream;
}

const EVENTS = "events";

/** A second reader would miss what the first has read. */
function readAlready(way: string, wanted: string): UnspoolError {
  const left = "its result is in result(), however it is read";
  return invalid(`this stream is read by ${way} already, so that ${wanted} cannot have it; ${left}`);
}

type Read<V> = () => Promise<IteratorResult<V, undefined>>;

/** Read without a terminal event: a failure is thrown, once, after what came before it. */
function batchesOf<T>(call: Call<T>): () => Promise<StructuredEvent<T>[] | undefined> {
  let isThrown = false;
  return async () => {
    const { end } = call;
    if (end === undefined || !("error" in end) || isThrown) return await call.batch();
    isThrown = true;
    throw end.error;
  };
}

function partialsOf<T, Written>(call: Call<T>, snapshots: Snapshots): Read<PartialResult<T, Written>> {
  const read = batchesOf(call);
  const shown = snapshots === "live" ? call.partial : new PartialValue("immutable");
  const state = (path: Path | string = []): PartState => {
    const here: (string | number)[] = [];
    for (const step of stepsOf(path)) {
      const names = [step, ...(call.names.get(step) ?? [])];
      here.push(names.find((name) => call.partial.state([...here, name]) !== "absent") ?? step);
    }
    const found = call.partial.state(here);
    return found === "growing" && call.end?.type === "generationComplete" ? "complete" : found;
  };
  let isComplete = false;
  return async () => {
    for (;;) {
      const events = await read();
      const { end } = call;
      if (events === undefined && (isComplete || end?.type !== "generationComplete")) return OVER;
      const progress = (events ?? []).filter((event): event is ProgressEvent => !("result" in event || "error" in event));
      if (shown !== call.partial) shown.apply(...progress);
      const common = { state, invalid: [...call.invalid] };
      if (end?.type === "generationComplete") {
        isComplete = true;
        return { done: false, value: { ...common, complete: true, value: end.result } };
      }
      if (!progress.some(({ type }) => call.isText || type !== "textDelta")) continue;
      const value = (call.isText ? call.text : shown.value) as DeepPartial<Written> | undefined;
      return { done: false, value: { ...common, complete: false, value } };
    }
  };
}

interface Items<T> {
  readonly read: Read<unknown>;
  /** Take notice of an event that somebody else has read. */
  readonly take: (event: StructuredEvent<T>) => void;
}

function itemsOf<T>(call: Call<T>, list: Path, element: StandardSchema | undefined): Items<T> {
  const read = batchesOf(call);
  const validate = element && validator(element);
  let ready: { readonly number: number; readonly value: unknown }[] = [];
  let refused: number | undefined;
  const isNamed = (found: string | number, step: string | number): boolean =>
    found === step || call.names.get(step)?.includes(String(found)) === true;
  const take = (event: StructuredEvent<T>): void => {
    if (event.type !== "fieldEnd" && event.type !== "fieldInvalid") return;
    const number = event.path[list.length];
    if (typeof number !== "number" || !list.every((step, n) => isNamed(event.path[n]!, step))) return;
    if (event.type === "fieldInvalid") {
      refused = number; // a fault is told before its element closes, or with that
      ready = ready.filter((item) => item.number !== number);
    } else if (event.path.length === list.length + 1 && number !== refused) ready.push({ number, value: event.value });
  };
  const next: Read<unknown> = async () => {
    for (;;) {
      const item = ready.shift();
      if (item !== undefined) {
        const checked = validate === undefined ? item : await validate(item.value);
        if ("value" in checked) return { done: false, value: checked.value };
        ready = [];
        const issues = checked.issues.map(({ path, message }) => ({ path: [...list, item.number, ...path], message }));
        call.ended("parsingFailed", new UnspoolError("OUTPUT_INVALID", checked.message, { issues, cause: checked.cause }));
      }
      const events = await read();
      if (events === undefined) return OVER;
      events.forEach(take);
    }
  };
  return { read: next, take };
}

function stepsOf(path: unknown): Path {
  if (typeof path === "string")
    return path === "" ? [] : path.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  if (Array.isArray(path) && path.every((step) => typeof step === "string" || typeof step === "number")) return path;
  throw invalid("path must be a list of names and numbers, or a text with dots");
}
