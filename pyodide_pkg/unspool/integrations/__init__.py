"""Live tool calls out of the decoded events of other SDKs: one integration a protocol, and adapters of your own.

An integration is given to `read_structured`, or called for a session to push events to. Its mapper says what the events
of the protocol mean (`calls.Mapper` shows how one is written); it is loaded when it is used first. No SDK is imported.
"""

from __future__ import annotations

from unspool.integrations.integration import Integration

ag_ui = Integration("ag-ui", "ag_ui:AgUiMapper")
anthropic = Integration("anthropic", "anthropic:AnthropicMapper")
assistant_ui = Integration("assistant-ui", "assistant_ui:AssistantUiMapper")
bedrock = Integration("bedrock", "bedrock:BedrockMapper")
cohere = Integration("cohere", "cohere:CohereMapper")
gemini = Integration("gemini", "gemini:GeminiMapper")
langchain = Integration("langchain", "langchain:LangChainMapper")
mistral = Integration("mistral", "mistral:MistralMapper")
openai = Integration("openai", "openai:OpenAIMapper")
openai_chat = Integration("openai-chat", "openai_chat:OpenAIChatMapper")
vercel_ai = Integration("vercel-ai", "vercel_ai:VercelAiMapper")

__all__ = [
    "Integration",
    "ag_ui",
    "anthropic",
    "assistant_ui",
    "bedrock",
    "cohere",
    "gemini",
    "langchain",
    "mistral",
    "openai",
    "openai_chat",
    "vercel_ai",
]


def __dir__() -> list[str]:
    return sorted(__all__)
