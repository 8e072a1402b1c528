"""Your register: more places or a better prediction, what each finds and costs, and which is the better buy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, GREEN, GREY, ORANGE, finish
from core.common.text import count, number, percent, whole
from core.common.view import View
from core.targeting.improvement import LEVERS
from core.targeting.privacy import small
from core.targeting.resampling import Estimate
from core.targeting.study import Study

__all__ = ["register_steps_view"]

_SURE = 0.9
_SHORT = {"calibrated": "a better model", "residuals": "the paper's lever"}


def register_steps_view(study: Study, *, code: str) -> View:
    """People found by either step, with intervals, the price of each person found, and a verdict.

    ``code`` makes ``found``, the study.
    """
    table = _table(study)
    gains = study.gains["calibrated"]
    return View(
        answer=_answer(study),
        figure=_figure(table),
        alt="Further worst-off people found by the step in capacity and by the step in prediction, with intervals.",
        table=table,
        code=f"""{code}
gains = found.gains["calibrated"]
numbers = {{
    "access": gains.access.value,
    "prediction": gains.prediction.value,
    "ratio": gains.ratio.value,
    "ratio_paper": found.gains["residuals"].ratio.value,
    "chance": gains.chance,
}}
""",
        numbers={
            "access": gains.access.value,
            "prediction": gains.prediction.value,
            "ratio": gains.ratio.value,
            "ratio_paper": study.gains["residuals"].ratio.value,
            "chance": gains.chance,
        },
        notes=_notes(study),
        summary=_summary(table),
    )


def _answer(study: Study) -> str:
    settings, gains = study.settings, study.gains["calibrated"]
    places = round(settings.access_step * study.total_people)
    r2 = study.forecast.r2
    return (
        f"{percent(settings.access_step)} more capacity ({count(places, 'place')}) finds "
        f"**{_people(study, gains.access)}** more of the worst-off; raising R² from {number(r2)} to "
        f"{number(r2 + settings.prediction_step)} finds **{_people(study, gains.prediction)}**. {_verdict(study)}"
    )


def _verdict(study: Study) -> str:
    """Which step is the better buy at these prices, and how sure that is."""
    gains, ratio = study.gains["calibrated"], _price_ratio(study)
    winner, chance = ("capacity", gains.chance) if gains.chance >= 0.5 else ("prediction", 1 - gains.chance)
    par = f"It holds as long as the step in capacity costs less than {number(gains.ratio.value)} times the other."
    if winner == "prediction":
        par = f"It holds as long as the step in capacity costs more than {number(gains.ratio.value)} times the other."
    par += f" (90% interval: {number(gains.ratio.low)} to {number(gains.ratio.high)}; at your prices {number(ratio)}.)"
    if chance < _SURE:
        return (
            f"At your prices the two are **too close to call**: {winner} wins in {percent(chance)} of resamples. {par}"
        )
    return f"At your prices **{winner} wins**, in {percent(chance)} of resamples. {par}"


def _people(study: Study, share: Estimate) -> str:
    low, value, high = (whole(max(part, 0.0) * study.worst_people) for part in (share.low, share.value, share.high))
    if small(share.value * study.worst_people, study.settings.smallest):
        return f"fewer than {study.settings.smallest} people"
    return f"{value} people (90%: {low} to {high})"


def _price_ratio(study: Study) -> float:
    prices = study.settings.prices(study.total_people)
    return prices.access(study.settings.access_step) / prices.prediction


def _table(study: Study) -> pd.DataFrame:
    """One row a step, people and not shares; counts too small to be shown are nan."""
    prices = study.settings.prices(study.total_people)
    steps = [("more places", study.gains["calibrated"].access, prices.access(study.settings.access_step))]
    steps += [(_SHORT[lever], study.gains[lever].prediction, prices.prediction) for lever in LEVERS]
    return pd.DataFrame([_row(study, *step) for step in steps])


def _row(study: Study, name: str, gain: Estimate, cost: float) -> dict:
    found = np.array([gain.value, gain.low, gain.high]) * study.worst_people
    if small(found[0], study.settings.smallest):
        found[:] = np.nan
    with np.errstate(divide="ignore"):
        each = cost / np.maximum(found, 0.0)
    return {
        "step": name,
        "people_found": found[0],
        "low": found[1],
        "high": found[2],
        "cost": cost,
        "cost_per_person_found": each[0],
        "cost_per_person_low": each[2],
        "cost_per_person_high": each[1],
    }


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Step": table["step"],
            "Further worst-off people": [
                _interval(*row, words=whole) for row in table[["people_found", "low", "high"]].to_numpy()
            ],
            "Cost": [number(cost) for cost in table["cost"]],
            "Cost of each person found": [
                _interval(*row)
                for row in table[["cost_per_person_found", "cost_per_person_low", "cost_per_person_high"]].to_numpy()
            ],
        }
    )


def _interval(value: float, low: float, high: float, words: Callable[[float], str] = number) -> str:
    return "too few to show" if np.isnan(value) else f"{words(value)} ({words(low)} to {words(high)})"


def _notes(study: Study) -> tuple[str, ...]:
    given = study.forecast
    scale = " The score was put on the outcome's scale by a straight line, which changes no order." * given.rescaled
    paper = study.gains["residuals"].ratio
    return (
        f"R² {number(given.r2)} (squared correlation {number(given.correlation2)}).{scale}",
        "A better model: adds information and as much error as it should have, so that R² rises by the step and no "
        "more. The paper's lever moves each forecast towards that person's own truth instead.",
        f"The ratio of both gains (PAR, access over prediction) is {number(paper.value)} with the paper's lever "
        f"(90%: {number(paper.low)} to {number(paper.high)}).",
        "Costs are those you gave; what screening does for a person is not part of this.",
    )


def _figure(table: pd.DataFrame) -> go.Figure:
    figure = go.Figure()
    for (_, row), colour in zip(table.iterrows(), (BLUE, ORANGE, GREEN), strict=True):
        figure.add_bar(
            x=[row["people_found"]],
            y=[row["step"]],
            orientation="h",
            marker={"color": colour},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [row["high"] - row["people_found"]],
                "arrayminus": [row["people_found"] - row["low"]],
                "color": GREY,
                "thickness": 2,
            },
            showlegend=False,
        )
    finish(figure, x="further worst-off found (line: 90%)", y="", height=280)
    return figure.update_yaxes(type="category", autorange="reversed")
