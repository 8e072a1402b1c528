"""The first and the last mile: where a little better prediction is worth most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings
from core.common.template import BLUE, GREY, ORANGE, VERMILION, finish
from core.common.text import number, percent
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import value

__all__ = ["MilesSettings", "miles_view"]

_R2 = np.linspace(0.0, 1.0, 1001)


@dataclass(frozen=True, kw_only=True)
class MilesSettings(Settings):
    """The capacity, whom one wants to reach, and where the prediction stands."""

    alpha: float = asked.alpha()
    beta: float = asked.beta()
    r2: float = asked.r2()


def miles_view(settings: MilesSettings) -> View:
    """What each hundredth of R2 adds on the way from 0 to 1, beside what a hundredth of capacity adds."""
    table = _table(settings)
    here = table.iloc[(table["r2"] - settings.r2).abs().argmin()]
    return View(
        answer=_answer(settings, table, here),
        figure=_figure(settings, table),
        alt="Further share of the worst-off found by one hundredth of R2, and by one hundredth of capacity, over R2.",
        table=table,
        code=f"""from core.targeting.gaussian import value

alpha, beta, r2 = {settings.alpha!r}, {settings.beta!r}, {float(here["r2"])!r}
now = value(alpha, beta, r2)
numbers = {{
    "prediction_here": float(value(alpha, beta, min(r2 + 0.01, 1.0)) - now),
    "capacity_here": float(value(alpha + 0.01, beta, r2) - now),
    "first_step": float(value(alpha, beta, 0.01) - alpha),
}}
""",
        numbers={
            "prediction_here": float(here["by_prediction"]),
            "capacity_here": float(here["by_capacity"]),
            "first_step": float(table["by_prediction"].iloc[0]),
        },
        notes=(
            "First mile: where the prediction knows nothing, the first bit of knowledge moves many people across the "
            "cut.",
            "Last mile: where it knows nearly all, and capacity is just as large as the group, the last errors at the "
            "cut are all that is left to mend. Where capacity and group differ in size there is no last mile "
            "(dashed: were they the same).",
            "The paper's theorem 3.2: at both ends the gain per unit of R² grows without bound as the step shrinks.",
        ),
    )


def _table(settings: MilesSettings) -> pd.DataFrame:
    r2 = _R2[:-10]
    further = np.minimum(r2 + 0.01, 1.0)
    now = value(settings.alpha, settings.beta, r2)
    return pd.DataFrame(
        {
            "r2": r2,
            "reached": now,
            "by_prediction": value(settings.alpha, settings.beta, further) - now,
            "by_capacity": value(settings.alpha + 0.01, settings.beta, r2) - now,
            "by_prediction_if_capacity_fits": value(settings.beta, settings.beta, further)
            - value(settings.beta, settings.beta, r2),
        }
    )


def _answer(settings: MilesSettings, table: pd.DataFrame, here: pd.Series) -> str:
    middle = table["by_prediction"].iloc[300:700].mean()
    first, last = (table["by_prediction"].iloc[place] / middle if middle > 0 else np.inf for place in (0, -1))
    end = f"and so is the last: {number(last)} times" if last > 1 else f"the last only {number(last)} times"
    if last < 0.05:
        end = "the last almost nothing, as capacity and group differ in size"
    return (
        f"At R² {number(settings.r2)} one hundredth of R² finds **{percent(here['by_prediction'], 2)}** more of the "
        f"worst-off, one hundredth of capacity **{percent(here['by_capacity'], 2)}**. The first hundredth of R² is "
        f"worth **{number(first)} times** one in the middle; {end}."
    )


def _figure(settings: MilesSettings, table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    for column, colour, name in (
        ("by_prediction", ORANGE, "by one hundredth of R²"),
        ("by_capacity", BLUE, "by one hundredth of capacity"),
    ):
        line = {"color": colour, "width": 2.5}
        figure.add_scatter(x=table["r2"], y=table[column], mode="lines", line=line, name=name)
    if settings.alpha != settings.beta:
        fits = {"color": ORANGE, "width": 1.5, "dash": "dash"}
        name = f"by one hundredth of R², were capacity {percent(settings.beta)}"
        figure.add_scatter(x=table["r2"], y=table["by_prediction_if_capacity_fits"], mode="lines", line=fits, name=name)
    here = float(np.interp(settings.r2, table["r2"], table["by_prediction"]))
    marker = {"color": VERMILION, "size": 11, "symbol": "diamond"}
    figure.add_scatter(x=[settings.r2], y=[here], mode="markers", marker=marker, name="you are here")
    top = float(table.drop(columns=["r2", "reached"]).max().max()) * 1.05
    for x, words in ((0.0, "first mile"), (0.99, "last mile")):
        figure.add_annotation(x=x, y=top * 0.97, text=words, showarrow=False, xanchor="left" if x == 0 else "right")
    dotted = {"color": GREY, "dash": "dot", "width": 1}
    figure.add_scatter(x=[settings.r2] * 2, y=[0, top], mode="lines", line=dotted, showlegend=False, hoverinfo="skip")
    finish(figure, x="prediction: R²", y="further share of the worst-off")
    return figure.update_yaxes(tickformat=".1%", range=[0, top]).update_xaxes(range=[-0.01, 1.0])
