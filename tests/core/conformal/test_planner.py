"""Planning: against brute force over all sizes, and against the posterior itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.common.errors import InputError
from core.conformal.planner import allowed_failures, assurance, further_cases, needed_cases
from core.conformal.quadrature import RiskPosterior

shares = st.sampled_from([0.05, 0.1, 0.2, 0.3])
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@pytest.mark.parametrize(("n", "expected"), [(25, 0.746), (50, 0.888), (75, 0.946), (100, 0.973)])
def test_reference_probabilities_at_eight_per_cent_failures(n, expected):
    assert RiskPosterior.from_failures(round(0.08 * n), n).cdf(0.15) == pytest.approx(expected, abs=5e-4)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), shares, levels)
def test_allowed_failures_are_the_most_that_certify(n, alpha, beta):
    most = int(allowed_failures(n, alpha, beta))
    sure = [RiskPosterior.from_failures(x, n).cdf(alpha) for x in range(n + 1)]
    assert most == sum(p >= beta for p in sure) - 1


@given(st.integers(1, 200), st.floats(1e-6, 1), shares, levels)
def test_assurance_sums_the_binomial(n, share, alpha, beta):
    most = int(allowed_failures(n, alpha, beta))
    expected = sum(stats.binom.pmf(x, n, share) for x in range(most + 1))
    assert assurance(n, share, alpha, beta) == pytest.approx(expected, abs=1e-12)


def test_assurance_is_how_often_simulated_studies_certify():
    rng, n, share, trials = np.random.default_rng(1), 120, 0.04, 20_000
    failures = rng.binomial(n, share, trials)
    certified = (failures <= allowed_failures(n, 0.1, 0.95)).mean()
    chance = assurance(n, share, 0.1, 0.95)
    assert abs(certified - chance) < 4 * np.sqrt(chance * (1 - chance) / trials)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.08])
@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
def test_needed_cases_are_the_last_shortfall_plus_one(share, chance):
    needed = needed_cases(share, 0.1, 0.95, chance)
    beyond = np.arange(needed, 6 * needed + 400)
    assert (assurance(beyond, share, 0.1, 0.95) >= chance).all()
    assert assurance(needed - 1, share, 0.1, 0.95) < chance


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 120), st.data(), shares)
def test_further_cases_are_the_first_that_certify(n, data, alpha):
    failures = data.draw(st.integers(0, n))
    more = further_cases(failures, n, alpha, 0.95).without_failure
    assert RiskPosterior.from_failures(failures, n + more).cdf(alpha) >= 0.95
    assert more == 0 or RiskPosterior.from_failures(failures, n + more - 1).cdf(alpha) < 0.95


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.data(), shares, st.sampled_from([0.3, 0.6, 0.95]))
def test_further_cases_at_the_same_share_are_the_first_that_certify(n, data, alpha, beta):
    failures = data.draw(st.integers(0, n))
    more = further_cases(failures, n, alpha, beta).at_same_share
    further = np.arange(3000 if more is None else more + 1)
    expected = failures + (further * failures + n - 1) // n
    sure = np.where(expected < n + further, stats.binom.sf(expected, n + further, alpha), 0)
    enough = np.flatnonzero(sure >= beta)
    assert (int(enough[0]) if enough.size else None) == more


def test_large_pilots_are_planned_too():
    further = further_cases(100_000, 100_000, 0.15, 0.95)
    assert stats.binom.cdf(100_000, 100_000 + further.without_failure, 0.15) <= 0.05
    assert stats.binom.cdf(100_000, 100_000 + further.without_failure - 1, 0.15) > 0.05
    assert further.at_same_share is None


def test_a_certainty_met_exactly_is_enough():
    """No failure among two cases: 0.9 squared leaves 0.81, which is 1 - 0.19."""
    assert allowed_failures(2, 0.1, 0.19) == 0
    assert further_cases(0, 1, 0.1, 0.19).without_failure == 1


def test_a_share_at_or_above_the_limit_never_certifies():
    with pytest.raises(InputError, match="not below the limit"):
        needed_cases(0.1, 0.1, 0.95, 0.8)
    assert further_cases(20, 100, 0.1, 0.95).at_same_share is None


def test_what_would_take_too_long_is_refused_with_the_size():
    with pytest.raises(InputError, match="cases would be needed"):
        needed_cases(0.0999, 0.1, 0.95, 0.8)


def test_impossible_counts_are_refused():
    with pytest.raises(InputError):
        further_cases(3, 2, 0.1, 0.95)
