"""What a call of a model may be told, checked before anything is sent.

In: a prompt and keyword options. Out: a neutral `Request`, or ConfigError INVALID_OPTIONS that names the option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, TypedDict, TypeGuard, cast, get_origin

from unspool.contracts import OutputSchema, Request
from unspool.errors import ConfigError
from unspool.messages import Message, SystemMessage, UserMessage
from unspool.messages.tool_results import with_results_at_calls

Prompt = str | Message | Sequence[Message | Mapping[str, Any]]
"""What is asked: a text of the user, a message, or a conversation; its messages may be dicts, as `Message.from_wire`
reads them."""
_ELSEWHERE = frozenset({"previous_response_id", "conversation"})
"""What OpenAI calls a conversation that it holds itself."""


class CallOptions(TypedDict, total=False):
    """Options of one call; given to a model's constructor they are its defaults. None means "not set"."""

    system: str | None
    """Instructions put before the conversation."""
    temperature: float | None
    """From 0 (the most likely words) upwards; the provider's default when not set."""
    max_output_tokens: int | None
    """At least 1. Where the limit is reached the answer ends with the finish reason "length"."""
    stop: str | Sequence[str]
    """Texts before which the answer ends."""
    seed: int | None
    """Asks the provider for a repeatable answer."""
    reasoning_effort: str | None
    """How long the model is to think, in the provider's own words, such as "low"."""
    tools: Sequence[Mapping[str, Any]]
    """Each `{"name", "description", "parameters"}`, parameters being a JSON Schema."""
    tool_choice: str | None
    """"auto" (the default), "required", "none", or the name of the tool that must be called."""
    output_schema: OutputSchema | None
    """What the provider holds the answer to (native structured output)."""
    extra: Mapping[str, Any] | None
    """Further members of the provider's request body; they win over ours, a call's win over the model's."""


def build_request(model: str, prompt: Prompt, defaults: CallOptions, options: CallOptions) -> Request:
    """Join a prompt, a model's defaults and a call's options to a request.

    Args:
        model: the provider's name of the model.
        prompt: text of the user, one message, or a conversation.
        defaults: options that hold where the call says nothing; checked already.
        options: options of this call; None leaves the default.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the option at fault, or the tool call (`with_results_at_calls`).
    """
    check_options(options)
    merged: dict[str, Any] = {**merged_options(defaults, options)}
    messages = messages_of(prompt)
    system = merged.pop("system", None)
    if system:
        messages.insert(0, SystemMessage(system))
    stop = merged.pop("stop", None) or ()
    tools = merged.pop("tools", None) or ()
    request = Request(model, messages, stop=(stop,) if isinstance(stop, str) else stop, tools=tools, **merged)
    check_tool_choice(request)
    messages = with_results_at_calls(request.messages, continues=not _ELSEWHERE.isdisjoint(request.extra))
    same = len(messages) == len(request.messages) and all(map(is_, messages, request.messages))
    return request if same else request.replaced(messages=messages)


def merged_options(defaults: CallOptions, options: CallOptions) -> CallOptions:
    """Put a call's options over defaults: None leaves the default, and `extra` is joined member by member."""
    merged: dict[str, Any] = {**defaults}
    merged.update((name, value) for name, value in options.items() if value is not None)
    merged["extra"] = {**(defaults.get("extra") or {}), **(options.get("extra") or {})}
    return cast(CallOptions, merged)


def check_options(options: CallOptions) -> None:
    """Refuse options that no provider could make sense of.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the option at fault.
    """
    for name, value in options.items():
        check = _CHECKS.get(name)
        if check is None:
            raise ConfigError("INVALID_OPTIONS", f"{no_option(name, _CHECKS)}.")
        is_good, wanted = check
        if value is not None and not is_good(value):
            raise ConfigError("INVALID_OPTIONS", f"The option {name} must be {wanted}.")


