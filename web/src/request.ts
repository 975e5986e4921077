/** What the caller of a query says, and how it is said to Python. */
import { invalid, reasonText } from "./errors.js";
import type { Path } from "./events.js";
import type { Message, Part } from "./message.js";
import { crossing, type Model } from "./model-spec.js";
import type { PageModel } from "./page-models.js";
import { resolveSchema, type InputOf, type JsonSchema, type ResolvedSchema, type SchemaInput } from "./schema.js";

/** What is said to a model: a message as it was given, or one that says `content`: a text, or parts. */
export type PromptMessage = Message | { readonly role: Message["role"]; readonly content: string | readonly Part[] };
export type Prompt = string | readonly PromptMessage[];

/** A function that a model may ask to have called. */
export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  /** The JSON Schema of its arguments, which are an object. */
  readonly parameters?: JsonSchema | undefined;
}

export interface GenerationOptions {
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Texts before which the answer ends. */
  readonly stop?: string | readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** How long the model is to think, in the provider's own words. */
  readonly reasoningEffort?: string | undefined;
  /** What the model may ask to have called. Nothing is called here: a query whose model does so ends with OUTPUT_INVALID. */
  readonly tools?: readonly Tool[] | undefined;
  /** "auto", "required", "none", or the name of the tool that must be called. */
  readonly toolChoice?: string | undefined;
  /** Further members of the provider's request body, as they are. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What the value of an example is: of a Standard Schema its input, without a schema text. */
type ExampleValue<S> = S extends undefined ? string : InputOf<S>;

export interface QueryOptions<S extends SchemaInput | undefined = SchemaInput | undefined> {
  readonly prompt: Prompt;
  /** What the answer must be. Without one the answer is plain text. */
  readonly schema?: S | undefined;
  readonly lm: Model;
  readonly system?: string | undefined;
  /** Pairs of a prompt and the value that answers it, shown before the question as turns; values as JSON has them. */
  readonly examples?: readonly (readonly [prompt: Prompt, value: NoInfer<ExampleValue<S>>])[] | undefined;
  /**
   * "json": the prompt explains the schema. "python": it asks for one expression in Python's constructor syntax, for types of
   * registered modules. "native": the provider holds the model to the schema.
   */
  readonly protocol?: "json" | "python" | "native" | undefined;
  /** Also take JSON with trailing commas, comments, single quotes or without its end. */
  readonly lenient?: boolean | undefined;
  /**
   * Of types of Python: judge each part as it closes. "report" tells by a `fieldInvalid` event what cannot be right any
   * more; "stop" ends answer and request with it, as OUTPUT_INVALID.
   */
  readonly check?: "report" | "stop" | undefined;
  readonly options?: GenerationOptions | undefined;
  /** Stops the query at any point; its stream then ends with one `cancelled` event. */
  readonly signal?: AbortSignal | undefined;
  /** Longest answer, in code points. */
  readonly maxChars?: number | undefined;
  /** Deepest nesting of an answer. */
  readonly maxDepth?: number | undefined;
  /** Have the whole message as well, with reasoning and tool calls: as `message` of `generationComplete`. */
  readonly returnsMessage?: boolean | undefined;
}

/** An answer that was not valid, for the model to mend. */
export interface Fault {
  readonly answer: string | undefined;
  readonly fault: string;
}

/** What only the reader of a query knows. */
export interface Reading {
  /** Name of the page's model. */
  pageModel?: string;
  /** Whether parts are wanted that have been judged. */
  judges?: boolean;
  /** The list whose elements are wanted. */
  items?: Path;
}

/** A query that has been checked, but for its key. */
export interface PreparedQuery {
  readonly schema: ResolvedSchema | undefined;
  readonly pageModel: PageModel | undefined;
  readonly signal: AbortSignal | undefined;
  /** Fetch the key, if it has to be fetched, and give the JSON text for Python. */
  text(reading: Reading): Promise<string>;
}

export const QUERY_OPTIONS = [
  "prompt",
  "schema",
  "lm",
  "system",
  "examples",
  "protocol",
  "lenient",
  "check",
  "options",
  "signal",
  "maxChars",
  "maxDepth",
  "returnsMessage",
] as const satisfies readonly (keyof QueryOptions)[];

const OF_GENERATION: ReadonlySet<string> = new Set<keyof GenerationOptions>([
  "temperature",
  "maxOutputTokens",
  "stop",
  "seed",
  "reasoningEffort",
  "tools",
  "toolChoice",
  "extra",
]);

/** Refuse what is no object, and members that a misspelling would leave without effect. Throws UnspoolError INVALID_OPTIONS. */
export function refuseUnknown(options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw invalid("the options must be an object");
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const place = names.includes("options") && OF_GENERATION.has(name) ? ` here: it belongs in options: { ${name} }` : "";
    throw invalid(`there is no option ${name}${place}; there are ${names.join(", ")}`);
  }
}

/** Check a query; of what is known of a value, it asks for the rest. Throws UnspoolError INVALID_OPTIONS. */
export function prepareQuery(options: QueryOptions, repair?: Fault, complete?: object): PreparedQuery {
  refuseUnknown(options, QUERY_OPTIONS);
  const { schema: given, lm, signal, check, ...rest } = options;
  checkQuestion(options);
  const schema = given === undefined ? undefined : resolveSchema(given);
  const isOfPython = schema !== undefined && "type" in schema.wire;
  if (check !== undefined && !isOfPython) throw invalid('check is for types of Python: schema "module:Type"');
  return {
    schema,
    signal,
    pageModel: typeof lm === "function" ? lm : undefined,
    text: ({ pageModel, judges = false, items }) => {
      const judged = check ?? (judges && isOfPython ? "report" : undefined);
      return requestText(lm, pageModel, { ...rest, schema: schema?.wire, check: judged, items, repair, complete });
    },
  };
}

/** Refuse what cannot be asked, or of nobody. Throws UnspoolError INVALID_OPTIONS. */
export function checkQuestion({ prompt, lm, signal }: Pick<QueryOptions, "prompt" | "lm" | "signal">): void {
  if (typeof prompt !== "string" && !Array.isArray(prompt)) throw invalid("prompt must be text or a list of messages");
  if ((typeof lm !== "object" && typeof lm !== "function") || lm === null)
    throw invalid("lm must name a model or be a function");
  if (signal !== undefined && typeof signal.addEventListener !== "function")
    throw invalid("signal must be an AbortSignal");
}

/** Write a request for Python; `pageModel` is the name of a model that is a function. */
export async function requestText(lm: Model, pageModel: string | undefined, rest: object): Promise<string> {
  const model = typeof lm === "function" ? { provider: "page", model: pageModel } : await crossing(lm);
  try {
    return JSON.stringify({ ...rest, lm: model });
  } catch (thrown) {
    throw invalid(`the query is not plain data: ${reasonText(thrown)}`, thrown);
  }
}
