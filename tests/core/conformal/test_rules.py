"""Rules: what each needs by brute force, laws that hold for all of them, and their promises by simulation."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.common.errors import InputError
from core.conformal.rules import RULES, rule

EVERY_RULE = pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
samples = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(np.array)


def test_keys_are_different_and_found():
    assert [rule(each.key) for each in RULES] == list(RULES)
    with pytest.raises(KeyError):
        rule("best")


@EVERY_RULE
@pytest.mark.parametrize(
    ("alpha", "beta", "bound"), [(0.1, 0.95, 1.0), (0.2, 0.8, 1.0), (0.5, 0.9, 4.0), (0.3, 0.5, 1.0)]
)
def test_needed_cases_are_the_first_that_certify_without_loss(each, alpha, beta, bound):
    n = each.needs(alpha, beta, bound)
    enough = [each.upper(np.zeros(m), bound, beta) <= alpha * (1 + 1e-12) for m in range(1, n + 30)]
    assert enough == [m >= n for m in range(1, n + 30)]


@pytest.mark.parametrize(
    ("key", "alpha", "expected"),
    [("crc", 0.1, 9), ("bq", 0.1, 29), ("bq", 0.05, 59), ("hoeffding", 0.1, 150), ("hoeffding", 0.05, 600)],
)
def test_needed_cases_of_the_literature(key, alpha, expected):
    assert rule(key).needs(alpha, 0.95) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 60), st.sampled_from(["0.5", "0.75", "0.9", "0.95", "0.99"]))
def test_needed_cases_are_exact_in_rational_arithmetic(numerator, bound, beta):
    alpha = Fraction(numerator, 1000) * bound
    n = rule("crc").needs(alpha, beta, bound)
    assert Fraction(bound, n + 1) <= alpha
    assert n == 1 or Fraction(bound, n) > alpha
    hit, doubt = 1 - alpha / bound, 1 - Fraction(beta)
    for key in ("bq", "hoeffding_bentkus"):
        n = rule(key).needs(alpha, beta, bound)
        assert hit**n <= doubt < hit ** (n - 1)


@EVERY_RULE
def test_a_limit_that_is_none_needs_one_case_and_impossible_ones_are_refused(each):
    assert each.needs(2.0, 0.9, 2.0) == 1
    for alpha, beta, bound in ((0, 0.9, 1), (0.1, 1, 1), (0.1, 0, 1), (0.1, 0.9, 0)):
        with pytest.raises(InputError, match="have to be positive"):
            each.needs(alpha, beta, bound)


@pytest.mark.parametrize("key", ["crc", "bq", "hoeffding", "hoeffding_bentkus", "empirical_bernstein"])
def test_tiny_limits_need_no_search(key):
    assert rule(key).needs("1e-9", 0.95) >= 10**9 - 1


@EVERY_RULE
@settings(max_examples=10, deadline=None)
@given(losses=samples, scale=st.sampled_from([0.25, 3.0, 1000.0]))
def test_upper_values_scale_with_the_largest_loss(each, losses, scale):
    upper = each.upper(losses, 1.0, 0.9)
    assert each.upper(losses * scale, scale, 0.9) == pytest.approx(scale * upper, rel=1e-7, abs=1e-9 * scale)


@EVERY_RULE
@settings(max_examples=10, deadline=None)
@given(losses=samples)
def test_more_certainty_never_lowers_the_upper_value(each, losses):
    uppers = [each.upper(losses, 1.0, beta) for beta in (0.5, 0.8, 0.95, 0.999)]
    assert all(after >= before - 1e-9 for before, after in pairwise(uppers))


@EVERY_RULE
@settings(max_examples=10, deadline=None)
@given(losses=samples, data=st.data())
def test_smaller_losses_never_raise_a_monotone_rule(each, losses, data):
    smaller = losses * np.array(data.draw(st.lists(st.floats(0, 1), min_size=losses.size, max_size=losses.size)))
    if each.monotone:
        assert each.upper(smaller, 1.0, 0.9) <= each.upper(losses, 1.0, 0.9) + 1e-9


@EVERY_RULE
@settings(max_examples=10, deadline=None)
@given(losses=samples, seed=st.integers(0, 99))
def test_order_matters_to_betting_only(each, losses, seed):
    shuffled = np.random.default_rng(seed).permutation(losses)
    if each.key != "wsr":
        assert each.upper(shuffled, 1.0, 0.9) == pytest.approx(each.upper(losses, 1.0, 0.9), abs=1e-9)


@EVERY_RULE
def test_bad_losses_are_refused_by_every_rule(each):
    for bad in ([0.0, np.nan], [0.0, -0.1], [0.0, 1.1], []):
        with pytest.raises(InputError):
            each.upper(np.array(bad), 1.0, 0.9)


def test_for_two_valued_losses_bayesian_quadrature_is_clopper_and_pearson():
    for n, failures in ((20, 3), (100, 5), (1000, 80), (10, 10)):
        losses = 5.0 * np.repeat([1.0, 0.0], [failures, n - failures])
        limit = stats.binomtest(failures, n).proportion_ci(0.9, method="exact").high
        assert rule("bq").upper(losses, 5.0, 0.95) == pytest.approx(5 * limit, abs=1e-9)


def test_the_crc_threshold_uses_the_sample_size_not_one_more():
    """n = 10, alpha = .1: the mean loss may be .0100, not .0191 (a notebook's slip)."""
    upper = rule("crc").upper
    assert upper(np.full(10, 0.0100), 1.0, 0.9) <= 0.1 + 1e-12
    assert upper(np.full(10, 0.0191), 1.0, 0.9) > 0.1


def test_bayesian_quadrature_of_two_valued_losses_seldom_lies_below_the_mean():
    rng, trials, n, beta, share = np.random.default_rng(11), 400, 30, 0.8, 0.15
    misled = sum(rule("bq").upper((rng.random(n) < share).astype(float), 1.0, beta) < share for _ in range(trials))
    assert misled / trials <= 1 - beta + 4 * math.sqrt(beta * (1 - beta) / trials)
