"""Reads responses and checks requests with OpenAI's own SDK. Run as a program, in a process that has the SDKs.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"response": base64, "content_type"}`: what the SDK's stream parser makes of it; for JSON, its model of a response.
- `{"request": a body of ours}`: what the SDK's own types say against it; nothing when it is well-formed.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
from typing import Any

httpx: Any = importlib.import_module("httpx2")
openai: Any = importlib.import_module("openai")
pydantic: Any = importlib.import_module("pydantic")
params: Any = importlib.import_module("openai.types.responses.response_create_params")


def client_of(body: bytes, content_type: str) -> Any:
    def handler(request: Any) -> Any:
        return httpx.Response(200, content=body, headers={"content-type": content_type})

    transport = httpx.MockTransport(handler)
    return openai.OpenAI(api_key="k", max_retries=0, http_client=httpx.Client(transport=transport))


def plain(value: Any) -> Any:
    """What was in the wire, without members that the SDK adds."""
    return None if value is None else value.model_dump(mode="json", exclude_unset=True)


def read(case: dict[str, Any]) -> dict[str, Any]:
    client = client_of(base64.b64decode(case["response"]), case["content_type"])
    if case["content_type"] == "application/json":
        return told_by(client.responses.create(model="m", input="x"))
    told: dict[str, Any] = {"streamed": "", "reasoning": "", "refusal": "", "items": [], "error": None}
    final: Any = None
    try:
        for event in client.responses.create(model="m", input="x", stream=True):
            match event.type:
                case "response.output_text.delta":
                    told["streamed"] += event.delta
                case "response.refusal.delta":
                    told["refusal"] += event.delta
                case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                    told["reasoning"] += event.delta
                case "response.output_item.done":
                    told["items"].append(event.item)
                case "response.completed" | "response.incomplete" | "response.failed":
                    final = event.response
                case _:
                    pass
    except openai.APIError as error:
        told["error"] = error.message
    told["calls"] = calls_in(told.pop("items"))
    return told | {"final": told_by(final) if final is not None else None}


def told_by(response: Any) -> dict[str, Any]:
    output = response.output
    return {
        "text": response.output_text if output is not None else None,
        "calls": calls_in(output) if output is not None else None,
        "usage": plain(response.usage),
        "status": response.status,
        "error": response.error.message if response.error else None,
        "id": response.id,
        "model": response.model,
    }


def calls_in(items: list[Any]) -> list[list[str]]:
    return [[item.call_id, item.name, item.arguments] for item in items if item.type == "function_call"]


def check(case: dict[str, Any]) -> dict[str, Any]:
    """The types drop members that they do not know, so that what is left must be all of it."""
    adapter = pydantic.TypeAdapter(params.ResponseCreateParamsStreaming)
    try:
        known = adapter.dump_python(adapter.validate_python(case["request"]), mode="json")
    except pydantic.ValidationError as error:
        return {"faults": [f"{one['loc']}: {one['msg']}" for one in error.errors()]}
    return {"faults": [] if known == case["request"] else [f"unknown members, known: {json.dumps(known)}"]}


if __name__ == "__main__":
    for one in json.load(sys.stdin):
        print(json.dumps(read(one) if "response" in one else check(one)), flush=True)
