"""Choosing lambda_hat: the riskiest setting that a rule still certifies, together with all safer ones.

For monotone losses every rule applies, and a rule whose upper value is monotone is found by bisection over the jumps.
Losses that rise and fall void conformal risk control and Bayesian quadrature: `choose` refuses them, and there are two
ways on, `LossTable.envelope`, which is conservative, and `fixed_sequence`, which tests setting after setting from the
safest end (Learn then Test, Angelopoulos and others, arXiv 2110.01052) under the confidence bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.conformal.loss_paths import LossPath, LossTable
from core.conformal.quadrature import RiskPosterior
from core.conformal.rules import Rule

__all__ = ["Choice", "RiskBands", "choose", "fixed_sequence", "risk_bands"]

_TIE = 1 + 1e-12  # an upper value that equals alpha up to rounding is within the limit
_MOST_EXTRA = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What one rule chose on one path.

    ``lambda_hat`` and ``place`` (on the path) are None if nothing is certified; ``empirical_risk`` and ``upper`` are
    then those of the safest setting, and ``extra`` says how many further cases without loss would certify it (None if
    more than 131,072).
    """

    rule: Rule
    lambda_hat: float | None
    place: int | None
    empirical_risk: float
    upper: float
    n: int
    extra: int | None = None


@dataclass(frozen=True, kw_only=True)
class RiskBands:
    """Over lambdas (m,): mean loss, E[L+], and for each level the quantiles of L+ (levels, m)."""

    lambdas: np.ndarray
    mean: np.ndarray
    expected: np.ndarray
    levels: tuple[float, ...]
    quantiles: np.ndarray


def choose(path: LossPath, rule: Rule, alpha: float, beta: float) -> Choice:
    """lambda_hat of a rule on a monotone path; InputError, with the ways on, for a path that is not."""
    _check_target(path, alpha, beta)
    if not path.monotone:
        raise InputError(
            "some losses are larger at a safer setting, so this rule promises nothing",
            remedy="Use the envelope (each loss raised to its largest at any safer setting), or test settings in a "
            "fixed sequence with a confidence bound.",
        )
    search = _bisect if rule.monotone else _scan
    return _report(path, rule, alpha, beta, search(_certifies(path, rule, alpha, beta), path.lambdas.size))


def fixed_sequence(path: LossPath, rule: Rule, alpha: float, beta: float) -> Choice:
    """lambda_hat by testing from the safest setting on until a test fails; losses need not be monotone.

    InputError for conformal risk control and Bayesian quadrature, which are no tests.
    """
    _check_target(path, alpha, beta)
    if not rule.sequential:
        raise InputError(
            f"{rule.title} cannot be used setting by setting when losses rise and fall",
            remedy="Use a confidence bound such as Hoeffding-Bentkus.",
        )
    return _report(path, rule, alpha, beta, _scan(_certifies(path, rule, alpha, beta), path.lambdas.size))


def risk_bands(table: LossTable, levels: tuple[float, ...] = (0.025, 0.1, 0.5, 0.9, 0.975)) -> RiskBands:
    """The distribution of the risk bound at every lambda of a table."""
    posteriors = [RiskPosterior.from_losses(column, table.bound) for column in table.losses.T]
    return RiskBands(
        lambdas=table.lambdas,
        mean=table.losses.mean(axis=0),
        expected=np.array([posterior.mean for posterior in posteriors]),
        levels=levels,
        quantiles=np.column_stack([posterior.quantile(np.array(levels)) for posterior in posteriors]),
    )


def _check_target(path: LossPath, alpha: float, beta: float) -> None:
    if not 0 < alpha < path.bound:
        raise InputError(f"the limit alpha is {alpha:g}", remedy=f"It has to lie between 0 and B = {path.bound:g}.")
    if not 0 < beta < 1:
        raise InputError(f"the certainty beta is {beta:g}", remedy="It has to lie between 0 and 1.")


def _certifies(path: LossPath, rule: Rule, alpha: float, beta: float) -> Callable[[int], bool]:
    return lambda place: rule.upper(path.losses(place), path.bound, beta) <= alpha * _TIE


def _bisect(certified: Callable[[int], bool], size: int) -> int | None:
    """The last place that is certified, if certified places come first."""
    if not certified(0):
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if certified(middle) else (low, middle)
    return low


def _scan(certified: Callable[[int], bool], size: int) -> int | None:
    """The last place before the first that is not certified."""
    failed = next((place for place in range(size) if not certified(place)), size)
    return failed - 1 if failed else None


def _report(path: LossPath, rule: Rule, alpha: float, beta: float, place: int | None) -> Choice:
    losses = path.losses(0 if place is None else place)
    return Choice(
        rule=rule,
        lambda_hat=None if place is None else float(path.lambdas[place]),
        place=place,
        empirical_risk=float(losses.mean()),
        upper=float(rule.upper(losses, path.bound, beta)),
        n=path.n,
        extra=_extra(losses, rule, path.bound, alpha, beta) if place is None else None,
    )


def _extra(losses: np.ndarray, rule: Rule, bound: float, alpha: float, beta: float) -> int | None:
    """How many further losses of zero bring the upper value down to alpha."""

    def enough(more: int) -> bool:
        return rule.upper(np.append(losses, np.zeros(more)), bound, beta) <= alpha * _TIE

    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_EXTRA:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
