/**
 * What the answer must be. Python gets a JSON Schema (or the name of a type it knows); a Standard Schema object also has
 * the last word here, on the final value.
 */
import { invalid, reasonText, type Issue } from "./errors.js";

/** A schema object of Zod, Valibot, ArkType and others: https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
      options?: undefined,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema: offered by the object itself in newer releases of the vendors. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InferInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
export type InferOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** A Standard Schema object whose JSON Schema is made by the caller, for vendors that do not offer it themselves. */
export interface ConvertedSchema<S extends StandardSchema = StandardSchema> {
  readonly standard: S;
  readonly jsonSchema: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>> & {
  readonly "~standard"?: never;
  readonly standard?: never;
};

/** `"module:Type"` of a module that was given to `connect`, or of any module Python can import. */
export type TypeName = `${string}:${string}`;

export type StandardInput = StandardSchema | ConvertedSchema;
export type UntypedInput = JsonSchema | TypeName;
export type SchemaInput = StandardInput | UntypedInput;

/** The type that a query with this schema gives. */
export type ResultOf<S> =
  S extends ConvertedSchema<infer Inner> ? InferOutput<Inner> : S extends StandardSchema ? InferOutput<S> : unknown;

/** The type of what a model writes for this schema. */
export type InputOf<S> =
  S extends ConvertedSchema<infer Inner> ? InferInput<Inner> : S extends StandardSchema ? InferInput<S> : unknown;

export type Validation =
  | { readonly value: unknown }
  | { readonly issues: readonly Issue[]; readonly message: string; readonly cause?: unknown };

export interface ResolvedSchema {
  /** The `schema` member of the request to Python. */
  readonly wire:
    | { readonly jsonSchema: Record<string, unknown>; readonly name?: string; readonly check?: false }
    | { readonly type: string };
  /** The last word on the final value; absent when Python's is. */
  readonly validate?: (value: unknown) => Promise<Validation>;
}

/** Read a schema of any accepted form. Throws UnspoolError INVALID_OPTIONS. */
export function resolveSchema(input: SchemaInput): ResolvedSchema {
  if (typeof input === "string") {
    if (!/^[^:]+:[^:]+$/.test(input)) throw invalid(`schema must be "module:Type", not ${JSON.stringify(input)}`);
    return { wire: { type: input } };
  }
  if ((typeof input !== "object" && typeof input !== "function") || input === null || Array.isArray(input)) {
    throw invalid('schema must be a Standard Schema object, a JSON Schema object or "module:Type"');
  }
  if (isStandard(input)) return checkedHere(input, ownJsonSchema(input));
  if (isConverted(input)) {
    const { jsonSchema } = input;
    if (typeof jsonSchema !== "object" || jsonSchema === null)
      throw invalid("schema.jsonSchema must be a JSON Schema object");
    return checkedHere(input.standard, jsonSchema);
  }
  if (typeof input === "function") throw invalid("schema is a function that is no Standard Schema");
  return { wire: jsonWire(input) };
}

export function isStandard(input: unknown): input is StandardSchema {
  return typeof (input as Partial<StandardSchema> | null)?.["~standard"]?.validate === "function";
}

function isConverted(input: object): input is ConvertedSchema {
  const { standard } = input as Partial<ConvertedSchema>;
  return (typeof standard === "object" || typeof standard === "function") && standard !== null && isStandard(standard);
}

/** The model writes what `validate` reads, so the schema of the input side is the one to ask for. */
function ownJsonSchema(schema: StandardSchema): Record<string, unknown> {
  const { jsonSchema, vendor } = schema["~standard"];
  if (typeof jsonSchema?.input !== "function") {
    throw invalid(
      `this ${vendor} schema does not offer its JSON Schema: pass { standard: schema, jsonSchema } with the vendor's conversion`,
    );
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (thrown) {
    throw invalid(`this ${vendor} schema has no JSON Schema: ${reasonText(thrown)}`, thrown);
  }
}

/** The object's own word is the only one: its JSON Schema says less than its `validate`, or asks for what that mends. */
function checkedHere(schema: StandardSchema, jsonSchema: Readonly<Record<string, unknown>>): ResolvedSchema {
  return { wire: { ...jsonWire(jsonSchema), check: false }, validate: validator(schema) };
}

function jsonWire(jsonSchema: Readonly<Record<string, unknown>>): {
  jsonSchema: Record<string, unknown>;
  name?: string;
} {
  const title = jsonSchema["title"];
  return { jsonSchema, ...(typeof title === "string" && title !== "" && { name: title }) };
}

/** Make what holds values to a schema; it never rejects. */
export function validator(schema: StandardSchema): (value: unknown) => Promise<Validation> {
  return async (value) => {
    let result: StandardResult<unknown>;
    try {
      result = await schema["~standard"].validate(value);
    } catch (thrown) {
      return { issues: [], message: `The schema's validate() failed: ${reasonText(thrown)}`, cause: thrown };
    }
    if (result.issues === undefined) return { value: result.value };
    const issues = result.issues.map(plainIssue);
    const lines = issues.map(({ path, message }) => `${path.length > 0 ? path.join(".") : "(root)"}: ${message}`);
    return { issues, message: `The answer does not fit the schema. ${lines.join("; ")}` };
  };
}

function plainIssue({ message, path = [] }: StandardIssue): Issue {
  // `Array.from`, because a vendor's path may be an array of its own kind, and `map` would make another such.
  return {
    message,
    path: Array.from(path, (step) => {
      const key = typeof step === "object" ? step.key : step;
      return typeof key === "symbol" ? String(key) : key;
    }),
  };
}
