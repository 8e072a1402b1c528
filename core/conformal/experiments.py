"""The paper's three experiments (arXiv 2502.13228, sections 5.1 to 5.3), and its headline figures beside ours.

In a trial every rule of `core.conformal.trials` chooses lambda from the same calibration set; it fails if the risk at
its choice exceeds alpha. Losses fall with lambda, so the smallest certified lambda is found exactly, by bisection over
the points where some loss changes; the published code bisects the real line in 30 steps on 1,000 random draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.common.comparison import Figure
from core.common.progress import Snapshot
from core.conformal.populations import (
    PARTS,
    Patterns,
    all_patterns,
    binomial_law,
    draw_parts,
    draw_scores,
    order_statistic_law,
    pattern_codes,
    score_cdf,
)
from core.conformal.published import figures
from core.conformal.surrogate import SEED, Sweep, draw_stand_in, loss_counts, sweep
from core.conformal.trials import RULES, Choices, Grouped, Outcomes, Rule, first_certified, run

__all__ = [
    "EXPERIMENTS",
    "TRIALS",
    "Experiment",
    "binomial_losses",
    "headline",
    "heteroskedastic_regression",
    "multilabel_misses",
]

TRIALS = 10_000
_CHUNK = 500
_SHARES = np.arange(PARTS + 1) / PARTS
_THRESHOLDS = np.arange(980, 19, -1) / 1000


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment: what a trial is in a sentence, what its lambda and its cost are called, and how it is run."""

    title: str
    sentence: str
    knob: str
    cost: str
    run: Callable[..., Iterator[Snapshot[Outcomes]]]


def binomial_losses(
    rng: np.random.Generator, *, trials: int = TRIALS, chunk: int = _CHUNK
) -> Iterator[Snapshot[Outcomes]]:
    """Section 5.1: n = 10 binomial losses, alpha = 0.4. The risk is 1 - lambda, and lambda itself the cost.

    A trial draws fresh losses and is judged by the true risk; the paper draws all trials from one pool of 10,010
    examples and judges by the average loss of those not used.
    """
    n, alpha = 10, 0.4
    patterns = all_patterns(n)
    sets = Grouped(values=_SHARES, counts=patterns.counts, first=patterns.first)
    certified = [rule(sets, alpha) for rule in RULES.values()]
    exact = [binomial_law(patterns, accepted, alpha) for accepted in certified]
    codes = [pattern_codes(patterns)[accepted] for accepted in certified]
    return run(partial(_binomial_choices, rng, n, codes), alpha=alpha, exact=exact, trials=trials, chunk=chunk)


def heteroskedastic_regression(
    rng: np.random.Generator, *, trials: int = TRIALS, chunk: int = _CHUNK
) -> Iterator[Snapshot[Outcomes]]:
    """Section 5.2: intervals of half-width lambda from n = 200 scores, alpha = 0.1. The cost is the length 2 lambda.

    A trial draws fresh scores and is judged by the true risk 1 - F(lambda); the paper draws all trials from one pool of
    5,200 examples and judges by those not used.
    """
    n, alpha = 200, 0.1
    ranks = np.stack([_ranks(rule, n, alpha) for rule in RULES.values()])
    laws = [order_statistic_law(row, alpha) for row in ranks]
    exact = [replace(law, mean=2 * law.mean) for law in laws]
    return run(partial(_regression_choices, rng, ranks), alpha=alpha, exact=exact, trials=trials, chunk=chunk)


def multilabel_misses(
    rng: np.random.Generator, *, trials: int = TRIALS, chunk: int = _CHUNK
) -> Iterator[Snapshot[Outcomes]]:
    """Section 5.3 on the synthetic stand-in for MS-COCO: n = 1,000 rows calibrate, the other 3,952 judge, alpha = 0.1.

    A row's set holds the classes with a score of at least the threshold, its loss is the share of its labels left out;
    the cost is the mean size of the sets. Thresholds are .980, .979, .., .020, and ``lambda_hat`` is the threshold.
    """
    n, alpha = 1000, 0.1
    table = sweep(draw_stand_in(np.random.default_rng(SEED)), _THRESHOLDS)
    choose = partial(_multilabel_choices, rng, table, n, alpha)
    return run(choose, alpha=alpha, exact=[None] * len(RULES), trials=trials, chunk=chunk)


