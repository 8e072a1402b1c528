"""Who is screened: the chance of it from the worst-off to the best-off, now and after each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import ndtri

from core.common.errors import InputError
from core.common.settings import Settings
from core.common.template import BLUE, GREEN, ORANGE, VERMILION, finish, translucent
from core.common.text import percent
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import screened_share, value

__all__ = ["ScreenedSettings", "screened_view"]

_PLACES = np.linspace(0.001, 0.999, 500)


@dataclass(frozen=True, kw_only=True)
class ScreenedSettings(Settings):
    """Where an agency stands, and the two steps."""

    alpha: float = asked.alpha()
    beta: float = asked.beta()
    r2: float = asked.r2()
    access_step: float = asked.access_step()
    prediction_step: float = asked.prediction_step()


def screened_view(settings: ScreenedSettings) -> View:
    """The chance of being screened by rank in welfare; the paper's figure 1."""
    alpha, r2 = settings.alpha, settings.r2
    if alpha + settings.access_step > 1 or r2 + settings.prediction_step >= 1:
        raise InputError("a step leads to 100% or above", remedy="Choose smaller steps.")
    z = ndtri(_PLACES)
    table = pd.DataFrame(
        {
            "rank": _PLACES,
            "now": screened_share(z, alpha, r2),
            "more_capacity": screened_share(z, alpha + settings.access_step, r2),
            "better_prediction": screened_share(z, alpha, r2 + settings.prediction_step),
        }
    )
    reached = float(value(alpha, settings.beta, r2))
    wrongly = float((alpha - settings.beta * reached) / (1 - settings.beta))
    return View(
        answer=f"Of the worst-off {percent(settings.beta)}, **{percent(reached)}** are screened; of all others "
        f"**{percent(wrongly)}**. More capacity lifts the whole curve; a better prediction turns it: more of the "
        "worst-off, fewer of the others.",
        figure=_figure(settings, table),
        alt="Chance of being screened by rank in welfare, now and after each step.",
        table=table,
        code=f"""from core.targeting.gaussian import value

alpha, beta, r2 = {alpha!r}, {settings.beta!r}, {r2!r}
reached = float(value(alpha, beta, r2))
numbers = {{"reached": reached, "screened_among_others": (alpha - beta * reached) / (1 - beta)}}
""",
        numbers={"reached": reached, "screened_among_others": wrongly},
        notes=("Shaded: the worst-off. The area under each curve is the capacity.",),
    )


def _figure(settings: ScreenedSettings, table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    beta = settings.beta
    fill = translucent(VERMILION, 0.12)
    figure.add_scatter(
        x=[0, beta, beta, 0],
        y=[0, 0, 1, 1],
        fill="toself",
        fillcolor=fill,
        line={"width": 0},
        mode="lines",
        name="the worst-off",
        hoverinfo="skip",
    )
    for column, colour, dash, name in (
        ("now", BLUE, "solid", "now"),
        ("more_capacity", GREEN, "dash", "after the step in capacity"),
        ("better_prediction", ORANGE, "dash", "after the step in prediction"),
    ):
        line = {"color": colour, "width": 2.5, "dash": dash}
        figure.add_scatter(x=table["rank"], y=table[column], mode="lines", line=line, name=name)
    finish(figure, x="rank in welfare, from worst-off to best-off", y="chance of being screened")
    return figure.update_xaxes(tickformat=".0%", range=[0, 1]).update_yaxes(tickformat=".0%", range=[0, 1])
