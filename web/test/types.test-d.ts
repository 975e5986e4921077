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
  type PageModel,
  type QueryStream,
  type StandardSchema,
  type StructuredEvent,
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
// @ts-expect-error an index is needed
void connect({});
// @ts-expect-error events are read only
saidStream.text = "x";