def no_option(name: str, known: Iterable[str]) -> str:
    """Say that there is no such option, which there are, and which was probably meant."""
    from difflib import get_close_matches

    names = sorted(known)
    longer = [known for known in names if name and known.startswith(name)]
    near = longer if len(longer) == 1 else get_close_matches(name, names, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"There is no option {name!r} here{meant}; there are {', '.join(names)}"


def messages_of(prompt: object) -> list[Message]:
    """Give a prompt as a conversation, in a list of its own.

    Raises:
        ConfigError: INVALID_OPTIONS when it is no prompt.
    """
    if isinstance(prompt, str):
        return [UserMessage(prompt)]
    if isinstance(prompt, Message):
        return [prompt]
    if isinstance(prompt, Sequence):
        given = list(cast(Sequence[object], prompt))
        messages = [
            _read(cast("Mapping[str, Any]", message), f"prompt[{i}]") if isinstance(message, Mapping) else message
            for i, message in enumerate(given)
        ]
        if messages and all(isinstance(message, Message) for message in messages):
            return cast("list[Message]", messages)
    hint = ""
    if isinstance(prompt, Mapping):
        hint = " A message that is a dict: put it in a list."
    elif isinstance(prompt, type) or get_origin(prompt):
        hint = " The type comes second: query(prompt, T)."
    raise ConfigError(
        "INVALID_OPTIONS",
        "A prompt must be a text, a message (with images: us.UserMessage([…])), or a sequence of at least one message."
        + hint,
    )


def _read(message: Mapping[str, Any], where: str) -> Message:
    from unspool.messages.from_json import message_of  # here, because few prompts are JSON

    return message_of(message, where)


def check_tool_choice(request: Request) -> str | None:
    """Give the choice between tools that a request makes, when it has any tools.

    Returns:
        "auto", "required", "none" or the name of a tool of the request; None when it makes no choice.
    Raises:
        ConfigError: INVALID_OPTIONS when a tool is demanded that the request does not have.
    """
    choice = request.tool_choice
    if choice is None or choice in ("auto", "none"):
        return choice if request.tools else None
    if not request.tools or (choice != "required" and all(tool.get("name") != choice for tool in request.tools)):
        what = "a tool" if choice == "required" else f"the tool {choice!r}"
        raise ConfigError("INVALID_OPTIONS", f"tool_choice demands {what}, which the request does not have.")
    return choice


def check_count(name: str, value: object, least: int = 1, most: int | None = None) -> None:
    """Refuse what is no whole number in a range.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the option.
    """
    if not _is_integer(value) or value < least or (most is not None and value > most):
        wanted = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ConfigError("INVALID_OPTIONS", f"The option {name} must be a whole number, {wanted}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return _is_integer(value) and value >= 1


def _is_temperature(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_texts(value: object) -> bool:
    return isinstance(value, Sequence) and all(isinstance(text, str) for text in cast(Sequence[object], value))


def _is_tools(value: object) -> bool:
    return isinstance(value, Sequence) and all(map(_is_tool, cast(Sequence[object], value)))


def _is_tool(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    tool = cast(Mapping[str, object], value)
    return _is_name(tool.get("name")) and isinstance(tool.get("parameters") or {}, Mapping)


def _is_schema(value: object) -> bool:
    return isinstance(value, OutputSchema)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "system": (_is_text, "a text"),
    "temperature": (_is_temperature, "a number, 0 or more"),
    "max_output_tokens": (_is_count, "a whole number, 1 or more"),
    "stop": (_is_texts, "a text or a sequence of texts"),
    "seed": (_is_integer, "a whole number"),
    "reasoning_effort": (_is_name, "a text that is not empty"),
    "tools": (
        _is_tools,
        "a sequence of mappings with a name, a description and parameters (a mapping: their JSON Schema), not nested "
        "in `function`",
    ),
    "tool_choice": (_is_name, 'a text: "auto", "required", "none" or the name of a tool'),
    "output_schema": (_is_schema, "an OutputSchema"),
    "extra": (_is_mapping, "a mapping"),
}
