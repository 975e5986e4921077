/** The streams of the SDKs as their users get them, each out of a recorded response at `url`. */
import { HttpHandler } from "#http-handler";
import { HttpAgent } from "@ag-ui/client";
import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { Mistral } from "@mistralai/mistralai";
import { DefaultChatTransport, jsonSchema, simulateReadableStream, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AssistantStream, UIMessageStreamDecoder, createAssistantStream } from "assistant-stream";
import { CohereClientV2 } from "cohere-ai";
import OpenAI from "openai";

const messages = [{ role: "user", content: "x" }];
const browser = { dangerouslyAllowBrowser: true }; // the key is none
const openAI = (baseURL) => new OpenAI({ apiKey: "k", baseURL, maxRetries: 0, ...browser });
const anthropic = (baseURL) => new Anthropic({ apiKey: "k", baseURL, maxRetries: 0, ...browser });
const google = (baseUrl) => new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } });

/** SDKs that read the recording itself. */
export const streams = {
  openai: async (url) => await openAI(url).responses.create({ model: "m", input: "x", stream: true }),
  "openai-chat": async (url) => await openAI(url).chat.completions.create({ model: "m", messages, stream: true }),
  anthropic: async (url) => await anthropic(url).messages.create({ model: "m", max_tokens: 9, messages, stream: true }),
  "anthropic beta": async (url) =>
    await anthropic(url).beta.messages.create({ model: "m", max_tokens: 9, messages, stream: true }),
  gemini: async (url) => await google(url).models.generateContentStream({ model: "m", contents: "x" }),
  "gemini interactions": async (url) => await google(url).interactions.create({ model: "m", input: "x", stream: true }),
  cohere: async (url) =>
    await new CohereClientV2({ token: "k", environment: url, baseUrl: url }).chatStream({ model: "m", messages }),
  mistral: async (url) => await new Mistral({ apiKey: "k", serverURL: url }).chat.stream({ model: "m", messages }),
  bedrock: async (url) => {
    const client = new BedrockRuntimeClient({
      endpoint: url,
      region: "us-east-1",
      credentials: { accessKeyId: "k", secretAccessKey: "k" },
      requestHandler: new HttpHandler(),
      maxAttempts: 1,
    });
    const content = [{ text: "x" }];
    return (await client.send(new ConverseStreamCommand({ modelId: "m", messages: [{ role: "user", content }] })))
      .stream;
  },
  "ag-ui": async (url) => {
    const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {}, forwardedProps: {} };
    return ofObservable(new HttpAgent({ url }).run(input));
  },
  "ai ui messages": async (url) =>
    await new DefaultChatTransport({ api: url }).sendMessages({
      trigger: "submit-message",
      chatId: "c",
      messageId: undefined,
      messages: [],
      abortSignal: undefined,
    }),
  "assistant-ui": async (url) => AssistantStream.fromResponse(await fetch(url), new UIMessageStreamDecoder()),
};

/** SDKs whose streams are made of calls: `{ id, name, text }`. */
export const made = {
  "ai fullStream": (calls) => aiStream(calls).fullStream,
  "ai toUIMessageStream": (calls) => aiStream(calls).toUIMessageStream(),
  "assistant-ui": (calls) =>
    createAssistantStream(async (controller) => {
      controller.appendText("One moment.");
      for (const { id, name, text } of calls) {
        const part = controller.addToolCallPart({ toolCallId: id, toolName: name });
        for (const piece of pieces(text)) part.argsText.append(piece);
        part.argsText.close();
        part.close();
      }
    }),
  langchain: async (calls) =>
    await new ChunkModel(
      calls.flatMap(({ id, name, text }, index) => [
        { index, id, name, args: "" },
        ...pieces(text).map((args) => ({ index, args })),
      ]),
    ).stream("x"),
};

/** A LangChain model that streams these chunks of tool calls. */
class ChunkModel extends BaseChatModel {
  constructor(chunks) {
    super({});
    this.chunks = chunks;
  }

  _llmType() {
    return "chunks";
  }

  async *_streamResponseChunks() {
    for (const chunk of this.chunks) {
      const tool_call_chunks = [{ type: "tool_call_chunk", ...chunk }];
      yield new ChatGenerationChunk({ text: "", message: new AIMessageChunk({ content: "", tool_call_chunks }) });
    }
  }
}

function aiStream(calls) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const chunks = [
    { type: "stream-start", warnings: [] },
    ...calls.flatMap(({ id, name, text }) => [
      { type: "tool-input-start", id, toolName: name },
      ...pieces(text).map((delta) => ({ type: "tool-input-delta", id, delta })),
      { type: "tool-input-end", id },
      { type: "tool-call", toolCallId: id, toolName: name, input: text },
    ]),
    { type: "finish", finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage },
  ];
  const inputSchema = jsonSchema({ type: "object" });
  return streamText({
    model: new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) }),
    prompt: "x",
    tools: Object.fromEntries(calls.map(({ name }) => [name, tool({ inputSchema })])),
  });
}

function pieces(text) {
  return text.match(/.{1,7}/gsu) ?? [];
}

/** Read what an Observable pushes, one at a time. */
function ofObservable(observable) {
  let subscription;
  return new ReadableStream({
    start(controller) {
      subscription = observable.subscribe({
        next: (event) => controller.enqueue(event),
        error: (reason) => controller.error(reason),
        complete: () => controller.close(),
      });
    },
    cancel: () => subscription.unsubscribe(),
  });
}
