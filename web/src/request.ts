/** What the caller of a query says, and how it is said to Python. */
import { absolute } from "./address.js";
import { UnspoolError, invalid, reasonText } from "./errors.js";
import type { Message } from "./events.js";
import type { PageModel } from "./page-models.js";
import { resolveSchema, type JsonSchema, type ResolvedSchema, type SchemaInput } from "./schema.js";

export type ApiKey = string | (() => string | Promise<string>);

/** A model that Python reaches itself, over HTTP or in the worker. Further members go to Python as they are. */
export interface ModelSpec {
  readonly provider: "openai" | "openai-chat" | "anthropic" | "gemini" | "wllama" | "scripted" | (string & {});
  readonly model?: string;
  /** Of "openai-chat": a server whose ways and address are known. */
  readonly profile?:
    | "azure"
    | "deepseek"
    | "groq"
    | "llama.cpp"
    | "lm-studio"
    | "mistral"
    | "ollama"
    | "openrouter"
    | "vllm"
    | (string & {});
  /** A key, or a function that fetches one for each query. Sent in the worker's requests, shown nowhere. */
  readonly apiKey?: ApiKey;
  readonly baseURL?: string;
  /** Whether the model is shown images, where that is not known by its name. */
  readonly imageInput?: boolean;
  readonly [member: string]: unknown;
}

/** A model object of a registered Python module: `{ object: "module:name" }`. */
export interface PythonModel {
  readonly object: string;
}

export type Model = ModelSpec | PythonModel | PageModel;

export type PromptMessage = Message | { readonly role: Message["role"]; readonly content: string };

export interface GenerationOptions {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** How long the model is to think, in the provider's own words. */
  readonly reasoningEffort?: string;
  readonly tools?: readonly { readonly name: string; readonly description?: string; readonly parameters?: JsonSchema }[];
  /** "auto", "required", "none", or the name of the tool that must be called. */
  readonly toolChoice?: string;
  /** Further members of the provider's request body, as they are. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface QueryOptions<S extends SchemaInput | undefined = SchemaInput | undefined> {
  readonly prompt: string | readonly PromptMessage[];
  /** What the answer must be. Without one the answer is plain text. */
  readonly schema?: S;
  readonly lm: Model;
  readonly system?: string;
  /**
   * "json": the prompt explains the schema. "python": it asks for one expression in Python's constructor syntax, for types of
   * registered modules. "native": the provider holds the model to the schema.
   */
  readonly protocol?: "json" | "python" | "native";
  /** Also take JSON with trailing commas, comments, single quotes or without its end. */
  readonly lenient?: boolean;
  readonly options?: GenerationOptions;
  /** Stops the query at any point; its stream then ends with one `cancelled` event. */
  readonly signal?: AbortSignal;
  /** Longest answer, in code points. */
  readonly maxChars?: number;
  /** Deepest nesting of an answer. */
  readonly maxDepth?: number;
}

/** A query that has been checked, but for its key. */
export interface PreparedQuery {
  readonly schema: ResolvedSchema | undefined;
  readonly pageModel: PageModel | undefined;
  readonly signal: AbortSignal | undefined;
  /** Fetch the key, if it has to be fetched, and give the JSON text for Python. `pageModel` is the name of ours. */
  text(pageModel: string | undefined): Promise<string>;
}

const QUERY_OPTIONS = [
  "prompt",
  "schema",
  "lm",
  "system",
  "protocol",
  "lenient",
  "options",
  "signal",
  "maxChars",
  "maxDepth",
] as const satisfies readonly (keyof QueryOptions)[];

/** Refuse what is no object, and members that a misspelling would leave without effect. Throws UnspoolError INVALID_OPTIONS. */
export function refuseUnknown(options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw invalid("the options must be an object");
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw invalid(`there is no option ${name}; there are ${names.join(", ")}`);
  }
}

/** Check a query. Throws UnspoolError INVALID_OPTIONS. */
export function prepareQuery(options: QueryOptions): PreparedQuery {
  refuseUnknown(options, QUERY_OPTIONS);
  const { prompt, lm, signal, system, protocol, lenient, maxChars, maxDepth } = options;
  if (typeof prompt !== "string" && !Array.isArray(prompt)) throw invalid("prompt must be text or a list of messages");
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
        lenient,
        system,
        lm: model,
        options: options.options,
        maxChars,
        maxDepth,
      };
      try {
        return JSON.stringify(request);
      } catch (thrown) {
        throw invalid(`the query is not plain data: ${reasonText(thrown)}`, thrown);
      }
    },
  };
}

async function withKey(given: ModelSpec | PythonModel): Promise<object> {
  const lm = withAddresses(given);
  const { apiKey } = lm as ModelSpec;
  if (apiKey === undefined) return lm;
  if (typeof apiKey === "string") return lm;
  if (typeof apiKey !== "function") throw invalid("lm.apiKey must be text or a function");
  let key: unknown;
  try {
    key = await apiKey();
  } catch (thrown) {
    // The reason is in `cause` only: what a key store says may hold the key.
    throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() failed.", { cause: thrown });
  }
  if (typeof key !== "string" || key === "") throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() gave no key.");
  return { ...lm, apiKey: key };
}

/** Python reads addresses from where it runs, the caller from the page. */
function withAddresses(lm: ModelSpec | PythonModel): ModelSpec | PythonModel {
  const isAddress = (name: string, value: unknown): value is string => /UR[Ll]$|Url$/.test(name) && typeof value === "string";
  const members = Object.entries(lm).map(([name, value]) => [name, isAddress(name, value) ? absolute(value).href : value]);
  return Object.fromEntries(members) as ModelSpec | PythonModel;
}
