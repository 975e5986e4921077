"""`python -m tests.parity [--write]`: our schemas beside langfun's, feature by feature.

Prints the table of the 39 categories of langfx.js's evaluation, and that of the further features that were probed;
with `--write` they also go into docs/parity.md. Ends with a fault when an outcome is neither langfun's nor a difference
that is accounted for.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conftest import MISSING_DATA, REPO, shared_data_folder
from tests.parity.features import features_of
from tests.parity.table import Row, tables

PAGE = REPO / "docs" / "parity.md"
BEGIN, END = "<!-- make parity: begin -->", "<!-- make parity: end -->"


def written(page: str, table: str) -> str:
    """Put a table in its place on the page."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for the table: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main(arguments: list[str]) -> int:
    folder = shared_data_folder()
    if folder is None:
        print(f"{MISSING_DATA} (set UNSPOOL_TEST_DATA)", file=sys.stderr)
        return 2
    rows = [Row(feature) for feature in features_of(folder)]
    table = tables(rows)
    print(table)
    if "--write" in arguments:
        Path(PAGE).write_text(written(PAGE.read_text("utf-8"), table), "utf-8")
    strays = [stray for row in rows for stray in row.strays]
    for stray in strays:
        print(f"not accounted for: {stray}", file=sys.stderr)
    return 1 if strays else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
