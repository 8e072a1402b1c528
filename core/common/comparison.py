"""The paper's figures beside ours: one row a figure, as a table for the terminal, a frame for a page, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pandas as pd

__all__ = ["Figure", "Measurement", "as_frame", "as_text"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One headline figure.

    ``paper`` is the paper's own, as printed, with its source; ``ours`` is what a run of this code measured, with a
    95% interval from ``low`` to ``high``, or None where that takes data that cannot be had; ``exact`` is the value that
    the run estimates, where it is known. ``note`` says in one sentence why they differ, if they do.
    """

    what: str
    ours: float | None
    low: float | None = None
    high: float | None = None
    exact: float | None = None
    paper: str = ""
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """All figures of one paper from one run: when, with which command, on how many repetitions and seconds."""

    paper: str
    command: str
    date: str
    seconds: float
    repetitions: int
    seed: int
    figures: tuple[Figure, ...]

    def to_json(self) -> str:
        """The measurement as JSON, one figure a line group; ``from_json`` reads it back."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Measurement:
        """The measurement that ``to_json`` wrote."""
        values = json.loads(text)
        return cls(**{**values, "figures": tuple(Figure(**figure) for figure in values["figures"])})


def as_frame(figures: Sequence[Figure]) -> pd.DataFrame:
    """The figures as a table of text, in the order given."""
    rows = [
        {
            "Figure": figure.what,
            "Ours": "not here" if figure.ours is None else _number(figure.ours, figure.unit),
            "95% interval": _interval(figure),
            "Paper": figure.paper or "not printed",
            "Exact": "" if figure.exact is None else _number(figure.exact, figure.unit),
            "Remark": figure.note,
        }
        for figure in figures
    ]
    return pd.DataFrame(rows)


def as_text(measurement: Measurement) -> str:
    """The measurement as a table for a terminal."""
    frame = as_frame(measurement.figures)
    columns = ["Figure", "Ours", "95% interval", "Exact", "Paper"]
    widths = {name: max(len(name), *frame[name].str.len()) for name in columns}
    lines = ["  ".join(name.ljust(widths[name]) for name in columns)]
    lines.append("  ".join("-" * widths[name] for name in columns))
    lines += ["  ".join(row[name].ljust(widths[name]) for name in columns).rstrip() for _, row in frame.iterrows()]
    notes = [f"* {row['Figure']}: {row['Remark']}" for _, row in frame.iterrows() if row["Remark"]]
    made = (
        f"{measurement.paper}: {measurement.repetitions:,} trials, seed {measurement.seed}, "
        f"{measurement.seconds:.1f} s, {measurement.date}, {measurement.command}"
    )
    return "\n".join([made, "", *lines, *([""] if notes else []), *notes])


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{value:.2%}" if value >= 0.01 or value == 0 else f"{value:.3%}"
    return f"{value:.4g}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{_number(figure.low, figure.unit)} to {_number(figure.high, figure.unit)}"
