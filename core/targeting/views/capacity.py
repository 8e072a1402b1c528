"""How many places it takes to reach most of the worst-off, and how many more than there are worst-off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings
from core.common.template import COLOURS, GREY, VERMILION, finish
from core.common.text import count, number, percent
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import needed_capacity, value

__all__ = ["CapacitySettings", "capacity_view"]

_BETAS = np.linspace(0.01, 0.5, 50)
_OTHERS = (0.0, 0.15, 0.5, 0.9)
_GRID = np.linspace(0, 1, 1001)


@dataclass(frozen=True, kw_only=True)
class CapacitySettings(Settings):
    """What share of whom is to be reached, and with which prediction."""

    target: float = asked.target()
    beta: float = asked.beta()
    r2: float = asked.r2()
    people: int = asked.people()


def capacity_view(settings: CapacitySettings) -> View:
    """The capacity needed against the size of the group, for several qualities of prediction."""
    needed = needed_capacity(settings.target, settings.beta, settings.r2)
    better = needed_capacity(settings.target, settings.beta, min(settings.r2 + 0.05, 1.0))
    levels = sorted({*_OTHERS, settings.r2})
    table = pd.DataFrame(
        [
            {"beta": beta, "r2": r2, "capacity": capacity, "overhead": capacity - beta}
            for r2 in levels
            for beta, capacity in zip(_BETAS, _needed(settings.target, r2), strict=True)
        ]
    )
    worst = round(settings.beta * settings.people)
    return View(
        answer=f"To reach {percent(settings.target)} of the worst-off {percent(settings.beta)} "
        f"({count(worst, 'person', 'people')}) with an R² of {number(settings.r2)}, you have to screen "
        f"**{percent(needed)}** of all ({count(round(needed * settings.people), 'person', 'people')}). With R² higher "
        f"by 0.05 it would be {percent(better)}.",
        figure=_figure(settings, table, needed),
        alt="Capacity needed by the share of worst-off, one line for each R2.",
        table=table,
        code=f"""from core.targeting.gaussian import needed_capacity

target, beta, r2 = {settings.target!r}, {settings.beta!r}, {settings.r2!r}
needed = needed_capacity(target, beta, r2)
numbers = {{"capacity": needed, "overhead": needed - beta}}
""",
        numbers={"capacity": needed, "overhead": needed - settings.beta},
        notes=(
            "Overhead: places beyond one for each worst-off person. It is what a weak prediction costs.",
            "The paper reports an overhead of about 0.25 on German data for every size of group (75%, R² = 0.15). This "
            "model says 0.38 to 0.27: it disagrees, and the German model seems to rank the worst-off better than its "
            "R².",
        ),
    )


def _needed(target: float, r2: float) -> np.ndarray:
    """The capacity for each size of group at once, read off a fine grid."""
    reached = value(_GRID[:, None], _BETAS, r2)
    return np.array([np.interp(target, column, _GRID) for column in reached.T])


def _figure(settings: CapacitySettings, table: pd.DataFrame, needed: float) -> go.Figure:
    figure = go.Figure()
    for place, (r2, lines) in enumerate(table.groupby("r2")):
        mine = r2 == settings.r2
        line = {
            "color": COLOURS[place % len(COLOURS)],
            "width": 3 if mine else 1.5,
            "dash": "solid" if mine else "dash",
        }
        figure.add_scatter(x=lines["beta"], y=lines["capacity"], mode="lines", line=line, name=f"R² {number(r2)}")
    line = {"color": GREY, "width": 1}
    figure.add_scatter(x=_BETAS, y=settings.target * _BETAS, mode="lines", line=line, name="perfect prediction")
    marker = {"color": VERMILION, "size": 11, "symbol": "diamond"}
    figure.add_scatter(x=[settings.beta], y=[needed], mode="markers", marker=marker, name="you are here")
    finish(figure, x="share that is worst-off", y="share that has to be screened")
    return figure.update_xaxes(tickformat=".0%", range=[0, 0.5]).update_yaxes(tickformat=".0%", range=[0, 1])
