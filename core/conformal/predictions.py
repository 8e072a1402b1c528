"""Predictions for new rows at a certified setting, as the table that a visitor takes home."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from core.common.tables import Table
from core.conformal import calibrations
from core.conformal.prediction_sets import class_sets, intervals

__all__ = ["PREDICT", "predict_classes", "predict_intervals", "predict_labels"]


def predict_intervals(table: Table, lambda_hat: float) -> pd.DataFrame:
    """The rows with ``low`` and ``high``: pred -/+ lambda_hat, times sigma if the table has it."""
    sigma = table.numbers("sigma") if "sigma" in table.reading.columns else None
    found = intervals(table.numbers("pred"), lambda_hat, sigma)
    return table.frame.assign(low=found.low, high=found.high)


def predict_classes(table: Table, lambda_hat: float) -> pd.DataFrame:
    """Each row's set: the classes with 1 - probability at most lambda_hat."""
    names = calibrations.class_names(table)
    return _sets(class_sets(calibrations.probabilities(table, names), lambda_hat), names)


def predict_labels(table: Table, lambda_hat: float) -> pd.DataFrame:
    """Each row's set: the labels with a score of at least lambda_hat."""
    names = tuple(name.removeprefix("score_") for name in table.reading.columns if name.startswith("score_"))
    if not names:
        table.require("score_<label>")
    return _sets(np.column_stack([table.numbers(f"score_{name}") >= lambda_hat for name in names]), names)


def _sets(inside: np.ndarray, names: tuple[str, ...]) -> pd.DataFrame:
    sets = ["; ".join(name for name, kept in zip(names, row, strict=True) if kept) for row in inside]
    return pd.DataFrame({"row": np.arange(1, len(sets) + 1), "size": inside.sum(axis=1), "set": sets})


PREDICT: dict[str, Callable[[Table, float], pd.DataFrame]] = {
    "intervals": predict_intervals,
    "classes": predict_classes,
    "labels": predict_labels,
}
