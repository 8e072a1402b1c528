"""The rules that turn calibration losses into a number to compare with the limit alpha, and what each promises.

All rules take losses (n,), the bound B and beta, and certify a setting if their upper value is at most alpha. Conformal
risk control looks at the average of L+ only and so ignores beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.common.errors import InputError
from core.common.exact import Exact, as_fraction
from core.common.search import first_that_holds
from core.conformal import bounds
from core.conformal.quadrature import RiskPosterior
from core.conformal.ranks import needed_for_hoeffding, needed_for_split_conformal

__all__ = ["RULES", "TIE", "Rule", "rule"]

Upper = Callable[[np.ndarray, float, float], float]
Between = Callable[[np.ndarray, np.ndarray, float, float, float], bool]
Fewest = Callable[[Fraction, Exact], int | None]
TIE = 1 + 1e-12  # an upper value that equals alpha up to rounding is within the limit


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    ``upper`` takes losses (n,), B and beta. ``between`` is None if no smaller loss ever raises ``upper``; else it takes
    low (n,), high (n,), B, beta and alpha, and says whether ``upper`` is at most alpha for all losses between the two
    (exact if these are equal). ``fewest`` takes alpha / B and beta, and gives the n that `needs` returns.
    ``sequential``: the guarantee also holds along a fixed sequence of settings whose losses are not monotone.
    """

    key: str
    title: str
    promise: str
    status: str
    upper: Upper
    fewest: Fewest
    sequential: bool
    between: Between | None = None

    @property
    def monotone(self) -> bool:
        """Whether no smaller loss ever raises ``upper``."""
        return self.between is None

    def needs(self, alpha: Exact, beta: Exact, bound: Exact = 1) -> int | None:
        """The smallest n that certifies if every loss is zero; 1 if alpha is not below B, and so no limit at all.

        In closed form, with alpha, beta and B as typed; for betting by search, and None if beyond a million.
        InputError for alpha or B that is not positive and beta that does not lie between 0 and 1.

        >>> rule("crc").needs(0.1, 0.95), rule("bq").needs(0.05, 0.95), rule("hoeffding").needs(0.1, 0.95)
        (9, 59, 150)
        """
        alpha, beta, bound = as_fraction(alpha), as_fraction(beta), as_fraction(bound)
        if not (alpha > 0 and bound > 0 and 0 < beta < 1):
            raise InputError(
                f"alpha is {float(alpha):g}, beta {float(beta):g} and B {float(bound):g}",
                remedy="alpha and B have to be positive, and beta has to lie between 0 and 1.",
            )
        return self.fewest(alpha / bound, beta) if alpha < bound else 1


def rule(key: str) -> Rule:
    """The rule of that key; KeyError for a key that names none."""
    return {each.key: each for each in RULES}[key]


def _average(losses: np.ndarray, bound: float, _beta: float) -> float:
    x = bounds.shares(losses, bound)
    return bound * float(1 + x.sum()) / (x.size + 1)


def _quantile(losses: np.ndarray, bound: float, beta: float) -> float:
    return RiskPosterior.from_losses(losses, bound).credible_bound(beta)


def _confidence(limit: Callable[[np.ndarray, float, float], float]) -> Upper:
    return lambda losses, bound, beta: limit(losses, bound, 1 - beta)


def _confidence_between(holds: Between) -> Between:
    return lambda low, high, bound, beta, alpha: holds(low, high, bound, 1 - beta, alpha)


def _fewest_without_failure(share: Fraction, beta: Exact) -> int:
    """The smallest n with (1 - alpha / B)^n <= 1 - beta; a tie up to rounding counts."""
    return math.ceil(math.log(1 - as_fraction(beta)) / math.log1p(-float(share) * TIE))


def _fewest_for_bets(share: Fraction, beta: Exact) -> int | None:
    limit, delta = float(share) * TIE, float(1 - as_fraction(beta))

    def enough(n: int) -> bool:
        zeros = np.zeros(n)
        return bounds.wsr_between(zeros, zeros, 1.0, delta, limit)

    return first_that_holds(enough, 1, 1 << 20)


def _fewest_for_maurer_pontil(share: Fraction, beta: Exact) -> int:
    """7 ln(2 / delta) / (3 (n - 1)) <= alpha / B: without loss there is no variance."""
    return 1 + math.ceil(7 * math.log(2 / float(1 - as_fraction(beta))) / (3 * float(share)))


_MISLED = "At most a share 1 - beta of all calibration sets is misled"

RULES: tuple[Rule, ...] = (
    Rule(
        key="crc",
        title="Conformal risk control",
        promise="On average over calibration sets the risk is within the limit; about half of them exceed it.",
        status="theorem",
        upper=_average,
        fewest=lambda share, _beta: needed_for_split_conformal(share),
        sequential=False,
    ),
    Rule(
        key="bq",
        title="Bayesian quadrature",
        promise="Given these losses, the risk is within the limit with posterior probability beta. For losses of 0 or "
        "B also over calibration sets (Clopper and Pearson); for others that is a conjecture.",
        status="theorem for 0 or B, else conjecture",
        upper=_quantile,
        fewest=_fewest_without_failure,
        sequential=False,
    ),
    Rule(
        key="hoeffding",
        title="RCPS, Hoeffding",
        promise=f"{_MISLED}; wide, because it looks at the mean loss only.",
        status="theorem",
        upper=_confidence(bounds.hoeffding),
        fewest=needed_for_hoeffding,
        sequential=True,
    ),
    Rule(
        key="hoeffding_bentkus",
        title="RCPS, Hoeffding-Bentkus",
        promise=f"{_MISLED}; close to exact for losses of 0 or B.",
        status="theorem",
        upper=_confidence(bounds.hoeffding_bentkus),
        fewest=_fewest_without_failure,  # without loss its tail is (1 - mu)^n too
        sequential=True,
    ),
    Rule(
        key="wsr",
        title="RCPS, Waudby-Smith-Ramdas",
        promise=f"{_MISLED}, in the order of the rows, which must not have been chosen by the losses.",
        status="theorem",
        upper=_confidence(bounds.wsr),
        fewest=_fewest_for_bets,
        sequential=True,
        between=_confidence_between(bounds.wsr_between),
    ),
    Rule(
        key="empirical_bernstein",
        title="RCPS, empirical Bernstein",
        promise=f"{_MISLED}; good for many cases with little spread.",
        status="theorem",
        upper=_confidence(bounds.empirical_bernstein),
        fewest=_fewest_for_maurer_pontil,
        sequential=True,
        between=_confidence_between(bounds.empirical_bernstein_between),
    ),
)
