"""What Ollama's own SDK says of our requests and of streams. Run as a program, in a process that has the SDK.

In, on standard input: a JSON list of cases, each `{"body"}` or `{"url"}`. Out: one line of JSON a case: what the SDK's
types have against the body (`faults`) and what they keep of it (`value`); or what its own reader makes of a stream.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

NEWER = ("id", "tool_call_id")
"""Members of calls and results that servers read and this SDK does not know."""


def judged(body: dict[str, Any]) -> dict[str, Any]:
    types: Any = importlib.import_module("ollama._types")
    try:
        messages: list[Any] = []
        for message in without_newer(body["messages"]):
            if "images" in message:  # its client makes these objects of them
                message["images"] = [types.Image(value=image) for image in message["images"]]
            messages.append(types.Message(**message))
        told = types.ChatRequest(**{**body, "messages": messages}).model_dump(exclude_none=True, exclude_unset=True)
    except Exception as error:
        return {"faults": [f"{type(error).__name__}: {error}"]}
    lost = sorted(set(body) - set(told))
    return {"faults": [f"{name} is not known" for name in lost], "value": told}


def without_newer(value: Any) -> Any:
    if isinstance(value, list):
        return [without_newer(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: without_newer(item) for name, item in value.items() if name not in NEWER}


def streamed(url: str) -> dict[str, Any]:
    """The answer, put together as simply as can be."""
    told: dict[str, Any] = {"text": "", "thinking": "", "calls": [], "reason": None, "usage": None}
    client = importlib.import_module("ollama").Client(host=url)
    try:
        for event in client.chat(model="m", messages=[{"role": "user", "content": "x"}], stream=True):
            told["text"] += event.message.content or ""
            told["thinking"] += event.message.thinking or ""
            calls = event.message.tool_calls or ()
            told["calls"] += [[call.function.name, dict(call.function.arguments)] for call in calls]
            if event.done:
                told["reason"] = event.done_reason
                told["usage"] = [event.prompt_eval_count, event.eval_count]
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"
    return told


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        print(json.dumps(judged(case["body"]) if "body" in case else streamed(case["url"])), flush=True)


if __name__ == "__main__":
    main()
