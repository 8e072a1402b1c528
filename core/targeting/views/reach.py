"""How many of the worst-off a prediction reaches, what two steps add, and which is the better buy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, GREEN, GREY, ORANGE, VERMILION, finish
from core.common.text import count, number, percent
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import value

__all__ = ["ReachSettings", "reach_view"]

_GRID = np.linspace(0, 1, 401)


@dataclass(frozen=True, kw_only=True)
class ReachSettings(asked.Priced):
    """Where an agency stands, and the two steps that it can buy."""


@dataclass(frozen=True)
class _Found:
    """Shares of the worst-off: reached now, further by capacity, further by prediction; a person's price by each."""

    now: float
    access: float
    prediction: float
    access_price: float
    prediction_price: float


def reach_view(settings: ReachSettings) -> View:
    """The share reached at every capacity, now and after the step in prediction, with both steps marked."""
    asked.check_steps(settings)
    found = _found(settings)
    curves = _curves(settings)
    return View(
        answer=_answer(settings, found),
        figure=_figure(settings, found, curves),
        alt=f"Share of the worst-off reached by capacity, at R2 {settings.r2:g} and after the step in prediction.",
        table=curves,
        code=_code(settings),
        numbers={
            "reached": found.now,
            "further_by_capacity": found.access,
            "further_by_prediction": found.prediction,
            "ratio": _ratio(found),
        },
        notes=(
            "A model of the world: welfare and its prediction are jointly normal. Your own register is under Your "
            "data.",
            "What screening does for the person screened is not part of this.",
        ),
    )


def _found(settings: ReachSettings) -> _Found:
    alpha, beta, r2 = settings.alpha, settings.beta, settings.r2
    now = float(value(alpha, beta, r2))
    access = float(value(alpha + settings.access_step, beta, r2)) - now
    prediction = float(value(alpha, beta, r2 + settings.prediction_step)) - now
    worst = beta * settings.people
    price = settings.access_cost
    return _Found(
        now, access, prediction, _each(price, access * worst), _each(settings.prediction_cost, prediction * worst)
    )


def _each(cost: float, people: float) -> float:
    return cost / people if people > 0 else np.inf


def _ratio(found: _Found) -> float:
    return found.access / found.prediction if found.prediction > 0 else np.inf


def _answer(settings: ReachSettings, found: _Found) -> str:
    worst = settings.beta * settings.people
    places = round(settings.access_step * settings.people)
    better, price, other = (
        ("capacity", found.access_price, found.prediction_price)
        if found.access_price <= found.prediction_price
        else ("prediction", found.prediction_price, found.access_price)
    )
    return (
        f"Screening {percent(settings.alpha)} reaches **{percent(found.now)}** of the worst-off. "
        f"{percent(settings.access_step)} more capacity ({count(places, 'place')}) finds "
        f"**{number(found.access * worst)}** more of them; raising R² from {number(settings.r2)} to "
        f"{number(settings.r2 + settings.prediction_step)} finds **{number(found.prediction * worst)}**. At your "
        f"prices **{better}** is the better buy: {number(price)} instead of {number(other)} for each person found."
    )


def _curves(settings: ReachSettings) -> pd.DataFrame:
    better = settings.r2 + settings.prediction_step
    return pd.DataFrame(
        {
            "capacity": _GRID,
            "people": np.round(_GRID * settings.people).astype(int),
            "reached_now": value(_GRID, settings.beta, settings.r2),
            "reached_with_better_prediction": value(_GRID, settings.beta, better),
            "best_possible": np.minimum(_GRID / settings.beta, 1.0),
            "by_lot": _GRID,
        }
    )


def _figure(settings: ReachSettings, found: _Found, curves: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    x, alpha = curves["capacity"], settings.alpha
    hover = "%{x:.1%} screened (%{customdata:,} people)<br>%{y:.1%} of the worst-off reached<extra></extra>"
    for column, line, name in (
        ("reached_now", {"color": BLUE, "width": 2.5}, f"R² {number(settings.r2)}"),
        (
            "reached_with_better_prediction",
            {"color": ORANGE, "width": 2, "dash": "dash"},
            f"R² {number(settings.r2 + settings.prediction_step)}",
        ),
        ("best_possible", {"color": GREY, "width": 1.5, "dash": "dot"}, "perfect prediction"),
        ("by_lot", {"color": GREY, "width": 1}, "by lot"),
    ):
        figure.add_scatter(
            x=x, y=curves[column], mode="lines", line=line, name=name, customdata=curves["people"], hovertemplate=hover
        )
    for y, x_to, colour, name in (
        (found.now + found.access, alpha + settings.access_step, GREEN, "after the step in capacity"),
        (found.now + found.prediction, alpha, ORANGE, "after the step in prediction"),
    ):
        figure.add_scatter(
            x=[alpha, x_to], y=[found.now, y], mode="lines+markers", line={"color": colour, "width": 3}, name=name
        )
    marker = {"color": VERMILION, "size": 11, "symbol": "diamond"}
    figure.add_scatter(x=[alpha], y=[found.now], mode="markers", marker=marker, name="you are here")
    finish(figure, x=f"share of {number(settings.people)} people screened", y="share of the worst-off reached")
    return figure.update_xaxes(range=[0, 1], tickformat=".0%").update_yaxes(range=[0, 1.02], tickformat=".0%")


def _code(settings: ReachSettings) -> str:
    return f"""from core.targeting.gaussian import value

alpha, beta, r2 = {settings.alpha!r}, {settings.beta!r}, {settings.r2!r}
now = float(value(alpha, beta, r2))
access = float(value(alpha + {settings.access_step!r}, beta, r2)) - now
prediction = float(value(alpha, beta, r2 + {settings.prediction_step!r})) - now
numbers = {{
    "reached": now,
    "further_by_capacity": access,
    "further_by_prediction": prediction,
    "ratio": access / prediction if prediction > 0 else float("inf"),
}}
"""
