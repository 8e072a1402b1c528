"""The paper's two synthetic populations (arXiv 2502.13228, sections 5.1 and 5.2) with what is exactly true of them.

Binomial losses: an example has four parts, each found with probability lambda independently of the others, and its
loss is the share that was missed; the risk is 1 - lambda. Heteroskedastic regression: x ~ U(0, 4), y ~ N(0, x^2),
predicted by 0; the score is |y|, the loss 1{|y| > lambda}, the risk 1 - F(lambda).

A rule that looks at losses only chooses a lambda whose law is known: from the finitely many ways in which n examples
can miss parts in the first population, from order statistics in the second. Both laws are computed here without
simulation, also for rules that tell the first example from the others (the weights slip of the published code does).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, pi, sqrt

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq
from scipy.special import betainc, erf, exp1, gammaln, ndtr, xlogy

__all__ = [
    "PARTS",
    "Law",
    "Patterns",
    "all_patterns",
    "binomial_law",
    "draw_parts",
    "draw_scores",
    "order_statistic_law",
    "pattern_codes",
    "score_cdf",
    "score_quantile",
]

PARTS = 4
_X_MAX = 4.0
_SCORE_MAX = 40.0  # ten standard deviations at the largest x: a larger score has probability below 1e-23
_NODES = 400


@dataclass(frozen=True, kw_only=True)
class Law:
    """Of the lambda that a rule chooses: ``failure``, the probability that its risk exceeds alpha, and its mean."""

    failure: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """Ways in which n examples can miss parts, the first example told apart from the others, whose order is not told.

    ``first`` (m,) holds how many parts the first example misses; ``counts`` (m, PARTS + 1) how many of all n examples,
    the first included, miss 0, 1, .., PARTS parts.
    """

    first: np.ndarray
    counts: np.ndarray


def draw_parts(trials: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Independent U(0, 1) values (trials, n, PARTS): a part is missed at lambda where its value is above lambda."""
    return rng.random((trials, n, PARTS))


