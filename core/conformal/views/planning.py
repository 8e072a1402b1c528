"""A pilot as two whole numbers: how sure it makes us, and how many more cases would be enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.errors import InputError
from core.common.settings import Settings, decimal, whole
from core.common.template import BLUE, GREY, ORANGE, VERMILION, finish
from core.common.text import count, number, percent
from core.common.view import View
from core.conformal.planner import Further, allowed_failures, assurance, further_cases, needed_cases
from core.conformal.quadrature import RiskPosterior
from core.conformal.views.target import alpha_setting, beta_setting

__all__ = ["PlanningSettings", "planning_view"]

_POINTS = 200


@dataclass(frozen=True, kw_only=True)
class PlanningSettings(Settings):
    """What a pilot found and what is to be certified."""

    failures: int = whole(8, low=0, high=100_000, label="Failures seen", help="Cases that went wrong.", typed=True)
    cases: int = whole(
        100, low=1, high=100_000, label="Cases seen", help="All cases of the pilot, right or wrong.", typed=True
    )
    alpha: float = alpha_setting(0.15)
    beta: float = beta_setting()
    chance: float = decimal(
        0.8, low=0.5, high=0.99, step=0.01, label="Chance of success", help="How likely a new study should succeed."
    )


def planning_view(settings: PlanningSettings) -> View:
    """The certainty that a pilot gives, the cases still to label, and how large a new study should be."""
    if settings.failures > settings.cases:
        raise InputError(
            f"{count(settings.failures, 'failure')} among {count(settings.cases, 'case')} cannot be",
            remedy="The failures are part of the cases.",
        )
    share = settings.failures / settings.cases
    sure = RiskPosterior.from_failures(settings.failures, settings.cases).cdf(settings.alpha)
    more = further_cases(settings.failures, settings.cases, settings.alpha, settings.beta)
    sizes = _sizes(settings)
    chances = assurance(sizes, share, settings.alpha, settings.beta)
    return View(
        answer=f"{count(settings.failures, 'failure')} in {count(settings.cases, 'case')}: the failure rate is below "
        f"{percent(settings.alpha)} with probability **{percent(sure)}**. {_next_step(sure, more, settings)}",
        figure=_figure(sizes, chances, settings),
        alt=f"Chance that a study certifies a failure rate below {settings.alpha:g}, by the number of its cases.",
        table=pd.DataFrame(
            {
                "cases": sizes,
                "allowed_failures": allowed_failures(sizes, settings.alpha, settings.beta),
                "chance_of_certificate": chances,
            }
        ),
        code=_code(settings),
        numbers={"probability": sure, "chance_at_this_size": float(_chance_now(settings))},
        notes=(
            _study(settings, share),
            "The curve is jagged because failures are whole numbers; nothing is simulated.",
        ),
    )


def _next_step(sure: float, more: Further, settings: PlanningSettings) -> str:
    if sure >= settings.beta:
        return f"That is enough for {percent(settings.beta)}."
    steps = []
    if more.without_failure is not None:
        steps.append(f"{count(more.without_failure, 'more case')} if none of them fails")
    if more.at_same_share is not None:
        steps.append(f"{count(more.at_same_share, 'more case')} at the same failure rate")
    return (
        f"For {percent(settings.beta)} label {', or '.join(steps)}." if steps else "No number of further cases helps."
    )


def _study(settings: PlanningSettings, share: float) -> str:
    try:
        needed = needed_cases(share, settings.alpha, settings.beta, settings.chance)
    except InputError as error:
        return f"A new study: {error}"
    return (
        f"A new study, if {percent(share)} truly fail, needs {count(needed, 'case')} to succeed with a chance of "
        f"{percent(settings.chance)}."
    )


def _chance_now(settings: PlanningSettings) -> np.ndarray:
    return assurance(settings.cases, settings.failures / settings.cases, settings.alpha, settings.beta)


def _sizes(settings: PlanningSettings) -> np.ndarray:
    return np.unique(np.geomspace(5, max(500, 4 * settings.cases), _POINTS).astype(int))


def _figure(sizes: np.ndarray, chances: np.ndarray, settings: PlanningSettings) -> go.Figure:
    figure = go.Figure()
    line = {"color": BLUE, "width": 2.5}
    figure.add_scatter(x=sizes, y=chances, mode="lines", line=line, name="chance that the study certifies the limit")
    figure.add_scatter(
        x=[sizes[0], sizes[-1]],
        y=[settings.chance] * 2,
        mode="lines",
        line={"color": ORANGE, "dash": "dash"},
        name=f"chance asked: {percent(settings.chance)}",
    )
    figure.add_scatter(
        x=[settings.cases] * 2,
        y=[0, 1],
        mode="lines",
        line={"color": GREY, "dash": "dot"},
        name=f"size of the pilot: {number(settings.cases)}",
    )
    figure.add_scatter(
        x=[settings.cases],
        y=[_chance_now(settings)],
        mode="markers",
        marker={"color": VERMILION, "size": 10, "symbol": "diamond"},
        name="a study of the pilot's size",
    )
    finish(figure, x="cases in the study (each step to the right multiplies)", y="chance")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_xaxes(type="log", tickvals=[a * 10**b for b in range(7) for a in (1, 2, 5)])


def _code(settings: PlanningSettings) -> str:
    return f"""from core.conformal.planner import assurance
from core.conformal.quadrature import RiskPosterior

failures, cases, alpha, beta = {settings.failures}, {settings.cases}, {settings.alpha!r}, {settings.beta!r}
numbers = {{
    "probability": RiskPosterior.from_failures(failures, cases).cdf(alpha),
    "chance_at_this_size": float(assurance(cases, failures / cases, alpha, beta)),
}}
"""
