"""A JavaScript function of the page as a model: what it gives crosses as JSON text, piece by piece."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from unspool import llms
from unspool.contracts import Request
from unspool.errors import CallCancelledError, ConfigError, UnspoolError
from unspool.model import LanguageModel
from unspool.stream.chunk_json import chunk_of, error_of, is_chunk
from unspool.structured import strict_json
from unspool.tagged import camel_case
from unspool.wire import plain


def page_model(page: Any, name: Any) -> LanguageModel:
    """Wrap a function of the page.

    Args:
        page: the page's end: `open(request) -> Promise<id>`, `read(id) -> Promise<text | null>`, `abort(id)`; None when
            there is none.
        name: under which the page knows the function.
    Raises:
        ConfigError: UNSUPPORTED when there is no page, or no name.
    """
    if page is None or not isinstance(name, str):
        raise ConfigError("UNSUPPORTED", "There is no model of the page here.")

    async def generate(request: Request) -> Any:
        stream = await _open(page, json.dumps(plain(_request_wire(request, name))))
        over = False
        try:
            while not over:
                text = await page.read(stream)
                over = not isinstance(text, str)  # JavaScript's null is an object of its own in Pyodide
                for piece in () if over else strict_json.loads(text, duplicate_keys="last"):
                    yield chunk_of(piece, "the page's chunk") if is_chunk(piece) else piece
        except UnspoolError:
            raise
        except Exception as error:
            raise _failure(error) from error
        finally:
            if not over:
                page.abort(stream)

    lm = llms.FunctionModel(generate, model=name)
    lm.max_requests = 0
    return lm


def _request_wire(request: Request, model: str) -> dict[str, Any]:
    """Give a request as the page's functions get it; what was not set is left out."""
    wire: dict[str, Any] = {"model": model, "messages": [message.to_wire() for message in request.messages]}
    for name in (
        "temperature",
        "max_output_tokens",
        "stop",
        "seed",
        "reasoning_effort",
        "tools",
        "tool_choice",
        "extra",
    ):
        value = getattr(request, name)
        if value is not None and value not in ((), [], {}):
            wire[camel_case(name)] = value
    output = request.output_schema
    if output is not None:
        wire["outputSchema"] = {"name": output.name, "schema": output.schema, "strict": output.strict}
    return wire


async def _open(page: Any, request: str) -> str:
    """Start an answer on the page. One that starts after this was cancelled is stopped as soon as it has a name."""
    opening: asyncio.Future[str] = asyncio.ensure_future(page.open(request))

    def stop(done: asyncio.Future[str]) -> None:
        if not done.cancelled() and done.exception() is None:
            page.abort(done.result())

    try:
        await asyncio.wait([opening])  # not `shield`, which logs the failure of what nobody waits for any more
    except asyncio.CancelledError:
        opening.add_done_callback(stop)
        raise
    try:
        return opening.result()
    except Exception as error:
        raise _failure(error) from error


def _failure(error: Exception) -> UnspoolError:
    """Keep the code of an error of the page's; a JavaScript error shows its members as attributes."""
    code, words = getattr(error, "code", None), getattr(error, "message", None)
    if code == "ABORTED":
        return CallCancelledError()
    told = {
        "code": code if isinstance(code, str) and code.isupper() else None,
        "message": f"The page's model failed: {(words if isinstance(words, str) else str(error))[:300]}",
        "retryable": getattr(error, "retryable", None),
    }
    return error_of(told, "the page's error")
