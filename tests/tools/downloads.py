"""What the tests need from a package registry, fetched once by set-up: `python -m tests.tools.downloads`.

Wheels of pytest, hypothesis and the `openai` SDK for Pyodide's Python, and the model file that the engine tests ask.
"""

from __future__ import annotations

import json
from pathlib import Path

from packaging.version import Version

from unspool.cli.checkout import Checkout
from unspool.cli.engines import model_file
from unspool.cli.wheels import Target, fetch, read_pins


def pyodide_test_wheels(checkout: Checkout, lock: str = "pyodide-tests.txt") -> list[Path]:
    """Have the wheels that a file of requirements/ pins; downloads only what is missing."""
    runtime = checkout.npm_package("pyodide") / "pyodide-lock.json"
    info = json.loads(runtime.read_text(encoding="utf-8"))["info"]
    target = Target(Version(info["python"]), info["abi_version"])
    pins = read_pins(checkout.root / "requirements" / lock)
    return fetch(pins, target, checkout.build / "wheels")


def main() -> None:
    checkout = Checkout.of_this_package()
    pyodide_test_wheels(checkout)
    pyodide_test_wheels(checkout, "pyodide-openai.txt")
    model_file(checkout)


if __name__ == "__main__":
    main()
