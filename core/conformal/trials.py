"""Trials: many calibration sets, the lambda that each rule chooses from each set, and how often that choice fails.

The rules of the paper's comparison (arXiv 2502.13228, section 5), here for many small calibration sets at a time:

- CRC, conformal risk control: the posterior mean E[L+] is at most alpha;
- RCPS with Hoeffding's bound: the mean loss plus sqrt(ln(1 / delta) / (2 n)) is at most alpha, delta = 1 - beta;
- BQ, Bayesian quadrature: Pr(L+ <= alpha) >= beta, computed exactly, without the paper's 1,000 random draws;
- BQ as published: the same with a slip of the published code, which multiplies the bound B by the first weight and
  drops the last one. The result has the right mean and another spread, and depends on which row comes first. It is here
  because the paper's printed figures carry it.

A rule sees how many rows have each loss, and which loss the first row has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log, sqrt

import numpy as np
from scipy import stats

from core.common.progress import Snapshot
from core.conformal.batches import batch_cdf_grouped
from core.conformal.populations import Law

__all__ = [
    "BETA",
    "BOUND",
    "RULES",
    "Choices",
    "Grouped",
    "Outcome",
    "Outcomes",
    "bayesian_quadrature",
    "bayesian_quadrature_as_published",
    "conformal_risk_control",
    "first_certified",
    "rcps_hoeffding",
    "run",
]

BETA, BOUND = 0.95, 1.0
_TIE = 1 + 1e-12  # a risk that equals alpha up to rounding is within the limit


@dataclass(frozen=True, kw_only=True)
class Grouped:
    """The losses of m calibration sets, counted.

    ``values`` (k,) are the possible losses from 0 upwards, ``counts`` (m, k) says how many rows of each set have them,
    and ``first`` (m,) which of the values the set's first row has.
    """

    values: np.ndarray
    counts: np.ndarray
    first: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Each rule's choice in each trial: ``lambda_hat``, the ``risk`` it then has, its ``cost``, all (rules, trials)."""

    lambda_hat: np.ndarray
    risk: np.ndarray
    cost: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One rule's choices, trial by trial: ``lambda_hat``, ``risk`` and ``cost``, each (trials,).

    ``exact`` holds the failure probability and the mean cost that the trials estimate, where they are known.
    """

    rule: str
    alpha: float
    lambda_hat: np.ndarray
    risk: np.ndarray
    cost: np.ndarray
    exact: Law | None

    @property
    def trials(self) -> int:
        """How many calibration sets were drawn."""
        return self.risk.size

    @cached_property
    def failures(self) -> int:
        """In how many trials the risk at the chosen lambda exceeds alpha."""
        return int((self.risk > self.alpha * _TIE).sum())

    @property
    def failure_rate(self) -> float:
        """Failures by trials."""
        return self.failures / self.trials

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Two-sided 95% Clopper-Pearson interval of the failure probability."""
        found = stats.binomtest(self.failures, self.trials).proportion_ci(0.95, method="exact")
        return float(found.low), float(found.high)

    @property
    def mean_lambda(self) -> float:
        """Average of the chosen lambda."""
        return float(self.lambda_hat.mean())

    @property
    def sd_lambda(self) -> float:
        """Standard deviation of the chosen lambda over the trials."""
        return float(self.lambda_hat.std())

    @property
    def mean_cost(self) -> float:
        """Average cost."""
        return float(self.cost.mean())

    @property
    def cost_error(self) -> float:
        """Standard error of the average cost; infinite after one trial."""
        return float(self.cost.std(ddof=1)) / sqrt(self.trials) if self.trials > 1 else inf


Outcomes = tuple[Outcome, ...]


def conformal_risk_control(sets: Grouped, alpha: float) -> np.ndarray:
    """The sets (m,) with E[L+] = (sum of losses + B) / (n + 1) <= alpha.

    >>> losses = Grouped(values=np.array([0.0, 1.0]), counts=np.array([[95, 5], [89, 11]]), first=np.zeros(2, int))
    >>> conformal_risk_control(losses, 0.1), bayesian_quadrature(losses, 0.1), bayesian_quadrature(losses, 0.12)
    (array([ True, False]), array([False, False]), array([ True, False]))
    """
    n = sets.counts.sum(axis=1)
    return (sets.counts @ sets.values + BOUND) / (n + 1) <= alpha * _TIE


