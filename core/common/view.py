"""What is shown of one result: the answer in words, the picture, the numbers, and the lines that make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
import plotly.graph_objects as go

__all__ = ["View"]


@dataclass(frozen=True, kw_only=True)
class View:
    """One answer, ready for a page, a notebook or a test; nothing in it depends on a user interface.

    ``answer`` is a sentence or two in the visitor's terms. ``alt`` says in words what the figure shows. ``table`` holds
    the plotted numbers, one row a mark. ``code`` is Python against ``core`` that ends by assigning a dict named
    ``numbers``, equal to ``numbers`` here: the tests run it and compare. ``notes`` are caveats, each one sentence.
    ``summary``, if given, is a small table that belongs under the picture.
    """

    answer: str
    figure: go.Figure
    alt: str
    table: pd.DataFrame
    code: str
    numbers: Mapping[str, float]
    notes: tuple[str, ...] = field(default=())
    summary: pd.DataFrame | None = None
