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
  type BedrockModel,
  type CompletionOptions,
  type ConnectOptions,
  type GenerationOptions,
  type Message,
  type ModelCallOptions,
  type OpenAIChatModel,
  type Part,
  type PartState,
  type Patch,
  type PageModel,
  type PoolOptions,
  type PromptMessage,
  type QueryOptions,
  type QueryStream,
  type ReadStructuredOptions,
  type Reply,
  type ScriptedModel,
  type SessionOptions,
  type StandardSchema,
  type StructuredAdapter,
  type StructuredCompletion,
  type StructuredEvent,
  type StructuredSession,
  type StructuredStream,
  type StructuredUpdate,
  type StreamState,
  type Tool,
  type Unspool,
  type UnspoolError,
  type WholeQueryOptions,
  type WllamaModel,
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
is<Equal<typeof zodStream, QueryStream<{ n: number; tag?: string | undefined }, { n: string; tag?: string | undefined }>>>();

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

// Partials: of what the model writes, until it is the result.
async function watch(): Promise<void> {
  const schema = z.object({
    kind: z.enum(["a", "b"]),
    when: z.string().transform((text) => new Date(text)),
    rows: z.array(z.object({ n: z.number(), tags: z.array(z.string()) })).nullable(),
  });
  const stream = us.queryStream({ ...ask, schema });
  const result = await stream.result();
  is<Equal<typeof result, z.output<typeof schema>>>();
  for await (const partial of stream.partials()) {
    if (partial.complete) {
      is<Equal<typeof partial.value.when, Date>>();
      continue;
    }
    is<Equal<NonNullable<typeof partial.value>["kind"], string | undefined>>();
    is<Equal<NonNullable<typeof partial.value>["when"], string | undefined>>();
    const rows = partial.value?.rows;
    is<Equal<typeof rows, { n?: number; tags?: string[] }[] | null | undefined>>();
    is<Equal<ReturnType<typeof partial.state>, PartState>>();
  }
  for await (const row of stream.items("rows")) is<Equal<typeof row, { n: number; tags: string[] }>>();
  for await (const tag of stream.items("rows.0.tags")) is<Equal<typeof tag, string>>();
  for await (const tag of stream.items(["rows", 0, "tags"])) is<Equal<typeof tag, string>>();
  for await (const row of stream.items("rows", z.object({ n: z.number().transform(String) })))
    is<Equal<typeof row, { n: string }>>();
  // @ts-expect-error there is no list
  stream.items("kind");
  // @ts-expect-error a misspelling
  stream.items("row");
  for await (const none of stream.items()) is<Equal<typeof none, never>>();
  const somewhere: string = String(1);
  for await (const item of stream.items(somewhere)) is<Equal<typeof item, unknown>>();
  for await (const item of us.queryStream({ ...ask, schema: "m:T" }).items("rows")) is<Equal<typeof item, unknown>>();
  for await (const item of us.queryStream<{ n: 1 }[]>({ ...ask, schema: "m:T" }).items())
    is<Equal<typeof item, { n: 1 }>>();
  for await (const { value } of us.queryStream(ask).partials()) is<Equal<typeof value, string | undefined>>();
  for await (const { value } of us.queryStream({ ...ask, schema: "m:T" }).partials()) is<Equal<typeof value, unknown>>();
}
void watch;

// What a query gives.
const answered = us.query({ ...ask, schema: zodSchema, returnsMessage: true, maxRepairs: 2 });
is<
  Equal<
    Awaited<typeof answered>,
    { readonly value: { n: number; tag?: string | undefined }; readonly message: Message }
  >
>();
const orNull = us.query({ ...ask, schema: valibotStandard(), default: null });
is<Equal<Awaited<typeof orNull>, { city: string } | null>>();
function valibotStandard() {
  return { standard: valibotSchema, jsonSchema: {} };
}
void us.query({ ...ask, schema: zodSchema, examples: [["q", { n: "5" }]] });
void us.query({ ...ask, examples: [["q", "a text"]] });
void us.queryStream({ ...ask, schema: "m:T", check: "stop", examples: [[[{ role: "user", content: "q" }], { any: 1 }]] });

// What is missing of a value: of types of Python, so what the caller says.
const known = { value: { name: "Lima" }, schema: "models:City", lm: ask.lm } as const;
const whole = us.complete<{ name: string }>({ ...known, maxRepairs: 2, examples: [["q", { any: 1 }]] });
is<Equal<typeof whole, Promise<{ name: string }>>>();
const guessed = us.complete(known);
is<Equal<typeof guessed, Promise<unknown>>>();
const withMessage = us.complete<{ n: number }, true>({ ...known, value: [{}], returnsMessage: true });
is<Equal<Awaited<typeof withMessage>, { readonly value: { n: number }; readonly message: Message | undefined }>>();

