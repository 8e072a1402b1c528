"""The bootstrap in blocks beside the plain one, and its intervals on registers whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.targeting.gaussian import needed_capacity, value
from core.targeting.populations import gaussian_register
from core.targeting.register import ranked
from core.targeting.resampling import Resampler, estimate
from core.targeting.worst_off import by_label, by_share

ALPHA = np.array([0.05, 0.1, 0.2, 0.5])


def plain_bootstrap(flag, score, draws, rng):
    """V at each capacity with rows drawn with replacement, as one would write it."""
    found = []
    for _ in range(draws):
        rows = rng.integers(flag.size, size=flag.size)
        order = rows[np.argsort(score[rows], kind="stable")]
        cumulated = np.cumsum(flag[order]) / flag[rows].sum()
        found.append(np.interp(ALPHA * flag.size, np.arange(1, flag.size + 1), cumulated))
    return np.array(found)


@pytest.mark.parametrize("n", [400, 3000])
@pytest.mark.parametrize("sort_rows", [False, True])
def test_the_spread_is_the_plain_bootstraps(n, sort_rows):
    rng = np.random.default_rng(n)
    y, score = gaussian_register(n, 0.3, rng)
    if sort_rows:  # a register ordered by its outcome is still dealt into random blocks
        order = np.argsort(y)
        y, score = y[order], score[order]
    worst_off = by_share(y, 0.2, low_is_worst=True)
    blocks = Resampler(worst_off, draws=2000, rng=rng).curves(score, low_is_worst=True).at(ALPHA)
    plain = plain_bootstrap(worst_off.flag, score, 2000, rng)
    np.testing.assert_allclose(blocks.mean(axis=0), plain.mean(axis=0), atol=0.004)
    np.testing.assert_allclose(blocks.std(axis=0), plain.std(axis=0), rtol=0.1)


@given(st.integers(5, 200), st.integers(0, 2**31), st.booleans())
def test_the_first_row_is_the_register_itself(n, seed, weighted):
    rng = np.random.default_rng(seed)
    y, score = rng.normal(size=n), rng.normal(size=n).round(1)
    weights = rng.uniform(0.5, 2, n) if weighted else None
    worst_off = by_share(y, 0.4, low_is_worst=True, weights=weights)
    made = Resampler(worst_off, draws=3, rng=rng).curves(score, low_is_worst=True)
    exact = ranked(worst_off, score, low_is_worst=True)
    np.testing.assert_allclose(made.capacity[0], exact.capacity, atol=1e-12)  # so few scores have a bin each
    np.testing.assert_allclose(made.reached[0], exact.reached, atol=1e-12)
    np.testing.assert_allclose(made.with_original(ALPHA)[0], made.original(ALPHA))


def test_intervals_hold_the_truth_as_often_as_they_say():
    alpha, beta, r2, trials = 0.15, 0.15, 0.15, 400
    truth, needed = value(alpha, beta, r2), needed_capacity(0.75, beta, r2)
    hits = np.zeros(2)
    for trial in range(trials):
        rng = np.random.default_rng([7, trial])
        y, score = gaussian_register(3000, r2, rng)
        worst_off = by_share(y, beta, low_is_worst=True)
        curves = Resampler(worst_off, draws=200, rng=rng).curves(score, low_is_worst=True)
        for place, (draws, right) in enumerate(
            ((curves.at(alpha)[:, 0], truth), (curves.needed_capacity(0.75), needed))
        ):
            made = estimate(right, draws, 0.9)
            hits[place] += made.low <= right <= made.high
    assert (np.abs(hits / trials - 0.9) < 0.055).all(), hits / trials  # 3.5 standard errors of 400 trials


def test_all_curves_of_a_register_share_their_resamples():
    rng = np.random.default_rng(3)
    y, score = gaussian_register(5000, 0.3, rng)
    resampler = Resampler(by_share(y, 0.2, low_is_worst=True), draws=300, rng=rng)
    first, second = (resampler.curves(score, low_is_worst=True).at(ALPHA) for _ in range(2))
    assert np.abs(first - second).max() < 0.02
    assert np.corrcoef(first[:, 2], second[:, 2])[0, 1] > 0.95


def test_rows_several_times_over_are_no_more_information():
    rng = np.random.default_rng(4)
    y, score = gaussian_register(2000, 0.3, rng)
    resampler = Resampler(by_share(y, 0.2, low_is_worst=True), draws=500, rng=rng)
    once = resampler.curves(score, low_is_worst=True).at(ALPHA)
    thrice = resampler.curves(np.tile(score, 3), low_is_worst=True).at(ALPHA)
    np.testing.assert_allclose(once.std(axis=0), thrice.std(axis=0), rtol=0.02)


def test_unknown_rows_count_nothing():
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 500).astype(float)
    score = rng.normal(size=500)
    label[:100] = np.nan
    known = Resampler(by_label(label[100:]), draws=800, rng=rng).curves(score[100:], low_is_worst=True).at(ALPHA)
    hidden = Resampler(by_label(label), draws=800, rng=rng).curves(score, low_is_worst=True).at(ALPHA)
    np.testing.assert_allclose(hidden.mean(axis=0), known.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(hidden.std(axis=0), known.std(axis=0), rtol=0.2)


def test_intervals_take_infinities_as_figures_and_leave_out_what_does_not_exist():
    made = estimate(2.0, np.array([1.0, 2.0, np.inf, np.nan]), 0.9)
    assert (made.low, made.high) == (1.0, np.inf)
    assert np.isnan(estimate(np.nan, np.array([np.nan]), 0.9).low)


def test_one_person_has_no_band():
    one = by_share(np.arange(10.0), 0.3, low_is_worst=True)
    single = type(one)(flag=np.array([True]), weight=np.ones(1), beta=1.0, bounds=(1, 1), threshold=0.0)
    with pytest.raises(InputError, match="only one person"):
        Resampler(single, draws=10, rng=np.random.default_rng(0))
