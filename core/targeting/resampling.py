"""Bootstrap bands at a price that does not grow with the rows: people are resampled in random blocks.

Rows are dealt at random into a thousand blocks (a row each, if there are fewer rows), and a resample draws blocks with
replacement. A curve needs from each block only how many people and how many worst-off fall between neighbouring
scores, one pass over the rows; every resample of every curve is then a product of two small matrices. All curves of a
register share the resamples, so that intervals of differences and ratios are right too. The threshold that makes
somebody worst-off, and weights, are kept as they are.

With a thousand blocks the bootstrap's standard error is itself known to 2%.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.common.errors import InputError
from core.targeting.worst_off import WorstOff

__all__ = ["Estimate", "Resampled", "Resampler", "estimate"]

_BLOCKS, _BINS = 1000, 500
_EDGES_FROM = 100_000  # rows from which the places between scores are taken


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its interval, nan where it does not exist."""

    value: float
    low: float
    high: float


def estimate(value: float, draws: np.ndarray, level: float) -> Estimate:
    """The figure with the interval of that level that its resamples (draws,) span; infinities are figures."""
    known = draws[~np.isnan(draws)]
    if known.size == 0:
        return Estimate(value=float(value), low=np.nan, high=np.nan)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return Estimate(value=float(value), low=float(low), high=float(high))


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Curves on ``capacity`` and ``reached`` (draws + 1, bins + 1): of the register itself, then of its resamples."""

    capacity: np.ndarray
    reached: np.ndarray

    def at(self, alpha: ArrayLike) -> np.ndarray:
        """V at each capacity (k,) in each resample, (draws, k)."""
        return self.with_original(alpha)[1:]

    def original(self, alpha: ArrayLike) -> np.ndarray:
        """V at each capacity (k,) of the register itself, read off the bins."""
        return np.interp(np.atleast_1d(alpha), self.capacity[0], self.reached[0])

    def with_original(self, alpha: ArrayLike) -> np.ndarray:
        """V at each capacity (k,), the register's and then each resample's, (draws + 1, k)."""
        alpha = np.atleast_1d(alpha)
        return np.stack([np.interp(alpha, c, r) for c, r in zip(self.capacity, self.reached, strict=True)])

    def places(self, alpha: float) -> np.ndarray:
        """How far along the bins the capacity ``alpha`` lies, the register's and then each resample's, (draws + 1,)."""
        along = np.arange(self.capacity.shape[1])
        return np.array([np.interp(alpha, c, along) for c in self.capacity])

    def needed_capacity(self, target: float) -> np.ndarray:
        """The smallest capacity that reaches the share ``target`` of the worst-off in each resample, (draws,)."""
        return np.array([np.interp(target, r, c) for c, r in zip(self.capacity[1:], self.reached[1:], strict=True)])


class Resampler:
    """The resamples of one register: ``draws`` times its people, drawn with replacement in random blocks.

    >>> from core.targeting.worst_off import by_share
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=2000)
    >>> worst_off = by_share(y, 0.2, low_is_worst=True)
    >>> curves = Resampler(worst_off, draws=200, rng=rng).curves(y + rng.normal(size=2000), low_is_worst=True)
    >>> curves.at(np.array([0.2])).shape
    (200, 1)
    """

    def __init__(self, worst_off: WorstOff, *, draws: int, rng: np.random.Generator) -> None:
        n = worst_off.flag.size
        if n < 2:
            raise InputError("there is only one person", remedy="A band needs at least two.")
        self._worst_off, self._rng = worst_off, rng
        self.blocks = min(n, _BLOCKS)
        own = np.arange(n, dtype=np.int32)
        self._block = own if n <= _BLOCKS else rng.integers(self.blocks, size=n, dtype=np.int32)
        times = rng.multinomial(self.blocks, np.full(self.blocks, 1 / self.blocks), size=draws)
        self._times = np.concatenate((np.ones((1, self.blocks)), times))
        self._weight = None if (worst_off.weight == 1).all() else worst_off.weight

    def curves(self, score: np.ndarray, *, low_is_worst: bool) -> Resampled:
        """The targeting curve of a score (n,) in every resample."""
        return self.resample(self.bins(score, low_is_worst=low_is_worst))

    def bins(self, score: np.ndarray, *, low_is_worst: bool) -> np.ndarray:
        """Which of up to 500 bins of equal or neighbouring scores each row (n,) is in, worst first."""
        score = np.asarray(score, dtype=float) if low_is_worst else -np.asarray(score, dtype=float)
        some = score if score.size <= _EDGES_FROM else score[self._rng.integers(score.size, size=_EDGES_FROM)]
        places = np.linspace(0, 1, _BINS + 1)[1:-1]
        edges = np.unique(np.quantile(some, places, method="inverted_cdf"))
        return np.searchsorted(edges, score, side="left").astype(np.int16)

    def resample(self, bins: np.ndarray) -> Resampled:
        """The targeting curves of rows sorted into ``bins``, worst first: (n,), or all rows several times over."""
        people = self.totals(bins)
        worst = self.totals(bins, self._worst_off.flag)
        return Resampled(capacity=_shares(people), reached=_shares(worst))

    def totals(self, bins: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
        """The weight of the rows (of those ``among`` (n,) only) in each bin, (draws + 1, bins), first as they are."""
        width, times = int(bins.max()) + 1, bins.size // self._block.size
        block, weight = self._block, self._weight
        if among is not None:
            bins = bins.reshape(times, -1)[:, among].ravel() if times > 1 else bins[among]
            block, weight = block[among], None if weight is None else weight[among]
        if times > 1:
            block, weight = np.tile(block, times), None if weight is None else np.tile(weight, times)
        counts = np.bincount(block * width + bins, weight, minlength=self.blocks * width)
        return self._times @ counts.reshape(self.blocks, width)


def _shares(parts: np.ndarray) -> np.ndarray:
    """Cumulated shares, a bin more; a resample without a worst-off person has none."""
    total = np.cumsum(parts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = total / total[:, -1:]
    return np.pad(np.minimum(shares, 1.0), ((0, 0), (1, 0)))
