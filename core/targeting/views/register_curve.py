"""Your register: how many of the worst-off each score reaches, at every capacity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, COLOURS, GREY, VERMILION, finish, translucent
from core.common.text import count, markdown, number, percent, plotly, short
from core.common.view import View
from core.targeting.gains import Curve
from core.targeting.gaussian import value
from core.targeting.privacy import without_small
from core.targeting.study import Study

__all__ = ["register_curve_view"]


def register_curve_view(study: Study, *, code: str) -> View:
    """The targeting curves of all scores, the chosen one with its band, beside chance, the best possible and theory.

    ``code`` makes ``found``, the study.
    """
    alpha, reached = study.settings.alpha, study.now.at(study.settings.alpha)
    needed = study.needed_capacity(0.75)
    here = np.searchsorted(study.now.alpha, alpha)
    low, high = study.now.low[here], study.now.high[here]
    return View(
        answer=f"Screening {percent(alpha)} ({count(round(alpha * study.total_people), 'person', 'people')}) by "
        f"{markdown(study.chosen)} reaches **{percent(reached)}** of the worst-off (90% interval: {percent(low)} to "
        f"{percent(high)}). To reach 75% of them takes a capacity of {percent(needed.value)}.",
        figure=_figure(study),
        alt=f"Share of the worst-off reached, by capacity, for {count(len(study.curves), 'score')}, with a band.",
        table=_table(study),
        code=f"""{code}
alpha = {alpha!r}
numbers = {{
    "reached": found.now.at(alpha),
    "needed_capacity": found.needed_capacity(0.75).value,
    "beta": found.people.worst_off.beta,
    "area_under_roc": found.now.area,
}}
""",
        numbers={
            "reached": reached,
            "needed_capacity": needed.value,
            "beta": study.people.worst_off.beta,
            "area_under_roc": study.now.area,
        },
        notes=_notes(study),
        summary=_summary(study),
    )


def _notes(study: Study) -> tuple[str, ...]:
    made = study.people.worst_off
    low, high = made.bounds
    known = f" Whatever the unknown ones are, it lies between {percent(low)} and {percent(high)}." * (high > low)
    cut = "" if np.isnan(made.threshold) else f" (outcome {number(made.threshold)} or worse)"
    draws = len(study.now.resampled.capacity) - 1
    return (
        f"Worst-off: {percent(made.beta, 2)} of {count(study.people.n, 'row')}{cut}, ties included.{known}",
        *study.people.notes,
        f"Bands: 90%, {draws} resamples of people; who counts as worst-off is kept as it is. Where scores tie at the "
        "cut, the average over all orders is shown.",
        *_warnings(study),
    )


def _warnings(study: Study) -> tuple[str, ...]:
    backwards = [name for name, curve in study.curves.items() if curve.area < 0.5 - 1e-9]
    level = [name for name in study.curves if np.ptp(study.people.scores[name].value) == 0]
    return tuple(
        f"{what}: {', '.join(map(markdown, names))}. {remedy}"
        for what, names, remedy in (
            ("Worse than chance", backwards, "If a low score means worse off, say so on the left."),
            ("The same for everybody", level, "People are drawn by lot."),
        )
        if names
    )


def _summary(study: Study) -> pd.DataFrame:
    alpha = study.settings.alpha
    rows = []
    for name, curve in study.curves.items():
        here = np.searchsorted(curve.alpha, alpha)
        rows.append(
            {
                "Score": name,
                f"Reached at {percent(alpha)}": percent(curve.reached[here]),
                "90% interval": f"{percent(curve.low[here])} to {percent(curve.high[here])}",
                "Area under ROC": number(curve.area),
            }
        )
    return pd.DataFrame(rows)


def _table(study: Study) -> pd.DataFrame:
    """Every curve, small cells left out: of people screened and of worst-off reached."""
    people, smallest, alpha = study.total_people, study.settings.smallest, study.now.alpha
    table = {"capacity": without_small(alpha, people, smallest)}
    for name, curve in study.curves.items():
        hidden = np.isnan(without_small(curve.reached, study.worst_people, smallest)) | np.isnan(table["capacity"])
        for part, values in (("reached", curve.reached), ("low", curve.low), ("high", curve.high)):
            table[f"{name}: {part}"] = np.where(hidden, np.nan, values)
    table["people"] = np.round(table["capacity"] * people)
    table["best possible"] = np.minimum(table["capacity"] / study.people.worst_off.beta, 1.0)
    return pd.DataFrame(table).dropna(subset="capacity")


def _figure(study: Study) -> go.Figure:
    figure = go.Figure()
    alpha, beta = study.now.alpha, study.people.worst_off.beta
    _band(figure, study.now)
    labels: list[str] = []
    colours = [BLUE, *(colour for colour in COLOURS if colour not in (BLUE, VERMILION))]
    order = [study.chosen, *(name for name in study.curves if name != study.chosen)]
    for place, name in enumerate(order):
        labels.append(short(plotly(name), 30, labels))
        line = {"color": colours[place % len(colours)], "width": 2.5 if place == 0 else 1.5}
        figure.add_scatter(x=alpha, y=study.curves[name].reached, mode="lines", line=line, name=labels[-1])
    if (r2 := study.theory_r2) is not None:
        dots = {"color": BLUE, "dash": "dot", "width": 1.5}
        figure.add_scatter(x=alpha, y=value(alpha, beta, r2), mode="lines", line=dots, name="theory at this R²")
    best = {"color": GREY, "dash": "dash", "width": 1.5}
    figure.add_scatter(x=[0, beta, 1], y=[0, 1, 1], mode="lines", line=best, name="best possible")
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "width": 1}, name="by lot")
    here = study.settings.alpha
    marker = {"color": VERMILION, "size": 10, "symbol": "diamond"}
    figure.add_scatter(x=[here], y=[study.now.at(here)], mode="markers", marker=marker, name="you are here")
    finish(
        figure, x=f"share of {number(round(study.total_people))} people screened", y="share of the worst-off reached"
    )
    return figure.update_xaxes(range=[0, 1], tickformat=".0%").update_yaxes(range=[0, 1.02], tickformat=".0%")


def _band(figure: go.Figure, curve: Curve) -> None:
    x = np.concatenate((curve.alpha, curve.alpha[::-1]))
    y = np.concatenate((curve.high, curve.low[::-1]))
    fill = translucent(BLUE, 0.25)
    figure.add_scatter(
        x=x, y=y, fill="toself", fillcolor=fill, line={"width": 0}, mode="lines", name="90% band", hoverinfo="skip"
    )
