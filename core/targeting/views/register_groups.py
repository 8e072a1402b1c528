"""Your register by group: whose worst-off are reached, and who carries the burden of being screened."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, GREY, ORANGE, finish
from core.common.text import count, markdown, percent, plotly, short
from core.common.view import View
from core.targeting.groups import Group
from core.targeting.study import Study

__all__ = ["register_groups_view"]


def register_groups_view(study: Study, *, code: str) -> View:
    """Recall of the worst-off and burden of the others for each group, with 90% intervals; small groups hidden.

    ``code`` makes ``found``, the study.
    """
    table = pd.DataFrame([_row(group) for group in study.groups])
    shown = [group for group in study.groups if not group.hidden and not np.isnan(group.recall.value)]
    return View(
        answer=_answer(study, shown),
        figure=_figure(table, study),
        alt=f"Recall and burden with 90% intervals for {count(len(table), 'group')}.",
        table=table,
        code=f"""{code}
numbers = {{group.name: group.recall.value for group in found.groups if not group.hidden}}
""",
        numbers={group.name: group.recall.value for group in study.groups if not group.hidden},
        notes=(
            *_hidden_note(study),
            "All groups are screened by the same cut. Reached: of a group's worst-off, the share screened. Burden: of "
            "its people who are not worst-off, the share screened. A difference may come from the score or from the "
            "group's own outcomes; intervals are for each group alone.",
        ),
    )


def _answer(study: Study, shown: list[Group]) -> str:
    if len(shown) < 2:
        return "Fewer than two groups are large enough to be shown."
    shown = sorted(shown, key=lambda group: group.recall.value)
    worst, best = shown[0], shown[-1]
    clear = "" if worst.recall.high < best.recall.low else " The intervals overlap: the difference may be chance."
    return (
        f"At a capacity of {percent(study.settings.alpha)}, **{percent(best.recall.value)}** of the worst-off of "
        f"group “{markdown(best.name)}” are reached and **{percent(worst.recall.value)}** of group "
        f"“{markdown(worst.name)}”.{clear}"
    )


def _hidden_note(study: Study) -> tuple[str, ...]:
    hidden = sum(group.hidden for group in study.groups)
    if not hidden:
        return ()
    return (
        f"{count(hidden, 'group')} not shown: some count behind them is below {study.settings.smallest}, or would let "
        "such a count be worked out.",
    )


def _row(group: Group) -> dict:
    return {
        "group": group.name or "(empty)",
        "people": group.people,
        "worst_off": group.worst,
        "reached": group.recall.value,
        "reached_low": group.recall.low,
        "reached_high": group.recall.high,
        "screened": group.screened.value,
        "burden": group.burden.value,
        "burden_low": group.burden.low,
        "burden_high": group.burden.high,
    }


def _figure(table: pd.DataFrame, study: Study) -> go.Figure:
    figure = go.Figure()
    labels: list[str] = []
    for name in table["group"]:
        labels.append(short(plotly(name), 30, labels))
    for key, colour, words, symbol in (
        ("reached", BLUE, "of the worst-off: reached", "circle"),
        ("burden", ORANGE, "of all others: screened (burden)", "diamond"),
    ):
        figure.add_scatter(
            x=table[key],
            y=labels,
            mode="markers",
            marker={"color": colour, "size": 10, "symbol": symbol},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": table[f"{key}_high"] - table[key],
                "arrayminus": table[key] - table[f"{key}_low"],
                "color": colour,
                "thickness": 2,
            },
            name=words,
        )
    overall = study.now.at(study.settings.alpha)
    line = {"color": GREY, "dash": "dash", "width": 1}
    figure.add_scatter(x=[overall] * 2, y=[labels[0], labels[-1]], mode="lines", line=line, name="reached, all groups")
    finish(figure, x="share screened (line: 90% interval)", y="group", height=max(320, 120 + 40 * len(labels)))
    widest = max(float(np.nanmax(table[["reached_high", "burden_high"]].to_numpy(), initial=overall)), 0.01)
    figure.update_yaxes(type="category", autorange="reversed")
    return figure.update_xaxes(tickformat=".0%", range=[-0.03 * widest, 1.05 * widest])
