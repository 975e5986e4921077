"""`unspool demo` and `unspool serve`: the demo page with one of three engines behind it.

Host only. Everything that is fetched or made is kept under `build/` and `dist/`, so the second run starts at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import threading
from collections.abc import Generator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError
from rich.console import Console
from rich.json import JSON
from rich.markup import escape
from rich.panel import Panel
from rich.status import Status
from rich.text import Text

from unspool.cli.bundle import bundle
from unspool.cli.checkout import BuildError, Checkout
from unspool.cli.engines import MODEL_FILE, llama_server, model_file
from unspool.cli.progress import progress_bars
from unspool.cli.scripted import scripted_provider
from unspool.cli.serve import running, site

PORT = 8765
MODEL = "SmolLM2-135M-Instruct"
SILENCE_S = 240.0
"""How long the page may say nothing: the slowest step is the start of the model on a busy machine."""
VIEWPORT: Any = {"width": 1280, "height": 1400}

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_COMMANDS = ("chromium", "chromium-browser", "google-chrome")
_LISTEN_JS = """
for (const kind of ["state", "event"]) {
  document.addEventListener(`unspool:${kind}`, ({ detail }) => tellTerminal(JSON.stringify({ kind, detail })));
}
"""


class Engine(StrEnum):
    """What runs the model."""

    PAGE = "page"
    LLAMA_CPP = "llama.cpp"
    SCRIPTED = "scripted"


class DemoError(BuildError):
    """The page did not do what it should: DEMO_FAILED."""

    def __init__(self, message: str) -> None:
        super().__init__("DEMO_FAILED", message)


@contextlib.contextmanager
def stage(
    engine: Engine, checkout: Checkout, console: Console, *, host: str, port: int, model_port: int = 0
) -> Generator[str]:
    """Build and fetch what is missing, and serve the demo while the block runs.

    Args:
        engine: what answers. All but `page` listen on a port of their own, so the page is a cross-origin client.
        checkout: where to build.
        console: where progress is drawn, and the model's address.
        host, port: where the page is served; another port when this one is taken.
        model_port: where the model listens, on 127.0.0.1; 0 takes a free one.
    Returns:
        The address of the page.
    Raises:
        BuildError: any code.
    """
    with progress_bars(console) as report:
        dist = bundle(checkout, checkout.root / "dist", report).path
        model = None if engine is Engine.SCRIPTED else model_file(checkout, report)
    with contextlib.ExitStack() as stack:
        models: dict[str, Path] = {}
        if model is None:
            label, where = "Scripted provider, over HTTP", ""
            base_url = stack.enter_context(running(scripted_provider(), port=model_port))
            lm: dict[str, str] = {"provider": "openai-chat", "model": "scripted", "baseURL": f"{base_url}/v1"}
        elif engine is Engine.LLAMA_CPP:
            label, where = f"{MODEL} in llama.cpp's server", ""
            base_url = stack.enter_context(llama_server(model, port=model_port))
            lm = {"provider": "openai-chat", "model": MODEL, "baseURL": base_url}
        else:
            label, where = f"{MODEL}, in this page", "and so does the model: no server, no key, no network"
            models[MODEL_FILE] = model
            lm = {"provider": "wllama", "modelURL": f"/models/{MODEL_FILE}?v={_version(model)}"}
        if "baseURL" in lm:
            console.print(f"The model answers at [bold]{escape(lm['baseURL'])}[/bold]", soft_wrap=True)
        config = {"engine": engine.value, "label": label, "where": where, "lm": lm}
        yield stack.enter_context(running(site(dist, config, models), host=host, port=port))


def _version(file: Path) -> str:
    """Another file has another version: browsers keep a model for ever under its address."""
    stat = file.stat()
    return f"{stat.st_size:x}-{int(stat.st_mtime):x}"


async def drive(url: str, console: Console, screenshot: Path) -> dict[str, Any]:
    """Open the page in headless Chromium, press Run, and print what happens.

    Args:
        url: the page.
        console: where to print.
        screenshot: a PNG of the page at its end, also when it failed.
    Returns:
        The last event: `generationComplete`, with the validated value.
    Raises:
        DemoError: DEMO_FAILED when the page fails, says nothing for too long, or asks another machine.
        BuildError: TOOL_MISSING without a Chromium that starts.
    """
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        try:
            context = await browser.new_context(viewport=VIEWPORT)
            page = await context.new_page()
            news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
            foreign: list[str] = []
            page.on("request", lambda request: foreign.append(request.url) if _is_foreign(request.url, url) else None)
            page.on("pageerror", lambda error: news.put_nowait({"kind": "broken", "detail": str(error)}))
            page.on("crash", lambda _page: news.put_nowait({"kind": "broken", "detail": "The page crashed."}))

            def on_told(told: str) -> None:
                news.put_nowait(json.loads(told))

            await page.expose_function("tellTerminal", on_told)  # pyright: ignore[reportUnknownMemberType]
            await page.add_init_script(_LISTEN_JS)
            try:
                await page.goto(url)
                with console.status("Opening the page …") as status:
                    teller = _Teller(console, status)
                    await _until_ready(news, teller)
                    await page.click("#run")
                    last = await _until_over(news, teller)
            finally:
                with contextlib.suppress(PlaywrightError):
                    screenshot.parent.mkdir(parents=True, exist_ok=True)
                    await page.screenshot(path=screenshot, full_page=True)
            if foreign:
                raise DemoError(f"The page asked another machine: {', '.join(foreign[:3])}.")
            return last
        finally:
            await browser.close()


async def launch(playwright: Playwright) -> Browser:
    """Start headless Chromium: the one UNSPOOL_CHROMIUM names, the system's, or Playwright's own.

    Raises:
        BuildError: TOOL_MISSING when none starts.
    """
    named = os.environ.get("UNSPOOL_CHROMIUM")
    command = named or next((found for name in _COMMANDS if (found := shutil.which(name))), None)
    try:
        return await playwright.chromium.launch(executable_path=command, args=[*CHROMIUM_FLAGS])
    except PlaywrightError as error:
        raise BuildError(
            "TOOL_MISSING",
            "Chromium did not start. Install the system's package `chromium`, run `playwright install chromium`, or "
            f"name one with UNSPOOL_CHROMIUM. ({error.message.splitlines()[0]})",
        ) from error


def _is_foreign(asked: str, url: str) -> bool:
    parts = urlsplit(asked)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != urlsplit(url).hostname


class _Teller:
    """Prints what the page tells: a line for each event and each new state, and a live one for how far a state is."""

    def __init__(self, console: Console, status: Status) -> None:
        self._console = console
        self._status = status
        self._state = ""

    def state(self, detail: Mapping[str, Any]) -> str:
        state, words = str(detail["state"]), str(detail["words"])
        if state != self._state:
            self._console.print(Text(words, style="bold green" if state in ("ready", "done") else "cyan"))
        self._state = state
        self._status.update(Text(words))
        return state

    def event(self, event: Mapping[str, Any]) -> None:
        self._console.print(event_line(event, self._console.width))


async def _until_ready(news: asyncio.Queue[dict[str, Any]], teller: _Teller) -> None:
    while True:
        told = await _next(news)
        if told["kind"] == "state" and teller.state(told["detail"]) == "ready":
            return


async def _until_over(news: asyncio.Queue[dict[str, Any]], teller: _Teller) -> dict[str, Any]:
    """Print what comes until the answer is over and the page has said so; give the last event."""
    last: dict[str, Any] = {}
    while True:
        told = await _next(news)
        if told["kind"] == "event":
            last = told["detail"]
            teller.event(last)
        elif teller.state(told["detail"]) == "done":
            return last


async def _next(news: asyncio.Queue[dict[str, Any]]) -> dict[str, Any]:
    try:
        told = await asyncio.wait_for(news.get(), SILENCE_S)
    except TimeoutError:
        raise DemoError(f"The page said nothing for {SILENCE_S:g} seconds.") from None
    detail = told["detail"]
    if told["kind"] == "broken":
        raise DemoError(f"The page broke: {detail}")
    if told["kind"] == "state" and detail["state"] in ("failed", "stopped"):
        raise DemoError(f"The page failed: {detail.get('error') or detail['words']}")
    return told


def event_line(event: Mapping[str, Any], width: int = 120) -> Text:
    """Write one event as a line: type, path, content."""
    kind = str(event["type"])
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in event.get("path", ())).lstrip(".")
    content = [event[name] for name in ("delta", "value", "kind", "result", "error") if name in event]
    style = {"textDelta": "dim", "generationComplete": "bold green"}.get(kind, "red" if "error" in event else "")
    line = Text.assemble((f"{kind:<18} ", style), (f"{path:<20} ", "magenta"))
    if content:
        line.append(json.dumps(content[0], ensure_ascii=False), style or "green")
    line.truncate(width, overflow="ellipsis")
    return line


def demo(
    engine: Annotated[Engine, typer.Option(envvar="ENGINE", help="What runs the model.")] = Engine.PAGE,
    port: Annotated[int, typer.Option(help="Of the page; another one when it is taken.")] = PORT,
    screenshot: Annotated[Path | None, typer.Option(help="Where to keep a picture. Default: build/demo.png.")] = None,
) -> None:
    """Show a typed answer being written: in headless Chromium, with its events in the terminal."""
    console = Console()
    checkout = Checkout.of_this_package()
    picture = screenshot or checkout.build / "demo.png"
    with stage(engine, checkout, console, host="127.0.0.1", port=port) as url:
        console.print(f"[bold]{escape(url)}[/bold], engine [bold]{engine.value}[/bold]")
        last = asyncio.run(drive(url, console, picture))
    console.print(Panel(JSON.from_data(last["result"]), title="validated", border_style="green", expand=False))
    console.print(f"Picture of the page: {escape(os.path.relpath(picture))}", soft_wrap=True)
    again = "make serve" if engine is Engine.PAGE else f"ENGINE={engine.value} make serve"
    console.print(f"To use the page yourself: [bold]{again}[/bold], then open http://127.0.0.1:{port}/", soft_wrap=True)


def serve(
    engine: Annotated[Engine, typer.Option(envvar="ENGINE", help="What runs the model.")] = Engine.PAGE,
    port: Annotated[int, typer.Option(help="Of the page; another one when it is taken.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    model_port: Annotated[int, typer.Option(envvar="MODEL_PORT", help="Of the model's server; 0: a free one.")] = 0,
) -> None:
    """Serve the demo page until interrupted."""
    console = Console()
    checkout = Checkout.of_this_package()
    with stage(engine, checkout, console, host=host, port=port, model_port=model_port) as url:
        console.print(f"Open [bold]{escape(url)}/[/bold], engine [bold]{engine.value}[/bold]. Ctrl-C ends it.")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
