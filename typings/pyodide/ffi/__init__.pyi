# What this project uses of pyodide.ffi.
from collections.abc import Callable
from typing import Any

class JsProxy:
    def __getattr__(self, name: str) -> Any: ...

class JsException(Exception):
    name: str
    message: str

def create_proxy(obj: Any) -> Any: ...
def create_once_callable(obj: Callable[..., Any]) -> Any: ...
def to_js(obj: Any, *, depth: int = -1, dict_converter: Any = None) -> Any: ...
