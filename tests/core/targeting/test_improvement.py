"""Better forecasts: R2 by numpy, the sheet's closed forms for the two levers, and what each does at the ends."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.targeting.gains import Prices, Steps, after_lever, curve, gain_ratio, gains
from core.targeting.improvement import LEVERS, Forecast, forecast, improved
from core.targeting.levers import r2_after_shrinking, residual_shrinkage
from core.targeting.populations import gaussian_register
from core.targeting.resampling import Resampler
from core.targeting.worst_off import by_share

Y = np.arange(1.0, 11.0)
PRED = np.array([2.0, 1, 5, 3, 6, 4, 9, 7, 8, 10])


def pooled(given: Forecast, step: float, lever: str) -> tuple[np.ndarray, np.ndarray]:
    draws = list(improved(given, step, lever, np.random.default_rng(0)))
    return np.tile(given.target, len(draws)), np.concatenate(draws)


def test_reference_case():
    given = forecast(Y, PRED, np.ones(10))
    assert given.r2 == pytest.approx(0.78181818)
    assert residual_shrinkage(given.r2, 0.01) == pytest.approx(0.02318545, abs=1e-8)
    assert not given.rescaled


@given(st.integers(5, 100), st.integers(0, 2**31), st.floats(0.01, 0.99))
def test_shrinking_raises_r2_by_the_step_exactly(n, seed, part):
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=n)
    weight = rng.uniform(0.5, 2, n)
    score = y + rng.normal(size=n) * 0.1
    given = forecast(y, score, weight)
    assume(not given.rescaled)
    step = part * (1 - given.r2)
    better = next(improved(given, step, "residuals", rng))
    mean = np.average(y, weights=weight)
    fit = 1 - np.average((y - better) ** 2, weights=weight) / np.average((y - mean) ** 2, weights=weight)
    assert fit == pytest.approx(given.r2 + step, abs=1e-9)


@given(st.integers(5, 100), st.integers(0, 2**31))
def test_measures_are_numpys(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    score = 0.4 * y + rng.normal(size=n) * 0.3
    correlation = np.corrcoef(y, score)[0, 1]
    assume(correlation > 0)
    given = forecast(y, score, np.ones(n))
    assert given.correlation2 == pytest.approx(correlation**2)
    if given.rescaled:  # on the line of least squares, R2 is the squared correlation
        slope, intercept = np.polyfit(score, y, 1)
        np.testing.assert_allclose(given.value, intercept + slope * score, atol=1e-9)
        assert given.r2 == pytest.approx(correlation**2)
    else:
        assert given.r2 == pytest.approx(1 - ((y - score) ** 2).sum() / ((y - y.mean()) ** 2).sum())


@pytest.mark.parametrize("r2", [0.0, 0.15, 0.6])
def test_the_calibrated_lever_adds_what_it_says(r2):
    y, score = gaussian_register(400_000, r2, np.random.default_rng(1))
    given = Forecast(target=y, value=score, weight=np.ones(y.size), r2=r2, correlation2=r2, rescaled=False)
    target, better = pooled(given, 0.1, "calibrated")
    assert np.corrcoef(target, better)[0, 1] ** 2 == pytest.approx(r2 + 0.1, abs=0.005)
    assert 1 - np.mean((target - better) ** 2) / y.var() == pytest.approx(r2 + 0.1, abs=0.005)
    slope = np.cov(target, better)[0, 1] / better.var()
    assert slope == pytest.approx(1, abs=0.02)  # calibrated: E[Y | forecast] is the forecast


def test_the_papers_lever_overshoots_as_the_formula_says():
    y, score = gaussian_register(400_000, 0.15, np.random.default_rng(2))
    given = forecast(y, score, np.ones(y.size))
    _, better = pooled(given, 0.1, "residuals")
    expected = float(r2_after_shrinking(0.15, residual_shrinkage(0.15, 0.1)))
    assert expected == pytest.approx(0.26532, abs=1e-5)
    assert np.corrcoef(y, better)[0, 1] ** 2 == pytest.approx(expected, abs=0.004)


def test_small_registers_are_drawn_in_pairs_of_opposite_noise():
    y, score = gaussian_register(500, 0.2, np.random.default_rng(3))
    given = forecast(y, score, np.ones(500))
    draws = list(improved(given, 0.1, "calibrated", np.random.default_rng(0)))
    assert len(draws) == 100
    middle = given.value + 0.1 / (1 - given.r2) * (y - given.value)
    np.testing.assert_allclose((draws[0] + draws[1]) / 2, middle, atol=1e-12)


@pytest.mark.parametrize("lever", LEVERS)
def test_a_step_to_the_end_is_the_truth(lever):
    y, score = gaussian_register(1000, 0.9, np.random.default_rng(4))
    given = Forecast(target=y, value=score, weight=np.ones(1000), r2=0.9, correlation2=0.9, rescaled=False)
    np.testing.assert_allclose(next(improved(given, 0.1, lever, np.random.default_rng(0))), y, atol=1e-6)
    with pytest.raises(InputError, match=r"cannot rise by 0\.2 from 0\.9"):
        next(improved(given, 0.2, lever, np.random.default_rng(0)))


def test_a_forecast_that_knows_nothing_ranks_perfectly_by_the_papers_lever():
    rng = np.random.default_rng(5)
    y = rng.normal(size=300)
    nothing = Forecast(
        target=y, value=np.full(300, y.mean()), weight=np.ones(300), r2=0.0, correlation2=0.0, rescaled=False
    )
    better = next(improved(nothing, 0.001, "residuals", rng))
    assert (np.argsort(better) == np.argsort(y)).all()
    target, calibrated = pooled(nothing, 0.001, "calibrated")
    assert np.corrcoef(target, calibrated)[0, 1] ** 2 < 0.01


@pytest.mark.parametrize(
    ("y", "score", "words"),
    [
        (np.ones(10), PRED, "outcome is the same for everybody"),
        (Y, np.ones(10), "score is the same for everybody"),
        (Y, -PRED, "falls where the outcome rises"),
    ],
)
def test_what_is_no_forecast_is_refused(y, score, words):
    with pytest.raises(InputError, match=words):
        forecast(y, score, np.ones(10))


@pytest.mark.parametrize(
    ("lever", "alpha", "expected"),
    [
        ("calibrated", 0.15, 2.32362650),
        ("calibrated", 0.3, 1.44086860),
        ("residuals", 0.15, 2.03187579),
        ("residuals", 0.1, 2.80504149),
    ],
)
def test_ratios_on_a_gaussian_register_are_the_closed_forms(lever, alpha, expected):
    y, score = gaussian_register(400_000, 0.15, np.random.default_rng(6))
    worst_off = by_share(y, 0.15, low_is_worst=True)
    rng = np.random.default_rng(0)
    resampler = Resampler(worst_off, draws=100, rng=rng)
    grid = np.array([alpha, alpha + 0.1])
    now = curve(worst_off, score, resampler, grid, low_is_worst=True, level=0.99)
    given = forecast(y, score, np.ones(y.size))
    better = after_lever(worst_off, given, 0.1, lever, resampler, grid, low_is_worst=True, level=0.99, rng=rng)
    prices = Prices(place=1.0, prediction=1.0, people=1.0)
    made = gains(now, better, Steps(alpha=alpha, access=0.1, prediction=0.1), prices, 0.99)
    assert made.ratio.value == pytest.approx(expected, rel=0.05)
    assert made.ratio.low <= expected <= made.ratio.high
    assert made.chance == 1.0  # a tenth of the people for a tenth of the other's price


def test_prices_decide():
    y, score = gaussian_register(5000, 0.2, np.random.default_rng(7))
    worst_off = by_share(y, 0.15, low_is_worst=True)
    rng = np.random.default_rng(0)
    resampler = Resampler(worst_off, draws=100, rng=rng)
    grid = np.array([0.1, 0.2])
    now = curve(worst_off, score, resampler, grid, low_is_worst=True, level=0.9)
    given = forecast(y, score, np.ones(y.size))
    better = after_lever(worst_off, given, 0.1, "calibrated", resampler, grid, low_is_worst=True, level=0.9, rng=rng)
    steps = Steps(alpha=0.1, access=0.1, prediction=0.1)
    for prediction, chance in ((1e-9, 0.0), (1e9, 1.0)):
        made = gains(now, better, steps, Prices(place=1.0, prediction=prediction, people=1.0), 0.9)
        assert made.chance == chance


def test_ratios_without_gains_are_infinite_or_do_not_exist():
    made = gain_ratio(np.array([0.1, 0.0, 0.1, 1e-15]), np.array([0.0, 0.0, 0.2, 1e-16]))
    assert np.isinf(made[0])
    assert np.isnan(made[[1, 3]]).all()
    assert made[2] == pytest.approx(0.5)


def test_capacity_cannot_rise_above_all():
    with pytest.raises(InputError, match=r"cannot rise from 0\.9 by 0\.2"):
        Steps(alpha=0.9, access=0.2, prediction=0.1)
