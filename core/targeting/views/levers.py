"""Two ways to make a prediction better on paper: the paper's, which credits it too much, and a calibrated one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings
from core.common.template import BLUE, GREY, ORANGE, VERMILION, finish
from core.common.text import number
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import value
from core.targeting.levers import r2_after_shrinking, residual_shrinkage

__all__ = ["LeversSettings", "levers_view"]

_TOP = 8.0


@dataclass(frozen=True, kw_only=True)
class LeversSettings(Settings):
    """Where an agency stands, and the two steps."""

    alpha: float = asked.alpha()
    beta: float = asked.beta()
    r2: float = asked.r2()
    access_step: float = asked.access_step()
    prediction_step: float = asked.prediction_step()


def levers_view(settings: LeversSettings) -> View:
    """PAR by capacity under both levers."""
    asked.check_steps(settings)
    asked_for = min(settings.r2 + settings.prediction_step, 1.0)
    after = float(
        np.minimum(r2_after_shrinking(settings.r2, residual_shrinkage(settings.r2, settings.prediction_step)), 1)
    )
    alpha = np.linspace(0.005, min(0.6, 1 - settings.access_step), 200)
    table = pd.DataFrame(
        {"capacity": alpha, "calibrated": _par(alpha, settings, asked_for), "paper": _par(alpha, settings, after)}
    )
    calibrated, paper = (float(_par(np.float64(settings.alpha), settings, r2)) for r2 in (asked_for, after))
    return View(
        answer=f"A step of {number(settings.prediction_step)} in R² asks for a squared correlation of "
        f"{number(asked_for)}. The paper's lever gives **{number(after)}**, so it credits prediction too much: the "
        f"ratio of gains (access over prediction) comes out as {number(paper)} instead of **{number(calibrated)}**.",
        figure=_figure(settings, table),
        alt="Ratio of the access step's gain to the prediction step's, by capacity, under both levers.",
        table=table,
        code=f"""from core.targeting.levers import r2_after_shrinking, ratio, residual_shrinkage

alpha, beta, r2 = {settings.alpha!r}, {settings.beta!r}, {settings.r2!r}
access, step = {settings.access_step!r}, {settings.prediction_step!r}
after = min(float(r2_after_shrinking(r2, residual_shrinkage(r2, step))), 1.0)
numbers = {{
    "r2_after": after,
    "ratio_calibrated": float(ratio(alpha, beta, r2, access, step)),
    "ratio_paper": float(ratio(alpha, beta, r2, access, after - r2)),
}}
""",
        numbers={"r2_after": after, "ratio_calibrated": calibrated, "ratio_paper": paper},
        notes=(
            "The paper's lever moves each forecast a little towards that person's own outcome. The forecast's spread "
            "grows with what it then knows, and its ranking improves by more than its R² says.",
            "At R² = 0 it would rank everybody perfectly after any step. The calibrated lever adds as much error as a "
            "forecast of that R² has; this page uses it unless it says otherwise.",
        ),
    )


def _par(alpha: np.ndarray, settings: LeversSettings, r2_after: float) -> np.ndarray:
    now = value(alpha, settings.beta, settings.r2)
    access = value(alpha + settings.access_step, settings.beta, settings.r2) - now
    with np.errstate(divide="ignore", invalid="ignore"):
        return access / (value(alpha, settings.beta, r2_after) - now)


def _figure(settings: LeversSettings, table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    for column, colour, name in (("calibrated", BLUE, "calibrated lever"), ("paper", ORANGE, "the paper's lever")):
        line = {"color": colour, "width": 2.5}
        y = table[column].clip(upper=_TOP)
        figure.add_scatter(x=table["capacity"], y=y, mode="lines", line=line, name=name)
    line = {"color": GREY, "width": 1}
    figure.add_scatter(x=[0, 0.6], y=[1, 1], mode="lines", line=line, name="both steps find the same")
    dotted = {"color": VERMILION, "dash": "dot", "width": 1.5}
    figure.add_scatter(x=[settings.alpha] * 2, y=[0, _TOP], mode="lines", line=dotted, name="your capacity")
    finish(figure, x="capacity: share of people screened", y="gain of access / gain of prediction")
    return figure.update_xaxes(tickformat=".0%", range=[0, 0.6]).update_yaxes(range=[0, _TOP])
