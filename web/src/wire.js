/** Version of this file's shapes. Page and worker must come from the same release. */
export const PROTOCOL = 1;
const TO_HOST = {
    boot: { options: "object", lock: "string" },
    open: { call: "number", request: "string" },
    pull: { call: "number" },
    cancel: { call: "number" },
    close: { call: "number" },
    step: { stream: "number", text: "string" },
    told: { ask: "number", value: "string|null" },
    refused: { ask: "number", error: "object" },
    ping: {},
};
const FROM_HOST = {
    alive: { locked: "boolean" },
    progress: { progress: "object" },
    ready: { versions: "object" },
    batch: { call: "number", text: "string" },
    closed: { call: "number" },
    stepped: { stream: "number", text: "string" },
    ask: { ask: "number", op: "string", text: "string" },
    drop: { stream: "string" },
    fatal: { error: "object" },
    pong: {},
};
/** Put our tag on a message. */
export function tagged(message) {
    return { unspool: PROTOCOL, ...message };
}
export const isToHost = reader(TO_HOST);
export const isFromHost = reader(FROM_HOST);
/** Thrown for a message that carries our tag and is wrong. */
export class WireFault extends Error {
}
/** Make the check of one direction: true for a message of ours, false for somebody else's. Throws WireFault. */
function reader(shapes) {
    return (data) => {
        if (typeof data !== "object" || data === null || !("unspool" in data))
            return false;
        const message = data;
        if (message["unspool"] !== PROTOCOL) {
            throw new WireFault(`The page speaks protocol ${PROTOCOL}, the other side ${String(message["unspool"])}: they are of two releases.`);
        }
        const type = message["type"];
        if (typeof type !== "string" || !Object.hasOwn(shapes, type))
            throw new WireFault(`Unknown message ${String(type)}.`);
        for (const [field, wanted] of Object.entries(shapes[type])) {
            const value = message[field];
            const found = value === null ? "null" : typeof value;
            if (!wanted.split("|").includes(found)) {
                throw new WireFault(`Message ${type}: ${field} is ${found}, not ${String(wanted)}.`);
            }
        }
        return true;
    };
}
