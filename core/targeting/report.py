"""One page about a register, to print or to mail: the question, what was found, with which assumptions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.catalog import paper
from core.common.errors import InputError
from core.common.report import Report
from core.common.settings import table_of
from core.common.tables import Table
from core.common.text import count, markdown, number, percent
from core.targeting.people import DEFINITIONS, Roles
from core.targeting.study import Study, StudySettings
from core.targeting.views.register_curve import register_curve_view
from core.targeting.views.register_steps import register_steps_view

__all__ = ["register_report"]

_MOST_NOTES = 5


def register_report(study: Study, roles: Roles, *, code: str, source: Table, link: str, made: str) -> Report:
    """The report on a study of the table ``source``; ``code`` makes ``found``, ``made`` is the date."""
    curve = register_curve_view(study, code=code)
    answer, summary = _steps(study, code)
    entry = paper("targeting")
    return Report(
        question=entry.question,
        answers=(curve.answer, answer),
        figure=curve.figure,
        alt=curve.alt,
        table=summary,
        assumptions=_assumptions(study, roles),
        settings=_settings(study.settings, roles),
        source=f"{source.name}, {count(study.people.n, 'row')}, fingerprint {source.fingerprint[:12]}",
        link=link,
        paper=f"{entry.authors}: {entry.title}. ICML 2025, arXiv {entry.arxiv}.",
        made=made,
    )


def _steps(study: Study, code: str) -> tuple[str, pd.DataFrame]:
    """What the two steps find, or why they cannot be compared and then the scores alone."""
    try:
        steps = register_steps_view(study, code=code)
    except InputError as error:
        why = f"More places and a better prediction cannot be compared: {str(error)[0].lower()}{str(error)[1:]}"
        return markdown(why), register_curve_view(study, code=code).summary
    return steps.answer, steps.summary


def _assumptions(study: Study, roles: Roles) -> tuple[str, ...]:
    made = study.people.worst_off
    low, high = made.bounds
    known = f"; whatever the unknown ones are, between {percent(low)} and {percent(high)}" * (high > low)
    cut = "" if np.isnan(made.threshold) else f" ({roles.outcome} of {number(made.threshold)} or worse)"
    return (
        f"Worst-off are {percent(made.beta, 2)} of the people{cut}{known}.",
        *_noted(study.people.notes),
        "Intervals hold 90% and come from resampling people; who counts as worst-off is kept as it is.",
        "A better model is taken to add information and as much error as it should have, so that R² rises by the step.",
        "What screening does for a person who is reached is not part of this.",
    )


def _noted(notes: tuple[str, ...]) -> tuple[str, ...]:
    """As many notes as fit on the page, and how many there are besides."""
    if len(notes) <= _MOST_NOTES:
        return notes
    left = len(notes) - _MOST_NOTES + 1
    return (*notes[:-left], f"{count(left, 'further note')} on the page of the link.")


def _settings(settings: StudySettings, roles: Roles) -> dict[str, str]:
    asked = {entry.label: number(getattr(settings, name), 6) for name, entry in table_of(StudySettings).items()}
    columns = {
        "Outcome": roles.outcome,
        "Worst-off": DEFINITIONS[roles.definition] + f": {number(roles.cut, 6)}" * (roles.definition != "label"),
        "Low outcome is bad": "yes" * roles.low_is_worst,
        "Scores": ", ".join(roles.scores),
        "Models": ", ".join(roles.models if roles.features else ()),
        "Features": ", ".join(roles.features),
        "Weights": roles.weights or "",
        "Still running": roles.running or "",
    }
    return {name: text for name, text in columns.items() if text} | asked
