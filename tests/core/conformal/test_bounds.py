"""Bounds: reference values, their formulas by naive loops and scipy, and the theorems by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from core.common.errors import InputError
from core.conformal import bounds

TEN = np.array([0.02, 0.05, 0.05, 0.11, 0.13, 0.2, 0.2, 0.31, 0.44, 0.7])
TWO_HUNDRED = ((37 * np.arange(1, 201)) % 101) / 1000
THOUSAND = 0.2 * ((619 * np.arange(1, 1001)) % 997) / 997
ALL = [bounds.hoeffding, bounds.hoeffding_bentkus, bounds.wsr, bounds.empirical_bernstein]
samples = st.lists(st.floats(0, 1), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize(
    ("bound", "losses", "expected"),
    [
        (bounds.hoeffding, TEN, 0.6080227560),
        (bounds.hoeffding_bentkus, TEN, 0.6006710918),
        (bounds.hoeffding_bentkus_floor, TEN, 0.5757956880),
        (bounds.wsr, TEN, 0.5690782677),
        (bounds.empirical_bernstein, TEN, 1.0),
        (bounds.hoeffding, TWO_HUNDRED, 0.1367209191),
        (bounds.hoeffding_bentkus, TWO_HUNDRED, 0.0970723247),
        (bounds.hoeffding_bentkus_floor, TWO_HUNDRED, 0.0928341418),
        (bounds.wsr, TWO_HUNDRED, 0.0659827551),
        (bounds.empirical_bernstein, TWO_HUNDRED, 0.0990302645),
        (bounds.hoeffding, THOUSAND, 0.1386473107),
        (bounds.wsr, THOUSAND, 0.1046002901),
    ],
)
def test_reference_values(bound, losses, expected):
    assert bound(losses, 1.0, 0.05) == pytest.approx(expected, abs=2e-10)


def naive_wsr(losses, delta):
    """The published definition, one loss after the other."""
    n = len(losses)

    def wealth(risk):
        best, product, total, spread = 0.0, 1.0, 0.0, 0.0
        variance = 0.25
        for t, x in enumerate(losses, start=1):
            bet = min(1, math.sqrt(2 * math.log(1 / delta) / (n * variance)))
            product *= 1 - bet * (x - risk)
            best = max(best, product)
            total += x
            mean = (0.5 + total) / (1 + t)
            spread += (x - mean) ** 2
            variance = (0.25 + spread) / (1 + t)
        return best - 1 / delta

    return 1.0 if wealth(1.0) <= 0 else optimize.bisect(wealth, 0, 1, xtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(samples, st.sampled_from([0.01, 0.05, 0.2]))
def test_wsr_equals_its_definition(losses, delta):
    assert bounds.wsr(losses, 1.0, delta) == pytest.approx(naive_wsr(losses, delta), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(samples, st.sampled_from([0.01, 0.05, 0.2]))
def test_hoeffding_bentkus_is_where_its_tail_meets_delta(losses, delta):
    limit, n, total = bounds.hoeffding_bentkus(losses, 1.0, delta), losses.size, math.fsum(losses)
    mean = total / n

    def tail(mu):
        divergence = stats.entropy([mean, 1 - mean], [mu, 1 - mu])
        return min(math.exp(-n * divergence), math.e * stats.binom.cdf(math.ceil(total - 1e-9 * max(1, total)), n, mu))

    if limit < 1 - 1e-9:
        assert tail(min(limit + 1e-7, 1 - 1e-12)) <= delta * (1 + 1e-6)
    if limit > mean + 1e-6:
        assert tail(limit - 1e-7) >= delta * (1 - 1e-6)


@pytest.mark.parametrize("bound", ALL)
@given(losses=samples, scale=st.sampled_from([0.25, 3.0, 1000.0]))
@settings(max_examples=30, deadline=None)
def test_bounds_scale_with_the_largest_loss(bound, losses, scale):
    assert bound(losses * scale, scale, 0.1) == pytest.approx(scale * bound(losses, 1.0, 0.1), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("bound", ALL)
@given(losses=samples)
@settings(max_examples=30, deadline=None)
def test_bounds_lie_between_the_mean_and_the_largest_loss_and_fall_with_delta(bound, losses):
    limits = [bound(losses, 1.0, delta) for delta in (0.2, 0.05, 0.01)]
    assert limits == sorted(limits)
    assert limits[-1] <= 1.0
    if bound is not bounds.wsr:  # a bet may lose
        assert limits[0] >= losses.mean() - 1e-12


@pytest.mark.parametrize("bound", [bounds.hoeffding, bounds.hoeffding_bentkus, bounds.empirical_bernstein])
def test_order_matters_only_to_the_betting_bound(bound):
    assert bound(TEN[::-1], 1.0, 0.05) == pytest.approx(bound(TEN, 1.0, 0.05), rel=1e-12)
    assert abs(bounds.wsr(TEN[::-1], 1.0, 0.05) - bounds.wsr(TEN, 1.0, 0.05)) > 1e-3


@pytest.mark.parametrize("bound", ALL)
@pytest.mark.parametrize("law", [stats.beta(1, 9), stats.bernoulli(0.3), stats.beta(0.2, 0.8)], ids=["b19", "b", "b28"])
def test_the_theorem_holds(bound, law):
    rng, trials, delta, n = np.random.default_rng(3), 300, 0.1, 40
    misled = sum(bound(law.rvs(n, random_state=rng), 1.0, delta) < law.mean() for _ in range(trials))
    assert misled / trials <= delta + 4 * math.sqrt(delta * (1 - delta) / trials)


@given(st.integers(1, 200), st.data())
def test_clopper_pearson_is_scipys(n, data):
    failures = data.draw(st.integers(0, n))
    losses = np.repeat([1.0, 0.0], [failures, n - failures])
    expected = stats.binomtest(failures, n).proportion_ci(0.9, method="exact").high
    assert bounds.clopper_pearson(losses, 1.0, 0.05) == pytest.approx(expected, abs=1e-10)


BETWEEN = [(bounds.wsr, bounds.wsr_between), (bounds.empirical_bernstein, bounds.empirical_bernstein_between)]


@pytest.mark.parametrize(("bound", "between"), BETWEEN)
@settings(max_examples=60, deadline=None)
@given(samples, st.floats(0.01, 0.99), st.sampled_from([0.05, 0.3]), st.sampled_from([1.0, 5.0]))
def test_between_equal_losses_is_the_bound_itself(bound, between, losses, limit, delta, largest):
    upper = bound(losses * largest, largest, delta)
    if abs(upper - limit * largest) > 1e-9 * largest:
        assert between(losses * largest, losses * largest, largest, delta, limit * largest) == (upper < limit * largest)


@pytest.mark.parametrize(("bound", "between"), BETWEEN)
@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(1, 80), width=st.sampled_from([0.02, 0.1, 0.5]), limit=st.floats(0.2, 0.99), seed=st.integers(0, 99)
)
def test_what_holds_between_two_samples_holds_for_each_in_between(bound, between, n, width, limit, seed):
    rng = np.random.default_rng(seed)
    low = rng.beta(0.5, 4, n) * (1 - width)
    high = low + width * rng.random(n)
    if between(low, high, 1.0, 0.2, limit):
        inside = [low, high, *(low + (high - low) * rng.integers(0, 2, n) for _ in range(10))]
        assert max(bound(losses, 1.0, 0.2) for losses in inside) <= limit + 1e-11


def test_a_sum_that_rounding_left_above_a_whole_number_counts_as_that_number():
    losses = np.array([0.1] * 30)  # adds up to 3.0000000000000013 in floats
    assert losses.sum() != 3
    whole = np.repeat([1.0, 0.0], [3, 27])
    assert bounds.hoeffding_bentkus(losses, 1.0, 0.05) == pytest.approx(
        bounds.hoeffding_bentkus(whole, 1.0, 0.05), abs=1e-9
    )


@pytest.mark.parametrize("bound", [*ALL, bounds.clopper_pearson])
def test_bad_losses_are_named(bound):
    for bad, row in ((np.array([0.0, np.nan]), 2), (np.array([-0.1, 0.0]), 1), (np.array([0.0, 0.0, 1.5]), 3)):
        with pytest.raises(InputError, match=f"Row {row}"):
            bound(bad, 1.0, 0.05)
    with pytest.raises(InputError, match="no loss"):
        bound(np.array([]), 1.0, 0.05)
    with pytest.raises(InputError, match="Delta"):
        bound(np.array([0.0]), 1.0, 1.0)


def test_graded_losses_have_no_clopper_pearson_limit():
    with pytest.raises(InputError, match="Row 2"):
        bounds.clopper_pearson(np.array([0.0, 0.5]), 1.0, 0.05)


def test_the_published_floor_is_found_even_where_its_tail_falls_to_delta_below_the_mean():
    """One loss of .99: floor 0, so e (1 - mu) = delta; ceil 1 leaves no bound at all."""
    assert bounds.hoeffding_bentkus_floor(np.array([0.99]), 1.0, 0.05) == pytest.approx(1 - 0.05 / math.e, abs=1e-12)
    assert bounds.hoeffding_bentkus_floor(np.array([0.99]), 1.0, 0.5) == pytest.approx(1 - 0.5 / math.e, abs=1e-12)
    assert bounds.hoeffding_bentkus(np.array([0.99]), 1.0, 0.05) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(samples, st.sampled_from([1e-9, 0.05, 0.5, 0.999]))
def test_the_floor_never_gives_the_larger_bound(losses, delta):
    floor = bounds.hoeffding_bentkus_floor(losses, 1.0, delta)
    assert 0 <= floor <= bounds.hoeffding_bentkus(losses, 1.0, delta) + 1e-12


def test_a_million_losses_do_not_underflow():
    losses = np.random.default_rng(0).beta(1, 9, 1_000_000)
    for bound in ALL:
        assert losses.mean() < bound(losses, 1.0, 0.05) < losses.mean() + 0.0015
