"""Registers: the tiny exact case, brute force over tie orders."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.common.errors import InputError
from core.targeting.register import register

Y = np.arange(1.0, 11.0)
PRED = np.array([2.0, 1, 5, 3, 6, 4, 9, 7, 8, 10])


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"), [(0.2, 0.2, 1), (0.2, 0.3, 2 / 3), (0.3, 0.3, 2 / 3), (0.5, 0.3, 1)]
)
def test_reference_case(alpha, beta, expected):
    assert register(Y, PRED, beta=beta, low_is_worst=True).at(alpha) == pytest.approx(expected)
    assert register(-Y, -PRED, beta=beta, low_is_worst=False).at(alpha) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=6), st.integers(1, 5))
def test_ties_give_the_average_over_all_orders(rows, worst):
    outcome, score = np.array(rows, dtype=float).T
    n = outcome.size
    worst = min(worst, n - 1)
    flags = outcome <= np.sort(outcome)[worst - 1]
    assume(not flags.all())
    made = curve = register(outcome, score, beta=worst / n, low_is_worst=True)
    assert made.beta == pytest.approx(flags.mean())
    for k in range(n + 1):
        orders = [order for order in itertools.permutations(range(n)) if (np.diff(score[list(order)]) >= 0).all()]
        expected = np.mean([flags[list(order[:k])].sum() / flags.sum() for order in orders])
        assert curve.at(k / n) == pytest.approx(expected)


@given(st.integers(5, 60), st.integers(0, 2**31), st.sampled_from([0.2, 0.4]))
def test_laws_of_the_curve(n, seed, beta):
    rng = np.random.default_rng(seed)
    outcome, score = rng.normal(size=n).round(1), rng.normal(size=n).round(1)
    curve = register(outcome, score, beta=beta, low_is_worst=True)
    alpha = np.linspace(0, 1, 41)
    reached = curve.at(alpha)
    assert (np.diff(reached) >= -1e-12).all()
    assert (reached <= np.minimum(alpha / curve.beta, 1) + 1e-12).all()  # never above the perfect line
    order = rng.permutation(n)
    again = register(outcome[order], score[order], beta=beta, low_is_worst=True)
    np.testing.assert_allclose(again.at(alpha), reached, atol=1e-12)
    for target in (0.3, 0.9):
        assert curve.at(curve.needed_capacity(target)) == pytest.approx(target, abs=1e-9)


def test_weights_are_people():
    twice = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 1.0])
    weighted = register(Y, PRED, beta=0.3, low_is_worst=True, weights=twice)
    repeated = register(
        np.repeat(Y, twice.astype(int)), np.repeat(PRED, twice.astype(int)), beta=0.3, low_is_worst=True
    )
    alpha = np.linspace(0, 1, 29)
    np.testing.assert_allclose(weighted.at(alpha), repeated.at(alpha), atol=1e-12)


def test_scores_that_differ_by_rounding_are_ties():
    outcome = np.array([0.0, 1.0, 0.0, 1.0])
    score = np.array([0.3, 0.1 + 0.2, 0.3, 0.3])
    assert register(outcome, score, beta=0.5, low_is_worst=True).at(0.5) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"beta": 0.01}, "less than one person"),
        ({"beta": 1.0}, "between 0 and 1"),
        ({"outcome": np.array([1.0, np.inf, *Y[2:]])}, "'outcome', row 2"),
        ({"score": np.array([1.0, np.nan, *Y[2:]])}, "'score', row 2"),
        ({"score": PRED[:5]}, "do not fit"),
        ({"weights": np.array([1.0] * 9 + [0.0])}, "'weight', row 10"),
    ],
)
def test_bad_registers_are_refused(change, words):
    asked = {"outcome": Y, "score": PRED, "beta": 0.3, "low_is_worst": True, **change}
    with pytest.raises(InputError, match=f"(?i){words}"):
        register(asked.pop("outcome"), asked.pop("score"), **asked)
