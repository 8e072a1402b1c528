"""An uploaded table as a calibration: which loss each case would have had at each setting of the knob.

One function a kind of table. Columns are named by the caller; errors name column and row. What is set aside is counted
in ``notes``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.common.tables import Table
from core.common.text import count
from core.conformal.loss_paths import LossPath, loss_table, path_of_scores
from core.conformal.multilabel import miss_path, positives
from core.conformal.prediction_sets import class_scores, interval_scores

__all__ = [
    "Calibration",
    "class_names",
    "from_classes",
    "from_curves",
    "from_intervals",
    "from_labels",
    "from_scores",
    "label_names",
    "probabilities",
    "true_classes",
]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A loss path, what its knob is called in words, what its loss is, and what was set aside or assumed."""

    path: LossPath
    knob: str
    loss: str
    notes: tuple[str, ...] = ()


def from_scores(table: Table, score: str) -> Calibration:
    """A column of scores, large for a bad fit: a case is lost if its score is above the threshold."""
    return Calibration(
        path=path_of_scores(table.numbers(score, allow_infinite=True)),
        knob="threshold on the score",
        loss="share above the threshold",
    )


def from_intervals(table: Table, y: str, pred: str, sigma: str | None = None) -> Calibration:
    """Outcome and forecast, with or without a scale: a case is lost if the outcome is outside pred -/+ lambda sigma."""
    scale = None if sigma is None else table.numbers(sigma)
    return Calibration(
        path=path_of_scores(interval_scores(table.numbers(y), table.numbers(pred), scale)),
        knob="half-width of the interval" + ("" if sigma is None else f" in units of {sigma}"),
        loss="share outside their interval",
    )


def from_classes(table: Table, y: str) -> Calibration:
    """Columns prob_<class> and the true class: lost if 1 - probability of the true class is above lambda."""
    names = class_names(table)
    shares = probabilities(table, names)
    uneven = int((abs(shares.sum(axis=1) - 1) > 0.01).sum())
    notes = (f"In {count(uneven, 'row')} the probabilities do not add up to 1; they are used as they are.",)
    return Calibration(
        path=path_of_scores(class_scores(shares, true_classes(table, y, names))),
        knob="threshold on 1 - probability (classes at or below it are kept)",
        loss="share of true classes missed",
        notes=notes if uneven else (),
    )


def from_labels(table: Table, *, count_empty: bool = False) -> Calibration:
    """Column pairs score_<label> and label_<label>: the loss is the share of a case's true labels that are missed.

    Rows without a true label are set aside, or count as loss 0 if ``count_empty``.
    """
    names = label_names(table)
    scores = np.column_stack([table.numbers(f"score_{name}") for name in names])
    labels = np.column_stack([table.numbers(f"label_{name}") for name in names])
    found = positives(scores, labels)
    empty = int(found.empty.sum())
    how = "count as loss 0" if count_empty else "are set aside"
    return Calibration(
        path=miss_path(found, count_empty=count_empty),
        knob="score threshold (labels at or above it are kept)",
        loss="share of true labels missed",
        notes=(f"{count(empty, 'row')} without a true label {how}.",) if empty else (),
    )


def from_curves(table: Table, *, bound: float = 1.0, falling: bool = True, envelope: bool = False) -> Calibration:
    """Numeric column names are lambdas, their cells losses; other columns (an id) are left aside and said.

    ``falling``: a larger lambda is safer. ``envelope`` raises each loss to its largest at any safer setting.
    """
    lambdas = {name: float(name.replace(",", ".")) for name in table.reading.columns if _is_lambda(name)}
    if len(lambdas) < 2:
        raise InputError("fewer than two columns are named by a lambda", remedy="Name them 0.1, 0.2 and so on.")
    others = [name for name in table.reading.columns if name not in lambdas]
    losses = np.column_stack([table.numbers(name) for name in lambdas])
    curves = loss_table(losses, np.array(list(lambdas.values())), bound=bound, falling=falling, names=list(lambdas))
    rising = curves.rising_rows.size
    notes = [f"Columns that are no lambda are left aside: {', '.join(others)}."] if others else []
    if envelope and rising:
        notes.append(f"{count(rising, 'row')} lost more at a safer setting and were raised to their envelope.")
    return Calibration(
        path=(curves.envelope() if envelope else curves).path(),
        knob="lambda",
        loss="mean loss",
        notes=tuple(notes),
    )


def class_names(table: Table) -> tuple[str, ...]:
    """The classes of the columns prob_<class>, in their order."""
    names = tuple(name.removeprefix("prob_") for name in table.reading.columns if name.startswith("prob_"))
    if len(names) < 2:
        raise InputError("fewer than two columns are called prob_<class>", remedy="For instance: prob_yes, prob_no.")
    return names


def label_names(table: Table) -> tuple[str, ...]:
    """The labels of the pairs score_<label>, label_<label>; InputError names the half that is missing."""
    names = tuple(name.removeprefix("score_") for name in table.reading.columns if name.startswith("score_"))
    if not names:
        raise InputError("no column is called score_<label>", remedy="Give pairs such as score_cat and label_cat.")
    table.require(*(f"label_{name}" for name in names))
    return names


def probabilities(table: Table, names: tuple[str, ...]) -> np.ndarray:
    """The columns prob_<class>, (n, classes)."""
    return np.column_stack([table.numbers(f"prob_{name}") for name in names])


def true_classes(table: Table, y: str, names: tuple[str, ...]) -> np.ndarray:
    """Which class each row's ``y`` is, (n,); InputError for one that has no prob_ column."""
    places = {name: place for place, name in enumerate(names)}
    words = table.text(y)
    unknown = next((row for row, word in enumerate(words) if word not in places), None)
    if unknown is not None:
        raise InputError(
            f"the class {str(words[unknown])[:40]!r} has no column prob_{str(words[unknown])[:40]}",
            column=y,
            row=unknown + 1,
            remedy=f"The classes are: {', '.join(names[:10])}.",
        )
    return np.array([places[word] for word in words])


def _is_lambda(name: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", name) is not None
