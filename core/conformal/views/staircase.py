"""Why a bound: the losses are heights of a curve at unknown places, and the staircase lies above it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings, choice, decimal, whole
from core.common.template import BLUE, GREY, SKY, finish, translucent
from core.common.text import number
from core.common.view import View
from core.conformal.loss_models import LOSS_MODELS, draw
from core.conformal.quadrature import RiskPosterior
from core.conformal.views.target import seed_setting

__all__ = ["StaircaseSettings", "staircase_view", "staircases"]

_FAINT = 25


@dataclass(frozen=True, kw_only=True)
class StaircaseSettings(Settings):
    """A few losses and one guess of where on the unit interval they were read off."""

    kind: str = choice(
        "amounts", options=tuple(LOSS_MODELS), label="Kind of loss", help="What one case can cost, from 0 to 1."
    )
    n_few: int = whole(8, low=1, high=60, label="Calibration cases", help="Few, so that each step can be seen.")
    mean_loss: float = decimal(
        0.25, low=0.0, high=0.9, step=0.01, label="True risk", help="The area under the grey curve. In life unknown."
    )
    guess: int = whole(0, low=0, high=999, label="Guess of the places", help="Each guess is one draw of the widths.")
    seed: int = seed_setting()


def staircases(losses: np.ndarray, bound: float, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Heights (n+1,) and, for each draw, the right ends (draws, n+1) of the steps, widths ~ Dirichlet(1, ..., 1).

    The heights are the sorted losses and ``bound``; the area of a staircase is one draw of L+ (section 4).
    """
    heights = np.append(np.sort(losses), bound)
    return heights, rng.dirichlet(np.ones(heights.size), size=draws).cumsum(axis=1)


def staircase_view(settings: StaircaseSettings) -> View:
    """The true quantile function, the observed losses at guessed places, and the area above it."""
    model = LOSS_MODELS[settings.kind]
    losses = draw(model, settings.mean_loss, settings.n_few, np.random.default_rng(settings.seed))
    heights, ends = staircases(losses, 1.0, _FAINT, np.random.default_rng((settings.seed, settings.guess)))
    areas = (heights * np.diff(ends, axis=1, prepend=0.0)).sum(axis=1)
    mean = RiskPosterior.from_losses(losses, bound=1.0).mean
    return View(
        answer=f"With this guess of the places, the area under the staircase is **{number(areas[0])}**; "
        f"over all guesses it is {number(mean)} on average, and the true risk is {number(settings.mean_loss)}.",
        figure=_figure(model.quantile, settings.mean_loss, heights, ends),
        alt=f"Staircase above the {settings.n_few} observed losses, sorted, with {_FAINT} guesses of the step widths.",
        table=pd.DataFrame({"step": np.arange(1, heights.size + 1), "loss": heights, "right_end": ends[0]}),
        code=_code(settings),
        numbers={"area": float(areas[0]), "mean": mean},
        notes=(
            "Sorted losses are heights of the quantile function; where they lie is unknown, but the gaps between the "
            "places are evenly distributed whatever the population. The last step has the height of the worst loss.",
            f"{_FAINT - 1} other guesses are drawn faintly.",
        ),
    )


def _figure(quantile, mean: float, heights: np.ndarray, ends: np.ndarray) -> go.Figure:
    figure = go.Figure()
    x, y = _joined(heights, ends[1:])
    figure.add_scatter(x=x, y=y, mode="lines", line={"color": translucent(SKY, 0.35), "width": 1}, name="other guesses")
    x, y = _steps(heights, ends[0])
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        fill="tozeroy",
        fillcolor=translucent(BLUE, 0.18),
        line={"color": BLUE, "width": 2.5},
        name="this guess: area is one value of the risk bound",
    )
    t = np.linspace(0.0, 1.0, 401)
    truth = quantile(t, mean)
    line = {"color": GREY, "width": 2, "dash": "dash"}
    figure.add_scatter(x=t, y=truth, mode="lines", line=line, name="true losses, sorted")
    figure.add_scatter(
        x=ends[0][:-1], y=heights[:-1], mode="markers", marker={"color": BLUE, "size": 8}, name="observed losses"
    )
    figure.update_yaxes(range=[-0.02, 1.05])
    figure.update_xaxes(range=[0, 1])
    return finish(figure, x="share of the population with a smaller loss", y="loss")


def _steps(heights: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate(([0.0], ends[:-1]))
    return np.column_stack((starts, ends)).ravel(), np.repeat(heights, 2)


def _joined(heights: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All staircases as one line, parted by NaN: one trace draws faster than many."""
    parts = [(*_steps(heights, row), [np.nan]) for row in ends]
    return (
        np.concatenate([np.append(x, np.nan) for x, _, _ in parts]),
        np.concatenate([np.append(y, np.nan) for _, y, _ in parts]),
    )


def _code(settings: StaircaseSettings) -> str:
    return f"""import numpy as np
from core.conformal.loss_models import LOSS_MODELS, draw
from core.conformal.quadrature import RiskPosterior
from core.conformal.views.staircase import staircases

model, rng = LOSS_MODELS[{settings.kind!r}], np.random.default_rng({settings.seed})
losses = draw(model, {settings.mean_loss!r}, {settings.n_few}, rng)
heights, ends = staircases(losses, 1.0, {_FAINT}, np.random.default_rng(({settings.seed}, {settings.guess})))
numbers = {{
    "area": float((heights * np.diff(ends[0], prepend=0.0)).sum()),
    "mean": RiskPosterior.from_losses(losses, bound=1.0).mean,
}}
"""
