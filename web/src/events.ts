/**
 * What a reader of a query sees: any number of progress events, then exactly one terminal event. The names and fields are
 * those of the Python side; errors are `UnspoolError` objects here.
 */
import type { UnspoolError } from "./errors.js";
import type { FinishReason, Message, Usage } from "./message.js";

/** Where a value stands: member names and element indexes from the root. */
export type Path = readonly (string | number)[];
export type ContainerKind = "object" | "array";

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

/** What has just closed cannot be right, whatever follows. Only in queries that check parts. */
export interface FieldInvalid {
  readonly type: "fieldInvalid";
  /** Where it is; of a missing field, where it should be. */
  readonly path: Path;
  /** What is wrong, without the path. */
  readonly message: string;
  readonly kind:
    | "type"
    | "value"
    | "missing-field"
    | "unexpected-field"
    | "duplicate-field"
    | "too-many-positional"
    | "unknown-name";
}

/** Something that lenient reading has put right. */
export interface Repair {
  readonly kind: "trailing-comma" | "comment" | "single-quotes" | "unclosed";
  /** Where, in the UTF-8 bytes of the answer. */
  readonly byteOffset: number;
}

/** Terminal: the answer is over and valid. */
export interface GenerationComplete<T> {
  readonly type: "generationComplete";
  readonly result: T;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  /** The whole message, with reasoning and tool calls: of a query with `returnsMessage`. */
  readonly message?: Message;
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

export type ProgressEvent =
  TextDelta | FieldStart | ObjectStart | StringFieldDelta | FieldEnd | ObjectEnd | FieldInvalid;
export type TerminalEvent<T> = GenerationComplete<T> | ParsingFailed | GenerationFailed | Cancelled;
export type StructuredEvent<T = unknown> = ProgressEvent | TerminalEvent<T>;