// Calls.
const called = us.call({ ...ask, tools: [{ name: "f", parameters: { type: "object" } }], toolChoice: "f" });
is<Equal<typeof called, Promise<Reply>>>();
async function roundTrip(): Promise<PromptMessage[]> {
  const { message, toolCalls } = await called;
  const results = toolCalls.map((call): Part => {
    if (call.truncated) throw new Error(call.id);
    is<Equal<typeof call.args, Readonly<Record<string, unknown>>>>();
    return { type: "toolResult", callId: call.id, text: "done" };
  });
  return [{ role: "user", content: [{ type: "text", text: "q" }] }, message, { role: "tool", parts: results }];
}
void roundTrip;

// What is undefined is left out, under exactOptionalPropertyTypes as well.
type Vague<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] };
declare const vagueQuery: Vague<QueryOptions<undefined>>;
void us.queryStream(vagueQuery).partials({ snapshots: undefined });
declare const vagueWhole: Vague<WholeQueryOptions<undefined, false>>;
void us.query(vagueWhole);
void us.query({ ...ask, signal: undefined, schema: zodSchema, options: undefined, maxRepairs: undefined });
declare const vagueCompletion: Vague<CompletionOptions<false>>;
void us.complete(vagueCompletion);
declare const vagueCall: Vague<ModelCallOptions>;
void us.call(vagueCall);
declare const vagueConnect: Vague<ConnectOptions>;
void connect(vagueConnect);
declare const vague: {
  generation: Vague<GenerationOptions>;
  tool: Vague<Tool>;
  model: Vague<OpenAIChatModel>;
  bedrock: Vague<BedrockModel>;
  wllama: Vague<WllamaModel>;
  scripted: Vague<ScriptedModel>;
  pool: Vague<PoolOptions>;
  session: Vague<SessionOptions>;
  message: Vague<Message>;
};
const precise: {
  generation: GenerationOptions;
  tool: Tool;
  model: OpenAIChatModel;
  bedrock: BedrockModel;
  wllama: WllamaModel;
  scripted: ScriptedModel;
  pool: PoolOptions;
  session: SessionOptions;
  message: Message;
} = vague;
void precise;
declare const vagueRead: Vague<ReadStructuredOptions & { readonly integration: "openai" }>;
void us.readStructured([], vagueRead);

// Blocks that end them.
async function blocks(): Promise<void> {
  using held: Disposable = await connect(options);
  await using stream: AsyncDisposable = us.queryStream(ask);
  await using partials: AsyncDisposable = us.queryStream(ask).partials();
  using text: Disposable = us.createStructuredStream();
  using session: Disposable = us.createStructuredStream("openai");
  void [held, stream, partials, text, session];
}
void blocks;

// Models.
const onPage: PageModel = async function* (request, { signal }) {
  is<Equal<typeof signal, AbortSignal>>();
  yield request.messages.length.toString();
};
void us.query({ prompt: "p", lm: onPage });
void us.query({ prompt: "p", lm: () => ["a"] });
void us.query({ prompt: "p", lm: async (_, { signal }) => (await fetch("/x", { signal })).body! });
void us.query({ prompt: [{ role: "user", content: "hi" }], lm: { object: "models:lm" } });
void us.query({ prompt: "p", lm: { provider: "openai-chat", model: "m", apiKey: async () => "k", timeoutS: 5 } });
void us.query({ prompt: "p", lm: { provider: "openai-chat", profile: "ollama", model: "m", imageInput: false } });
void us.query({ prompt: "p", lm: { provider: "anthropic", model: "m" }, options: { reasoningEffort: "low" } });

void us.query({ prompt: "p", lm: { provider: "bedrock", model: "m", region: "eu-west-1" } });
void us.query({ prompt: "p", lm: { provider: "cohere", model: "m", apiKey: "k" } });
void us.query({ prompt: "p", lm: { provider: "ollama", model: "m", idleTimeoutS: null } });
void us.query({ prompt: "p", lm: { provider: "wllama", modelUrl: "/m.gguf", nCtx: 4096 } });

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
  event.kind === "begin" ? [{ type: "start" as const, id: event.id, name: "weather" }] : [],
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
    is<Equal<typeof update.name, string | undefined>>();
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
// @ts-expect-error there is no such provider
void us.query({ prompt: "p", lm: { provider: "openapi", model: "m" } });
// @ts-expect-error a region is Bedrock's
void us.query({ prompt: "p", lm: { provider: "openai", model: "m", region: "r" } });
// @ts-expect-error the value of an example is what the model is to write
void us.query({ ...ask, schema: zodSchema, examples: [["q", { n: 5 }]] });
// @ts-expect-error a type of Python is needed
void us.complete({ ...known, schema: zodSchema });
// @ts-expect-error a value is needed
void us.complete({ schema: "models:City", lm: onPage });
// @ts-expect-error a text has no parts
void us.complete({ ...known, value: "Lima" });
// @ts-expect-error a stream asks once
void us.queryStream({ ...ask, maxRepairs: 1 });
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
