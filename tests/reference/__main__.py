"""`python -m tests.reference [--write]`: the reference of the public names, out of docstrings and declarations.

With `--write` it goes into docs/reference/; without, it is compared with what is there. Ends with a fault when a page
is not as it should be.
"""

from __future__ import annotations

import sys

from tests.conftest import REPO
from tests.reference.javascript_page import page_text
from tests.reference.python_pages import index_text, places, room_text
from tests.reference.rooms import ROOMS

FOLDER = REPO / "docs" / "reference"
WEB = REPO / "web"


def python_pages() -> dict[str, str]:
    """The pages of Python and the index, by file name."""
    known = places()
    return {f"{room.page}.md": room_text(room, known) for room in ROOMS} | {"README.md": index_text()}


def javascript_pages() -> dict[str, str]:
    """The page of JavaScript, by file name."""
    return {"javascript.md": page_text(WEB)}


def stale(pages: dict[str, str]) -> list[str]:
    """Name the pages that are not current."""
    return [
        name
        for name, text in pages.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text("utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    pages = python_pages() | javascript_pages()
    old = stale(pages)
    if "--write" in arguments:
        FOLDER.mkdir(exist_ok=True)
        for name in old:
            (FOLDER / name).write_text(pages[name], "utf-8")
            print(f"docs/reference/{name}")
        return 0
    for name in old:
        print(f"docs/reference/{name} is not current: make reference", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
