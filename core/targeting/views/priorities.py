"""Places or prediction: the ratio of both gains over all capacities and all qualities of prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, ORANGE, VERMILION, finish
from core.common.text import number, percent
from core.common.view import View
from core.targeting import asked
from core.targeting.gaussian import value

__all__ = ["PrioritiesSettings", "par_map", "priorities_view"]

_SIZE = 200
_MOST = 3.0  # factors of two drawn on either side of even
_NOTHING = 1e-6  # gains below are 0 / 0 in effect


@dataclass(frozen=True, kw_only=True)
class PrioritiesSettings(asked.Priced):
    """Whom one wants to reach, the two steps, and what they cost."""


def priorities_view(settings: PrioritiesSettings) -> View:
    """A map of PAR, where it is even, and where the prices make it even."""
    asked.check_steps(settings)
    alpha, r2 = _axes(settings)
    par, reached = par_map(alpha, r2, settings)
    here = float(_par(np.float64(settings.alpha), np.float64(settings.r2), settings))
    return View(
        answer=_answer(settings, here),
        figure=_figure(settings, alpha, r2, par, reached),
        alt="Map of the gain of the access step over that of the prediction step, by capacity and R2.",
        table=_table(alpha, r2, par, reached),
        code=_code(settings),
        numbers={"ratio": here, "price_ratio": settings.price_ratio, "largest_reach": float(reached.max())},
        notes=(
            "Blue: the step in capacity finds more people. Orange: the step in prediction. Each shade is a factor; "
            "beyond 8 and 1/8 the colour stays the same. Blank: neither step finds anybody.",
            "Outlined in dots: more than 90% of the worst-off are reached already. The paper's figure 2 is this map "
            "for beta = 20%.",
        ),
    )


def par_map(alpha: np.ndarray, r2: np.ndarray, settings: PrioritiesSettings) -> tuple[np.ndarray, np.ndarray]:
    """PAR and V on the grid (r2, alpha); PAR is nan where neither step gains."""
    across, up = np.meshgrid(alpha, r2)
    return _par(across, up, settings), value(across, settings.beta, up)


def _par(alpha: np.ndarray, r2: np.ndarray, settings: PrioritiesSettings) -> np.ndarray:
    now = value(alpha, settings.beta, r2)
    access = value(alpha + settings.access_step, settings.beta, r2) - now
    prediction = value(alpha, settings.beta, r2 + settings.prediction_step) - now
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((access < _NOTHING) & (prediction < _NOTHING), np.nan, access / np.maximum(prediction, 0.0))


def _axes(settings: PrioritiesSettings) -> tuple[np.ndarray, np.ndarray]:
    """Capacities up to 60% or as far as the visitor stands, and R2 up to what leaves room for the step."""
    top = min(max(0.6, settings.alpha), 1 - settings.access_step)
    return np.linspace(0.005, top, _SIZE), np.linspace(0.0, 1 - settings.prediction_step, _SIZE)


def _answer(settings: PrioritiesSettings, here: float) -> str:
    if np.isnan(here):
        return "Neither step finds anybody: all of the worst-off are reached already."
    price = settings.price_ratio
    winner = "more places" if here >= price else "a better prediction"
    more = (
        f"places would have to cost {number(here / price)} times as much"
        if here >= price
        else f"places would have to cost {number(price / here)} times less"
    )
    return (
        f"Here {percent(settings.access_step)} more capacity finds **{number(here)} times** as many of the worst-off "
        f"as raising R² by {number(settings.prediction_step)}, and costs {number(price)} times as much. The better buy "
        f"is **{winner}**; for that to turn, {more}."
    )


def _table(alpha: np.ndarray, r2: np.ndarray, par: np.ndarray, reached: np.ndarray) -> pd.DataFrame:
    across, up = np.meshgrid(alpha, r2)
    columns = {"capacity": across, "r2": up, "ratio": par, "reached": reached}
    return pd.DataFrame({name: grid.ravel() for name, grid in columns.items()})


def _figure(
    settings: PrioritiesSettings, alpha: np.ndarray, r2: np.ndarray, par: np.ndarray, reached: np.ndarray
) -> go.Figure:
    with np.errstate(divide="ignore"):
        shade = np.clip(np.log2(par), -_MOST, _MOST)
    ticks = np.arange(-_MOST, _MOST + 1)
    figure = go.Figure()
    figure.add_heatmap(
        x=alpha,
        y=r2,
        z=shade,
        zmin=-_MOST,
        zmax=_MOST,
        colorscale=[[0, ORANGE], [0.5, "#f4f4f4"], [1, BLUE]],
        colorbar={"tickvals": ticks, "ticktext": [_word(tick) for tick in ticks], "title": {"text": "ratio"}},
        customdata=np.dstack((par, reached)),
        hovertemplate="capacity %{x:.1%}, R² %{y:.2f}<br>ratio %{customdata[0]:.3g}, reached %{customdata[1]:.0%}"
        "<extra></extra>",
    )
    _line(figure, alpha, r2, shade, 0.0, {"color": "#404040", "width": 2}, "both find the same")
    price = float(np.clip(np.log2(settings.price_ratio), -_MOST, _MOST))
    if abs(price) < _MOST:
        _line(figure, alpha, r2, shade, price, {"color": VERMILION, "width": 3}, "even at your prices")
    _line(figure, alpha, r2, reached, 0.9, {"color": "#404040", "width": 1.5, "dash": "dot"}, "90% reached")
    marker = {"color": VERMILION, "size": 12, "symbol": "diamond", "line": {"color": "#ffffff", "width": 1}}
    figure.add_scatter(x=[settings.alpha], y=[settings.r2], mode="markers", marker=marker, name="you are here")
    finish(figure, x="capacity: share of people screened", y="prediction: R²", height=460)
    return figure.update_xaxes(tickformat=".0%", range=[alpha[0], alpha[-1]]).update_yaxes(range=[r2[0], r2[-1]])


def _line(figure: go.Figure, x: np.ndarray, y: np.ndarray, z: np.ndarray, at: float, line: dict, name: str) -> None:
    """One level of a surface, as a line with a name of its own."""
    figure.add_contour(
        x=x,
        y=y,
        z=z,
        contours={"start": at, "end": at, "size": 1, "coloring": "none"},
        line=line,
        name=name,
        showlegend=True,
        showscale=False,
        hoverinfo="skip",
    )


def _word(power: float) -> str:
    return f"{2**power:.0f}" if power >= 0 else f"1/{2**-power:.0f}"


def _code(settings: PrioritiesSettings) -> str:
    given = ", ".join(f"{name}={getattr(settings, name)!r}" for name in settings.__dataclass_fields__)
    return f"""from core.targeting.gaussian import value
from core.targeting.levers import ratio
from core.targeting.views.priorities import PrioritiesSettings, priorities_view

settings = PrioritiesSettings({given})
numbers = {{
    "ratio": float(
        ratio(settings.alpha, settings.beta, settings.r2, settings.access_step, settings.prediction_step)
    ),
    "price_ratio": settings.price_ratio,
    "largest_reach": float(priorities_view(settings).table["reached"].max()),
}}
"""
