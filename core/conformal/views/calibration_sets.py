"""What each rule does over many calibration sets: how often the risk it leaves exceeds the limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy import stats

from core.common.errors import InputError
from core.common.settings import Settings, whole
from core.common.template import BLUE, GREEN, GREY, ORANGE, finish, translucent
from core.common.text import number, percent
from core.common.view import View
from core.conformal.ranks import (
    bayesian_quadrature_rank,
    hoeffding_rank,
    needed_for_bayesian_quadrature,
    needed_for_hoeffding,
    needed_for_split_conformal,
    split_conformal_rank,
)
from core.conformal.views.target import alpha_setting, beta_setting, seed_setting

__all__ = ["CalibrationSetsSettings", "calibration_sets_view", "risk_law", "simulated_risks"]

_TRIALS = 2_000
_POINTS = 300
_BINS = 50
_STYLES = {
    "split conformal": (ORANGE, "dash"),
    "Bayesian quadrature": (BLUE, "solid"),
    "RCPS (Hoeffding)": (GREEN, "dot"),
}


@dataclass(frozen=True, kw_only=True)
class CalibrationSetsSettings(Settings):
    """One calibration set size, one target, many sets."""

    n_scores: int = whole(
        200, low=10, high=1000, label="Calibration cases", help="How many scores each calibration set has."
    )
    alpha: float = alpha_setting()
    beta: float = beta_setting()
    seed: int = seed_setting()


def risk_law(n: int, rank: int):
    """The distribution of the true risk at s_(rank), continuous scores: 1 - F(s_(k)) ~ Beta(n + 1 - k, k)."""
    return stats.beta(n + 1 - rank, rank)


def simulated_risks(n: int, ranks: dict[str, int], trials: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The true risk that each rule leaves, for ``trials`` calibration sets of ``n`` uniform scores, (trials,) each."""
    scores = np.sort(rng.random((trials, n)), axis=1)
    return {name: 1 - scores[:, rank - 1] for name, rank in ranks.items()}


def calibration_sets_view(settings: CalibrationSetsSettings) -> View:
    """The exact distribution of the risk each rule leaves, with simulated calibration sets as a check."""
    ranks, refused = _ranks(settings)
    if not ranks:
        raise InputError(_too_few(settings), remedy="Raise the number of cases or the limit.")
    risks = simulated_risks(settings.n_scores, ranks, _TRIALS, np.random.default_rng(settings.seed))
    exact = {name: float(risk_law(settings.n_scores, rank).sf(settings.alpha)) for name, rank in ranks.items()}
    return View(
        answer=_answer(exact, settings),
        figure=_figure(settings, ranks, risks),
        alt="Distribution over calibration sets of the true risk that each rule leaves, with the limit marked.",
        table=_table(ranks, exact, risks, settings),
        code=_code(settings),
        numbers=exact,
        notes=(
            *refused,
            f"Curves are exact for scores without ties; the bars are {_TRIALS:,} simulated calibration sets under "
            "Bayesian quadrature.",
        ),
    )


def _ranks(settings: CalibrationSetsSettings) -> tuple[dict[str, int], tuple[str, ...]]:
    n, alpha, beta = settings.n_scores, settings.alpha, settings.beta
    found = {
        "split conformal": split_conformal_rank(n, alpha),
        "Bayesian quadrature": bayesian_quadrature_rank(n, alpha, beta),
        "RCPS (Hoeffding)": hoeffding_rank(n, alpha, beta),
    }
    needed = {
        "split conformal": needed_for_split_conformal(alpha),
        "Bayesian quadrature": needed_for_bayesian_quadrature(alpha, beta),
        "RCPS (Hoeffding)": needed_for_hoeffding(alpha, beta),
    }
    refused = tuple(
        f"{name} certifies nothing with {n} cases; it needs at least {needed[name]:,}."
        for name, rank in found.items()
        if rank is None
    )
    return {name: rank for name, rank in found.items() if rank is not None}, refused


def _too_few(settings: CalibrationSetsSettings) -> str:
    needed = needed_for_split_conformal(settings.alpha)
    return (
        f"no rule certifies a risk below {number(settings.alpha)} with {settings.n_scores} cases; split conformal "
        f"needs {needed:,}"
    )


def _answer(exact: dict[str, float], settings: CalibrationSetsSettings) -> str:
    told = [f"{name} in **{percent(share)}**" for name, share in exact.items()]
    listed = ", ".join(told[:-1]) + (" and " if len(told) > 1 else "") + told[-1]
    return f"The risk exceeds {number(settings.alpha)} under {listed} of all calibration sets."


def _figure(settings: CalibrationSetsSettings, ranks: dict[str, int], risks: dict[str, np.ndarray]) -> go.Figure:
    figure = go.Figure()
    laws = {name: risk_law(settings.n_scores, rank) for name, rank in ranks.items()}
    right = max([law.ppf(0.9995) for law in laws.values()] + [1.2 * settings.alpha])
    x = np.linspace(0.0, right, _POINTS)
    if "Bayesian quadrature" in risks:
        height, edges = np.histogram(risks["Bayesian quadrature"], bins=_BINS, density=True)
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        figure.add_bar(x=middle, y=height, width=width, marker_color=translucent(BLUE, 0.25), name="simulated sets")
    top = 0.0
    for name, law in laws.items():
        colour, dash = _STYLES[name]
        density = law.pdf(x)
        top = max(top, float(density[np.isfinite(density)].max()))
        line = {"color": colour, "dash": dash, "width": 2.5}
        label = f"{name}: {percent(float(law.sf(settings.alpha)))} over the limit"
        figure.add_scatter(x=x, y=density, mode="lines", line=line, name=label)
    limit = {"color": GREY, "width": 2}
    label = f"limit {number(settings.alpha)}"
    figure.add_scatter(x=[settings.alpha] * 2, y=[0, 1.05 * top], mode="lines", line=limit, name=label)
    finish(figure, x="true risk: share of future cases outside their set", y="density over calibration sets")
    return figure.update_yaxes(showticklabels=False, ticks="", rangemode="tozero")


def _table(
    ranks: dict[str, int], exact: dict[str, float], risks: dict[str, np.ndarray], settings: CalibrationSetsSettings
) -> pd.DataFrame:
    rows = []
    for name, rank in ranks.items():
        failures = int((risks[name] > settings.alpha).sum())
        interval = stats.binomtest(failures, _TRIALS).proportion_ci(0.95)
        rows.append(
            {
                "rule": name,
                "rank": rank,
                "exceeds_limit_exact": exact[name],
                "exceeds_limit_simulated": failures / _TRIALS,
                "low_95": interval.low,
                "high_95": interval.high,
                "mean_risk": float(risk_law(settings.n_scores, rank).mean()),
            }
        )
    return pd.DataFrame(rows)


def _code(settings: CalibrationSetsSettings) -> str:
    return f"""from core.conformal.ranks import bayesian_quadrature_rank, hoeffding_rank, split_conformal_rank
from core.conformal.views.calibration_sets import risk_law

n, alpha, beta = {settings.n_scores}, {settings.alpha!r}, {settings.beta!r}
ranks = {{
    "split conformal": split_conformal_rank(n, alpha),
    "Bayesian quadrature": bayesian_quadrature_rank(n, alpha, beta),
    "RCPS (Hoeffding)": hoeffding_rank(n, alpha, beta),
}}
numbers = {{name: float(risk_law(n, k).sf(alpha)) for name, k in ranks.items() if k is not None}}
"""
