/** Messages: what is said to a model and what it says. The names and fields are those of the Python side. */

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "aborted";

export interface Usage {
  readonly type: "usage";
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly raw?: Readonly<Record<string, unknown>> | undefined;
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
  readonly model?: string | undefined;
  readonly responseId?: string | undefined;
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly replay?: Replay | undefined;
}

/** A picture: `data` is base64, and has its `mediaType`; or a `url` that the provider fetches. */
export interface ImagePart {
  readonly type: "image";
  readonly data?: string | undefined;
  readonly url?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly detail?: "auto" | "low" | "high" | undefined;
  readonly replay?: Replay | undefined;
}

/** A file beside the conversation: a model sees one line that names it. `data` is base64. */
export interface FilePart {
  readonly type: "file";
  readonly name: string;
  readonly mediaType?: string | undefined;
  readonly sizeBytes?: number | undefined;
  readonly path?: string | undefined;
  readonly data?: string | undefined;
}

export interface ToolCallPart {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  /** Raw JSON text. */
  readonly arguments: string;
  /** The response ended inside the arguments: never execute such a call. */
  readonly truncated?: boolean | undefined;
  readonly replay?: Replay | undefined;
}

/** What a tool answered: one text, or parts. */
export type ToolResultPart = { readonly type: "toolResult"; readonly callId: string; readonly isError?: boolean | undefined } & (
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
  readonly finishReason?: FinishReason | undefined;
  readonly rawFinishReason?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly origin?: Origin | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}
