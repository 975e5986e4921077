# The JavaScript global scope, as Pyodide gives it.
from typing import Any

def __getattr__(name: str) -> Any: ...
