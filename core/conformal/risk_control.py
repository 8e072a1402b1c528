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
from core.common.text import count, number
from core.conformal.loss_paths import LossPath
from core.conformal.rules import TIE, Rule

__all__ = ["Choice", "RiskBands", "choose", "fixed_sequence", "risk_bands"]

_ROUNDING = 1e-12  # a share of B
_MOST_EXTRA = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What one rule chose on one path.

    ``lambda_hat`` and ``place`` (on the path) are None if nothing is certified; ``empirical_risk`` and ``upper`` are
    then those of the safest setting, and ``extra`` says how many further cases without loss would certify it (None if
    more than 131,072).
    """

    rule: Rule
    alpha: float
    beta: float
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
    """lambda_hat of a rule on a monotone path; InputError, with the ways on, for a path that is not.

    >>> from core.conformal.loss_paths import path_of_scores
    >>> from core.conformal.rules import rule
    >>> path = path_of_scores(np.arange(1.0, 201.0))
    >>> choose(path, rule("crc"), 0.1, 0.95).lambda_hat, choose(path, rule("bq"), 0.1, 0.95).lambda_hat
    (181.0, 188.0)
    """
    _check_target(path, alpha, beta)
    if not path.monotone:
        raise _rising(path)
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


def _rising(path: LossPath) -> InputError:
    """What is wrong with a path that is not monotone: the first row that loses more at a safer setting, and where."""
    m = path.lambdas.size
    where, safer = np.full(path.n, m), path.losses(0)
    for place in range(1, m):
        riskier = path.losses(place)
        where[(safer - riskier > _ROUNDING * path.bound) & (where == m)] = place
        safer = riskier
    rows = np.flatnonzero(where < m)
    safe, risky = (number(path.lambdas[where[rows[0]] - back], 6) for back in (1, 0))
    others = f", and {count(rows.size - 1, 'other row')} likewise" if rows.size > 1 else ""
    return InputError(
        f"the loss at lambda {safe} is larger than at {risky}, which is the riskier{others}; this rule then promises "
        "nothing",
        row=int(rows[0]) + 1,
        remedy="Use the envelope (each loss raised to its largest at any safer setting), or test settings in a "
        "fixed sequence with a confidence bound.",
    )


def _within(rule: Rule, low: np.ndarray, high: np.ndarray, bound: float, alpha: float, beta: float) -> bool:
    """Whether the rule is within alpha for all losses (n,) between two; exact if these are equal."""
    if rule.between is None:
        return rule.upper(high, bound, beta) <= alpha * TIE
    return rule.between(low, high, bound, beta, alpha * TIE)


def _certified(path: LossPath, rule: Rule, alpha: float, beta: float) -> Callable[[int, int], bool]:
    """Whether all places from a first to a last one are certified; exact if these are one place."""

    def certified(first: int, last: int) -> bool:
        high = path.losses(last)
        low = high if rule.monotone or first == last else path.losses(first)
        return _within(rule, low, high, path.bound, alpha, beta)

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
        alpha=alpha,
        beta=beta,
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
        longer = np.append(losses, np.zeros(more))
        return _within(rule, longer, longer, bound, alpha, beta)

    return first_that_holds(enough, 1, _MOST_EXTRA)
