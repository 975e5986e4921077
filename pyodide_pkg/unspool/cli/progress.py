"""Progress bars in the terminal for what the commands report."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from unspool.cli.checkout import Report


@contextmanager
def progress_bars(console: Console) -> Generator[Report]:
    """Draw one bar for each label that is reported while the block runs.

    Args:
        console: where to draw; without a terminal only finished bars are printed.
    Returns:
        The function to report to. A total of 0 draws a pulse, since nobody knows how far it goes.
    """
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def report(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=None)
            bars.update(tasks[label], completed=done, total=total or None)

        yield report
