/** What the caller of a query says, and how it is said to Python. */
import { absolute } from "./address.js";
import { UnspoolError, invalid, reasonText } from "./errors.js";
import { resolveSchema } from "./schema.js";
/** Check a query. Throws UnspoolError INVALID_OPTIONS. */
export function prepareQuery(options) {
    const { prompt, lm, signal, system, protocol, maxChars, maxDepth } = options;
    if (typeof prompt !== "string" && !Array.isArray(prompt))
        throw invalid("prompt must be text or a list of messages");
    if ((typeof lm !== "object" && typeof lm !== "function") || lm === null)
        throw invalid("lm must name a model or be a function");
    if (signal !== undefined && typeof signal.addEventListener !== "function")
        throw invalid("signal must be an AbortSignal");
    const schema = options.schema === undefined ? undefined : resolveSchema(options.schema);
    return {
        schema,
        signal,
        pageModel: typeof lm === "function" ? lm : undefined,
        async text(pageModel) {
            const model = typeof lm === "function" ? { provider: "page", model: pageModel } : await withKey(lm);
            const request = {
                prompt,
                schema: schema?.wire,
                protocol,
                system,
                lm: model,
                options: options.options,
                maxChars,
                maxDepth,
            };
            try {
                return JSON.stringify(request);
            }
            catch (thrown) {
                throw invalid(`the query is not plain data: ${reasonText(thrown)}`, thrown);
            }
        },
    };
}
async function withKey(given) {
    const lm = withAddresses(given);
    const { apiKey } = lm;
    if (apiKey === undefined)
        return lm;
    if (typeof apiKey === "string")
        return lm;
    if (typeof apiKey !== "function")
        throw invalid("lm.apiKey must be text or a function");
    let key;
    try {
        key = await apiKey();
    }
    catch (thrown) {
        // The reason is in `cause` only: what a key store says may hold the key.
        throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() failed.", { cause: thrown });
    }
    if (typeof key !== "string" || key === "")
        throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() gave no key.");
    return { ...lm, apiKey: key };
}
/** Python reads addresses from where it runs, the caller from the page. */
function withAddresses(lm) {
    const isAddress = (name, value) => /UR[Ll]$|Url$/.test(name) && typeof value === "string";
    const members = Object.entries(lm).map(([name, value]) => [name, isAddress(name, value) ? absolute(value).href : value]);
    return Object.fromEntries(members);
}
