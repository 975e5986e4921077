"""Reads chat completions and checks requests with OpenAI's own SDK. Run as a program, in a process that has the SDKs.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"response": base64}`: what the SDK's stream parser makes of an event stream.
- `{"request": a body of ours}`: what the SDK's own types say against it; nothing when it is well-formed.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
from collections.abc import Iterable
from typing import Any

httpx: Any = importlib.import_module("httpx2")
openai: Any = importlib.import_module("openai")
pydantic: Any = importlib.import_module("pydantic")
params: Any = importlib.import_module("openai.types.chat.completion_create_params")


def read(case: dict[str, Any]) -> dict[str, Any]:
    body = base64.b64decode(case["response"])

    def handler(request: Any) -> Any:
        return httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})

    transport = httpx.MockTransport(handler)
    client = openai.OpenAI(api_key="k", max_retries=0, http_client=httpx.Client(transport=transport))
    told: dict[str, Any] = {"text": "", "refusal": "", "calls": [], "usage": None, "finish": None, "error": None}
    calls: dict[int, list[str]] = {}
    try:
        for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
            if chunk.usage is not None:
                told["usage"] = chunk.usage.model_dump(mode="json", exclude_unset=True)
            for choice in chunk.choices:
                if choice.index:
                    continue
                told["finish"] = choice.finish_reason or told["finish"]
                if choice.delta is None:  # recorded; its type says never
                    continue
                told["text"] += choice.delta.content or ""
                told["refusal"] += choice.delta.refusal or ""
                for delta in choice.delta.tool_calls or ():
                    call = calls.setdefault(delta.index, ["", "", ""])
                    call[0] = call[0] or delta.id or ""
                    call[1] = call[1] or (delta.function and delta.function.name) or ""
                    call[2] += (delta.function and delta.function.arguments) or ""
    except openai.APIError as error:
        told["error"] = error.message
    told["calls"] = list(calls.values())
    return told


def check(case: dict[str, Any]) -> dict[str, Any]:
    """The types drop members that they do not know, so that what is left must be all of it."""
    adapter = pydantic.TypeAdapter(params.CompletionCreateParamsStreaming)
    try:
        known = unrolled(adapter.validate_python(case["request"]))
    except pydantic.ValidationError as error:
        return {"faults": [f"{one['loc']}: {one['msg']}" for one in error.errors()]}
    return {"faults": [] if known == case["request"] else [f"unknown members, known: {json.dumps(known)}"]}


def unrolled(value: Any) -> Any:
    """Lists that the types call iterables are validated only while they are read."""
    if isinstance(value, dict):
        return {name: unrolled(member) for name, member in value.items()}
    return value if isinstance(value, str) or not isinstance(value, Iterable) else [unrolled(item) for item in value]


if __name__ == "__main__":
    for one in json.load(sys.stdin):
        print(json.dumps(read(one) if "response" in one else check(one)), flush=True)
