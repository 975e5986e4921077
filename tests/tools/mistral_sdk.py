"""Checks requests and reads streams with Mistral's own SDK. Run as a program, in a process that has the SDK.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"request": a body of ours}`: what the SDK's own types say against it; nothing when it is well-formed.
- `{"url"}`: what the SDK's own reader of streams makes of the response.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

models: Any = importlib.import_module("mistralai.client.models")
client: Any = importlib.import_module("mistralai.client")
pydantic: Any = importlib.import_module("pydantic")


def check(case: dict[str, Any]) -> dict[str, Any]:
    """The types drop members that they do not know, so that what is left must be all of it."""
    try:
        made = models.ChatCompletionStreamRequest.model_validate(case["request"])
    except pydantic.ValidationError as error:
        return {"faults": [f"{one['loc']}: {one['msg']}" for one in error.errors()]}
    known = made.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {"faults": [] if known == case["request"] else [f"unknown members, known: {json.dumps(known)}"]}


def read(case: dict[str, Any]) -> dict[str, Any]:
    sdk = client.Mistral(api_key="k", server_url=case["url"])
    told: dict[str, Any] = {"id": None, "model": None, "text": "", "reasoning": "", "references": [], "finish": None}
    calls: dict[int, list[str]] = {}
    with sdk.chat.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
        for event in stream:
            chunk = event.data
            told["id"], told["model"] = chunk.id, chunk.model
            if chunk.usage is not None:
                told["usage"] = chunk.usage.model_dump(mode="json", exclude_unset=True)
            for choice in chunk.choices:
                told["finish"] = choice.finish_reason or told["finish"]
                content = choice.delta.content
                for part in content if isinstance(content, list) else [content]:
                    add(part, told)
                for call in choice.delta.tool_calls or ():
                    known = calls.setdefault(call.index, ["", "", ""])
                    known[0] = known[0] or call.id
                    known[1] = known[1] or call.function.name
                    known[2] += call.function.arguments
    return told | {"calls": list(calls.values())}


def add(part: Any, told: dict[str, Any]) -> None:
    kind = getattr(part, "type", None)
    if isinstance(part, str):
        told["text"] += part
    elif kind == "text":
        told["text"] += part.text
    elif kind == "thinking":
        told["reasoning"] += "".join(inner.text for inner in part.thinking if inner.type == "text")
    elif kind == "reference":
        told["references"].append(part.reference_ids)


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        print(json.dumps(read(case) if "url" in case else check(case)), flush=True)


if __name__ == "__main__":
    main()
