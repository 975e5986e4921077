/** A call of a model for its whole message: nothing is read out of it, and it may ask for tools. */
import { Call, type CallHome } from "./call.js";
import type { Message } from "./message.js";
import { endOf } from "./query.js";
import {
  checkQuestion,
  refuseUnknown,
  requestText,
  type GenerationOptions,
  type PreparedQuery,
  type QueryOptions,
  type Tool,
} from "./request.js";
import { UnspoolError } from "./errors.js";

export interface ModelCallOptions extends Pick<QueryOptions, "prompt" | "lm" | "system" | "signal"> {
  /** What the model may ask to have called: by you, once the call is over. */
  readonly tools?: readonly Tool[] | undefined;
  /** "auto", "required", "none", or the name of the tool that must be called. */
  readonly toolChoice?: string | undefined;
  readonly options?: Omit<GenerationOptions, "tools" | "toolChoice"> | undefined;
}

/** A tool that the model asks to have called. */
export type ToolCall = { readonly id: string; readonly name: string } & (
  | {
      readonly truncated: false;
      /** The arguments: one strict JSON object. Whether it fits the tool's schema is for you to check. */
      readonly args: Readonly<Record<string, unknown>>;
    }
  | {
      /** The answer ended inside the arguments: never execute such a call, nor send its message again. */
      readonly truncated: true;
      readonly args?: undefined;
    }
);

/** What a model said. */
export interface Reply {
  /** The whole message, to be sent back as it is: with reasoning, usage, finish reason, and what the provider wants again. */
  readonly message: Message;
  /** Its text. */
  readonly text: string;
  /** The calls that it asks for, in order; each wants its result in the next prompt. */
  readonly toolCalls: readonly ToolCall[];
}

const CALL_OPTIONS = [
  "prompt",
  "lm",
  "system",
  "signal",
  "tools",
  "toolChoice",
  "options",
] as const satisfies readonly (keyof ModelCallOptions)[];

/** Call, and wait for the message. */
export async function callModel(home: CallHome, given: ModelCallOptions): Promise<Reply> {
  const end = await endOf(new Call<null>(home, prepared(given)) as Call<unknown>);
  if (end.type !== "generationComplete") throw end.error;
  if (end.message === undefined) throw new UnspoolError("BRIDGE_PROTOCOL", "The call ended without its message.");
  return replyOf(end.message);
}

function prepared(given: ModelCallOptions): PreparedQuery {
  refuseUnknown(given, CALL_OPTIONS);
  checkQuestion(given);
  const { prompt, lm, system, signal, tools, toolChoice, options } = given;
  const all = { ...options, ...(tools && { tools }), ...(toolChoice !== undefined && { toolChoice }) };
  return {
    schema: undefined,
    signal,
    pageModel: typeof lm === "function" ? lm : undefined,
    text: ({ pageModel }) => requestText(lm, pageModel, { prompt, system, options: all, wants: "message" }),
  };
}

function replyOf(message: Message): Reply {
  let text = "";
  const toolCalls: ToolCall[] = [];
  for (const part of message.parts) {
    if (part.type === "text") text += part.text;
    if (part.type !== "toolCall") continue;
    const { id, name, truncated, arguments: json } = part;
    // Python has held the text to strict JSON; a call without arguments may have none.
    if (truncated === true) toolCalls.push({ id, name, truncated });
    else toolCalls.push({ id, name, truncated: false, args: json.trim() === "" ? {} : JSON.parse(json) });
  }
  return { message, text, toolCalls };
}
