"""Against the tabulated values of the paper's populations, scipy's integration, and simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from core.conformal.populations import (
    PARTS,
    all_patterns,
    binomial_law,
    draw_parts,
    draw_scores,
    order_statistic_law,
    score_cdf,
    score_quantile,
)

N, ALPHA = 10, 0.4


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_patterns_are_all_and_each_once(n):
    patterns = all_patterns(n)
    rows = np.column_stack([patterns.first, patterns.counts])
    assert len(rows) == len(np.unique(rows, axis=0)) == (PARTS + 1) * math.comb(n - 1 + PARTS, PARTS)
    assert (patterns.counts.sum(axis=1) == n).all()
    assert (patterns.counts[np.arange(len(rows)), patterns.first] >= 1).all()


@pytest.mark.parametrize(("n", "allowed"), [(1, 0), (3, 5), (10, 0), (10, 13), (10, 39)])
def test_a_limit_on_missed_parts_is_an_order_statistic_of_all_parts(n, allowed):
    """lambda_hat is then the (4n - allowed)-th smallest of 4n uniforms."""
    patterns = all_patterns(n)
    law = binomial_law(patterns, patterns.counts @ np.arange(PARTS + 1) <= allowed, ALPHA)
    beta = stats.beta(PARTS * n - allowed, allowed + 1)
    assert law.failure == pytest.approx(beta.cdf(1 - ALPHA), rel=1e-10)
    assert law.mean == pytest.approx(beta.mean(), abs=1e-12)


def test_tabulated_laws_of_the_binomial_population():
    patterns = all_patterns(N)
    missed = patterns.counts @ np.arange(PARTS + 1)
    crc, rcps = (binomial_law(patterns, missed <= allowed, ALPHA) for allowed in (13, 0))
    assert crc.failure == pytest.approx(0.21116, abs=5e-6)
    assert crc.mean == pytest.approx(27 / 41, abs=1e-12)
    assert rcps.failure == pytest.approx(1.3e-9, abs=0.05e-9)
    assert rcps.mean == pytest.approx(0.97561, abs=5e-6)


def test_a_rule_that_sees_the_first_example_agrees_with_simulation():
    trials = 40_000
    patterns = all_patterns(N)
    law = binomial_law(patterns, patterns.first <= 1, ALPHA)  # second largest of the first example's four uniforms
    parts = draw_parts(trials, N, np.random.default_rng(1))[:, 0]
    lam = np.sort(parts, axis=1)[:, -2]
    assert abs((lam < 1 - ALPHA).mean() - law.failure) < 4 * math.sqrt(0.25 / trials)
    assert abs(lam.mean() - law.mean) < 4 * lam.std() / math.sqrt(trials)


@pytest.mark.parametrize("s", [0.0, 1e-9, 0.01, 0.3, 1.0, 3.0, 4.0, 9.0, 39.0])
def test_score_cdf_is_the_mixture_of_normals(s):
    def given_x(x):
        return math.erf(s / (x * math.sqrt(2)))

    points = sorted({min(s, 3.9), min(s / 5, 3.9)} - {0.0})
    expected = integrate.quad(given_x, 0, 4, points=points or None, epsabs=1e-13, limit=300)[0] / 4
    assert float(score_cdf(s)) == pytest.approx(expected, abs=1e-12)


def test_tabulated_scores():
    np.testing.assert_allclose(score_cdf(np.array([1.0, 3.0, 4.0])), [0.488593, 0.832172, 0.906007], atol=5e-7)
    assert score_quantile(0.9) == pytest.approx(3.895422, abs=5e-7)


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.9, 0.999])
def test_quantile_inverts_the_cdf(coverage):
    assert float(score_cdf(score_quantile(coverage))) == pytest.approx(coverage, abs=1e-12)


@pytest.mark.parametrize(
    ("rank", "failure", "length"),
    [(181, 0.46554, 7.878), (187, 0.05656, 9.096), (188, 0.03205, 9.346), (198, 0, 14.15)],
)
def test_tabulated_order_statistics(rank, failure, length):
    law = order_statistic_law(np.full(200, rank), 0.1)
    assert law.failure == pytest.approx(failure, abs=5e-6)
    assert 2 * law.mean == pytest.approx(length, abs=5e-3 if rank == 198 else 1e-3)


def test_one_score_has_the_mean_of_the_population():
    assert order_statistic_law(np.array([1]), 0.1).mean == pytest.approx(2 * math.sqrt(2 / math.pi), abs=1e-8)


def test_a_rank_that_follows_the_first_example_agrees_with_simulation():
    trials, n = 40_000, 20
    ranks = np.where(np.arange(1, n + 1) <= 10, 15, 19)
    law = order_statistic_law(ranks, 0.1)
    scores = draw_scores(trials, n, np.random.default_rng(2))
    first = (scores <= scores[:, :1]).sum(axis=1)
    lam = np.sort(scores, axis=1)[np.arange(trials), ranks[first - 1] - 1]
    assert abs((score_cdf(lam) < 0.9).mean() - law.failure) < 4 * math.sqrt(0.25 / trials)
    assert abs(lam.mean() - law.mean) < 4 * lam.std() / math.sqrt(trials)


def test_scores_follow_their_cdf():
    scores = draw_scores(200, 100, np.random.default_rng(3)).ravel()
    assert stats.kstest(scores, score_cdf).pvalue > 1e-4


@pytest.mark.parametrize("draw", [draw_parts, draw_scores])
def test_draws_do_not_depend_on_how_many_trials_are_drawn_at_a_time(draw):
    whole = draw(7, 5, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    np.testing.assert_array_equal(whole, np.concatenate([draw(3, 5, rng), draw(4, 5, rng)]))
