/** A query that is waited for: it may ask again with what was wrong, and have a value for an answer that stayed so. */
import { Call, type CallHome } from "./call.js";
import { UnspoolError, invalid } from "./errors.js";
import type { TerminalEvent } from "./events.js";
import type { Message, Usage } from "./message.js";
import { prepareQuery, QUERY_OPTIONS, refuseUnknown, type Fault, type Prompt, type QueryOptions } from "./request.js";
import type { SchemaInput, TypeName } from "./schema.js";

const MAX_REPAIRS = 8;
const OF_WHOLE = ["maxRepairs", "default"] as const;
const COUNTS = ["inputTokens", "outputTokens", "totalTokens", "cachedInputTokens", "reasoningTokens"] as const;

export interface WholeQueryOptions<
  S extends SchemaInput | undefined = SchemaInput | undefined,
  M extends boolean = boolean,
  D = unknown,
> extends QueryOptions<S> {
  /** Give `{ value, message }` instead of the value: the message of the answer, whose `usage` is the sum of all attempts. */
  readonly returnsMessage?: M | undefined;
  /** How often the model is asked again with what was wrong with its answer, at most 8; not when it repeats itself. Default: never. */
  readonly maxRepairs?: number | undefined;
  /** What is given for a whole answer that stayed invalid; one that was cut, is too large or calls a tool rejects. */
  readonly default?: D | undefined;
}

/** What a query gives. */
export type Answered<T, M extends boolean> = M extends true
  ? { readonly value: T; readonly message: Message }
  : T;

export interface CompletionOptions<M extends boolean = boolean, D = unknown>
  extends Omit<WholeQueryOptions<TypeName, M, D>, "check" | "prompt" | "schema" | "protocol"> {
  /** What is known of the value, as JSON has it: what is left out, at any depth, is what the model gives. */
  readonly value: object;
  /** What the model is to fill it in from, such as an e-mail: it stands before the value. */
  readonly prompt?: Prompt | undefined;
  /** A type of Python. */
  readonly schema: TypeName;
  /** Default: "python", which has a word for what is missing. */
  readonly protocol?: QueryOptions["protocol"];
}

/** What a completion gives; where nothing was missing no model was asked, and there is no message. */
export type Completed<T, M extends boolean> = M extends true
  ? { readonly value: T; readonly message: Message | undefined }
  : T;

/** Ask for what is missing of a value, and wait for the whole. */
export async function fillIn(home: CallHome, given: CompletionOptions): Promise<unknown> {
  refuseUnknown(given, ["value", ...QUERY_OPTIONS, ...OF_WHOLE]);
  const { value, ...options } = given;
  if (typeof value !== "object" || value === null) throw invalid("value must be an object or a list, of which parts are missing");
  return await answered(home, { ...options, prompt: options.prompt ?? "" }, value);
}

/** Ask, and wait for the value. */
export async function ask(home: CallHome, given: WholeQueryOptions): Promise<unknown> {
  refuseUnknown(given, [...QUERY_OPTIONS, ...OF_WHOLE]);
  return await answered(home, given);
}

async function answered(home: CallHome, given: WholeQueryOptions, known?: object): Promise<unknown> {
  const { maxRepairs = 0, default: fallback, ...options } = given;
  if (!Number.isInteger(maxRepairs) || maxRepairs < 0 || maxRepairs > MAX_REPAIRS)
    throw invalid(`maxRepairs must be a whole number from 0 to ${MAX_REPAIRS}`);
  const attempts: UnspoolError[] = [];
  const told = (value: unknown, message: Message | undefined): unknown =>
    options.returnsMessage === true ? { value, message: withUsageOf(attempts, message) } : value;
  let fault: Fault | undefined;
  for (;;) {
    const end = await endOf(new Call<unknown>(home, prepareQuery(options, fault, known)));
    if (end.type === "generationComplete") return told(end.result, end.message);
    const { error } = end;
    if (end.type !== "parsingFailed" || hasToolCalls(error.partial)) throw error;
    const isWhole = error.code === "OUTPUT_INVALID"; // else a limit is what is wrong
    const repeated = attempts.some(({ text }) => text === error.text);
    if (!isWhole || attempts.length >= maxRepairs || repeated) {
      if (isWhole && fallback !== undefined) return told(fallback, error.partial);
      throw new UnspoolError(error.code, error.message, { ...error.toWire(), cause: error.cause, attempts });
    }
    attempts.push(error);
    fault = { answer: error.text, fault: error.message };
  }
}

/** Read a call to its end. Rejects with what keeps it from running at all. */
export async function endOf(call: Call<unknown>): Promise<TerminalEvent<unknown>> {
  while (!(await call.inOrder(() => call.step())).done);
  if (call.end === undefined) throw new UnspoolError("BRIDGE_PROTOCOL", "The query ended without a terminal event.");
  return call.end;
}

/** Give the message of the last answer with the usage of all: what was not reported counts for nothing. */
function withUsageOf(attempts: readonly UnspoolError[], message: Message | undefined): Message | undefined {
  const used = [...attempts.map(({ partial }) => partial), message].flatMap((found) => found?.usage ?? []);
  if (message === undefined || attempts.length === 0 || used.length === 0) return message;
  const sums = COUNTS.flatMap((name) => {
    const reported = used.flatMap((usage) => usage[name] ?? []);
    return reported.length > 0 ? [[name, reported.reduce((sum, count) => sum + count)] as const] : [];
  });
  const usage: Usage = { type: "usage", ...Object.fromEntries(sums) };
  return { ...message, usage };
}

/** Then nothing is wrong with the answer: it is still to come. */
function hasToolCalls(message: Message | undefined): boolean {
  return message?.parts.some(({ type }) => type === "toolCall") === true;
}
