"""Ranks are exact: against rational arithmetic, binomial tails, and simulated coverage."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.common.errors import InputError
from core.conformal.ranks import (
    bayesian_quadrature_rank,
    hoeffding_rank,
    kth_smallest,
    needed_for_bayesian_quadrature,
    needed_for_hoeffding,
    needed_for_split_conformal,
    split_conformal_rank,
)


def test_every_rank_up_to_a_thousand_equals_rational_arithmetic():
    wrong_in_floats = 0
    for percent in range(1, 51):
        alpha = percent / 100
        for n in range(1, 1000):
            exact = -((-(n + 1) * (100 - percent)) // 100)
            assert split_conformal_rank(n, alpha) == (exact if exact <= n else None)
            wrong_in_floats += math.ceil((n + 1) * (1 - alpha)) != exact
    assert wrong_in_floats > 50  # a float ceil is wrong often enough to matter


@pytest.mark.parametrize(
    ("n", "alpha", "split", "quadrature"),
    [
        (99, 0.1, 90, 95),
        (200, 0.1, 181, 188),
        (1000, 0.1, 901, 916),
        (500, 0.05, 476, 484),
        (9, 0.1, 9, None),
        (19, 0.05, 19, None),
        (40, 0.2, 33, 37),
    ],
)
def test_reference_ranks(n, alpha, split, quadrature):
    assert split_conformal_rank(n, alpha) == split
    assert bayesian_quadrature_rank(n, alpha, 0.95) == quadrature


@pytest.mark.parametrize(
    ("n", "level", "expected"),
    [(20, "0.90", 19), (99, "0.90", 90), (19, "0.95", 19), (9, "0.90", 9), (8, "0.90", math.inf), (20, "0.95", 20)],
)
def test_scores_that_peers_get_wrong(n, level, expected):
    scores = np.arange(1, n + 1)
    assert kth_smallest(scores, split_conformal_rank(n, 1 - Fraction(level))) == expected


@settings(max_examples=200)
@given(st.integers(1, 400), st.integers(1, 99), st.integers(50, 99))
def test_quadrature_rank_is_clopper_and_pearson(n, alpha, beta):
    alpha, beta = alpha / 100, beta / 100
    k = bayesian_quadrature_rank(n, alpha, beta)
    limits = {
        rank: stats.binomtest(n - rank, n).proportion_ci(2 * beta - 1, method="exact").high
        for rank in ({k, k - 1} if k else {n})
        if rank >= 1
    }
    if k is None:
        assert limits[n] > alpha
    else:
        assert limits[k] <= alpha * (1 + 1e-9)
        assert k == 1 or limits[k - 1] > alpha * (1 - 1e-9)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.sampled_from(["0.1", "0.5", "0.25", "1/3"]), st.integers(0, 60))
def test_a_probability_that_meets_beta_exactly_counts(n, alpha, misses):
    """beta is set to the very probability of some rank: that rank is the answer, in rational arithmetic only."""
    alpha, misses = Fraction(alpha), min(misses, n - 1)
    tail = sum(math.comb(n, j) * alpha**j * (1 - alpha) ** (n - j) for j in range(misses + 1))
    assert bayesian_quadrature_rank(n, alpha, 1 - tail) == n - misses
    just_above = bayesian_quadrature_rank(n, alpha, 1 - tail + Fraction(1, 10**99))
    assert just_above == (n - misses + 1 if misses else None)


def test_a_certainty_next_to_one_is_decided_at_once():
    beta = "0." + "9" * 40
    k = bayesian_quadrature_rank(20_000, 0.1, beta)
    assert stats.binom.logcdf(20_000 - k, 20_000, 0.1) <= -40 * math.log(10)
    assert stats.binom.logcdf(20_000 - k + 1, 20_000, 0.1) > -40 * math.log(10)
    assert needed_for_bayesian_quadrature(0.1, beta) == math.ceil(40 * math.log(10) / -math.log(0.9))
    assert hoeffding_rank(20_000, 0.1, beta) > k
    assert needed_for_bayesian_quadrature("0.000001", 0.95) == 2_995_731


@given(st.integers(1, 2000), st.integers(1, 99), st.integers(1, 99))
def test_hoeffding_rank_is_the_first_that_meets_its_bound(n, alpha, beta):
    alpha, beta = alpha / 100, beta / 100
    margin = math.sqrt(math.log(1 / (1 - beta)) / (2 * n))
    meets = [k for k in range(1, n + 1) if (n - k) / n + margin <= alpha + 1e-12]
    assert hoeffding_rank(n, alpha, beta) == (meets[0] if meets else None)


@given(st.integers(1, 99), st.integers(1, 99))
def test_the_needed_number_is_the_first_that_suffices(alpha, beta):
    alpha, beta = alpha / 100, beta / 100
    pairs = (
        (needed_for_split_conformal(alpha), lambda n: split_conformal_rank(n, alpha)),
        (needed_for_bayesian_quadrature(alpha, beta), lambda n: bayesian_quadrature_rank(n, alpha, beta)),
    )
    for needed, rank in pairs:
        assert needed < 1 or rank(needed) is not None
        assert needed <= 1 or rank(needed - 1) is None


def test_needed_numbers_of_hoeffding():
    assert needed_for_hoeffding(0.1, 0.95) == 150
    assert needed_for_hoeffding(0.05, 0.95) == 600
    assert hoeffding_rank(150, 0.1, 0.95) == 150
    assert hoeffding_rank(149, 0.1, 0.95) is None


def test_coverage_of_the_chosen_score_holds_as_proved():
    rng, n, alpha, trials = np.random.default_rng(0), 50, 0.1, 20_000
    scores = np.sort(rng.random((trials, n)), axis=1)
    covered = scores[:, split_conformal_rank(n, alpha) - 1]  # uniform scores: coverage is the threshold itself
    assert covered.mean() >= 1 - alpha - 4 * covered.std() / math.sqrt(trials)
    sure = scores[:, bayesian_quadrature_rank(n, alpha, 0.9) - 1]
    assert (sure < 1 - alpha).mean() <= 0.1 + 4 * math.sqrt(0.09 / trials)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60), st.data())
def test_selection_equals_sorting(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert kth_smallest(scores, k) == sorted(scores)[k - 1]


def test_selection_works_above_two_to_the_twenty_four_scores():
    scores = np.random.default_rng(0).permutation(2**24 + 9).astype(np.float32).astype(float)
    assert kth_smallest(scores, 12_345_678) == 12_345_677


@pytest.mark.parametrize("bad", [0, 1, -0.1, "abc", float("nan")])
def test_a_share_outside_zero_to_one_is_refused(bad):
    with pytest.raises(InputError):
        split_conformal_rank(10, bad)


def test_missing_scores_are_named():
    with pytest.raises(InputError, match="Row 2"):
        kth_smallest([1.0, math.nan], 1)
    with pytest.raises(InputError, match="no score"):
        kth_smallest([], 1)
