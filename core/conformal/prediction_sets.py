"""From a threshold on scores to what a user deploys: intervals for a number, sets of classes for a case.

A score says how badly a case fits its true answer; the loss is 1{score > lambda}, so a set that holds every answer
whose score is at most lambda errs exactly when the loss is 1 (arXiv 2502.13228, section 4.6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError

__all__ = ["Intervals", "class_scores", "class_sets", "interval_scores", "intervals", "set_sizes"]


@dataclass(frozen=True)
class Intervals:
    """One interval a row, ``low`` (n,) to ``high`` (n,); infinite where no finite threshold is certified."""

    low: np.ndarray
    high: np.ndarray


def interval_scores(y: np.ndarray, pred: np.ndarray, sigma: np.ndarray | None = None) -> np.ndarray:
    """|y - pred|, in units of ``sigma`` if given, (n,) each.

    >>> interval_scores(np.array([1.0, 4.0]), np.array([2.0, 2.0]), np.array([1.0, 4.0]))
    array([1. , 0.5])
    """
    return np.abs(y - pred) / _scale(sigma, pred)


def intervals(pred: np.ndarray, lambda_hat: float, sigma: np.ndarray | None = None) -> Intervals:
    """pred -/+ lambda_hat, times ``sigma`` if given."""
    reach = lambda_hat * _scale(sigma, pred)
    return Intervals(pred - reach, pred + reach)


def class_scores(probabilities: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """1 - the probability (n, classes) given to the true class, an index (n,).

    >>> class_scores(np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0, 0]))
    array([0.3, 0.6])
    """
    _check_probabilities(probabilities)
    return 1 - probabilities[np.arange(truth.size), truth]


def class_sets(probabilities: np.ndarray, lambda_hat: float) -> np.ndarray:
    """Which classes are in each row's set: those with 1 - probability <= lambda_hat, (n, classes)."""
    _check_probabilities(probabilities)
    return 1 - probabilities <= lambda_hat


def set_sizes(sets: np.ndarray) -> np.ndarray:
    """How many classes each row's set holds, (n,)."""
    return sets.sum(axis=1)


def _scale(sigma: np.ndarray | None, like: np.ndarray) -> np.ndarray:
    if sigma is None:
        return np.ones_like(like, dtype=float)
    bad = np.flatnonzero(~(sigma > 0))
    if bad.size:
        raise InputError(
            f"the scale is {sigma[bad[0]]:g}",
            column="sigma",
            row=int(bad[0]) + 1,
            remedy="It has to be positive; without a scale, leave the column out.",
        )
    return sigma


def _check_probabilities(probabilities: np.ndarray) -> None:
    bad = np.argwhere(~((probabilities >= 0) & (probabilities <= 1)))
    if bad.size:
        row, column = (int(place) for place in bad[0])
        raise InputError(
            f"the probability of class {column + 1} is {probabilities[row, column]:g}",
            row=row + 1,
            remedy="Probabilities run from 0 to 1.",
        )
