"""The part of `pyodide.code` that is used here."""

from typing import Any

def run_js(code: str, /) -> Any: ...
