"""What Anthropic's own SDK says of our requests and of streams. Run as a program, in a process that has the SDK.

In, on standard input: a JSON list of cases, each `{"body"}` or `{"url"}`, with `beta`. Out: one line of JSON a case:
what the SDK's types made of the body, or its own reader of streams of the response.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, cast


def outcome(make: Callable[[], Any]) -> dict[str, Any]:
    """A value, or the error in its place."""
    try:
        return {"value": make()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def strict(schema: Any) -> Any:
    """A schema of pydantic's that reads iterables at once, and forbids members that the SDK does not know."""
    if isinstance(schema, list | tuple):
        return [strict(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {name: strict(value) for name, value in cast("dict[str, Any]", schema).items()}
    if made.get("type") == "generator":
        made["type"] = "list"
    if made.get("type") == "typed-dict" and made.get("extra_behavior") == "ignore":
        made["extra_behavior"] = "forbid"
    return made


@cache
def validator(beta: bool) -> Any:
    """What the SDK says that the body of a request must be."""
    folder = "anthropic.types.beta" if beta else "anthropic.types"
    types = importlib.import_module(f"{folder}.message_create_params")
    schema = importlib.import_module("pydantic").TypeAdapter(types.MessageCreateParamsStreaming).core_schema
    return importlib.import_module("pydantic_core").SchemaValidator(strict(schema))


def validated(body: dict[str, Any], beta: bool) -> Any:
    """The body as the SDK's types know it; an error when they forbid something in it."""
    return validator(beta).validate_python(body)


def streamed(url: str, beta: bool) -> Any:
    """The final message of a stream."""
    client = importlib.import_module("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0)
    messages = client.beta.messages if beta else client.messages
    with messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream:
        return stream.get_final_message().model_dump(mode="json", exclude_unset=True, warnings=False)


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        beta = case.get("beta", False)
        if "body" in case:
            told = outcome(lambda case=case, beta=beta: validated(case["body"], beta))
        else:
            told = outcome(lambda case=case, beta=beta: streamed(case["url"], beta))
        print(json.dumps(told, default=lambda block: block.to_dict()), flush=True)


if __name__ == "__main__":
    main()
