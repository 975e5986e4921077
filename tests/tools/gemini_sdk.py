"""Reads responses and checks requests with Google's own SDK. Run as a program, in a process that has the SDKs.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"response": base64, "content_type"}`: what the SDK's stream parser makes of it.
- `{"request": a body of ours, "model"}`: the body that the SDK sends when it is given the same, in its own types.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
from typing import Any

httpx: Any = importlib.import_module("httpx2")
genai: Any = importlib.import_module("google.genai")
types: Any = importlib.import_module("google.genai.types")

EMPTY = b'data: {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}\r\n\r\n'
_CONFIG = ("systemInstruction", "tools", "toolConfig")


def client_of(handler: Any) -> Any:
    transport = httpx.MockTransport(handler)
    return genai.Client(api_key="k", http_options=types.HttpOptions(client_args={"transport": transport}))


def plain(value: Any) -> Any:
    return None if value is None else value.model_dump(mode="json", by_alias=True, exclude_none=True)


def read(case: dict[str, Any]) -> dict[str, Any]:
    body = base64.b64decode(case["response"])

    def handler(request: Any) -> Any:
        return httpx.Response(200, content=body, headers={"content-type": case["content_type"]})

    client = client_of(handler)
    told: dict[str, Any] = {"text": "", "thoughts": "", "calls": [], "signatures": [], "usage": None, "reason": None}
    for chunk in client.models.generate_content_stream(model="m", contents="x"):
        told["usage"] = plain(chunk.usage_metadata) or told["usage"]
        candidate = next((one for one in chunk.candidates or () if not one.index), None)
        if candidate is None:
            continue
        told["reason"] = candidate.finish_reason or told["reason"]
        for part in (candidate.content and candidate.content.parts) or ():
            if part.text is not None:
                told["thoughts" if part.thought else "text"] += part.text
            if part.function_call is not None:
                told["calls"].append(plain(part.function_call))
            if part.thought_signature is not None:
                told["signatures"].append(base64.b64encode(part.thought_signature).decode())
    return told


def send(case: dict[str, Any]) -> dict[str, Any]:
    """Every member is checked by the SDK's types, which know no others."""
    seen: list[Any] = []

    def handler(request: Any) -> Any:
        seen.append(request)
        return httpx.Response(200, content=EMPTY, headers={"content-type": "text/event-stream"})

    body = case["request"]
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    config = {**body.get("generationConfig", {}), **{name: body[name] for name in _CONFIG if name in body}}
    given = types.GenerateContentConfig.model_validate(config)
    client = client_of(handler)  # it closes when nobody holds it
    for _ in client.models.generate_content_stream(model=case["model"], contents=contents, config=given):
        pass
    (request,) = seen
    return {"url": str(request.url), "headers": dict(request.headers), "body": json.loads(request.content)}


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        try:
            told = read(case) if "response" in case else send(case)
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
