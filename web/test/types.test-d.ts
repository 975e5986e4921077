/** What the compiler must say; nothing here runs. */
import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import type { PyodideAPI } from "pyodide";
import * as v from "valibot";
import { z } from "zod";
import type { Pyodide } from "../lib/boot.js";
import {
  connect,
  isUnspoolError,
  type ConnectOptions,
  type Patch,
  type PageModel,
  type QueryStream,
  type StandardSchema,
  type StructuredAdapter,
  type StructuredCompletion,
  type StructuredEvent,
  type StructuredSession,
  type StructuredStream,
  type StructuredUpdate,
  type StreamState,
  type Unspool,
  type UnspoolError,
  type WorkerLike,
} from "../lib/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<_ extends true>(): void {}

declare const us: Unspool;
const ask = { prompt: "p", lm: { provider: "openai-chat", model: "m" } } as const;

// Standard Schema objects: the output type is the result.
const zodSchema = z.object({ n: z.string().transform(Number), tag: z.string().optional() });
const zodResult = us.query({ ...ask, schema: zodSchema });
is<Equal<typeof zodResult, Promise<{ n: number; tag?: string | undefined }>>>();

const valibotSchema = v.object({ city: v.string() });
const valibotResult = us.query({ ...ask, schema: { standard: valibotSchema, jsonSchema: {} } });
is<Equal<typeof valibotResult, Promise<{ city: string }>>>();
void us.query({
  ...ask,
  schema: { standard: valibotSchema, jsonSchema: toJsonSchema(valibotSchema) as Record<string, unknown> },
});

const arkResult = us.query({ ...ask, schema: type({ city: "string", "year?": "number" }) });
is<Equal<Awaited<typeof arkResult>, { city: string; year?: number }>>();

const zodStream = us.queryStream({ ...ask, schema: zodSchema });
is<Equal<typeof zodStream, QueryStream<{ n: number; tag?: string | undefined }>>>();

// Text.
const text = us.query(ask);
is<Equal<typeof text, Promise<string>>>();
is<Equal<ReturnType<typeof textStream>, QueryStream<string>>>();
const textStream = () => us.queryStream({ ...ask, system: "s" });

// JSON Schema and types of Python: unknown, or what the caller says.
const untyped = us.query({ ...ask, schema: { type: "object", properties: {} } });
is<Equal<typeof untyped, Promise<unknown>>>();
const said = us.query<{ a: number }>({ ...ask, schema: "models:Answer" });
is<Equal<typeof said, Promise<{ a: number }>>>();
const saidStream = us.queryStream<{ a: number }>({ ...ask, schema: "models:Answer" });
is<Equal<typeof saidStream, QueryStream<{ a: number }>>>();

// Events narrow by their tag.
async function read(stream: AsyncIterable<StructuredEvent<{ a: number }>>): Promise<void> {
  for await (const event of stream) {
    if (event.type === "generationComplete") is<Equal<typeof event.result, { a: number }>>();
    else if (event.type === "textDelta") is<Equal<typeof event.delta, string>>();
    else if ("error" in event) is<Equal<typeof event.error, UnspoolError>>();
  }
}
void read(saidStream);

// Models.
const onPage: PageModel = async function* (request, { signal }) {
  is<Equal<typeof signal, AbortSignal>>();
  yield request.messages.length.toString();
};
void us.query({ prompt: "p", lm: onPage });
void us.query({ prompt: "p", lm: () => ["a"] });
void us.query({ prompt: "p", lm: async (_, { signal }) => (await fetch("/x", { signal })).body! });
void us.query({ prompt: [{ role: "user", content: "hi" }], lm: { object: "models:lm" } });
void us.query({ prompt: "p", lm: { provider: "openai-chat", apiKey: async () => "k", timeoutS: 5 } });
void us.query({ prompt: "p", lm: { provider: "openai-chat", profile: "ollama", model: "m", imageInput: false } });
void us.query({ prompt: "p", lm: { provider: "anthropic", model: "m" }, options: { reasoningEffort: "low" } });

