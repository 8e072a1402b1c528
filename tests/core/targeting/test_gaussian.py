"""The theory of screening: reference values, closed forms, scipy, derivatives, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from core.common.errors import InputError
from core.targeting.gaussian import (
    area_under_curve,
    gain_from_access,
    gain_from_prediction,
    needed_capacity,
    screened_share,
    value,
)
from core.targeting.levers import (
    access_is_better,
    even_r2,
    local_ratio,
    r2_after_shrinking,
    ratio,
    ratio_by_shrinking,
    residual_shrinkage,
    small_capacity_bound,
)

REFERENCE = [
    (0.2, 0.2, 0.5, 0.5697597982, 1.81845355, 0.52551997, 3.46029394, 2.85653363, 3.39426161),
    (0.15, 0.15, 0.15, 0.3211607688, 1.63653753, 0.68496239, 2.38923705, 2.32362650, 2.38540922),
    (0.1, 0.15, 0.15, 0.2340718197, 1.86000954, 0.55053817, 3.37852966, 3.20962006, 3.36186980),
    (0.3, 0.15, 0.15, 0.5324683374, 1.22020108, 0.86063905, 1.41778494, 1.44086860, 1.42309369),
    (0.05, 0.2, 0.2, 0.1337106675, 2.26411074, 0.25535705, 8.86645092, 8.10219869, 8.75808935),
    (0.5, 0.5, 0.5, 0.75, 1.0, 1 / math.pi, math.pi, 2.80836570, 3.10996936),
    (0.2, 0.2, 0.9, 0.8208737622, 2.22841423, 0.92209850, 2.41667699, 0.75913454, 2.24967693),
    (0.01, 0.2, 0.5, 0.0460821596, 4.36022965, 0.02788223, 156.380252, 146.326110, 153.157635),
    (0.2, 0.15, 0.5, 0.6264009631, 1.77516934, 0.61282173, 2.89671408, 2.32279034, 2.83193279),
]
ALPHAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
ROWS = [
    (0.0, 0.05, (1.9462, 1.0045, 0.6448, 0.5161, 0.4518, 0.4157, 0.3952, 0.3822)),
    (0.0, 0.15, (3.1491, 1.5484, 0.9531, 0.7421, 0.6358, 0.5744, 0.5375, 0.5054)),
    (0.0, 0.25, (4.3422, 2.0785, 1.2493, 0.9574, 0.8101, 0.7242, 0.6712, 0.6207)),
    (0.15, 0.05, (7.2886, 3.5245, 2.0900, 1.5721, 1.3055, 1.1460, 1.0435, 0.9321)),
    (0.15, 0.15, (13.063, 5.7793, 3.2096, 2.3236, 1.8770, 1.6119, 1.4409, 1.2480)),
    (0.15, 0.25, (19.765, 8.2683, 4.4020, 3.1077, 2.4647, 2.0857, 1.8411, 1.5613)),
    (0.9, 0.15, (10968.9, 123.80, 5.3627, 0.8071, 0.8389, 0.8649, 0.8875, 0.9263)),
]
shares = st.floats(0.01, 0.99)


@pytest.mark.parametrize("row", REFERENCE, ids=str)
def test_reference_values(row):
    alpha, beta, r2, v, by_access, by_prediction, local, wide, narrow = row
    assert value(alpha, beta, r2) == pytest.approx(v, abs=1e-8)
    assert gain_from_access(alpha, beta, r2) == pytest.approx(by_access, abs=1e-8)
    assert gain_from_prediction(alpha, beta, r2) == pytest.approx(by_prediction, abs=1e-8)
    assert local_ratio(alpha, beta, r2) == pytest.approx(local, rel=1e-7)
    assert ratio(alpha, beta, r2, 0.1, 0.1) == pytest.approx(wide, rel=1e-7)
    assert ratio(alpha, beta, r2, 0.01, 0.01) == pytest.approx(narrow, rel=1e-7)


@pytest.mark.parametrize(("r2", "beta", "expected"), ROWS)
def test_reference_ratios_over_capacity(r2, beta, expected):
    np.testing.assert_allclose(ratio(np.array(ALPHAS), beta, r2, 0.1, 0.1), expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("alpha", "beta", "par", "expected"),
    [
        (0.05, 0.05, 1, (0.009989, 0.998208)),
        (0.1, 0.05, 1, (0.028483, 0.957912)),
        (0.4, 0.05, 1, (0.216506, 0.568721)),
        (0.2, 0.2, 1, (0.033730, 0.986328)),
        (0.4, 0.2, 1, (0.075738, 0.832694)),
    ],
)
def test_where_both_levers_are_worth_the_same(alpha, beta, par, expected):
    np.testing.assert_allclose(_local_even(alpha, beta, par), expected, atol=1e-5)


def _local_even(alpha, beta, par):
    grid = np.linspace(1e-6, 1 - 1e-6, 4001)
    gap = local_ratio(alpha, beta, grid) - par
    return [
        optimize.brentq(lambda r: float(local_ratio(alpha, beta, r)) - par, grid[k], grid[k + 1])
        for k in np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1]))
    ]


def test_the_contour_of_finite_steps_is_where_the_ratio_is_one():
    for root in even_r2(0.2, 0.2, 0.1, 0.1):
        assert ratio(0.2, 0.2, root, 0.1, 0.1) == pytest.approx(1, abs=1e-9)
    assert len(even_r2(0.2, 0.2, 0.1, 0.1)) == 2  # a first and a last mile


@pytest.mark.parametrize(("r2", "expected"), [(0.15, 0.51235520), (0.5, 0.28287387)])
def test_reference_capacities(r2, expected):
    assert needed_capacity(0.75, 0.15, r2) == pytest.approx(expected, abs=1e-8)


def test_reference_overheads_of_the_gaussian_model():
    betas = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
    overheads = [needed_capacity(0.75, beta, 0.15) - beta for beta in betas]
    np.testing.assert_allclose(overheads, (0.3828, 0.3808, 0.3624, 0.3367, 0.3070, 0.2746), atol=5e-5)


def test_reference_model_swap():
    low, high = value(0.15, 0.15, 0.10), value(0.15, 0.15, 0.15)
    assert (low, high) == pytest.approx((0.28475852, 0.32116077), abs=1e-8)
    assert needed_capacity(high, 0.15, 0.10) - 0.15 == pytest.approx(0.02454613, abs=1e-8)


def test_reference_shrinkage_and_its_ratios():
    assert residual_shrinkage(0.15, 0.1) == pytest.approx(0.06066356, abs=1e-8)
    assert residual_shrinkage(0.0, 0.1) == pytest.approx(0.05131670, abs=1e-8)
    assert 34.81 * (1 - residual_shrinkage(0.15, 0.1)) ** 2 == pytest.approx(30.7147, abs=1e-4)
    rows = ((0.15, 0.15, 2.03187579), (0.1, 0.15, 2.80504149), (0.3, 0.15, 1.26438894), (0.05, 0.05, 3.06338273))
    for alpha, beta, expected in rows:
        assert ratio_by_shrinking(alpha, beta, 0.15, 0.1, 0.1) == pytest.approx(expected, abs=1e-7)


def test_reference_bound_for_small_capacity():
    for alpha, r2, bound, par in ((0.01, 0.5, 35.5206, 156.3803), (0.001, 0.2, 71.632, 519.752)):
        assert small_capacity_bound(alpha, r2) == pytest.approx(bound, rel=1e-5)
        assert local_ratio(alpha, 0.2, r2) == pytest.approx(par, rel=1e-5)
        assert small_capacity_bound(alpha, r2) < local_ratio(alpha, 0.2, r2)


@pytest.mark.parametrize(("r2", "expected"), [(0.15, 0.69953966), (0.12, 0.67852960)])
def test_reference_areas(r2, expected):
    assert area_under_curve(0.15, r2) == pytest.approx(expected, abs=1e-8)


def test_minima_of_the_ratio_in_the_regions_of_proposition_three():
    r2, beta = np.meshgrid(np.linspace(0.15, 0.85, 71), np.linspace(0.03, 0.5, 95))
    best = min(local_ratio(share * beta, beta, r2).min() for share in np.linspace(0.05, 1, 20))
    assert best == pytest.approx(1.9857, abs=2e-3)
    r2, alpha = np.meshgrid(np.linspace(0.2, 0.5, 31), np.linspace(0.01, 0.5, 50))
    assert local_ratio(alpha, 0.15, r2).min() == pytest.approx(1.2126, abs=1e-4)


@given(shares, shares, shares)
def test_the_value_is_scipys_bivariate_normal(alpha, beta, r2):
    rho = math.sqrt(r2)
    corner, cov = stats.norm.ppf([alpha, beta]), [[1, rho], [rho, 1]]
    expected = stats.multivariate_normal.cdf(corner, [0, 0], cov, abseps=1e-12, releps=1e-12) / beta
    assert value(alpha, beta, r2) == pytest.approx(expected, abs=1e-9 / beta)


@given(shares, shares, st.floats(0.05, 0.95))
def test_gains_are_derivatives(alpha, beta, r2):
    step = 1e-6
    by_access = (value(alpha + step, beta, r2) - value(alpha - step, beta, r2)) / (2 * step)
    by_prediction = (value(alpha, beta, r2 + step) - value(alpha, beta, r2 - step)) / (2 * step)
    assert gain_from_access(alpha, beta, r2) == pytest.approx(by_access, rel=1e-4, abs=1e-6)
    assert gain_from_prediction(alpha, beta, r2) == pytest.approx(by_prediction, rel=1e-4, abs=1e-6)


@given(st.floats(0, 1), st.floats(0.001, 1), st.floats(0, 1))
def test_limits_and_order(alpha, beta, r2):
    v = value(alpha, beta, r2)
    assert 0 <= v <= min(alpha, beta) / beta + 1e-15
    assert value(alpha, beta, 0) == pytest.approx(alpha)
    assert value(alpha, beta, 1) == pytest.approx(min(alpha, beta) / beta)
    assert value(0, beta, r2) == 0
    assert value(1, beta, r2) == pytest.approx(1)
    assert v >= alpha - 1e-12  # no prediction is worse than none
    assert value(alpha, beta, min(1.0, r2 + 0.01)) >= v - 1e-12


@given(st.floats(0, 1))
def test_the_closed_form_at_one_half(r2):
    assert value(0.5, 0.5, r2) == pytest.approx(0.5 + math.asin(math.sqrt(r2)) / math.pi, abs=1e-12)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.6), st.floats(0.01, 0.99))
def test_the_needed_capacity_reaches_its_target(target, beta, r2):
    assert value(needed_capacity(target, beta, r2), beta, r2) == pytest.approx(target, abs=1e-9)


def test_a_simulation_agrees():
    rng, n, r2 = np.random.default_rng(0), 400_000, 0.3
    y = rng.normal(size=n)
    pred = math.sqrt(r2) * y + math.sqrt(1 - r2) * rng.normal(size=n)
    worst, screened = y <= stats.norm.ppf(0.15), pred <= stats.norm.ppf(0.1)
    found, expected = screened[worst].mean(), value(0.1, 0.15, r2)
    assert abs(found - expected) < 4 * math.sqrt(expected * (1 - expected) / worst.sum())
    near = abs(y + 1) < 0.05
    assert screened[near].mean() == pytest.approx(screened_share(-1.0, 0.1, r2), abs=0.02)
    delta = residual_shrinkage(r2, 0.1)
    best = r2 * y + math.sqrt(r2 * (1 - r2)) * rng.normal(size=n)  # the calibrated prediction E[Y | signal]
    moved = best + delta * (y - best)
    assert np.corrcoef(y, moved)[0, 1] ** 2 == pytest.approx(r2_after_shrinking(r2, delta), abs=5e-3)


def test_a_map_of_forty_thousand_points_is_one_call():
    alpha, r2 = np.meshgrid(np.linspace(0.01, 0.89, 200), np.linspace(0.0, 0.89, 200))
    found = ratio(alpha, 0.2, r2, 0.1, 0.1)
    assert found.shape == (200, 200)
    assert np.isfinite(found).all()


def test_costs_decide_between_the_levers():
    par = ratio(0.15, 0.15, 0.15, 0.1, 0.1)
    assert access_is_better(par, 2.3, 1)
    assert not access_is_better(par, 2.4, 1)
    with pytest.raises(InputError):
        access_is_better(par, 0, 1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: value(1.1, 0.1, 0.1),
        lambda: value(0.1, 0.0, 0.1),
        lambda: value(0.1, 0.1, math.nan),
        lambda: ratio(0.95, 0.1, 0.1, 0.1, 0.1),
        lambda: ratio(0.1, 0.1, 0.95, 0.1, 0.1),
        lambda: ratio(0.1, 0.1, 0.1, 0.0, 0.1),
        lambda: residual_shrinkage(0.95, 0.1),
        lambda: needed_capacity(1.5, 0.1, 0.1),
    ],
)
def test_what_cannot_be_is_refused(ask):
    with pytest.raises(InputError):
        ask()
