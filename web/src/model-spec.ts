/** Which model answers a query, and what Python is told of it. */
import { absolute } from "./address.js";
import { UnspoolError, invalid } from "./errors.js";
import type { PageModel } from "./page-models.js";

export type ApiKey = string | (() => string | Promise<string>);

/** A model behind HTTP. */
export interface HttpModel<Provider extends string> {
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
  /** A key, or a function that fetches one for each query. Sent in the worker's requests, shown nowhere. */
  readonly apiKey?: ApiKey | undefined;
  /** Address of the API; the vendor's own when left out. */
  readonly baseURL?: string | undefined;
  /** Seconds until the response's headers must be there (default 300); null: no limit. */
  readonly timeoutS?: number | null | undefined;
  /** Seconds that the next slice of the answer may take (default 300); null: no limit. */
  readonly idleTimeoutS?: number | null | undefined;
  /** Whether the model is shown images, where that is not known by its name. */
  readonly imageInput?: boolean | undefined;
}

export interface OpenAIChatModel extends HttpModel<"openai-chat"> {
  /** A server whose ways and address are known. */
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
    | (string & {})
    | undefined;
}

export interface BedrockModel extends HttpModel<"bedrock"> {
  /** Of AWS, such as "us-east-1"; it makes the address. */
  readonly region?: string | undefined;
}

/** llama.cpp in the browser: the arguments of `us.llms.Wllama`. */
export interface WllamaModel {
  readonly provider: "wllama";
  /** The GGUF file. */
  readonly modelUrl: string;
  /** `esm/index.js` of the npm package. */
  readonly wllamaUrl?: string | undefined;
  /** Its `wllama.wasm`; default: beside `wllamaUrl`. */
  readonly wasmUrl?: string | undefined;
  /** Tokens of prompt and answer together; default 2048. */
  readonly nCtx?: number | undefined;
  readonly nThreads?: number | undefined;
  /** Layers of the model that WebGPU computes; default 0. */
  readonly nGpuLayers?: number | undefined;
}

/** A model that always gives the same text, for pages under test. */
export interface ScriptedModel {
  readonly provider: "scripted";
  readonly text: string;
  /** Length of the pieces in which it comes. */
  readonly chunkChars?: number | undefined;
}

/** A model that Python reaches itself, over HTTP or in the worker. */
export type ModelSpec =
  | HttpModel<"openai" | "anthropic" | "gemini" | "cohere" | "ollama">
  | OpenAIChatModel
  | BedrockModel
  | WllamaModel
  | ScriptedModel;

/** A model object of a registered Python module: `{ object: "module:name" }`. */
export interface PythonModel {
  readonly object: string;
}

export type Model = ModelSpec | PythonModel | PageModel;

/** Give a spec as it crosses: with whole addresses, and its key fetched. */
export async function crossing(given: ModelSpec | PythonModel): Promise<object> {
  const lm: Record<string, unknown> = {};
  // Python reads addresses from where it runs, the caller from the page.
  for (const [name, value] of Object.entries(given))
    lm[name] = /UR[Ll]$|Url$/.test(name) && typeof value === "string" ? absolute(value).href : value;
  const apiKey = lm["apiKey"];
  if (apiKey === undefined || typeof apiKey === "string") return lm;
  if (typeof apiKey !== "function") throw invalid("lm.apiKey must be text or a function");
  let key: unknown;
  try {
    key = await (apiKey as () => unknown)();
  } catch (thrown) {
    // The reason is in `cause` only: what a key store says may hold the key.
    throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() failed.", { cause: thrown });
  }
  if (typeof key !== "string" || key === "") throw new UnspoolError("MISSING_CREDENTIAL", "lm.apiKey() gave no key.");
  return { ...lm, apiKey: key };
}