// Incremental streams.
const jsonText = us.createStructuredStream({ snapshots: "immutable", maxBytes: 1 });
is<Equal<typeof jsonText, StructuredStream>>();
const pushed = jsonText.push("1");
is<Equal<typeof pushed, Promise<StreamState>>>();
const pool = us.createStructuredStreamPool<number>({ maxActiveStreams: 2 });
const ended = pool.finish(1, "{}");
is<Equal<typeof ended, Promise<StructuredCompletion<number>>>>();
type Weather = { kind: "begin"; id: number } | { kind: "ping" };
const weather = us.defineAdapter((event: Weather) =>
  event.kind === "begin" ? [{ type: "start" as const, id: event.id }] : [],
);
is<Equal<typeof weather, StructuredAdapter<Weather, number>>>();
const bySession = us.createStructuredStream(weather);
is<Equal<typeof bySession, StructuredSession<Weather, number>>>();
const byName = us.createStructuredStream("vercel-ai", { onDiagnostic: ({ code }) => void code });
is<Equal<typeof byName, StructuredSession<unknown, string>>>();
declare const weatherEvents: ReadableStream<Weather>;
async function readCalls(): Promise<void> {
  for await (const update of us.readStructured(weatherEvents, { adapter: weather, limits: { snapshots: "live" } })) {
    is<Equal<typeof update, StructuredUpdate<number>>>();
    if (update.type === "complete") is<Equal<typeof update.text, string>>();
    if ("value" in update) is<Equal<typeof update.value, unknown>>();
  }
  for await (const { id, changes } of us.readStructured(new Set([{ type: "x" }]), { integration: "openai-chat" })) {
    is<Equal<typeof id, string>>();
    for (const patch of changes) if (patch.op === "append") is<Equal<typeof patch.value, string>>();
    is<Equal<typeof changes, readonly Patch[]>>();
  }
}
void readCalls;

// Where Python lives.
declare const options: ConnectOptions;
void connect({ ...options, worker: new Worker("w.js") });
void connect({ ...options, worker: false, indexURL: new URL("https://x/") });
const like: WorkerLike = new Worker("w.js");
void like;

// The parts of other packages that we rely on.
declare const pyodide: PyodideAPI;
const used: Omit<Pyodide, "_api"> = pyodide;
void used;
const standard: StandardSchema[] = [zodSchema, valibotSchema, type("string")];
void standard;

declare const thrown: unknown;
if (isUnspoolError(thrown)) is<Equal<typeof thrown, UnspoolError>>();

// @ts-expect-error a type name has a colon
void us.query({ ...ask, schema: "Answer" });
// @ts-expect-error a model is needed
void us.query({ prompt: "p" });
// @ts-expect-error a prompt is needed
void us.queryStream({ lm: onPage });
// @ts-expect-error there is no such protocol
void us.query({ ...ask, protocol: "xml" });
// @ts-expect-error a signal is an AbortSignal
void us.query({ ...ask, signal: new AbortController() });
// @ts-expect-error there is no such integration
void us.readStructured([], { integration: "nobody" });
// @ts-expect-error a source of events is needed
void us.readStructured({ type: "one event" }, { integration: "openai" });
// @ts-expect-error one of integration and adapter
void us.readStructured([], {});
// @ts-expect-error the adapter's events are others
void us.readStructured([{ kind: "other" as const }], { adapter: weather });
// @ts-expect-error there is no such mode
void us.createStructuredStream({ snapshots: "frozen" });
// @ts-expect-error an id of the pool is a number
void pool.start("a");
// @ts-expect-error a delta has text
us.defineAdapter(() => [{ type: "delta", id: 1 }]);
// @ts-expect-error an index is needed
void connect({});
// @ts-expect-error events are read only
saidStream.text = "x";
