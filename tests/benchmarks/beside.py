"""One comparison: both sides in turn on the same input in the same process, medians, and a row of the table."""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["HERE", "Row", "compare", "page", "short_time"]

HERE = Path(__file__).parent
_COLUMNS = "| task | peer | Laurel | peer's time | times faster | Laurel's answer | peer's answer |"


@dataclass(frozen=True)
class Row:
    """One comparison: seconds and result of both, the peer's result as text."""

    task: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    ours: str
    theirs: str

    @property
    def line(self) -> str:
        ratio = self.peer_seconds / self.ours_seconds
        return (
            f"| {self.task} | {self.peer} | {short_time(self.ours_seconds)} | {short_time(self.peer_seconds)} | "
            f"**{ratio:,.1f}** | {self.ours} | {self.theirs} |"
        )


def compare(task: str, peer: str, ours: Callable[[], Any], theirs: Callable[[], Any], runs: int = 5) -> Row:
    """Run both in turn, ours first, and take medians."""
    ours_seconds, peer_seconds = [], []
    for _ in range(runs):
        for work, seconds in ((ours, ours_seconds), (theirs, peer_seconds)):
            start = time.perf_counter()
            result = work()
            seconds.append(time.perf_counter() - start)
            if work is ours:
                mine = result
    print(task, peer, statistics.median(ours_seconds), statistics.median(peer_seconds), file=sys.stderr)
    medians = statistics.median(ours_seconds), statistics.median(peer_seconds)
    return Row(task, peer, *medians, _short(mine), _short(result))


def page(title: str, rows: Sequence[Row], after: Sequence[str]) -> str:
    """The page of one paper's benchmarks, ``after`` its remarks below the table."""
    head = [
        f"# {title}",
        "",
        f"`make bench`, {time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, 2 cores; medians of runs.",
        "",
        _COLUMNS,
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *(row.line for row in rows), *after, ""])


def short_time(seconds: float) -> str:
    """Seconds or milliseconds, as text."""
    return f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | int) else str(value)
