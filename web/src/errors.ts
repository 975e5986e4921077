/**
 * The one error class of the JavaScript side. Route on `code`, never on the message; docs/errors.md and docs/workers.md
 * list the codes.
 */
import type { Message } from "./message.js";

const BRAND = Symbol.for("unspool.error");

/** Codes that are raised on this side of the worker boundary; Python's codes come through as they are. */
export type LocalErrorCode =
  | "ABORTED"
  | "BOOT_FAILED"
  | "BRIDGE_PROTOCOL"
  | "DISPOSED"
  | "INVALID_OPTIONS"
  | "MISSING_CREDENTIAL"
  | "OUTPUT_INVALID"
  | "WORKER_DIED";

export type ErrorCode = LocalErrorCode | (string & {});

/** What is wrong with the value at `path`, in the words of a Standard Schema or of Python. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** An error as it crosses the worker boundary. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable?: boolean;
  readonly retryAfterS?: number;
  readonly status?: number;
  readonly requestId?: string;
  readonly partial?: Message;
  readonly text?: string;
  readonly partialValue?: unknown;
  readonly issues?: readonly Issue[];
  readonly byteOffset?: number;
  readonly id?: unknown;
  readonly operation?: string;
  readonly adapter?: string;
  readonly eventType?: string;
}

export type ErrorDetails = Omit<WireError, "code" | "message"> & {
  readonly attempts?: readonly UnspoolError[];
  readonly cause?: unknown;
};

export class UnspoolError extends Error {
  /** Stable category. */
  readonly code: ErrorCode;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** Seconds the provider asked to wait. */
  readonly retryAfterS: number | undefined;
  /** HTTP status, when there was a response. */
  readonly status: number | undefined;
  /** The provider's id of the request. */
  readonly requestId: string | undefined;
  /** The message as far as it had arrived. */
  readonly partial: Message | undefined;
  /** The answer as text, as far as it had arrived. */
  readonly text: string | undefined;
  /** The unvalidated value that could be read from the text. */
  readonly partialValue: unknown;
  /** What is wrong with an answer that could be read; empty for other errors. */
  readonly issues: readonly Issue[];
  /** What was wrong with the answers before it, when the model was asked again. */
  readonly attempts: readonly UnspoolError[];
  /** Where the fault is in the UTF-8 bytes of an incremental text, not an index of characters. */
  readonly byteOffset: number | undefined;
  /** The stream or call at fault. */
  readonly id: unknown;
  /** The step that failed, such as "push". */
  readonly operation: string | undefined;
  /** The integration that was at work; "custom" for adapters of your own. */
  readonly adapter: string | undefined;
  /** Type of the event at fault. */
  readonly eventType: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "UnspoolError";
    this.code = code;
    this.retryable = details.retryable ?? false;
    this.retryAfterS = details.retryAfterS;
    this.status = details.status;
    this.requestId = details.requestId;
    this.partial = details.partial;
    this.text = details.text;
    this.partialValue = details.partialValue;
    this.issues = details.issues ?? [];
    this.attempts = details.attempts ?? [];
    this.byteOffset = details.byteOffset;
    this.id = details.id;
    this.operation = details.operation;
    this.adapter = details.adapter;
    this.eventType = details.eventType;
    Object.defineProperty(this, BRAND, { value: true });
  }

  override toString(): string {
    return `${this.name}: ${this.code}: ${this.message}`;
  }

  /** Give the error as JSON-safe data; absent fields are left out. */
  toWire(): WireError {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.retryAfterS !== undefined && { retryAfterS: this.retryAfterS }),
      ...(this.status !== undefined && { status: this.status }),
      ...(this.requestId !== undefined && { requestId: this.requestId }),
      ...(this.partial !== undefined && { partial: this.partial }),
      ...(this.text !== undefined && { text: this.text }),
      ...(this.partialValue !== undefined && { partialValue: this.partialValue }),
      ...(this.issues.length > 0 && { issues: this.issues }),
      ...(this.byteOffset !== undefined && { byteOffset: this.byteOffset }),
      ...(this.id !== undefined && { id: this.id }),
      ...(this.operation !== undefined && { operation: this.operation }),
      ...(this.adapter !== undefined && { adapter: this.adapter }),
      ...(this.eventType !== undefined && { eventType: this.eventType }),
    };
  }
}

/** Tell whether a value is an error of ours, also when it comes from a second copy of this package. */
export function isUnspoolError(value: unknown): value is UnspoolError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
}

/** Make an error out of what came over the boundary; a shape that is no error is itself a protocol error. */
export function fromWire(wire: unknown, cause?: unknown): UnspoolError {
  const { code, message, ...details } = (wire ?? {}) as WireError;
  if (typeof code !== "string" || typeof message !== "string") {
    return new UnspoolError("BRIDGE_PROTOCOL", "An error arrived without code and message.", { cause: wire });
  }
  return new UnspoolError(code, message, { ...details, cause });
}

/** The error for what a caller gave: `message` is a sentence without its capital and full stop. */
export function invalid(message: string, cause?: unknown): UnspoolError {
  return new UnspoolError("INVALID_OPTIONS", `${message[0]?.toUpperCase()}${message.slice(1)}.`, { cause });
}

/** Text of anything that was thrown, for use inside a message of ours. */
export function reasonText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}
