"""What botocore says of our requests and of streams. Run as a program, in a process that has the SDK.

In, on standard input: a JSON list of cases. Out: one line of JSON a case.

- `{"body"}`: what the service model has against the body of a request (`faults`), and how the SDK sends the same
  (`method`, `url`, `headers` that are signed, `body`, `authorization`).
- `{"url"}`: what its own reader makes of a stream.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import sys
from functools import cache
from typing import Any

MODEL = "us.amazon.nova-2-lite-v1:0"
KEYS = ("AKIDEXAMPLEXXXXX", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")


@cache
def client(url: str | None = None) -> Any:
    boto3: Any = importlib.import_module("boto3")
    config: Any = importlib.import_module("botocore.config")
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id=KEYS[0],
        aws_secret_access_key=KEYS[1],
        config=config.Config(retries={"total_max_attempts": 1}),
    )


def shape_faults(shape: Any, value: Any, path: str) -> list[str]:
    """What the SDK leaves to the server: words of a list, patterns, least lengths."""
    if shape.type_name == "structure":
        if getattr(shape, "is_document_type", False):
            return []
        return [fault for name in value for fault in shape_faults(shape.members[name], value[name], f"{path}.{name}")]
    if shape.type_name == "list":
        return [fault for at, one in enumerate(value) for fault in shape_faults(shape.member, one, f"{path}[{at}]")]
    faults: list[str] = []
    if shape.type_name == "string":
        if shape.enum and value not in shape.enum:
            faults.append(f"{path} is none of {shape.enum}")
        pattern = shape.metadata.get("pattern")
        if pattern and not re.fullmatch(pattern, value):
            faults.append(f"{path} does not match {pattern}")
        if not shape.metadata.get("min", 0) <= len(value) <= shape.metadata.get("max", len(value)):
            faults.append(f"{path} is too short or too long")
    return faults


def judged(body: dict[str, Any]) -> dict[str, Any]:
    validate: Any = importlib.import_module("botocore.validate")
    awsrequest: Any = importlib.import_module("botocore.awsrequest")
    shape = client().meta.service_model.operation_model("ConverseStream").input_shape
    given = {"modelId": MODEL, **with_bytes(body)}
    report: str = validate.ParamValidator().validate(given, shape).generate_report()
    faults = report.splitlines() or shape_faults(shape, given, "")
    if faults:
        return {"faults": faults}
    sent: list[Any] = []

    def instead(request: Any, **_: Any) -> Any:
        """Nothing is sent."""
        sent.append(request)
        return awsrequest.AWSResponse(request.url, 400, {}, None)

    events = client().meta.events
    events.register("before-send", instead)
    try:
        client().converse_stream(**given)
    except Exception:
        pass
    finally:
        events.unregister("before-send", instead)
    [request] = sent
    headers = {name.lower(): text(value) for name, value in request.headers.items()}
    names = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    return {
        "faults": [],
        "method": request.method,
        "url": request.url,
        "body": json.loads(request.body),
        "bytes": base64.b64encode(request.body).decode(),
        "headers": {name: headers[name] for name in names if name != "host"},
        "authorization": headers["authorization"],
    }


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def with_bytes(value: Any) -> Any:
    """Bytes where the wire has base64."""
    if isinstance(value, list):
        return [with_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    blobs = ("bytes", "redactedContent")
    return {
        name: base64.b64decode(item) if name in blobs and isinstance(item, str) else with_bytes(item)
        for name, item in value.items()
    }


def streamed(url: str) -> dict[str, Any]:
    """The answer, put together as simply as can be."""
    told: dict[str, Any] = {"text": "", "reasoning": "", "signature": "", "calls": [], "reason": None, "usage": None}
    calls: dict[int, dict[str, Any]] = {}
    try:
        response = client(url).converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "x"}]}])
        for event in response["stream"]:
            match event:
                case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": call}}}:
                    calls[index] = {**call, "input": ""}
                case {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}:
                    told["text"] += delta.get("text", "")
                    told["reasoning"] += delta.get("reasoningContent", {}).get("text", "")
                    told["signature"] += delta.get("reasoningContent", {}).get("signature", "")
                    if "toolUse" in delta:
                        calls[index]["input"] += delta["toolUse"]["input"]
                case {"messageStop": {"stopReason": reason}}:
                    told["reason"] = reason
                case {"metadata": {"usage": usage}}:
                    told["usage"] = usage
                case _:
                    pass
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"
    told["calls"] = [[call["toolUseId"], call["name"], call["input"]] for call in calls.values() if "type" not in call]
    return told


def main() -> None:
    """Run the cases one after another."""
    for case in json.load(sys.stdin):
        told = judged(case["body"]) if "body" in case else streamed(case["url"])
        print(json.dumps(told, default=str), flush=True)


if __name__ == "__main__":
    main()
