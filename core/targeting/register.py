"""A real register: whom a score finds at each capacity, with ties, weights and unknown outcomes.

V_n(alpha, beta) is the share of the worst-off among those screened when the share alpha with the worst scores is
screened (arXiv 2501.19334, section 4). People with the same score are screened in random order, and what is reported is
the expectation over that order: it never depends on the order of the rows. One sort gives V for every capacity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.targeting.worst_off import WorstOff, by_share

__all__ = ["TargetingCurve", "ranked", "register", "same_score"]

_POINTS = 20_001
_SAME = 1e-12  # scores that differ by less, relative to their size, are the same score


@dataclass(frozen=True, kw_only=True)
class TargetingCurve:
    """``reached`` (g + 1,) of the worst-off at each ``capacity`` (g + 1,), from 0 to 1; straight in between.

    ``beta`` is the realised share of the worst-off.
    """

    capacity: np.ndarray
    reached: np.ndarray
    beta: float

    def at(self, alpha: np.ndarray | float) -> np.ndarray:
        """V_n(alpha, beta), of the shape of ``alpha``."""
        return np.interp(alpha, self.capacity, self.reached)

    def best(self, alpha: np.ndarray | float) -> np.ndarray:
        """What no score can exceed: min(alpha / beta, 1)."""
        return np.minimum(np.asarray(alpha) / self.beta, 1.0)

    def needed_capacity(self, target: float) -> float:
        """The smallest capacity that reaches the share ``target`` of the worst-off."""
        place = int(np.searchsorted(self.reached, target, side="left"))
        if place == 0:
            return 0.0
        low, high = self.reached[place - 1], self.reached[min(place, self.reached.size - 1)]
        share = (target - low) / (high - low)
        return float(self.capacity[place - 1] + share * (self.capacity[place] - self.capacity[place - 1]))

    def thinned(self) -> TargetingCurve:
        """The same curve on about ten thousand of its points: enough for any drawing, and small."""
        if self.capacity.size <= _POINTS:
            return self
        kept = np.unique(np.linspace(0, self.capacity.size - 1, _POINTS).round().astype(int))
        return TargetingCurve(capacity=self.capacity[kept], reached=self.reached[kept], beta=self.beta)

    def area(self) -> float:
        """The area under the ROC curve: the chance that a worst-off person's score is worse than another's."""
        under = float(np.trapezoid(self.reached, self.capacity))
        return (under - self.beta / 2) / (1 - self.beta)


def ranked(worst_off: WorstOff, score: np.ndarray, *, low_is_worst: bool) -> TargetingCurve:
    """The targeting curve of a score (n,), rows of unknown outcome counting nothing.

    InputError for a missing or infinite score, naming the first row.
    """
    score = np.asarray(score, dtype=float)
    if score.shape != worst_off.flag.shape:
        raise InputError("outcomes and scores do not fit", remedy="Give each person one of each.")
    missing = np.flatnonzero(~np.isfinite(score))
    if missing.size:
        raise InputError(
            "the value is missing or infinite", column="score", row=int(missing[0]) + 1, remedy="Give each row a score."
        )
    order = np.argsort(score if low_is_worst else -score)
    weight = worst_off.weight[order]
    starts = same_score(score[order])
    people = np.add.reduceat(weight, starts)
    worst = np.add.reduceat(weight * worst_off.flag[order], starts)
    return TargetingCurve(capacity=_shares(people), reached=_shares(worst), beta=worst_off.beta)


def register(
    outcome: np.ndarray,
    score: np.ndarray,
    *,
    beta: float,
    low_is_worst: bool,
    weights: np.ndarray | None = None,
) -> TargetingCurve:
    """The curve of a forecast (n,) of the outcome (n,), both with the same worst direction; see `by_share`.

    >>> y = np.arange(1.0, 11.0)
    >>> pred = np.array([2.0, 1, 5, 3, 6, 4, 9, 7, 8, 10])
    >>> float(register(y, pred, beta=0.3, low_is_worst=True).at(0.3).round(6))
    0.666667
    """
    worst_off = by_share(outcome, beta, low_is_worst=low_is_worst, weights=weights, score=score)
    return ranked(worst_off, score, low_is_worst=low_is_worst)


def same_score(sorted_score: np.ndarray) -> np.ndarray:
    """Where a new score starts in a sorted one (n,), scores that are equal up to rounding together."""
    size = np.maximum(np.abs(sorted_score[1:]), np.abs(sorted_score[:-1]))
    return np.concatenate(([0], np.flatnonzero(np.abs(np.diff(sorted_score)) > _SAME * size) + 1))


def _shares(parts: np.ndarray) -> np.ndarray:
    total = np.cumsum(parts)
    return np.concatenate(([0.0], np.minimum(total / total[-1], 1.0)))
