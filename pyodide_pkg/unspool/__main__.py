"""The `unspool` command. Its commands work in a checkout; the wheel, which is for browsers too, is spared them."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what is missing."""
    try:
        from unspool.cli import main as command_line
    except ModuleNotFoundError as error:
        if error.name == "unspool.cli":
            sys.exit("unspool: the commands work in a checkout of the project, installed with `pip install -e .[cli]`.")
        sys.exit(f"unspool: the Python package `{error.name}` is not installed: install `.[cli]`.")
    command_line()


if __name__ == "__main__":
    main()