def rcps_hoeffding(sets: Grouped, alpha: float) -> np.ndarray:
    """The sets (m,) with mean loss + B sqrt(ln(1 / (1 - BETA)) / (2 n)) <= alpha."""
    n = sets.counts.sum(axis=1)
    return sets.counts @ sets.values / n + BOUND * np.sqrt(-log(1 - BETA) / (2 * n)) <= alpha * _TIE


def bayesian_quadrature(sets: Grouped, alpha: float) -> np.ndarray:
    """The sets (m,) with Pr(L+ <= alpha) >= BETA, exactly."""
    return _certified(sets.values, sets.counts, BOUND, alpha)


def bayesian_quadrature_as_published(sets: Grouped, alpha: float) -> np.ndarray:
    """The sets (m,) with Pr(U_1 (l_1 + B) + U_2 l_2 + .. + U_n l_n <= alpha) >= BETA, exactly.

    That is the posterior of the losses 0, l_2, .., l_n under the bound l_1 + B.
    """
    counts = sets.counts.copy()
    counts[:, 0] += 1
    counts[np.arange(len(counts)), sets.first] -= 1
    certified = np.empty(len(counts), dtype=bool)
    for first in np.unique(sets.first):
        same = sets.first == first
        certified[same] = _certified(sets.values, counts[same], BOUND + sets.values[first], alpha)
    return certified


Rule = Callable[[Grouped, float], np.ndarray]

RULES: dict[str, Rule] = {
    "CRC": conformal_risk_control,
    "RCPS (Hoeffding)": rcps_hoeffding,
    "BQ": bayesian_quadrature,
    "BQ as published": bayesian_quadrature_as_published,
}


def first_certified(certifies: Callable[[np.ndarray], np.ndarray], sets: int, candidates: int) -> np.ndarray:
    """The smallest candidate 0..candidates - 1 that is certified, for each of the sets: (sets,).

    ``certifies`` takes one candidate a set (sets,) and says which are certified (sets,). Certification has to be
    monotone: what is certified stays so at larger candidates. Where nothing is certified the last candidate is
    returned, as in the published code, whose search ends at lambda_max.

    >>> first_certified(lambda candidate: candidate >= np.array([0, 3, 9]), 3, 5)
    array([0, 3, 4])
    """
    low, high = np.zeros(sets, dtype=int), np.full(sets, candidates - 1)
    while (low < high).any():
        middle = (low + high) // 2
        certified = certifies(middle)
        low, high = np.where(certified, low, np.minimum(middle + 1, high)), np.where(certified, middle, high)
    return low


def run(
    choose: Callable[[int], Choices], *, alpha: float, exact: Sequence[Law | None], trials: int, chunk: int
) -> Iterator[Snapshot[Outcomes]]:
    """Outcomes of the RULES, in their order, over all trials so far; one snapshot for every ``chunk`` trials.

    ``choose(m)`` makes the choices of the next m trials. It alone draws at random, trial after trial, so that a seed
    gives the same trials however they are cut into chunks.
    """
    record = np.empty((3, len(RULES), trials))
    for start in range(0, trials, chunk):
        stop = min(start + chunk, trials)
        new = choose(stop - start)
        record[:, :, start:stop] = new.lambda_hat, new.risk, new.cost
        done = zip(RULES, *record[:, :, :stop], exact, strict=True)
        outcomes = tuple(
            Outcome(rule=rule, alpha=alpha, lambda_hat=lambda_hat, risk=risk, cost=cost, exact=law)
            for rule, lambda_hat, risk, cost, law in done
        )
        yield Snapshot(step=stop, total=trials, result=outcomes)


def _certified(values: np.ndarray, counts: np.ndarray, bound: float, alpha: float) -> np.ndarray:
    """Pr(L+ <= alpha) >= BETA for each row of counts; the integral is taken only where two inequalities leave it open.

    L+ has a log-concave density, so Pr(L+ <= x) <= 1 - 1/e for x <= E[L+]. And Pr(L+ > x) <= v / (v + (x - E[L+])^2)
    by Cantelli, v the variance of L+.
    """
    m = counts.sum(axis=1) + 1
    mean = (counts @ values + bound) / m
    variance = ((counts @ values**2 + bound**2) / m - mean**2) / (m + 1)
    promising = mean < alpha
    certified = promising & ((1 - BETA) * (alpha - mean) ** 2 >= BETA * variance)
    left_open = promising & ~certified
    if left_open.any():
        certified[left_open] = batch_cdf_grouped(values, counts[left_open], bound, alpha) >= BETA
    return certified
