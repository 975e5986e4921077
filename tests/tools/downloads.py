"""What the tests need from a package registry, fetched once by set-up: `python -m tests.tools.downloads`.

Wheels of pytest and hypothesis for Pyodide's Python, and the model file that the engine tests ask.
"""

from __future__ import annotations

import json
from pathlib import Path

from packaging.version import Version

from unspool.cli.checkout import Checkout
from unspool.cli.engines import model_file
from unspool.cli.wheels import Target, fetch, read_pins


def pyodide_test_wheels(checkout: Checkout) -> list[Path]:
    """Have the wheels that requirements/pyodide-tests.txt pins; downloads only what is missing."""
    lock = checkout.npm_package("pyodide") / "pyodide-lock.json"
    info = json.loads(lock.read_text(encoding="utf-8"))["info"]
    target = Target(Version(info["python"]), info["abi_version"])
    pins = read_pins(checkout.root / "requirements" / "pyodide-tests.txt")
    return fetch(pins, target, checkout.build / "wheels")


def main() -> None:
    checkout = Checkout.of_this_package()
    pyodide_test_wheels(checkout)
    model_file(checkout)


if __name__ == "__main__":
    main()