def draw_scores(trials: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Independent scores |y| (trials, n), y ~ N(0, x^2), x ~ U(0, 4).

    >>> bool(abs((draw_scores(100, 1000, np.random.default_rng(0)) <= 3).mean() - score_cdf(3.0)) < 0.005)
    True
    """
    # One kind of draw in the order of the trials: then it does not matter in how many calls they are drawn.
    normal = rng.standard_normal((trials, n, 2))
    return _X_MAX * ndtr(normal[..., 0]) * np.abs(normal[..., 1])


def all_patterns(n: int) -> Patterns:
    """Every pattern of n >= 1 examples: (PARTS + 1) * comb(n - 1 + PARTS, PARTS) of them, 3,575 for n = 10."""
    others = _compositions(n - 1)
    first = np.repeat(np.arange(PARTS + 1), len(others))
    counts = np.tile(others, (PARTS + 1, 1)) + np.eye(PARTS + 1, dtype=int)[first]
    return Patterns(first=first, counts=counts)


def pattern_codes(patterns: Patterns) -> np.ndarray:
    """A whole number for each pattern (m,), the same only for the same pattern of as many examples.

    >>> codes = pattern_codes(all_patterns(10))
    >>> codes.size, np.unique(codes).size, int(codes.max()) < 5 * 11**4
    (3575, 3575, True)
    """
    side = patterns.counts[0].sum() + 1
    digits = (patterns.first, *patterns.counts[:, 1:].T)
    return np.ravel_multi_index(digits, (PARTS + 1, *[side] * PARTS))


def binomial_law(patterns: Patterns, certified: np.ndarray, alpha: float) -> Law:
    """The law of lambda_hat = inf{lambda : the pattern at lambda is certified} for binomial losses.

    ``certified`` (m,) says which patterns the rule accepts; missing fewer parts must not undo acceptance. With
    P(lambda) the probability of an accepted pattern at lambda, Pr(lambda_hat <= lambda) = P(lambda), the failure
    probability is P(1 - alpha), and the mean is the integral over [0, 1] of 1 - P, a polynomial that Gauss-Legendre
    quadrature integrates exactly.
    """
    n = int(patterns.counts[0].sum())
    nodes, weights = leggauss(PARTS * n // 2 + 1)
    refused = _probability(patterns, (nodes + 1) / 2)[:, ~certified].sum(axis=1)
    failure = _probability(patterns, np.array([1 - alpha]))[:, certified].sum()
    return Law(failure=float(failure), mean=float(weights @ refused / 2))


def score_cdf(score: np.ndarray | float) -> np.ndarray:
    """F(s) = Pr(|y| <= s) = 1/4 int_0^4 erf(s / (x sqrt 2)) dx, in closed form through the exponential integral.

    Scores are >= 0; the shape is kept.

    >>> score_cdf(np.array([0.0, 1.0, 4.0])).round(6)
    array([0.      , 0.488593, 0.906007])
    """
    s = np.asarray(score, dtype=float)
    squared = s**2 / (2 * _X_MAX**2)
    tail = exp1(np.where(s > 0, squared, 1.0))
    return erf(np.sqrt(squared)) + np.where(s > 0, s * tail / (_X_MAX * sqrt(2 * pi)), 0.0)


def score_quantile(coverage: float) -> float:
    """The half-width lambda with F(lambda) = ``coverage`` in (0, 1): the shortest symmetric interval that is safe.

    >>> round(score_quantile(0.9), 6)
    3.895422
    """
    return float(brentq(lambda s: float(score_cdf(s)) - coverage, 0.0, _SCORE_MAX, xtol=1e-13))


def order_statistic_law(ranks: np.ndarray, alpha: float) -> Law:
    """The law of the half-width s_(k) for heteroskedastic scores, where k = ``ranks[r - 1]`` if the first has rank r.

    ``ranks`` (n,) holds whole numbers 1..n; for a rule that ignores the order of rows they are all equal. F(s_(k)) ~
    Beta(k, n + 1 - k), independent of which rank the first example has, hence the failure probability
    Pr(F(s_(k)) < 1 - alpha); the mean is the integral of Pr(s_(k) > s) over s.

    >>> order_statistic_law(np.full(200, 188), 0.1)  # the paper's n and the rank of Bayesian quadrature
    Law(failure=0.03204..., mean=4.67...)
    """
    n = len(ranks)
    rank, times = np.unique(ranks, return_counts=True)
    share = times / n
    nodes, weights = leggauss(_NODES)
    cdf = score_cdf((nodes + 1) * _SCORE_MAX / 2)
    survival = 1 - share @ betainc(rank[:, None], n + 1 - rank[:, None], np.minimum(cdf, 1.0))
    failure = share @ betainc(rank, n + 1 - rank, 1 - alpha)
    return Law(failure=float(failure), mean=float(weights @ survival) * _SCORE_MAX / 2)


def _compositions(n: int) -> np.ndarray:
    """All (comb(n + PARTS, PARTS), PARTS + 1) arrays of counts >= 0 that add up to n."""
    grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * PARTS, indexing="ij"), axis=-1).reshape(-1, PARTS)
    kept = grid[grid.sum(axis=1) <= n]
    return np.column_stack([n - kept.sum(axis=1), kept])


def _probability(patterns: Patterns, lam: np.ndarray) -> np.ndarray:
    """Probability (len(lam), m) of each pattern at each lambda."""
    missed = np.arange(PARTS + 1)
    others = patterns.counts - np.eye(PARTS + 1, dtype=int)[patterns.first]
    parts_missed = patterns.counts @ missed
    ways = gammaln(others.sum(axis=1) + 1) - gammaln(others + 1).sum(axis=1)
    ways += patterns.counts @ np.log([comb(PARTS, k) for k in missed])
    parts = PARTS * patterns.counts[0].sum()
    lam = lam[:, None]
    return np.exp(ways + xlogy(parts_missed, 1 - lam) + xlogy(parts - parts_missed, lam))
