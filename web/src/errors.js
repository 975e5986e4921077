const BRAND = Symbol.for("unspool.error");
export class UnspoolError extends Error {
    /** Stable category. */
    code;
    /** Whether the same call may succeed later without a change. */
    retryable;
    /** Seconds the provider asked to wait. */
    retryAfterS;
    /** HTTP status, when there was a response. */
    status;
    /** The provider's id of the request. */
    requestId;
    /** The message as far as it had arrived. */
    partial;
    /** The answer as text, as far as it had arrived. */
    text;
    /** The unvalidated value that could be read from the text. */
    partialValue;
    /** What a Standard Schema said against the value; empty for other errors. */
    issues;
    /** Where the fault is in the UTF-8 bytes of an incremental text, not an index of characters. */
    byteOffset;
    /** The stream or call at fault. */
    id;
    /** The step that failed, such as "push". */
    operation;
    /** The integration that was at work; "custom" for adapters of your own. */
    adapter;
    /** Type of the event at fault. */
    eventType;
    constructor(code, message, details = {}) {
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
        this.byteOffset = details.byteOffset;
        this.id = details.id;
        this.operation = details.operation;
        this.adapter = details.adapter;
        this.eventType = details.eventType;
        Object.defineProperty(this, BRAND, { value: true });
    }
    toString() {
        return `${this.name}: ${this.code}: ${this.message}`;
    }
    /** Give the error as JSON-safe data; absent fields are left out. */
    toWire() {
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
export function isUnspoolError(value) {
    return typeof value === "object" && value !== null && value[BRAND] === true;
}
/** Make an error out of what came over the boundary; a shape that is no error is itself a protocol error. */
export function fromWire(wire) {
    const { code, message, ...details } = (wire ?? {});
    if (typeof code !== "string" || typeof message !== "string") {
        return new UnspoolError("BRIDGE_PROTOCOL", "An error arrived without code and message.", { cause: wire });
    }
    return new UnspoolError(code, message, details);
}
/** The error for what a caller gave: `message` is a sentence without its capital and full stop. */
export function invalid(message, cause) {
    return new UnspoolError("INVALID_OPTIONS", `${message[0]?.toUpperCase()}${message.slice(1)}.`, { cause });
}
/** Text of anything that was thrown, for use inside a message of ours. */
export function reasonText(thrown) {
    return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}
