"""Python modules out of source text of the page. They run when they are registered, and only then."""

from __future__ import annotations

import sys
import types

from unspool.errors import BridgeError
from unspool.printable import said_by


def make_module(name: str, source: str) -> types.ModuleType:
    """Run source text as a module of that name, in place of an older one.

    Raises:
        BridgeError: MODULE_ERROR, with the words of what it raised.
    After an error:
        The older module is as it was.
    """
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    before = sys.modules.get(name)
    sys.modules[name] = module  # pydantic looks names of annotations up there
    try:
        # The application's own code, which it registered by name. What a model writes never comes here.
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # noqa: S102
    except BaseException as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        if not isinstance(error, Exception | SystemExit):
            raise
        raise BridgeError("MODULE_ERROR", f"The module {name!r} did not start: {reason(error)}.") from error
    return module


def reason(error: BaseException) -> str:
    """Name an error of the application's, in few words."""
    return said_by(error, 300)
