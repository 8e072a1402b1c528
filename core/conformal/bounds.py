"""Upper confidence bounds on the mean of losses in [0, B], for risk-controlling prediction sets (RCPS).

Each function takes losses (n,), their largest possible value B and delta, and returns a bound that lies below the true
mean in at most a share delta of all samples; never more than B. Hoeffding's, Bentkus's and Maurer and Pontil's bound do
not depend on the order of the losses; Waudby-Smith and Ramdas's bets on one loss after the other and does.

Betting's and Maurer and Pontil's bound may rise although losses fall. ``*_between`` settle, in one pass, whether such a
bound stays within a limit for all loss vectors that lie between two.
References: Bates and others, arXiv 2101.02703; Waudby-Smith and Ramdas, arXiv 2010.09686; Maurer and Pontil, arXiv
0907.3740.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from core.common.errors import InputError
from core.conformal.atoms import check_bound
from core.conformal.quadrature import RiskPosterior

__all__ = [
    "clopper_pearson",
    "empirical_bernstein",
    "empirical_bernstein_between",
    "hoeffding",
    "hoeffding_bentkus",
    "hoeffding_bentkus_floor",
    "shares",
    "wsr",
    "wsr_between",
]

_WHOLE = 1e-9  # a sum this close to a whole number, relatively, is that number with rounding


def hoeffding(losses: np.ndarray, bound: float, delta: float) -> float:
    """mean + B sqrt(ln(1 / delta) / (2 n)).

    >>> round(hoeffding(np.array([0.02, 0.05, 0.05, 0.11, 0.13, 0.2, 0.2, 0.31, 0.44, 0.7]), 1.0, 0.05), 10)
    0.608022756
    """
    x = _shares(losses, bound, delta)
    return bound * min(1.0, float(x.mean()) + math.sqrt(-math.log(delta) / (2 * x.size)))


def hoeffding_bentkus(losses: np.ndarray, bound: float, delta: float) -> float:
    """The largest mu with min(exp(-n kl(mean, mu)), e Pr(Binomial(n, mu) <= ceil(n mean))) >= delta, times B."""
    x = _shares(losses, bound, delta)
    total = float(x.sum())
    return bound * _invert(total / x.size, x.size, math.ceil(total - _WHOLE * max(1.0, total)), delta)


def hoeffding_bentkus_floor(losses: np.ndarray, bound: float, delta: float) -> float:
    """The same with floor in place of ceil, as published code has it; too small a bound unless the sum is whole."""
    x = _shares(losses, bound, delta)
    total = float(x.sum())
    return bound * _invert(total / x.size, x.size, math.floor(total + _WHOLE * max(1.0, total)), delta)


def wsr(losses: np.ndarray, bound: float, delta: float) -> float:
    """Waudby-Smith and Ramdas: the smallest R with max_t prod_{j<=t} (1 - nu_j (x_j - R)) > 1 / delta, times B.

    nu_t = min(1, sqrt(2 ln(1 / delta) / (n s2_{t-1}))), with running mean and variance that start at 1/2 and 1/4.
    Depends on the order of the losses, which has to be fixed before they are seen.
    """
    x = _shares(losses, bound, delta)
    bets = _bets(_variances(x, x)[0], delta)

    def wealth(risk: float) -> float:
        with np.errstate(divide="ignore"):
            return float(np.cumsum(np.log1p(bets * (risk - x))).max()) + math.log(delta)

    if wealth(1.0) <= 0:
        return float(bound)
    return bound * float(optimize.brentq(wealth, 0.0, 1.0, xtol=1e-12)) if wealth(0.0) <= 0 else 0.0


def wsr_between(low: np.ndarray, high: np.ndarray, bound: float, delta: float, limit: float) -> bool:
    """Whether `wsr` is at most ``limit`` for all losses (n,) between ``low`` and ``high``; exact if these are equal.

    True is a proof: every bet and every gain is taken at its worst. False may be for want of precision if they differ.
    """
    least, most = _shares(low, bound, delta), _shares(high, bound, delta)
    smallest, largest = (_bets(spread, delta) for spread in reversed(_variances(least, most)))
    gain = limit / bound - most
    with np.errstate(divide="ignore"):
        wealth = np.cumsum(np.log1p(np.where(gain > 0, smallest, largest) * gain))
    return bool(wealth.max() + math.log(delta) >= 0)


def empirical_bernstein(losses: np.ndarray, bound: float, delta: float) -> float:
    """mean + sqrt(2 V ln(2 / delta) / n) + 7 B ln(2 / delta) / (3 (n - 1)), V the unbiased variance of the losses."""
    x = _shares(losses, bound, delta)
    return bound * min(1.0, _maurer_pontil(x, x, delta))


def empirical_bernstein_between(low: np.ndarray, high: np.ndarray, bound: float, delta: float, limit: float) -> bool:
    """Whether `empirical_bernstein` is at most ``limit`` for all losses (n,) between two; exact if these are equal.

    True is a proof; False may be for want of precision if ``low`` and ``high`` differ.
    """
    return bound * _maurer_pontil(_shares(low, bound, delta), _shares(high, bound, delta), delta) <= limit


def clopper_pearson(losses: np.ndarray, bound: float, delta: float) -> float:
    """The exact limit for losses that are 0 or B; InputError for any other loss.

    >>> round(clopper_pearson(np.repeat([0.0, 1.0], [17, 3]), 1.0, 0.05), 10)
    0.3436638043
    """
    x = _shares(losses, bound, delta)
    graded = np.flatnonzero((x != 0) & (x != 1))
    if graded.size:
        raise InputError(
            f"the loss {losses[graded[0]]:g} is neither 0 nor {bound:g}",
            row=int(graded[0]) + 1,
            remedy="Clopper and Pearson's limit is for two-valued losses only.",
        )
    return RiskPosterior.from_failures(int(x.sum()), x.size, bound).credible_bound(1 - delta)


def shares(losses: np.ndarray, bound: float) -> np.ndarray:
    """The losses (n,) as shares of B, in their order; InputError names the first row that is missing or outside 0 to B.

    >>> shares(np.array([0.0, 1.0, 4.0]), 4.0)
    array([0.  , 0.25, 1.  ])
    """
    check_bound(bound)
    losses = np.asarray(losses, dtype=float)
    if losses.ndim != 1 or losses.size == 0:
        raise InputError("there is no loss", remedy="At least one calibration loss is needed.")
    bad = np.flatnonzero(~((losses >= 0) & (losses <= bound)))
    if bad.size:
        raise InputError(f"the loss is {losses[bad[0]]:g}", row=int(bad[0]) + 1, remedy=f"It runs from 0 to {bound:g}.")
    return losses / bound


def _shares(losses: np.ndarray, bound: float, delta: float) -> np.ndarray:
    if not 0 < delta < 1:
        raise InputError(f"delta is {delta:g}", remedy="It has to lie between 0 and 1.")
    return shares(losses, bound)


def _invert(mean: float, n: int, whole: int, delta: float) -> float:
    """Where the smaller of Hoeffding's and Bentkus's tail bounds falls to delta, as a share.

    Bentkus's is sought from 0 on: with floor in place of ceil it may fall to delta below the mean.
    """

    def crossing(log_tail: Callable[[float], float], start: float) -> float:
        if log_tail(1 - 1e-15) >= math.log(delta):
            return 1.0
        return float(optimize.brentq(lambda mu: log_tail(mu) - math.log(delta), start, 1 - 1e-15, xtol=1e-14))

    def log_hoeffding(mu: float) -> float:
        return -n * float(special.rel_entr(mean, mu) + special.rel_entr(1 - mean, 1 - mu))

    def log_bentkus(mu: float) -> float:
        with np.errstate(divide="ignore"):
            return 1 + float(np.log(special.bdtr(whole, n, mu)))

    return min(crossing(log_hoeffding, mean), crossing(log_bentkus, 0.0)) if mean < 1 else 1.0


def _maurer_pontil(least: np.ndarray, most: np.ndarray, delta: float) -> float:
    """The largest bound of losses between ``least`` and ``most``, or above it.

    About any centre the squares add up to at least (n - 1) V, and to exactly that about the mean.
    """
    n = most.size
    if n < 2:
        return 1.0
    centre = (least.mean() + most.mean()) / 2
    variance = float((np.maximum(most - centre, centre - least) ** 2).sum()) / (n - 1)
    log = math.log(2 / delta)
    return float(most.mean()) + math.sqrt(2 * variance * log / n) + 7 * log / (3 * (n - 1))


def _variances(least: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between which values s2_{t-1} (n,) lies before each loss, if the losses lie between ``least`` and ``most``."""
    t = np.arange(1, least.size + 1)
    low, high = ((0.5 + np.cumsum(x)) / (1 + t) for x in (least, most))
    near = np.maximum(np.maximum(least - high, low - most), 0)
    far = np.maximum(most - low, high - least)
    smallest, largest = ((0.25 + np.cumsum(away**2)) / (1 + t) for away in (near, far))
    return np.append(0.25, smallest[:-1]), np.append(0.25, largest[:-1])


def _bets(variances: np.ndarray, delta: float) -> np.ndarray:
    """nu_t (n,) from the running variance before each loss."""
    return np.minimum(1.0, np.sqrt(-2 * math.log(delta) / (variances.size * variances)))
