"""Code that ignores cancellation, inside Pyodide in Node."""

from __future__ import annotations

import pytest
from tests.pyodide.bodies import release as bodies
from tests.pyodide.conftest import Interpreter

pytestmark = [pytest.mark.host, pytest.mark.pyodide]


@pytest.mark.parametrize("body", bodies.BODIES, ids=lambda body: body.__name__)
def test_body(pyodide: Interpreter, body: object) -> None:
    pyodide.body(bodies.__name__, body.__name__)  # type: ignore[attr-defined]
