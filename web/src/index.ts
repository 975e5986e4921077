/// <reference lib="esnext.disposable" preserve="true" />
/** The public names of the npm package, nothing else. */
export { connect, type ConnectOptions, type Unspool } from "./client.js";
export { UnspoolError, isUnspoolError, type ErrorCode, type Issue, type WireError } from "./errors.js";
export type * from "./events.js";
export type { EventSource } from "./event-source.js";
export type { FieldState, Patch, Snapshots } from "./live-value.js";
export type * from "./message.js";
export type { PageAnswer, PageModel, PagePiece, PageRequest } from "./page-models.js";
export type {
  ApiKey,
  BedrockModel,
  HttpModel,
  Model,
  ModelSpec,
  OpenAIChatModel,
  PythonModel,
  ScriptedModel,
  WllamaModel,
} from "./model-spec.js";
export type { DeepPartial, ElementAt, ListPath } from "./partial-types.js";
export { PartialValue, type PartState } from "./partial-value.js";
export type { ModelCallOptions, Reply, ToolCall } from "./model-call.js";
export type { Answered, Completed, CompletionOptions, WholeQueryOptions } from "./query.js";
export type { PartialResult, PartialsOptions, QueryStream, Reader } from "./query-stream.js";
export type { GenerationOptions, Prompt, PromptMessage, QueryOptions, Tool } from "./request.js";
export type {
  ConvertedSchema,
  InferInput,
  InferOutput,
  InputOf,
  JsonSchema,
  ResultOf,
  SchemaInput,
  StandardSchema,
  TypeName,
} from "./schema.js";
export type { ReadStructuredOptions } from "./structured.js";
export type {
  PoolOptions,
  StructuredCompletion,
  StructuredProgress,
  StructuredStreamPool,
  StructuredUpdate,
} from "./structured-pool.js";
export type {
  EventMapper,
  IntegrationName,
  SessionOptions,
  StructuredAdapter,
  StructuredDiagnostic,
  StructuredOperation,
  StructuredSession,
} from "./structured-session.js";
export type { StreamOptions, StreamState, StructuredStream } from "./structured-stream.js";
export type { BootProgress, BootStage, Versions } from "./wire.js";
export type { WorkerLike } from "./worker-link.js";
