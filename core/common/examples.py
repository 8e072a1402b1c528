"""A real file that comes with the app, one click away, in exactly the form in which a visitor's own is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["DATA", "Example"]

DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True, kw_only=True)
class Example:
    """One bundled file: where it lies, and one sentence on what its rows are.

    ``task`` is the form of file that a page asks for, where it asks for several; ``new_rows`` a file of rows without
    truth for which predictions are wanted, where there is one.
    """

    key: str
    title: str
    path: Path
    sentence: str
    task: str = ""
    new_rows: Path | None = None
