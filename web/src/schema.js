/**
 * What the answer must be. Python gets a JSON Schema (or the name of a type it knows); a Standard Schema object also has
 * the last word here, on the final value.
 */
import { invalid, reasonText } from "./errors.js";
/** Read a schema of any accepted form. Throws UnspoolError INVALID_OPTIONS. */
export function resolveSchema(input) {
    if (typeof input === "string") {
        if (!/^[^:]+:[^:]+$/.test(input))
            throw invalid(`schema must be "module:Type", not ${JSON.stringify(input)}`);
        return { wire: { type: input } };
    }
    if ((typeof input !== "object" && typeof input !== "function") || input === null || Array.isArray(input)) {
        throw invalid('schema must be a Standard Schema object, a JSON Schema object or "module:Type"');
    }
    if (isStandard(input))
        return checkedHere(input, ownJsonSchema(input));
    if (isConverted(input)) {
        const { jsonSchema } = input;
        if (typeof jsonSchema !== "object" || jsonSchema === null)
            throw invalid("schema.jsonSchema must be a JSON Schema object");
        return checkedHere(input.standard, jsonSchema);
    }
    if (typeof input === "function")
        throw invalid("schema is a function that is no Standard Schema");
    return { wire: jsonWire(input) };
}
function isStandard(input) {
    return typeof input["~standard"]?.validate === "function";
}
function isConverted(input) {
    const { standard } = input;
    return (typeof standard === "object" || typeof standard === "function") && standard !== null && isStandard(standard);
}
/** The model writes what `validate` reads, so the schema of the input side is the one to ask for. */
function ownJsonSchema(schema) {
    const { jsonSchema, vendor } = schema["~standard"];
    if (typeof jsonSchema?.input !== "function") {
        throw invalid(`this ${vendor} schema does not offer its JSON Schema: pass { standard: schema, jsonSchema } with the vendor's conversion`);
    }
    try {
        return jsonSchema.input({ target: "draft-2020-12" });
    }
    catch (thrown) {
        throw invalid(`this ${vendor} schema has no JSON Schema: ${reasonText(thrown)}`, thrown);
    }
}
/** The object's own word is the only one: its JSON Schema says less than its `validate`, or asks for what that mends. */
function checkedHere(schema, jsonSchema) {
    return { wire: { ...jsonWire(jsonSchema), check: false }, validate: validator(schema) };
}
function jsonWire(jsonSchema) {
    const title = jsonSchema["title"];
    return { jsonSchema, ...(typeof title === "string" && title !== "" && { name: title }) };
}
function validator(schema) {
    return async (value) => {
        let result;
        try {
            result = await schema["~standard"].validate(value);
        }
        catch (thrown) {
            return { issues: [], message: `The schema's validate() failed: ${reasonText(thrown)}`, cause: thrown };
        }
        if (result.issues === undefined)
            return { value: result.value };
        const issues = result.issues.map(plainIssue);
        const lines = issues.map(({ path, message }) => `${path.length > 0 ? path.join(".") : "(root)"}: ${message}`);
        return { issues, message: `The answer does not fit the schema. ${lines.join("; ")}` };
    };
}
function plainIssue({ message, path = [] }) {
    // `Array.from`, because a vendor's path may be an array of its own kind, and `map` would make another such.
    return {
        message,
        path: Array.from(path, (step) => {
            const key = typeof step === "object" ? step.key : step;
            return typeof key === "symbol" ? String(key) : key;
        }),
    };
}
