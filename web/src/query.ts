/** A query that is waited for: it may ask again with what was wrong, and have a value for an answer that stayed so. */
import { Call, type CallHome } from "./call.js";
import { UnspoolError, invalid } from "./errors.js";
import type { TerminalEvent } from "./events.js";
import type { Message } from "./message.js";
import { prepareQuery, QUERY_OPTIONS, refuseUnknown, type Fault, type QueryOptions } from "./request.js";
import type { SchemaInput } from "./schema.js";

const MAX_REPAIRS = 8;

export interface WholeQueryOptions<
  S extends SchemaInput | undefined = SchemaInput | undefined,
  M extends boolean = boolean,
  D = unknown,
> extends QueryOptions<S> {
  /** Give `{ value, message }` instead of the value. */
  readonly returnsMessage?: M | undefined;
  /** How often the model is asked again with what was wrong with its answer, at most 8; not when it repeats itself. Default: never. */
  readonly maxRepairs?: number | undefined;
  /** What is given for an answer that stayed invalid, instead of rejecting; not when the model called a tool. */
  readonly default?: D | undefined;
}

/** What a query gives. */
export type Answered<T, M extends boolean> = M extends true
  ? { readonly value: T; readonly message: Message }
  : T;

/** Ask, and wait for the value. */
export async function ask(home: CallHome, given: WholeQueryOptions): Promise<unknown> {
  refuseUnknown(given, [...QUERY_OPTIONS, "maxRepairs", "default"]);
  const { maxRepairs = 0, default: fallback, ...options } = given;
  if (!Number.isInteger(maxRepairs) || maxRepairs < 0 || maxRepairs > MAX_REPAIRS)
    throw invalid(`maxRepairs must be a whole number from 0 to ${MAX_REPAIRS}`);
  const answered = (value: unknown, message: Message | undefined): unknown =>
    options.returnsMessage === true ? { value, message } : value;
  const attempts: UnspoolError[] = [];
  let fault: Fault | undefined;
  for (;;) {
    const end = await endOf(new Call<unknown>(home, prepareQuery(options, fault)));
    if (end.type === "generationComplete") return answered(end.result, end.message);
    const { error } = end;
    if (end.type !== "parsingFailed" || hasToolCalls(error.partial)) throw error;
    const repeated = attempts.some(({ text }) => text === error.text);
    if (error.code !== "OUTPUT_INVALID" || attempts.length >= maxRepairs || repeated) {
      if (fallback !== undefined) return answered(fallback, error.partial);
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

/** Then nothing is wrong with the answer: it is still to come. */
function hasToolCalls(message: Message | undefined): boolean {
  return message?.parts.some(({ type }) => type === "toolCall") === true;
}
