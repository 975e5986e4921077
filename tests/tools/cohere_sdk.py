"""Checks requests and reads streams with Cohere's own SDK. Run as a program, in a process that has the SDK.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"request": a body of ours}`: what the types of the SDK's method say against it; nothing when it is well-formed.
- `{"url"}`: what the SDK's own reader of streams makes of the response.
"""

from __future__ import annotations

import importlib
import json
import sys
import typing
from functools import cache
from typing import Any, cast

cohere: Any = importlib.import_module("cohere")
pydantic: Any = importlib.import_module("pydantic")


def extras(value: Any, where: str = "body") -> list[str]:
    """Members that the SDK does not know: its classes keep them apart."""
    if isinstance(value, list | tuple):
        return [name for at, item in enumerate(cast("list[Any]", value)) for name in extras(item, f"{where}[{at}]")]
    if isinstance(value, pydantic.BaseModel):
        unknown = [f"{where}.{name}" for name in value.model_extra or ()]
        known = [getattr(value, name) for name in type(value).model_fields]
        return unknown + [name for member in known for name in extras(member, f"{where}.{type(value).__name__}")]
    return []


@cache
def adapter() -> Any:
    """The arguments of the method that streams, as a type."""
    client = importlib.import_module("cohere.v2.client").V2Client
    hints = typing.get_type_hints(client.chat_stream)
    members = {name: hint for name, hint in hints.items() if name not in ("request_options", "return")}
    wanted: Any = typing.TypedDict("Body", {**members, "stream": typing.Literal[True]}, total=False)  # type: ignore[misc,operator]
    wanted.__pydantic_config__ = {"extra": "forbid"}
    return pydantic.TypeAdapter(wanted)


def check(case: dict[str, Any]) -> dict[str, Any]:
    try:
        value = adapter().validate_python(case["request"])
    except pydantic.ValidationError as error:
        return {"faults": [f"{one['loc']}: {one['msg']}" for one in error.errors()]}
    return {"faults": [fault for name, member in value.items() for fault in extras(member, name)]}


def read(case: dict[str, Any]) -> dict[str, Any]:
    client = cohere.ClientV2(api_key="k", base_url=case["url"])
    told: dict[str, Any] = {"id": None, "text": "", "thinking": "", "tool_plan": "", "citations": 0, "finish": None}
    calls: dict[int, list[Any]] = {}
    for event in client.chat_stream(model="m", messages=[{"role": "user", "content": "x"}]):
        match event.type:
            case "message-start":
                told["id"] = event.id
            case "content-start" | "content-delta":
                content = event.delta.message.content
                told["text"] += content.text or ""
                told["thinking"] += content.thinking or ""
            case "tool-plan-delta":
                told["tool_plan"] += event.delta.message.tool_plan
            case "tool-call-start":
                call = event.delta.message.tool_calls
                calls[event.index] = [call.id, call.function.name, call.function.arguments or ""]
            case "tool-call-delta":
                calls[event.index][2] += event.delta.message.tool_calls.function.arguments
            case "citation-start":
                told["citations"] += 1
            case "message-end":
                told["finish"] = event.delta.finish_reason
                told["error"] = event.delta.error
                usage = event.delta.usage
                told["usage"] = usage and usage.dict()
            case _:
                pass
    return told | {"calls": list(calls.values())}


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        print(json.dumps(read(case) if "url" in case else check(case)), flush=True)


if __name__ == "__main__":
    main()
