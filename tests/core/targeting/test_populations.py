"""Generators beside the shares that the paper prints, the sheet's moments, and scikit-learn's isotonic regression."""

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from core.common.errors import InputError
from core.targeting.gaussian import needed_capacity
from core.targeting.populations import CAP, gaussian_register, german_like_register
from core.targeting.register import register


def test_the_german_shares():
    days, _ = german_like_register(1_000_000, 0.15, np.random.default_rng(0))
    for limit, share in ((365.25, 0.15), (243.5, 0.234)):
        assert (days > limit).mean() == pytest.approx(share, abs=0.0015)
    assert (days >= CAP).mean() == pytest.approx(0.05, abs=0.001)
    assert days.max() == CAP


def test_the_forecast_is_the_conditional_mean():
    days, forecast = german_like_register(400_000, 0.3, np.random.default_rng(1))
    fitted = IsotonicRegression().fit_transform(forecast, days)  # best monotone fit: the mean itself, if it is one
    assert np.sqrt(np.mean((fitted - forecast) ** 2)) < 0.02 * days.std()
    assert forecast.mean() == pytest.approx(days.mean(), rel=0.01)


def test_cap_and_skew_cost_r2():
    days, forecast = german_like_register(1_000_000, 0.15, np.random.default_rng(2))
    assert 1 - np.mean((days - forecast) ** 2) / days.var() == pytest.approx(0.119, abs=0.003)
    curve = register(days, forecast, beta=0.15, low_is_worst=False)
    assert curve.needed_capacity(0.75) == pytest.approx(needed_capacity(0.75, 0.15, 0.15), abs=0.006)


@pytest.mark.parametrize(("beta", "overhead"), [(0.05, 0.339), (0.15, 0.328), (0.25, 0.278)])
def test_skew_alone_does_not_explain_the_papers_overhead(beta, overhead):
    days, forecast = german_like_register(1_000_000, 0.19, np.random.default_rng(3))
    assert 1 - np.mean((days - forecast) ** 2) / days.var() == pytest.approx(0.15, abs=0.005)
    curve = register(days, forecast, beta=beta, low_is_worst=False)
    assert curve.needed_capacity(0.75) - curve.beta == pytest.approx(overhead, abs=0.006)


def test_the_gaussian_register_is_jointly_normal():
    y, forecast = gaussian_register(200_000, 0.36, np.random.default_rng(4))
    assert np.corrcoef(y, forecast)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert stats.kstest(y[:20_000], "norm").pvalue > 1e-3
    assert np.corrcoef(y - forecast, forecast)[0, 1] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("r2", [0.0, 1.0])
def test_the_ends(r2):
    days, forecast = german_like_register(1000, r2, np.random.default_rng(5))
    if r2 == 1:
        np.testing.assert_allclose(forecast, days)
    else:
        assert np.ptp(forecast) < 1e-6
    with pytest.raises(InputError, match="runs from 0 to 1"):
        gaussian_register(10, r2 + 2, np.random.default_rng(0))
    with pytest.raises(InputError, match="at least one"):
        gaussian_register(0, r2, np.random.default_rng(0))
