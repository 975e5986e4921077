"""Draws the card of the two PyScript pages. `document` is the page's, also in a worker."""

from pathlib import Path
from typing import Any

from pyscript import document, window

import unspool as us

DEFAULTS = {"server": "http://127.0.0.1:8080/v1", "model": "local"}
"""What to ask when the address of the page says nothing, as in `?server=https://…/v1&model=…`."""


def form(name: str) -> str:
    """The text of an input."""
    return document.querySelector(f"#{name}").value


async def ready(program: str) -> None:
    """Let the reader ask, and show the program that will answer."""
    address = window.URL.new(window.location.href)
    for name, default in {**DEFAULTS, **await served()}.items():
        document.querySelector(f"#{name}").value = address.searchParams.get(name) or default
    show(program)
    tell("ready", "Python is ready.")


def show(program: str) -> None:
    """Show a program of the page."""
    document.querySelector("#program").textContent = Path(program).read_text()


async def served() -> dict[str, str]:
    """The model server behind the demo, when the folder is served by it and it has one."""
    answer = await window.fetch("./config.json")
    if not answer.ok:
        return {}
    lm = (await answer.json()).lm
    return {"server": lm.baseURL, "model": lm.model} if lm.provider == "openai-chat" else {}


def server() -> str:
    """The model server's absolute address: in a worker, relative ones are taken from the worker's own, a blob's."""
    return window.URL.new(form("server"), window.location.href).href


def begin() -> None:
    """Empty the card for the next answer."""
    for cell in document.querySelectorAll("[data-field]"):
        cell.textContent = ""
        cell.dataset.state = ""
    tell("asking", "The model is writing …")


def draw(events: list[Any], value: Any) -> None:
    """Bring the card up to date.

    Args:
        events: what happened since the last time.
        value: the partial value after them.
    """
    states: dict[str, str] = {}
    for event in events:
        match event:
            case us.FieldEnd([name]):
                states[name] = "complete"
            case us.FieldStart([name, *_]) | us.StringFieldDelta([name, *_]) | us.FieldEnd([name, *_]):
                states[name] = "writing"
            case us.GenerationComplete(result):
                tell("done", repr(result))
            case us.ParsingFailed(error) | us.GenerationFailed(error) | us.Cancelled(error):
                tell("failed", str(error))
    for name, state in states.items():
        cell = document.querySelector(f"[data-field={name}]")
        cell.textContent = in_words(value.get(name, ""))
        cell.dataset.state = state


def in_words(value: Any) -> str:
    """A value as people write it."""
    return " · ".join(value) if isinstance(value, list) else str(value)


def tell(state: str, words: str) -> None:
    """Say how things are; the button waits while the model writes."""
    status = document.querySelector("#status")
    status.textContent = words
    status.dataset.state = state
    document.querySelector("#ask").disabled = state in ("starting", "asking")
