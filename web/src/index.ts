/** The public names of the npm package, nothing else. */
export { connect, type ConnectOptions, type Unspool } from "./client.js";
export { UnspoolError, isUnspoolError, type ErrorCode, type Issue, type WireError } from "./errors.js";
export type * from "./events.js";
export type { EventSource } from "./event-source.js";
export type { FieldState, Patch, Snapshots } from "./live-value.js";
export type { PageAnswer, PageModel, PagePiece, PageRequest } from "./page-models.js";
export { PartialValue } from "./partial-value.js";
export type { QueryStream } from "./query-stream.js";
export type {
  ApiKey,
  GenerationOptions,
  Model,
  ModelSpec,
  PromptMessage,
  PythonModel,
  QueryOptions,
} from "./request.js";
export type {
  ConvertedSchema,
  InferOutput,
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
