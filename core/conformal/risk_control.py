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
from core.common.search import first_that_holds
from core.conformal.loss_paths import LossPath
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
    """Over ascending lambdas (m,): mean loss, E[L+], and for each level the quantiles of L+ (levels, m)."""

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
    certified, last = _certified(path, rule, alpha, beta), path.lambdas.size - 1
    failed = _bisect(certified, last) if rule.monotone else _first_failure(certified, 0, last)
    return _report(path, rule, alpha, beta, failed)


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
    certified, m = _certified(path, rule, alpha, beta), path.lambdas.size
    return _report(path, rule, alpha, beta, next((place for place in range(m) if not certified(place, place)), m))


def risk_bands(
    path: LossPath, levels: tuple[float, ...] = (0.025, 0.1, 0.5, 0.9, 0.975), *, most: int = 120
) -> RiskBands:
    """The distribution of the risk bound along a path, at up to ``most`` places spread evenly over it."""
    places = np.unique(np.linspace(0, path.lambdas.size - 1, most).astype(int))
    places = places[np.argsort(path.lambdas[places])]
    posteriors = [path.posterior(place) for place in places]
    return RiskBands(
        lambdas=path.lambdas[places],
        mean=np.array([((path.n + 1) * posterior.mean - path.bound) / path.n for posterior in posteriors]),
        expected=np.array([posterior.mean for posterior in posteriors]),
        levels=levels,
        quantiles=np.column_stack([posterior.quantile(np.array(levels)) for posterior in posteriors]),
    )


def _check_target(path: LossPath, alpha: float, beta: float) -> None:
    if not 0 < alpha < path.bound:
        raise InputError(f"the limit alpha is {alpha:g}", remedy=f"It has to lie between 0 and B = {path.bound:g}.")
    if not 0 < beta < 1:
        raise InputError(f"the certainty beta is {beta:g}", remedy="It has to lie between 0 and 1.")


def _certified(path: LossPath, rule: Rule, alpha: float, beta: float) -> Callable[[int, int], bool]:
    """Whether all places from a first to a last one are certified; exact if these are one place."""
    if rule.between is None:
        return lambda _first, last: rule.upper(path.losses(last), path.bound, beta) <= alpha * _TIE
    between = rule.between

    def certified(first: int, last: int) -> bool:
        high = path.losses(last)
        return between(high if first == last else path.losses(first), high, path.bound, beta, alpha * _TIE)

    return certified


def _bisect(certified: Callable[[int, int], bool], last: int) -> int:
    """The first place that is not certified, or one after the last, if certified places come first."""
    low, high = 0, last + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if certified(middle, middle) else (low, middle)
    return low


def _first_failure(certified: Callable[[int, int], bool], first: int, last: int) -> int:
    """The same for certified places that may come in any order: blocks are certified whole, or halved."""
    if certified(first, last):
        return last + 1
    if first == last:
        return first
    middle = (first + last) // 2
    found = _first_failure(certified, first, middle)
    return found if found <= middle else _first_failure(certified, middle + 1, last)


def _report(path: LossPath, rule: Rule, alpha: float, beta: float, failed: int) -> Choice:
    """What was chosen if all places before ``failed`` are certified."""
    place = failed - 1 if failed else None
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

    return first_that_holds(enough, 1, _MOST_EXTRA)
