"""Sets of labels: which share of a case's true labels a set misses, at every threshold.

The set is {labels with score >= t} (or > t); the loss is 1 - recall, so B = 1 and smaller thresholds are safer. Only
the scores of true labels matter: they are the jumps. A case without a true label has no recall; whether such cases are
set aside or count as loss 0 is for the caller to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.conformal.loss_paths import LossPath, LossTable, loss_table

__all__ = ["Positives", "false_discovery_table", "mean_set_sizes", "miss_path", "miss_table", "positives"]


@dataclass(frozen=True, kw_only=True)
class Positives:
    """The scores of the true labels, row after row (p,); row i has those from ``starts[i]`` on, ``counts`` (n,) each.

    Rows without a true label are not among them: ``empty`` (n_all,) marks those in the data given.
    """

    scores: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    empty: np.ndarray

    def missed(self, threshold: float, *, inclusive: bool = True) -> np.ndarray:
        """The share of each row's true labels that a set misses, (n,)."""
        out = self.scores < threshold if inclusive else self.scores <= threshold
        return np.add.reduceat(out, self.starts, dtype=float) / self.counts


def positives(scores: np.ndarray, labels: np.ndarray) -> Positives:
    """The true labels' scores out of scores (n, k) and labels (n, k) of 0 and 1.

    InputError for shapes that differ, missing scores, labels other than 0 and 1, and if no row has a true label.
    """
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    if scores.shape != labels.shape or scores.ndim != 2:
        raise InputError("scores and labels do not fit", remedy="Give one score and one label column per class.")
    _check_cells(scores, labels)
    truth = labels.astype(bool)
    counts = truth.sum(axis=1)
    if not counts.any():
        raise InputError("no row has a true label", remedy="At least one label has to be 1.")
    kept = counts[counts > 0]
    return Positives(
        scores=scores[truth],
        starts=np.concatenate(([0], np.cumsum(kept)[:-1])),
        counts=kept,
        empty=counts == 0,
    )


def miss_path(found: Positives, *, count_empty: bool = False) -> LossPath:
    """1 - recall at every true label's score, smallest (safest) first.

    ``count_empty``: rows without a true label count as loss 0 instead of being set aside.
    """
    thresholds = np.unique(found.scores)
    zeros = np.zeros(int(found.empty.sum()) if count_empty else 0)
    return LossPath(
        lambdas=thresholds,
        losses=lambda place: np.append(found.missed(thresholds[place]), zeros),
        n=found.counts.size + zeros.size,
        bound=1.0,
        monotone=True,
    )


def miss_table(
    found: Positives, thresholds: np.ndarray, *, count_empty: bool = False, inclusive: bool = True
) -> LossTable:
    """1 - recall (n, m) over a grid of thresholds (m,)."""
    losses = np.column_stack([found.missed(t, inclusive=inclusive) for t in thresholds])
    if count_empty:
        losses = np.vstack((losses, np.zeros((int(found.empty.sum()), thresholds.size))))
    return loss_table(losses, thresholds, bound=1.0, falling=False)


def mean_set_sizes(scores: np.ndarray, thresholds: np.ndarray, *, inclusive: bool = True) -> np.ndarray:
    """How many labels a set holds on average at each threshold, (m,)."""
    ascending = np.sort(np.asarray(scores, dtype=float), axis=None)
    below = np.searchsorted(ascending, thresholds, side="left" if inclusive else "right")
    return (ascending.size - below) / np.shape(scores)[0]


def false_discovery_table(scores: np.ndarray, labels: np.ndarray, thresholds: np.ndarray) -> LossTable:
    """The share of false labels in each set (n, m), 0 for an empty set: safer at large thresholds, not monotone."""
    truth = np.asarray(labels).astype(bool)
    losses = np.empty((truth.shape[0], thresholds.size))
    for place, t in enumerate(thresholds):
        inside = scores >= t
        losses[:, place] = (inside & ~truth).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    return loss_table(losses, thresholds, bound=1.0, falling=True)


def _check_cells(scores: np.ndarray, labels: np.ndarray) -> None:
    missing = np.argwhere(np.isnan(scores))
    if missing.size:
        row, column = missing[0]
        raise InputError(f"the score of label {column + 1} is missing", row=int(row) + 1, remedy="Fill it in.")
    odd = np.argwhere(~np.isin(labels, (0, 1)))
    if odd.size:
        row, column = odd[0]
        raise InputError(
            f"label {column + 1} is {labels[row, column]!r}", row=int(row) + 1, remedy="Labels are 0 or 1."
        )
