"""Losses at one setting, as a visitor's file has them: how sure are we, over all cases and group by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.errors import InputError
from core.common.settings import Settings, decimal
from core.common.tables import Table
from core.common.template import BLUE, GREY, ORANGE, VERMILION, finish
from core.common.text import count, markdown, number, percent, plotly, short
from core.common.view import View
from core.conformal.quadrature import RiskPosterior
from core.conformal.ranks import needed_for_bayesian_quadrature
from core.conformal.views.posterior import density_figure, density_table, verdict
from core.conformal.views.target import alpha_setting, beta_setting

__all__ = ["LossSettings", "groups_view", "losses_view"]

_MOST_GROUPS = 40


@dataclass(frozen=True, kw_only=True)
class LossSettings(Settings):
    """What is to be certified, and how large a loss can be."""

    alpha: float = alpha_setting()
    beta: float = beta_setting()
    bound: float = decimal(
        1.0,
        low=0.000001,
        high=1e12,
        step=0.1,
        label="Largest loss that can occur (B)",
        help="Known beforehand, such as 1 for a share or a miss; not the largest loss in the file.",
        typed=True,
    )


def losses_view(table: Table, column: str, settings: LossSettings) -> View:
    """The density of the risk bound after the losses in ``column``."""
    posterior = _posterior(table.numbers(column), column, settings)
    curve = density_table(posterior)
    return View(
        answer=f"After {count(posterior.n, 'case')}: {verdict(posterior, settings.alpha, settings.beta)}"
        f"{_short(posterior, settings)}",
        figure=density_figure(posterior, curve, alpha=settings.alpha, beta=settings.beta),
        alt=f"Density of the risk bound for {posterior.n} losses with the limit {settings.alpha:g} marked.",
        table=curve,
        code=f"""from core.common.tables import {_imports(table)}
from core.conformal.quadrature import RiskPosterior

losses = {table.code()}.numbers({column!r})
posterior = RiskPosterior.from_losses(losses, bound={settings.bound!r})
numbers = {{
    "probability": posterior.cdf({settings.alpha!r}),
    "mean": posterior.mean,
    "bound": posterior.quantile({settings.beta!r}),
}}
""",
        numbers={
            "probability": posterior.cdf(settings.alpha),
            "mean": posterior.mean,
            "bound": posterior.quantile(settings.beta),
        },
        notes=(_status(table.numbers(column), settings.bound),),
    )


def groups_view(table: Table, column: str, group: str, settings: LossSettings) -> View:
    """The risk bound group by group: median, 80% and 95% interval, and whether each group is certified."""
    losses, groups = table.numbers(column), table.text(group)
    names = sorted(set(groups))
    if not 2 <= len(names) <= _MOST_GROUPS:
        raise InputError(
            f"there are {count(len(names), 'group')}",
            column=group,
            remedy=f"Between 2 and {_MOST_GROUPS} can be shown.",
        )
    joint = 1 - (1 - settings.beta) / len(names)
    rows = [_row(name, _posterior(losses[groups == name], column, settings), settings, joint) for name in names]
    found = pd.DataFrame(rows)
    sure = int((found["bound"] <= settings.alpha).sum())
    joint_sure = int((found["bound_joint"] <= settings.alpha).sum())
    needed = needed_for_bayesian_quadrature(settings.alpha / settings.bound, settings.beta)
    small = found.loc[found["n"] < needed, "group"]
    return View(
        answer=f"**{sure} of {count(len(names), 'group')}** are below {number(settings.alpha)} with "
        f"{percent(settings.beta)} each; {joint_sure} if all statements are to hold together.",
        figure=_groups_figure(found, settings),
        alt=f"Intervals of the risk bound for {len(names)} groups with the limit marked.",
        table=found,
        code=f"""from core.common.tables import {_imports(table)}
from core.conformal.quadrature import RiskPosterior

table = {table.code()}
losses, groups = table.numbers({column!r}), table.text({group!r})
numbers = {{
    name: RiskPosterior.from_losses(losses[groups == name], bound={settings.bound!r}).quantile({settings.beta!r})
    for name in sorted(set(groups))
}}
""",
        numbers=dict(zip(found["group"], found["bound"], strict=True)),
        notes=(
            *(
                [f"Too few cases to certify anything (n >= {needed:,}): {', '.join(map(markdown, small))}."]
                if len(small)
                else []
            ),
            f"bound_joint asks {percent(joint, 2)} of each group, so that all hold together with "
            f"{percent(settings.beta)} (Bonferroni).",
        ),
    )


def _posterior(losses: np.ndarray, column: str, settings: LossSettings) -> RiskPosterior:
    if settings.alpha >= settings.bound:
        raise InputError(f"the limit {settings.alpha:g} is not below B = {settings.bound:g}", remedy="Lower the limit.")
    try:
        return RiskPosterior.from_losses(losses, bound=settings.bound)
    except InputError as error:
        raise error.within(column) from None


def _short(posterior: RiskPosterior, settings: LossSettings) -> str:
    needed = needed_for_bayesian_quadrature(settings.alpha / settings.bound, settings.beta)
    if posterior.n >= needed:
        return ""
    return f" Even without any loss you need **n = {needed:,}** cases for that."


def _status(losses: np.ndarray, bound: float) -> str:
    if np.isin(losses, (0.0, bound)).all():
        return "All losses are 0 or B, so this is Clopper and Pearson's limit, a theorem."
    return (
        "For losses between 0 and B the guarantee over calibration sets is a conjecture; the posterior statement holds."
    )


def _row(name: str, posterior: RiskPosterior, settings: LossSettings, joint: float) -> dict:
    low, deep, median, high, top = posterior.quantile(np.array([0.025, 0.1, 0.5, 0.9, 0.975]))
    return {
        "group": name or "(empty)",
        "n": posterior.n,
        "mean_loss": ((posterior.n + 1) * posterior.mean - settings.bound) / posterior.n,
        "probability_within": posterior.cdf(settings.alpha),
        "bound": posterior.quantile(settings.beta),
        "bound_joint": posterior.quantile(joint),
        "low_95": low,
        "low_80": deep,
        "median": median,
        "high_80": high,
        "high_95": top,
    }


def _groups_figure(found: pd.DataFrame, settings: LossSettings) -> go.Figure:
    labels: list[str] = []
    for name in found["group"]:
        labels.append(short(plotly(name), 30, labels))
    figure = go.Figure()
    for low, high, width, name in (("low_95", "high_95", 2, "95% of the risk bound"), ("low_80", "high_80", 6, "80%")):
        x = np.column_stack((found[low], found[high], np.full(len(found), np.nan))).ravel()
        y = np.repeat(labels, 3)
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": BLUE, "width": width}, name=name)
    figure.add_scatter(
        x=found["mean_loss"],
        y=labels,
        mode="markers",
        marker={"color": ORANGE, "symbol": "diamond", "size": 9, "line": {"color": GREY, "width": 1}},
        name="mean loss",
    )
    limit = {"color": VERMILION, "width": 2}
    figure.add_scatter(
        x=[settings.alpha] * 2,
        y=[labels[0], labels[-1]],
        mode="lines",
        line=limit,
        name=f"limit {number(settings.alpha)}",
    )
    finish(figure, x="risk", y="group", height=max(320, 120 + 34 * len(labels)))
    return figure.update_yaxes(type="category", autorange="reversed")


def _imports(table: Table) -> str:
    return "ReadOptions, read_path" if "ReadOptions" in table.code() else "read_path"
