"""Choosing the setting: the risk over lambda with its bands, and what each rule chooses and promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.settings import Settings
from core.common.template import BLUE, COLOURS, GREY, VERMILION, finish, translucent
from core.common.text import number, percent
from core.common.view import View
from core.conformal.calibrations import Calibration
from core.conformal.certificate import Certificate
from core.conformal.risk_control import Choice, RiskBands, choose, risk_bands
from core.conformal.rules import RULES
from core.conformal.views.target import alpha_setting, beta_setting

__all__ = ["TargetSettings", "Tuning", "certify", "tune", "tuning_view"]

_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


@dataclass(frozen=True, kw_only=True)
class TargetSettings(Settings):
    """What is to be certified."""

    alpha: float = alpha_setting()
    beta: float = beta_setting()


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The choices of all rules on one calibration, and the bands of the risk along its path."""

    calibration: Calibration
    target: TargetSettings
    choices: tuple[Choice, ...]
    bands: RiskBands


def tune(calibration: Calibration, target: TargetSettings) -> Tuning:
    """Let every rule choose its setting."""
    choices = tuple(choose(calibration.path, rule, target.alpha, target.beta) for rule in RULES)
    return Tuning(calibration=calibration, target=target, choices=choices, bands=risk_bands(calibration.path))


def certify(tuning: Tuning, choice: Choice, fingerprint: str, day: date) -> Certificate:
    """The certificate of one rule's choice; it says so if nothing is certified."""
    target, path, certified = tuning.target, tuning.calibration.path, choice.lambda_hat is not None
    return Certificate(
        method=choice.rule.title,
        promise=choice.rule.promise if certified else "Nothing is certified.",
        n=choice.n,
        alpha=target.alpha,
        beta=target.beta,
        bound=path.bound,
        lambda_hat=choice.lambda_hat,
        probability=float(path.posterior(choice.place).cdf(target.alpha)) if certified else None,
        empirical_risk=choice.empirical_risk,
        fingerprint=fingerprint,
        date=day.isoformat(),
    )


def tuning_view(tuning: Tuning, *, code: str, notes: Sequence[str] = ()) -> View:
    """The View of a tuning. ``code`` are the lines that make ``calibration``."""
    target = tuning.target
    return View(
        answer=_answer(tuning),
        figure=_figure(tuning),
        alt=f"{tuning.calibration.loss} over the {tuning.calibration.knob}, with bands and each rule's choice.",
        table=_table(tuning),
        code=f"""{code}
from core.conformal.risk_control import choose
from core.conformal.rules import RULES

choices = [choose(calibration.path, rule, {target.alpha!r}, {target.beta!r}) for rule in RULES]
numbers = {{choice.rule.key: choice.lambda_hat for choice in choices}}
""",
        numbers={choice.rule.key: choice.lambda_hat for choice in tuning.choices},
        summary=_summary(tuning),
        notes=(
            *notes,
            *tuning.calibration.notes,
            "Bands: where the risk bound lies with 80% (dark) and 95% (light) posterior probability.",
        ),
    )


def _answer(tuning: Tuning) -> str:
    by_key = {choice.rule.key: choice for choice in tuning.choices}
    ours, average, target = by_key["bq"], by_key["crc"], tuning.target
    if ours.lambda_hat is None:
        return _refusal(ours, target, tuning.calibration.path.bound)
    chance = tuning.calibration.path.posterior(ours.place).cdf(target.alpha)
    text = (
        f"Set the {tuning.calibration.knob} to **{number(ours.lambda_hat, 4)}**: the risk then stays below "
        f"{number(target.alpha)} with probability {percent(chance)}."
    )
    if average.lambda_hat is not None and average.lambda_hat != ours.lambda_hat:
        sure = tuning.calibration.path.posterior(average.place).cdf(target.alpha)
        text += (
            f" Conformal risk control would take {number(average.lambda_hat, 4)}: that probability is {percent(sure)}."
        )
    return text


def _refusal(choice: Choice, target: TargetSettings, bound: float) -> str:
    needed = choice.rule.needs(target.alpha, target.beta, bound)
    text = f"No setting is certified below {number(target.alpha)} with {percent(target.beta)}: "
    if needed is not None and choice.n < needed:
        return text + f"you need at least **n = {needed:,}** cases, and have {choice.n:,}."
    more = "more than 100,000" if choice.extra is None else f"{choice.extra:,}"
    return text + f"even the safest loses too much; it would take **{more}** further cases without any loss."


def _table(tuning: Tuning) -> pd.DataFrame:
    target = tuning.target
    rows = [
        {
            "rule": choice.rule.title,
            "lambda_hat": np.nan if choice.lambda_hat is None else choice.lambda_hat,
            "mean_loss_there": choice.empirical_risk,
            "upper_value_there": choice.upper,
            "smallest_n": choice.rule.needs(target.alpha, target.beta, tuning.calibration.path.bound),
            "further_cases_without_loss": choice.extra if choice.lambda_hat is None else 0,
            "promise": choice.rule.promise,
        }
        for choice in tuning.choices
    ]
    return pd.DataFrame(rows)


def _summary(tuning: Tuning) -> pd.DataFrame:
    """What each rule chooses and promises, in words."""
    return pd.DataFrame(
        [
            {
                "Rule": choice.rule.title,
                "Setting": "none" if choice.lambda_hat is None else number(choice.lambda_hat, 4),
                "Promise": choice.rule.promise,
                "Status": choice.rule.status,
            }
            for choice in tuning.choices
        ]
    )


def _figure(tuning: Tuning) -> go.Figure:
    bands, figure = tuning.bands, go.Figure()
    for low, high, opacity, name in ((0, 4, 0.15, "95% of the risk bound"), (1, 3, 0.25, "80% of the risk bound")):
        colour = translucent(BLUE, opacity)
        for level, fill in ((low, None), (high, "tonexty")):
            figure.add_scatter(
                x=bands.lambdas,
                y=bands.quantiles[level],
                mode="lines",
                line={"width": 0},
                fill=fill,
                fillcolor=colour,
                name=name,
                legendgroup=name,
                showlegend=fill is not None,
                hoverinfo="skip",
            )
    dash = {"color": GREY, "dash": "dash", "width": 2}
    figure.add_scatter(x=bands.lambdas, y=bands.mean, mode="lines", line=dash, name="mean loss of these cases")
    limit = {"color": VERMILION, "width": 2}
    ends = [bands.lambdas[0], bands.lambdas[-1]]
    label = f"limit {number(tuning.target.alpha)}"
    figure.add_scatter(x=ends, y=[tuning.target.alpha] * 2, mode="lines", line=limit, name=label)
    for choice, colour, symbol in zip(tuning.choices, COLOURS, _SYMBOLS, strict=True):
        if choice.lambda_hat is not None:
            figure.add_scatter(
                x=[choice.lambda_hat],
                y=[choice.empirical_risk],
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": 12, "line": {"color": "white", "width": 1}},
                name=f"{choice.rule.title}: {number(choice.lambda_hat, 4)}",
            )
    finish(figure, x=tuning.calibration.knob.split(" (")[0], y=tuning.calibration.loss, height=480)
    return figure.update_yaxes(rangemode="tozero")
