"""How many calibration cases are enough: planning for losses that are right or wrong.

With x failures among n cases, Pr(L+ <= alpha) = BetaCDF(alpha; x + 1, n - x) = Pr(Binomial(n, alpha) > x), so x is
allowed if Pr(Binomial(n, alpha) <= x) <= 1 - beta. Whether so few failures come up depends on their true share: the
assurance is the probability that they do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from core.common.errors import InputError

__all__ = ["Further", "allowed_failures", "assurance", "further_cases", "needed_cases"]

_LARGEST = 100_000
_TIE = 1 + 1e-12  # a probability that equals 1 - beta up to rounding is small enough


@dataclass(frozen=True, kw_only=True)
class Further:
    """How many more cases it takes: if none of them fails, and if they fail at the rate seen.

    None says that no number is enough, or none up to 100,000.
    """

    without_failure: int
    at_same_share: int | None


def allowed_failures(n: np.ndarray | int, alpha: float, beta: float) -> np.ndarray:
    """The largest number of failures among ``n`` that still certifies risk <= alpha with ``beta``; -1 if none does.

    >>> allowed_failures(np.array([28, 29, 100]), 0.1, 0.95)
    array([-1,  0,  4])
    """
    n = np.asarray(n)
    most = stats.binom.ppf(1 - beta, n, alpha)
    return np.where(_certifies(most, n, alpha, beta), most, most - 1).astype(int)


def assurance(n: np.ndarray | int, share: float, alpha: float, beta: float) -> np.ndarray:
    """The probability, over the n cases to come, that they certify, if the true share of failures is ``share``.

    >>> assurance(np.array([50, 100, 200]), 0.05, 0.1, 0.95).round(3)
    array([0.279, 0.436, 0.796])
    """
    return stats.binom.cdf(allowed_failures(n, alpha, beta), n, share)


def needed_cases(share: float, alpha: float, beta: float, chance: float) -> int:
    """The smallest n from which on the assurance never falls below ``chance`` again.

    InputError if the share is not below alpha: then no number of cases will do.

    >>> needed_cases(0.05, 0.1, 0.95, 0.8)
    203
    """
    if not 0 <= share < alpha:
        raise InputError(
            f"a true share of {share:g} is not below the limit {alpha:g}",
            remedy="No number of cases certifies a limit that the truth exceeds.",
        )
    about = _normal_size(share, alpha, beta, chance)
    if about > _LARGEST / 2:
        raise InputError(
            f"about {about:,.0f} cases would be needed, beyond the {_LARGEST:,} that are searched",
            remedy="Choose a limit further above the share.",
        )
    n = np.arange(1, 2 * int(about) + 200)
    short = np.flatnonzero(assurance(n, share, alpha, beta) < chance)
    return int(n[short[-1]] + 1) if short.size else 1


def further_cases(failures: int, n: int, alpha: float, beta: float) -> Further:
    """How many cases to add to ``failures`` among ``n`` until the limit is certified; 0 if it is already.

    At the same share, the failures among the cases to come are rounded up.
    """
    if not 0 <= failures <= n or n < 1:
        raise InputError(f"{failures} failures among {n} cases", remedy="Failures run from 0 to the number of cases.")
    return Further(
        without_failure=_without_failure(failures, n, alpha, beta),
        at_same_share=_at_same_share(failures, n, alpha, beta),
    )


def _certifies(failures: np.ndarray | int, n: np.ndarray | int, alpha: float, beta: float) -> np.ndarray | bool:
    return special.bdtr(failures, n, alpha) <= (1 - beta) * _TIE


def _without_failure(failures: int, n: int, alpha: float, beta: float) -> int:
    """By doubling and halving: a case that does not fail never makes the limit less certain."""
    if _certifies(failures, n, alpha, beta):
        return 0
    low, high = 0, 1
    while not _certifies(failures, n + high, alpha, beta):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _certifies(failures, n + middle, alpha, beta) else (middle, high)
    return high


def _at_same_share(failures: int, n: int, alpha: float, beta: float) -> int | None:
    """By looking at all numbers in turn, since the certainty drops a little at each failure expected."""
    if failures >= alpha * n and beta > 0.5:
        return None  # at least as many failures as the binomial's mean: a tail of a half or more
    start, size = 0, 256
    while start < _LARGEST:
        more = np.arange(start, start + size)
        enough = np.flatnonzero(_certifies(failures + -(-more * failures // n), n + more, alpha, beta))
        if enough.size:
            return int(more[enough[0]])
        start, size = start + size, size * 2
    return None


def _normal_size(share: float, alpha: float, beta: float, chance: float) -> float:
    """The size that the normal approximation of the binomial gives: where to look, not the answer."""
    spread = stats.norm.ppf(beta) * np.sqrt(alpha * (1 - alpha)) + stats.norm.ppf(chance) * np.sqrt(share * (1 - share))
    return float((spread / (alpha - share)) ** 2)
