"""A real register: whom a score finds at each capacity, with ties, weights and bootstrap bands.

V_n(alpha, beta) is the share of the worst-off among those screened when the share alpha with the worst scores is
screened (arXiv 2501.19334, section 4). People with the same score are screened in random order, and what is reported is
the expectation over that order: it never depends on the order of the rows. One sort gives V for every capacity.

Bands resample people. Where scores are many, they are first gathered into a few thousand groups of neighbouring
scores; a resample is then one multinomial draw over the groups, and costs the same for a thousand rows and ten million.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError

__all__ = ["Register", "TargetingCurve", "register"]

_SAME = 1e-12  # scores that differ by less, relative to their size, are the same score
_GROUPS = 2_000


@dataclass(frozen=True, kw_only=True)
class Register:
    """People in groups of equal or neighbouring scores, worst first.

    ``people`` (g,) is the weight of each group and ``worst`` (g,) the weight of the worst-off in it. ``beta`` is the
    realised share of worst-off, ``threshold`` the outcome of the last of them, ``n`` the number of rows.
    """

    people: np.ndarray
    worst: np.ndarray
    beta: float
    threshold: float
    n: int

    def curve(self) -> TargetingCurve:
        """The share of the worst-off reached, at every capacity."""
        capacity = np.concatenate(([0.0], np.cumsum(self.people))) / self.people.sum()
        reached = np.concatenate(([0.0], np.cumsum(self.worst))) / self.worst.sum()
        return TargetingCurve(capacity=capacity, reached=reached, beta=self.beta)

    def bands(
        self, alpha: np.ndarray, draws: int, rng: np.random.Generator, level: float = 0.95
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends (k,) of the bootstrap interval of the reach at each capacity ``alpha`` (k,).

        The threshold that makes somebody worst-off is kept fixed; weights are taken as counts of people.
        """
        groups = self._gathered()
        cells = np.concatenate((groups.people - groups.worst, groups.worst))
        total = cells.sum()
        sample = rng.multinomial(round(total), cells / total, size=draws).reshape(draws, 2, -1)
        worst = sample[:, 1]
        capacity = np.cumsum(sample.sum(axis=1), axis=1) / sample.sum(axis=(1, 2))[:, None]
        reached = np.cumsum(worst, axis=1) / np.maximum(worst.sum(axis=1), 1)[:, None]
        found = np.stack(
            [np.interp(alpha, np.append(0, c), np.append(0, r)) for c, r in zip(capacity, reached, strict=True)]
        )
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    def _gathered(self) -> Register:
        """At most a few thousand groups: neighbours put together, so that a resample does not cost more with rows."""
        if self.people.size <= _GROUPS:
            return self
        edges = np.unique(np.searchsorted(np.cumsum(self.people), np.linspace(0, self.people.sum(), _GROUPS + 1)[:-1]))
        people, worst = (np.add.reduceat(side, edges) for side in (self.people, self.worst))
        return Register(people=people, worst=worst, beta=self.beta, threshold=self.threshold, n=self.n)


@dataclass(frozen=True, kw_only=True)
class TargetingCurve:
    """``reached`` (g + 1,) of the worst-off at each ``capacity`` (g + 1,), from 0 to 1; straight in between."""

    capacity: np.ndarray
    reached: np.ndarray
    beta: float

    def at(self, alpha: np.ndarray | float) -> np.ndarray:
        """V_n(alpha, beta), of the shape of ``alpha``."""
        return np.interp(alpha, self.capacity, self.reached)

    def needed_capacity(self, target: float) -> float:
        """The smallest capacity that reaches the share ``target`` of the worst-off."""
        place = int(np.searchsorted(self.reached, target, side="left"))
        if place == 0:
            return 0.0
        low, high = self.reached[place - 1], self.reached[place]
        share = (target - low) / (high - low)
        return float(self.capacity[place - 1] + share * (self.capacity[place] - self.capacity[place - 1]))


def register(
    outcome: np.ndarray,
    score: np.ndarray,
    *,
    beta: float,
    low_is_worst: bool,
    weights: np.ndarray | None = None,
) -> Register:
    """A register from outcomes and scores (n,), both with the same worst direction.

    The worst-off are those up to the outcome of the person at the share ``beta``, ties included, so that the realised
    share may be larger. InputError for missing values, for fewer than one worst-off person, and for bad weights.

    >>> y = np.arange(1.0, 11.0)
    >>> pred = np.array([2.0, 1, 5, 3, 6, 4, 9, 7, 8, 10])
    >>> float(register(y, pred, beta=0.3, low_is_worst=True).curve().at(0.3).round(6))
    0.666667
    """
    outcome, score = np.asarray(outcome, dtype=float), np.asarray(score, dtype=float)
    weight = np.ones(outcome.size) if weights is None else np.asarray(weights, dtype=float)
    _check(outcome, score, weight, beta)
    sign = 1.0 if low_is_worst else -1.0
    bad, order = sign * outcome, np.argsort(sign * score, kind="stable")
    threshold = _threshold(bad, weight, beta)
    worst = weight * (bad <= threshold)
    starts = _blocks((sign * score)[order])
    people, worst_people = (np.add.reduceat(side[order], starts) for side in (weight, worst))
    return Register(
        people=people,
        worst=worst_people,
        beta=float(worst.sum() / weight.sum()),
        threshold=float(sign * threshold),
        n=outcome.size,
    )


def _threshold(bad: np.ndarray, weight: np.ndarray, beta: float) -> float:
    """The outcome of the last person within the share beta, the worst first."""
    order = np.argsort(bad, kind="stable")
    within = np.cumsum(weight[order]) <= beta * weight.sum() * (1 + 1e-12) + 1e-9
    if not within[0]:
        raise InputError(
            f"the share {beta:g} of the worst-off is less than one person", remedy="Choose a larger share."
        )
    return float(bad[order][np.flatnonzero(within)[-1]])


def _blocks(ascending: np.ndarray) -> np.ndarray:
    """Where a new score starts, scores that are equal up to rounding together."""
    size = np.maximum(np.abs(ascending[1:]), np.abs(ascending[:-1]))
    return np.concatenate(([0], np.flatnonzero(np.diff(ascending) > _SAME * size) + 1))


def _check(outcome: np.ndarray, score: np.ndarray, weight: np.ndarray, beta: float) -> None:
    if not 0 < beta < 1:
        raise InputError(f"the share beta is {beta:g}", remedy="It has to lie between 0 and 1.")
    if outcome.size == 0 or outcome.shape != score.shape or outcome.shape != weight.shape or outcome.ndim != 1:
        raise InputError("outcomes, scores and weights do not fit", remedy="Give each person one of each.")
    for name, values in (("outcome", outcome), ("score", score), ("weight", weight)):
        missing = np.flatnonzero(~np.isfinite(values))
        if missing.size:
            raise InputError("the value is missing or infinite", column=name, row=int(missing[0]) + 1)
    negative = np.flatnonzero(weight <= 0)
    if negative.size:
        raise InputError("the weight is not positive", column="weight", row=int(negative[0]) + 1)
