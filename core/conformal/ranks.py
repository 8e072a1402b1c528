"""Which order statistic of the scores to take: exact whole numbers, never a rounded float.

With the loss 1{score > lambda} (arXiv 2502.13228, section 4.6) every rule takes lambda_hat = s_(k), the k-th smallest
of n calibration scores. A rank above n means that no finite threshold will do: the functions then return None, and
`needed_*` say from which n on there is one.

alpha and beta are read as typed: 0.1 is one tenth, not the nearest binary fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from core.common.errors import InputError
from core.common.exact import Exact, as_fraction

__all__ = [
    "bayesian_quadrature_rank",
    "hoeffding_rank",
    "kth_smallest",
    "needed_for_bayesian_quadrature",
    "needed_for_hoeffding",
    "needed_for_split_conformal",
    "split_conformal_rank",
]

_DOUBT = 1e-9  # floats closer to a boundary than this, relatively, are decided by exact arithmetic


def split_conformal_rank(n: int, alpha: Exact) -> int | None:
    """k = ceil((n + 1)(1 - alpha)), or None if that exceeds n. Guarantee: on average over calibration sets.

    >>> split_conformal_rank(99, 0.1), split_conformal_rank(149, 0.18), split_conformal_rank(8, 0.1)
    (90, 123, None)
    """
    _check_n(n)
    k = math.ceil((n + 1) * (1 - _share(alpha, "alpha")))
    return k if k <= n else None


def bayesian_quadrature_rank(n: int, alpha: Exact, beta: Exact) -> int | None:
    """The smallest k with Pr(L+ <= alpha) = BetaCDF(alpha; n + 1 - k, k) >= beta, or None if not even n will do.

    The n - k scores above s_(k) are misses, so this is Clopper and Pearson's limit for their probability.

    >>> bayesian_quadrature_rank(200, 0.1, 0.95), bayesian_quadrature_rank(19, 0.05, 0.95)
    (188, None)
    """
    _check_n(n)
    exact_alpha, exact_beta = _share(alpha, "alpha"), _share(beta, "beta")
    return _first(n, lambda k: _certifies(n, k, exact_alpha, exact_beta))


def hoeffding_rank(n: int, alpha: Exact, beta: Exact) -> int | None:
    """The smallest k whose share of misses (n - k) / n plus sqrt(ln(1 / (1 - beta)) / (2 n)) is at most alpha.

    >>> hoeffding_rank(200, 0.1, 0.95), hoeffding_rank(149, 0.1, 0.95)
    (198, None)
    """
    _check_n(n)
    room = float(_share(alpha, "alpha")) - _hoeffding_margin(n, beta)
    return None if room < 0 else max(1, n - math.floor(n * room + _DOUBT))


def kth_smallest(scores: ArrayLike, k: int | None) -> float:
    """s_(k), by selection in linear time; infinity if ``k`` is None. Scores may be infinite, not missing.

    >>> kth_smallest([3.0, 1.0, 2.0], 2), kth_smallest([3.0, 1.0, 2.0], None)
    (2.0, inf)
    """
    values = np.asarray(scores, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise InputError("there is no score", remedy="At least one calibration score is needed.")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise InputError("the score is missing", row=int(missing[0]) + 1, remedy="Every row needs a score.")
    if k is None:
        return math.inf
    if not 1 <= k <= values.size:
        raise InputError(f"rank {k} of {values.size} scores was asked for")
    return float(np.partition(values, k - 1)[k - 1])


def needed_for_split_conformal(alpha: Exact) -> int:
    """The smallest n with a finite threshold: (n + 1) alpha >= 1.

    >>> needed_for_split_conformal(0.1), needed_for_split_conformal(0.05)
    (9, 19)
    """
    return math.ceil(1 / _share(alpha, "alpha")) - 1


def needed_for_bayesian_quadrature(alpha: Exact, beta: Exact) -> int:
    """The smallest n that certifies without a single miss: 1 - (1 - alpha)^n >= beta.

    >>> needed_for_bayesian_quadrature(0.1, 0.95), needed_for_bayesian_quadrature(0.05, 0.95)
    (29, 59)
    """
    exact_alpha, doubt = _share(alpha, "alpha"), 1 - _share(beta, "beta")
    n = _log(doubt) / math.log1p(-float(exact_alpha))
    nearest = max(1, round(n))
    if abs(n - nearest) > _DOUBT * nearest:
        return math.ceil(n)
    return nearest if (1 - exact_alpha) ** nearest <= doubt else nearest + 1


def needed_for_hoeffding(alpha: Exact, beta: Exact) -> int:
    """The smallest n that certifies without a single miss: n >= ln(1 / (1 - beta)) / (2 alpha^2).

    >>> needed_for_hoeffding(0.1, 0.95), needed_for_hoeffding(0.05, 0.95)
    (150, 600)
    """
    return math.ceil(-_log(1 - _share(beta, "beta")) / (2 * float(_share(alpha, "alpha")) ** 2))


def _certifies(n: int, k: int, alpha: Fraction, beta: Fraction) -> bool:
    """Whether BetaCDF(alpha; n + 1 - k, k) >= beta, decided on the smaller of both tails."""
    doubt = float(1 - beta)
    if doubt < 0.5:
        above, wanted = special.betaincc(n + 1 - k, k, float(alpha)), doubt
    else:
        above, wanted = float(beta), special.betainc(n + 1 - k, k, float(alpha))
    if abs(above - wanted) > _DOUBT * max(above, wanted):
        return bool(above < wanted)
    return _few_misses(n, n - k, alpha) <= 1 - beta


def _few_misses(n: int, most: int, alpha: Fraction) -> Fraction:
    """Pr(Binomial(n, alpha) <= most), exactly."""
    hit, miss = alpha.denominator - alpha.numerator, alpha.numerator
    term = total = hit**n
    for j in range(most):
        term = term * (n - j) * miss // ((j + 1) * hit)
        total += term
    return Fraction(total, alpha.denominator**n)


def _first(n: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest k in 1..n for which a condition holds that, once true, stays true."""
    if not holds(n):
        return None
    low, high = 1, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _hoeffding_margin(n: int, beta: Exact) -> float:
    return math.sqrt(-_log(1 - _share(beta, "beta")) / (2 * n))


def _log(share: Fraction) -> float:
    """ln of a share that a float may not hold."""
    return math.log(share.numerator) - math.log(share.denominator)


def _share(value: Exact, name: str) -> Fraction:
    share = as_fraction(value)
    if not 0 < share < 1:
        raise InputError(f"{name} is {value}", remedy="It has to lie between 0 and 1, both excluded.")
    return share


def _check_n(n: int) -> None:
    if n < 1:
        raise InputError(f"{n} calibration examples", remedy="At least one is needed.")
