"""The distribution of the risk after calibration: its density, the target, the mean and the bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings, choice, decimal, switch, whole
from core.common.template import BLUE, GREEN, GREY, ORANGE, VERMILION, finish, translucent
from core.common.text import count, number, percent
from core.common.view import View
from core.conformal.loss_models import LOSS_MODELS, draw
from core.conformal.monte_carlo import estimate_cdf, posterior_as_published
from core.conformal.quadrature import RiskPosterior
from core.conformal.views.target import alpha_setting, beta_setting, seed_setting

__all__ = ["PosteriorSettings", "density_figure", "density_table", "posterior_view", "verdict"]

_POINTS = 160
_FRAMES = 16
_DRAWN = 1_000_000  # random numbers for the check


@dataclass(frozen=True, kw_only=True)
class PosteriorSettings(Settings):
    """A calibration sample drawn from a population with a known risk, and what is asked of it."""

    kind: str = choice(
        "misses", options=tuple(LOSS_MODELS), label="Kind of loss", help="What one case can cost, from 0 to 1."
    )
    n_cal: int = whole(
        40, low=1, high=1000, label="Calibration cases", help="How many labelled cases were set aside to measure loss."
    )
    mean_loss: float = decimal(
        0.08, low=0.0, high=0.9, step=0.01, label="True risk", help="The population's expected loss. In life unknown."
    )
    alpha: float = alpha_setting(0.15)
    beta: float = beta_setting()
    seed: int = seed_setting()
    arriving: bool = switch(False, label="Let the cases arrive", help="Adds a play button: the density as cases come.")


def posterior_view(settings: PosteriorSettings) -> View:
    """The density of L+ for one sample, with the decisions of conformal risk control and Bayesian quadrature."""
    losses = draw(LOSS_MODELS[settings.kind], settings.mean_loss, settings.n_cal, np.random.default_rng(settings.seed))
    posterior = RiskPosterior.from_losses(losses, bound=1.0)
    table = density_table(posterior)
    figure = density_figure(posterior, table, alpha=settings.alpha, beta=settings.beta, truth=settings.mean_loss)
    if settings.arriving and settings.n_cal > 1:
        _add_frames(figure, losses)
    return View(
        answer=f"{_seen(losses)} {verdict(posterior, settings.alpha, settings.beta)}",
        figure=figure,
        alt=f"Density of the risk bound for {settings.n_cal} cases with the limit {settings.alpha:g} marked.",
        table=table,
        code=_code(settings),
        numbers={
            "probability": float(posterior.cdf(settings.alpha)),
            "mean": posterior.mean,
            "bound": float(posterior.quantile(settings.beta)),
        },
        notes=(
            "The curve is computed exactly, without random draws. It describes L+, an upper bound on the risk that "
            "holds whatever the shape of the losses between and beyond the observed ones.",
            _drawn(losses, settings),
            _as_published(losses, settings),
        ),
    )


def verdict(posterior: RiskPosterior, alpha: float, beta: float) -> str:
    """One sentence or two: how sure, whether that is enough, and what judging by the average would have said."""
    sure = float(posterior.cdf(alpha))
    enough = "That is enough" if sure >= beta else "That is not enough"
    text = f"the risk stays below {number(alpha)} with probability **{percent(sure)}**. {enough} for {percent(beta)}."
    if sure < beta and posterior.mean <= alpha:
        text += f" Judged by the average alone ({number(posterior.mean)}) it would have passed."
    return text


def density_figure(
    posterior: RiskPosterior, table: pd.DataFrame, *, alpha: float, beta: float, truth: float | None = None
) -> go.Figure:
    """The density of L+ with the area below ``alpha`` shaded and alpha, mean, beta-quantile and truth marked.

    ``table`` is that of `density_table`.
    """
    x, density = table["risk"].to_numpy(), table["density"].to_numpy()
    figure = go.Figure()
    safe = np.where(x <= alpha, density, 0.0)
    figure.add_scatter(
        x=x, y=safe, mode="none", fill="tozeroy", fillcolor=translucent(GREEN, 0.35), name="within the limit"
    )
    figure.add_scatter(
        x=x, y=density - safe, mode="none", fill="tozeroy", fillcolor=translucent(VERMILION, 0.3), name="over the limit"
    )
    line = {"color": BLUE, "width": 2.5}
    figure.add_scatter(x=x, y=density, mode="lines", line=line, name="how likely each risk is")
    height = 1.08 * float(density.max())
    for value, label, colour, dash in _marks(posterior, alpha, beta, truth):
        figure.add_scatter(
            x=[value, value], y=[0, height], mode="lines", name=label, line={"color": colour, "width": 2, "dash": dash}
        )
    finish(figure, x="risk: expected loss of a future case", y="density")
    return figure.update_yaxes(rangemode="tozero", showticklabels=False, ticks="")


def density_table(posterior: RiskPosterior, points: int = _POINTS) -> pd.DataFrame:
    """The curve as numbers: risk, density, and probability that the risk bound lies below, ``points`` rows.

    A point mass is drawn as a spike of height 1.
    """
    x = _grid(posterior, points)
    found = posterior.curve(x)
    density = (x == posterior.mean).astype(float) if posterior.is_point else found.pdf
    return pd.DataFrame({"risk": x, "density": density, "probability_below": found.cdf})


def _marks(
    posterior: RiskPosterior, alpha: float, beta: float, truth: float | None
) -> list[tuple[float, str, str, str]]:
    bound = float(posterior.quantile(beta))
    marks = [
        (alpha, f"limit {number(alpha)}", VERMILION, "solid"),
        (posterior.mean, f"average {number(posterior.mean)} (conformal risk control)", ORANGE, "dash"),
        (bound, f"{percent(beta)} bound {number(bound)} (Bayesian quadrature)", BLUE, "dot"),
    ]
    return marks if truth is None else [*marks, (truth, f"true risk {number(truth)}", GREY, "dashdot")]


def _grid(posterior: RiskPosterior, points: int) -> np.ndarray:
    low, high = posterior.support
    if posterior.is_point:
        return np.linspace(0.0, high, points)
    left = max(low, posterior.mean - 8 * posterior.sd)
    return np.linspace(left, min(high, posterior.mean + 8 * posterior.sd), points)


def _seen(losses: np.ndarray) -> str:
    return f"After {count(losses.size, 'case')} with an average loss of {number(losses.mean())}:"


def _drawn(losses: np.ndarray, settings: PosteriorSettings) -> str:
    count_of = max(1000, _DRAWN // losses.size)
    found = estimate_cdf(losses, 1.0, settings.alpha, count_of, np.random.default_rng(settings.seed))
    return (
        f"Check by {count_of:,} random draws of the definition: {percent(found.value)} below the limit, give or take "
        f"{percent(2 * found.standard_error)}."
    )


def _as_published(losses: np.ndarray, settings: PosteriorSettings) -> str:
    here, back = (
        posterior_as_published(order).quantile(settings.beta) for order in (np.sort(losses), np.sort(losses)[::-1])
    )
    return (
        f"The authors' published code weighs the worst loss by the first row's gap: its {percent(settings.beta)} bound "
        f"is {number(here)} with the smallest loss first and {number(back)} with the largest first."
    )


def _add_frames(figure: go.Figure, losses: np.ndarray) -> None:
    """The curve for a growing number of cases, at rest on the last; play, pause, and a slider to step back with."""
    sizes = np.unique(np.geomspace(1, losses.size, _FRAMES).astype(int))
    for n in sizes:
        table = density_table(RiskPosterior.from_losses(losses[:n], bound=1.0), _POINTS // 2)
        curve = go.Scatter(x=table["risk"], y=table["density"])
        figure.frames += (go.Frame(name=f"{n}", data=[curve], traces=[2]),)
    few = RiskPosterior.from_losses(losses[:20], bound=1.0)
    figure.update_xaxes(range=[0, few.quantile(0.999)])
    figure.update_layout(updatemenus=[_buttons()], sliders=[_slider([str(n) for n in sizes])], height=560)


def _buttons() -> dict:
    play = {"frame": {"duration": 350, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": True}
    stop = {"frame": {"duration": 0}, "mode": "immediate"}
    return {
        "type": "buttons",
        "direction": "right",
        "x": 0,
        "y": -0.32,
        "xanchor": "left",
        "yanchor": "top",
        "buttons": [
            {"label": "Play", "method": "animate", "args": [None, play]},
            {"label": "Pause", "method": "animate", "args": [[None], stop]},
        ],
    }


def _slider(names: list[str]) -> dict:
    jump = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    steps = [{"label": name, "method": "animate", "args": [[name], jump]} for name in names]
    return {
        "steps": steps,
        "active": len(steps) - 1,
        "x": 0.22,
        "len": 0.78,
        "y": -0.28,
        "currentvalue": {"prefix": "cases: "},
    }


def _code(settings: PosteriorSettings) -> str:
    return f"""import numpy as np
from core.conformal.loss_models import LOSS_MODELS, draw
from core.conformal.monte_carlo import estimate_cdf, posterior_as_published
from core.conformal.quadrature import RiskPosterior

model, rng = LOSS_MODELS[{settings.kind!r}], np.random.default_rng({settings.seed})
losses = draw(model, {settings.mean_loss!r}, {settings.n_cal}, rng)
posterior = RiskPosterior.from_losses(losses, bound=1.0)
numbers = {{
    "probability": float(posterior.cdf({settings.alpha!r})),
    "mean": posterior.mean,
    "bound": float(posterior.quantile({settings.beta!r})),
}}
"""
