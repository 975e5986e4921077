/** Models that are functions on the page. Python pulls what they give, one piece at a time, and can stop them. */
import { UnspoolError, isUnspoolError, reasonText } from "./errors.js";
export class PageModels {
    #post;
    #models = new Map();
    #sources = new Map();
    #last = 0;
    constructor(post) {
        this.#post = post;
    }
    /** Make a function known; the name given back stands for it in a request. */
    add(model) {
        const name = `page-${++this.#last}`;
        this.#models.set(name, model);
        return name;
    }
    /** Forget a function and stop whatever it is still giving. */
    remove(name) {
        this.#models.delete(name);
        for (const [stream, source] of this.#sources)
            if (source.model === name)
                this.drop(stream);
    }
    /** Stop everything: the connection is over. */
    clear() {
        for (const name of [...this.#models.keys()])
            this.remove(name);
    }
    /** Stop one answer. */
    drop(stream) {
        const source = this.#sources.get(stream);
        this.#sources.delete(stream);
        source?.stop.abort(new UnspoolError("ABORTED", "The call was stopped."));
    }
    /** Answer the host. Never rejects. */
    async answer({ ask, op, text }) {
        try {
            const value = op === "open" ? await this.#open(JSON.parse(text)) : await this.#read(text);
            this.#post({ type: "told", ask, value });
        }
        catch (thrown) {
            const error = isUnspoolError(thrown) ? thrown : new UnspoolError("PROVIDER", reasonText(thrown));
            this.#post({ type: "refused", ask, error: error.toWire() });
        }
    }
    async #open(request) {
        const model = this.#models.get(request.model);
        if (model === undefined)
            throw new UnspoolError("MODEL_NOT_FOUND", "The model function is not there any more.");
        const stream = `${request.model}.${++this.#last}`;
        const stop = new AbortController();
        const opening = {
            model: request.model,
            stop,
            decoder: new TextDecoder(),
            next: () => Promise.reject(new UnspoolError("BRIDGE_PROTOCOL", "The answer is read before it is there.")),
            release() { },
        };
        this.#sources.set(stream, opening);
        const giving = (async () => await model(request, { signal: stop.signal }))();
        try {
            const answer = await unlessStopped(stop.signal, giving);
            const source = { ...opening, ...reading(answer) };
            this.#sources.set(stream, source);
            stop.signal.addEventListener("abort", () => source.release(), { once: true });
            return stream;
        }
        catch (thrown) {
            this.#sources.delete(stream);
            giving.then((late) => reading(late).release()).catch(() => { }); // an answer that comes after the stop
            throw thrown;
        }
    }
    async #read(stream) {
        const source = this.#sources.get(stream);
        if (source === undefined)
            throw new UnspoolError("ABORTED", "The answer was stopped or is over.");
        try {
            const { done, value } = await unlessStopped(source.stop.signal, source.next());
            if (done !== true)
                return JSON.stringify([pieceOf(value, source.decoder)]);
            const rest = source.decoder.decode(); // of a character that was cut by the end
            if (rest !== "")
                return JSON.stringify([rest]);
            this.#sources.delete(stream);
            source.release();
            return null;
        }
        catch (thrown) {
            this.#sources.delete(stream);
            source.release();
            throw thrown;
        }
    }
}
/** Wait, but no longer than until the signal. What comes later is ignored. */
async function unlessStopped(signal, waited) {
    signal.throwIfAborted();
    let onAbort;
    const stopped = new Promise((_, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
        return await Promise.race([waited, stopped]);
    }
    finally {
        signal.removeEventListener("abort", onAbort);
    }
}
/** One way to read every kind of answer. Streams are read through a reader: Safari cannot iterate over them. */
function reading(answer) {
    if (typeof answer === "object" && answer !== null) {
        if ("getReader" in answer) {
            const reader = answer.getReader();
            return {
                next: () => reader.read(),
                release() {
                    void reader.cancel().catch(() => { });
                    reader.releaseLock();
                },
            };
        }
        const iterator = Symbol.asyncIterator in answer
            ? answer[Symbol.asyncIterator]()
            : Symbol.iterator in answer
                ? answer[Symbol.iterator]()
                : undefined;
        if (iterator !== undefined) {
            return {
                next: async () => await iterator.next(),
                release: () => void Promise.resolve(iterator.return?.()).catch(() => { }),
            };
        }
    }
    throw new UnspoolError("INVALID_OPTIONS", "A model function must give an async iterable or a ReadableStream.");
}
function pieceOf(value, decoder) {
    if (typeof value === "string")
        return value;
    if (value instanceof Uint8Array)
        return decoder.decode(value, { stream: true });
    if (typeof value === "object" && value !== null && !Array.isArray(value))
        return value;
    throw new UnspoolError("INVALID_CHUNK", `A model function gave ${value === null ? "null" : typeof value}; it may give text, bytes or objects.`);
}
