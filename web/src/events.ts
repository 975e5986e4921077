/**
 * What a reader of a query sees: any number of progress events, then exactly one terminal event. The names and fields are
 * those of the Python side; errors are `UnspoolError` objects here.
 */
import type { UnspoolError } from "./errors.js";

/** Where a value stands: member names and element indexes from the root. */
export type Path = readonly (string | number)[];
export type ContainerKind = "object" | "array";
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "aborted";

export interface Usage {
  readonly type: "usage";
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** What a provider wants back unread in the next turn. Only the adapter that made it reads it. */
export interface Replay {
  readonly type: "replay";
  readonly adapter: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where a response came from. */
export interface Origin {
  readonly type: "origin";
  readonly adapter: string;
  readonly model?: string;
  readonly responseId?: string;
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly replay?: Replay;
}

/** A picture: `data` is base64, and has its `mediaType`; or a `url` that the provider fetches. */
export interface ImagePart {
  readonly type: "image";
  readonly data?: string;
  readonly url?: string;
  readonly mediaType?: string;
  readonly detail?: "auto" | "low" | "high";
  readonly replay?: Replay;
}

/** A file beside the conversation: a model sees one line that names it. `data` is base64. */
export interface FilePart {
  readonly type: "file";
  readonly name: string;
  readonly mediaType?: string;
  readonly sizeBytes?: number;
  readonly path?: string;
  readonly data?: string;
}

export interface ToolCallPart {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  /** Raw JSON text. */
  readonly arguments: string;
  /** The response ended inside the arguments: never execute such a call. */
  readonly truncated: boolean;
  readonly replay?: Replay;
}

/** What a tool answered: one text, or parts. */
export type ToolResultPart = { readonly type: "toolResult"; readonly callId: string; readonly isError: boolean } & (
  | { readonly text: string; readonly parts?: never }
  | { readonly parts: readonly (TextPart | ImagePart | FilePart)[]; readonly text?: never }
);

export type Part =
  | TextPart
  | { readonly type: "reasoning"; readonly text: string; readonly redacted?: true; readonly replay?: Replay }
  | { readonly type: "refusal"; readonly text: string; readonly replay?: Replay }
  | ImagePart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | { readonly type: "provider"; readonly kind: string; readonly replay: Replay }
  | { readonly type: "message"; readonly message: Message };

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
  readonly finishReason?: FinishReason;
  readonly rawFinishReason?: string;
  readonly usage?: Usage;
  readonly origin?: Origin;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Raw text of the answer, as it came. */
export interface TextDelta {
  readonly type: "textDelta";
  readonly delta: string;
}

/** A member of an object or an element of an array begins. */
export interface FieldStart {
  readonly type: "fieldStart";
  readonly path: Path;
}

/** An object or array begins. */
export interface ObjectStart {
  readonly type: "objectStart";
  readonly path: Path;
  readonly kind: ContainerKind;
  /** Python protocol: the class of a constructor. */
  readonly pythonClass?: string;
  /** Python protocol: what an array is, other than a list. */
  readonly pythonKind?: "tuple" | "set";
}

/** More decoded text of a string value. */
export interface StringFieldDelta {
  readonly type: "stringFieldDelta";
  readonly path: Path;
  readonly delta: string;
}

/** A member or element is complete; its value is not validated. Do not change it: it is part of the stream's own. */
export interface FieldEnd {
  readonly type: "fieldEnd";
  readonly path: Path;
  readonly value: unknown;
}

/** An object or array closes. Do not change its value: it is part of the stream's own. */
export interface ObjectEnd {
  readonly type: "objectEnd";
  readonly path: Path;
  readonly kind: ContainerKind;
  readonly pythonClass?: string;
  readonly pythonKind?: "tuple" | "set";
  readonly value: unknown;
}

/** Terminal: the answer is over and valid. */
export interface GenerationComplete<T> {
  readonly type: "generationComplete";
  readonly result: T;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
}

/** Terminal: the answer is not a value of the type asked for. */
export interface ParsingFailed {
  readonly type: "parsingFailed";
  readonly error: UnspoolError;
}

/** Terminal: the provider or the way to it failed. */
export interface GenerationFailed {
  readonly type: "generationFailed";
  readonly error: UnspoolError;
}

/** Terminal: the caller's signal stopped the call. */
export interface Cancelled {
  readonly type: "cancelled";
  readonly error: UnspoolError;
}

export type ProgressEvent = TextDelta | FieldStart | ObjectStart | StringFieldDelta | FieldEnd | ObjectEnd;
export type TerminalEvent<T> = GenerationComplete<T> | ParsingFailed | GenerationFailed | Cancelled;
export type StructuredEvent<T = unknown> = ProgressEvent | TerminalEvent<T>;
