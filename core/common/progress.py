"""Long work as a generator of snapshots: the page, the command line and the tests all read the same one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tqdm import tqdm

__all__ = ["Snapshot", "last", "with_bar"]

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Snapshot(Generic[Result]):
    """Where a run stands: ``step`` of ``total`` is done and ``result`` holds what is known so far."""

    step: int
    total: int
    result: Result


def last(snapshots: Iterable[Snapshot[Result]]) -> Result:
    """The finished result of a run, without drawing anything."""
    newest = deque(snapshots, maxlen=1)
    if not newest:
        raise ValueError("the run yielded no snapshot")
    return newest[0].result


def with_bar(snapshots: Iterable[Snapshot[Result]], label: str) -> Result:
    """The finished result of a run, with a bar on the terminal's error stream."""

    def watched() -> Iterable[Snapshot[Result]]:
        with tqdm(desc=label, leave=False) as bar:
            for snapshot in snapshots:
                bar.total = snapshot.total
                bar.update(snapshot.step - bar.n)
                yield snapshot

    return last(watched())
