"""The `unspool` command, for the host only: build the self-hosted folder, serve it, show the demo."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.text import Text

from unspool.cli import bundle, demo
from unspool.errors import UnspoolError

app = typer.Typer(name="unspool", no_args_is_help=True, add_completion=False, help="Typed LLM streams in the browser.")
app.command("bundle")(bundle.command)
app.command("demo")(demo.demo)
app.command("serve")(demo.serve)


@app.callback()
def _commands() -> None:
    """Keep the first word a command, however many there are."""


def main() -> None:
    """Run the command line; an error of ours ends it with its code and one sentence, without a traceback."""
    try:
        app()
    except UnspoolError as error:
        Console(stderr=True).print(Text.assemble((error.code, "red"), ": ", error.message), soft_wrap=True)
        sys.exit(1)