EXPERIMENTS: dict[str, Experiment] = {
    "binomial": Experiment(
        title="Binomial losses",
        sentence="Ten examples with four parts each; a part is found with probability lambda. At most 40% may be "
        "missed.",
        knob="lambda",
        cost="lambda",
        run=binomial_losses,
    ),
    "regression": Experiment(
        title="Heteroskedastic regression",
        sentence="200 examples whose noise grows with x, one width of interval for all. At most 10% may lie outside.",
        knob="half-width",
        cost="interval length",
        run=heteroskedastic_regression,
    ),
    "multilabel": Experiment(
        title="Multi-label, synthetic stand-in for MS-COCO",
        sentence="1,000 synthetic rows with 80 classes; classes with a score of at least the threshold are kept. On "
        "average at most 10% of a row's labels may be left out.",
        knob="threshold",
        cost="set size",
        run=multilabel_misses,
    ),
}


def headline(seed: int) -> Iterator[Snapshot[tuple[Figure, ...]]]:
    """All three experiments with 10,000 trials each; the result is the paper's figures beside ours, as far as known."""
    total = TRIALS * len(EXPERIMENTS)
    finished: tuple[Figure, ...] = ()
    for number, (key, experiment) in enumerate(EXPERIMENTS.items()):
        rng = np.random.default_rng([seed, number])
        for snapshot in experiment.run(rng, trials=TRIALS):
            known = finished + figures(key, experiment.title, experiment.cost, snapshot.result)
            yield Snapshot(step=number * TRIALS + snapshot.step, total=total, result=known)
        finished = known


def _binomial_choices(rng: np.random.Generator, n: int, codes: Sequence[np.ndarray], trials: int) -> Choices:
    """``codes`` holds for each rule the codes of the patterns that it certifies."""
    parts = draw_parts(trials, n, rng)
    jumps = np.sort(parts.reshape(trials, -1), axis=1)  # (trials, n PARTS): the only lambdas where a loss changes
    every = np.arange(trials)

    def choose(accepted: np.ndarray) -> np.ndarray:
        def certifies(candidate: np.ndarray) -> np.ndarray:
            missed = (parts > jumps[every, candidate, None, None]).sum(axis=2)  # (trials, n)
            counts = (missed[:, :, None] == np.arange(PARTS + 1)).sum(axis=1)
            return np.isin(pattern_codes(Patterns(first=missed[:, 0], counts=counts)), accepted)

        return jumps[every, first_certified(certifies, trials, jumps.shape[1])]

    lambda_hat = np.stack([choose(accepted) for accepted in codes])
    return Choices(lambda_hat=lambda_hat, risk=1 - lambda_hat, cost=lambda_hat)


def _ranks(rule: Rule, n: int, alpha: float) -> np.ndarray:
    """The rank of the score that the rule chooses as half-width if the first score has rank 1..n: (n,).

    At the j-th smallest score n - j intervals miss, the first one among them if its rank is above j.
    """
    j = np.arange(1, n + 1)

    def certified(missed: np.ndarray, first: int) -> np.ndarray:
        counts = np.column_stack([n - missed, missed])
        return rule(Grouped(values=np.array([0.0, 1.0]), counts=counts, first=np.full(missed.size, first)), alpha)

    with_first = np.append(certified(n - j[:-1], 1), False)  # nothing is missed at j = n
    without_first = certified(n - j, 0)
    return 1 + np.where(j[:, None] > j, with_first, without_first).argmax(axis=1)


def _regression_choices(rng: np.random.Generator, ranks: np.ndarray, trials: int) -> Choices:
    scores = draw_scores(trials, ranks.shape[1], rng)
    first = (scores < scores[:, :1]).sum(axis=1)  # rank of the first score, from 0
    chosen = ranks[:, first] - 1  # (rules, trials)
    half_width = np.sort(scores, axis=1)[np.arange(trials), chosen]
    return Choices(lambda_hat=half_width, risk=1 - score_cdf(half_width), cost=2 * half_width)


def _multilabel_choices(rng: np.random.Generator, table: Sweep, n: int, alpha: float, trials: int) -> Choices:
    rows = table.loss.shape[1]
    order = rng.permuted(np.tile(np.arange(rows, dtype=np.uint16), (trials, 1)), axis=1)
    chosen_rows = order[:, :n]  # (trials, n)

    def at(candidate: np.ndarray) -> Grouped:
        loss = table.loss[candidate[:, None], chosen_rows]
        return Grouped(values=table.values, counts=loss_counts(loss, table.values.size), first=loss[:, 0].astype(int))

    def choose(rule: Rule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        chosen = first_certified(lambda candidate: rule(at(candidate), alpha), trials, table.thresholds.size)
        risk = (table.counts[chosen] - at(chosen).counts) @ table.values / (rows - n)
        size = table.sizes[chosen] - table.size[chosen[:, None], chosen_rows].sum(axis=1, dtype=int)
        return table.thresholds[chosen], risk, size / (rows - n)

    lambda_hat, risk, cost = np.stack([choose(rule) for rule in RULES.values()], axis=1)
    return Choices(lambda_hat=lambda_hat, risk=risk, cost=cost)
