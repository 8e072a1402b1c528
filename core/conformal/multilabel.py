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

    >>> found = positives(np.array([[0.9, 0.2], [0.4, 0.7], [0.6, 0.1]]), np.array([[1, 1], [0, 0], [1, 0]]))
    >>> found.missed(0.5), found.missed(0.5, count_empty=True)
    (array([0.5, 0. ]), array([0.5, 0. , 0. ]))
    """

    scores: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    empty: np.ndarray

    def rows(self, *, count_empty: bool = False) -> int:
        """How many losses there are: with or without rows that have no true label."""
        return self.empty.size if count_empty else self.counts.size

    def missed(self, threshold: float, *, inclusive: bool = True, count_empty: bool = False) -> np.ndarray:
        """The share of each row's true labels that a set misses, (n,).

        ``count_empty``: rows without a true label are kept in their places, with loss 0: betting goes by the order.
        """
        out = self.scores < threshold if inclusive else self.scores <= threshold
        shares = np.add.reduceat(out, self.starts, dtype=float) / self.counts
        if not count_empty:
            return shares
        losses = np.zeros(self.empty.size)
        losses[~self.empty] = shares
        return losses


def positives(scores: np.ndarray, labels: np.ndarray) -> Positives:
    """The true labels' scores out of scores (n, k) and labels (n, k) of 0 and 1.

    InputError for shapes that differ, missing scores, labels other than 0 and 1, and if no row has a true label.
    """
    scores, truth = _cells(scores, labels)
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
    """1 - recall at every true label's score, smallest (safest) first; beyond the last, every true label is missed.

    ``count_empty``: rows without a true label count as loss 0 instead of being set aside.
    """
    thresholds = np.unique(found.scores)
    return LossPath(
        lambdas=thresholds,
        losses=lambda place: found.missed(thresholds[place], count_empty=count_empty),
        n=found.rows(count_empty=count_empty),
        bound=1.0,
        monotone=True,
    )


def miss_table(
    found: Positives, thresholds: np.ndarray, *, count_empty: bool = False, inclusive: bool = True
) -> LossTable:
    """1 - recall (n, m) over a grid of thresholds (m,)."""
    losses = np.column_stack([found.missed(t, inclusive=inclusive, count_empty=count_empty) for t in thresholds])
    return loss_table(losses, thresholds, bound=1.0, falling=False)


def mean_set_sizes(scores: np.ndarray, thresholds: np.ndarray, *, inclusive: bool = True) -> np.ndarray:
    """How many labels a set holds on average at each threshold, (m,).

    >>> mean_set_sizes(np.array([[0.9, 0.2], [0.4, 0.7]]), np.array([0.0, 0.4, 0.8]))
    array([2. , 1.5, 0.5])
    """
    scores = np.asarray(scores, dtype=float)
    _check_scores(scores)
    ascending = np.sort(scores, axis=None)
    below = np.searchsorted(ascending, thresholds, side="left" if inclusive else "right")
    return (ascending.size - below) / scores.shape[0]


def false_discovery_table(scores: np.ndarray, labels: np.ndarray, thresholds: np.ndarray) -> LossTable:
    """The share of false labels in each set (n, m), 0 for an empty set: safer at large thresholds, not monotone."""
    scores, truth = _cells(scores, labels)
    losses = np.empty((truth.shape[0], thresholds.size))
    for place, t in enumerate(thresholds):
        inside = scores >= t
        losses[:, place] = (inside & ~truth).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    return loss_table(losses, thresholds, bound=1.0, falling=True)


def _cells(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Checked scores (n, k), and where labels are true (n, k)."""
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    if scores.shape != labels.shape or scores.ndim != 2:
        raise InputError("scores and labels do not fit", remedy="Give one score and one label column per class.")
    _check_scores(scores)
    _check_labels(labels)
    return scores, labels.astype(bool)


def _check_scores(scores: np.ndarray) -> None:
    if scores.ndim != 2 or scores.size == 0:
        raise InputError("there is no score", remedy="Give a row per case and a column per label.")
    missing = np.argwhere(np.isnan(scores))
    if missing.size:
        row, column = missing[0]
        raise InputError(f"the score of label {column + 1} is missing", row=int(row) + 1, remedy="Fill it in.")


def _check_labels(labels: np.ndarray) -> None:
    if labels.dtype == bool:
        return
    odd = np.argwhere((labels != 0) & (labels != 1))
    if odd.size:
        row, column = odd[0]
        raise InputError(
            f"label {column + 1} is {labels[row, column]!r}", row=int(row) + 1, remedy="Labels are 0 or 1."
        )
