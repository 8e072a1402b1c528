"""The rules that turn calibration losses into a number to compare with the limit alpha, and what each promises.

All rules take losses (n,), the bound B and beta, and certify a setting if their upper value is at most alpha. Conformal
risk control looks at the average of L+ only and so ignores beta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.common.search import first_that_holds
from core.conformal import bounds
from core.conformal.quadrature import RiskPosterior

__all__ = ["RULES", "Rule", "rule"]

Upper = Callable[[np.ndarray, float, float], float]
Between = Callable[[np.ndarray, np.ndarray, float, float, float], bool]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    ``upper`` takes losses (n,), B and beta. ``between`` is None if no smaller loss ever raises ``upper``; else it takes
    low (n,), high (n,), B, beta and alpha, and says whether ``upper`` is at most alpha for all losses between the two
    (exact if these are equal). ``sequential``: the guarantee also holds along a fixed sequence of settings whose losses
    are not monotone.
    """

    key: str
    title: str
    promise: str
    status: str
    upper: Upper
    sequential: bool
    between: Between | None = None

    @property
    def monotone(self) -> bool:
        """Whether no smaller loss ever raises ``upper``."""
        return self.between is None

    def needs(self, alpha: float, beta: float, bound: float = 1.0) -> int | None:
        """The smallest n that certifies if every loss is zero, or None if that is beyond a million."""

        def enough(n: int) -> bool:
            return self.upper(np.zeros(n), bound, beta) <= alpha * (1 + 1e-12)

        return first_that_holds(enough, 1, 1 << 20)


def rule(key: str) -> Rule:
    """The rule of that key; KeyError for a key that names none."""
    return {each.key: each for each in RULES}[key]


def _average(losses: np.ndarray, bound: float, _beta: float) -> float:
    return float(bound + losses.sum()) / (losses.size + 1)


def _quantile(losses: np.ndarray, bound: float, beta: float) -> float:
    return RiskPosterior.from_losses(losses, bound).credible_bound(beta)


def _confidence(limit: Callable[[np.ndarray, float, float], float]) -> Upper:
    return lambda losses, bound, beta: limit(losses, bound, 1 - beta)


def _confidence_between(holds: Between) -> Between:
    return lambda low, high, bound, beta, alpha: holds(low, high, bound, 1 - beta, alpha)


_MISLED = "At most a share 1 - beta of all calibration sets is misled"

RULES: tuple[Rule, ...] = (
    Rule(
        key="crc",
        title="Conformal risk control",
        promise="On average over calibration sets the risk is within the limit; about half of them exceed it.",
        status="theorem",
        upper=_average,
        sequential=False,
    ),
    Rule(
        key="bq",
        title="Bayesian quadrature",
        promise="Given these losses, the risk is within the limit with posterior probability beta. For losses of 0 or "
        "B also over calibration sets (Clopper and Pearson); for others that is a conjecture.",
        status="theorem for 0 or B, else conjecture",
        upper=_quantile,
        sequential=False,
    ),
    Rule(
        key="hoeffding",
        title="RCPS, Hoeffding",
        promise=f"{_MISLED}; wide, because it looks at the mean loss only.",
        status="theorem",
        upper=_confidence(bounds.hoeffding),
        sequential=True,
    ),
    Rule(
        key="hoeffding_bentkus",
        title="RCPS, Hoeffding-Bentkus",
        promise=f"{_MISLED}; close to exact for losses of 0 or B.",
        status="theorem",
        upper=_confidence(bounds.hoeffding_bentkus),
        sequential=True,
    ),
    Rule(
        key="wsr",
        title="RCPS, Waudby-Smith-Ramdas",
        promise=f"{_MISLED}, in the order of the rows, which must not have been chosen by the losses.",
        status="theorem",
        upper=_confidence(bounds.wsr),
        sequential=True,
        between=_confidence_between(bounds.wsr_between),
    ),
    Rule(
        key="empirical_bernstein",
        title="RCPS, empirical Bernstein",
        promise=f"{_MISLED}; good for many cases with little spread.",
        status="theorem",
        upper=_confidence(bounds.empirical_bernstein),
        sequential=True,
        between=_confidence_between(bounds.empirical_bernstein_between),
    ),
)
