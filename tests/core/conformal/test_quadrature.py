"""The posterior of the risk bound: reference values, exact oracles, closed forms, laws, edges and refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from core.common.errors import InputError
from core.conformal.batches import batch_cdf, batch_cdf_grouped
from core.conformal.quadrature import RiskPosterior
from tests.core.conformal.oracles import (
    b_spline,
    exact_cdf,
    exact_pdf,
    float_cdf,
    float_pdf,
    float_quantile,
    float_sf,
    inverted_cdf,
    weights_at_the_bound,
)

FIVE = [0.0, 0.1, 0.1, 0.25, 0.4]
TEN = [0.02, 0.05, 0.05, 0.11, 0.13, 0.2, 0.2, 0.31, 0.44, 0.7]
TWO_HUNDRED = ((37 * np.arange(1, 201)) % 101) / 1000
THOUSAND = 0.2 * ((619 * np.arange(1, 1001)) % 997) / 997
LEVELS = np.array([1e-6, 0.01, 0.3, 0.5, 0.95, 0.9999, 1 - 1e-9])
SHAPES = {
    "one": [0.3],
    "two": [0.1, 0.5],
    "five": FIVE,
    "ten": TEN,
    "all equal": [0.3] * 6,
    "no loss": [0.0] * 12,
    "one loss": [0.0] * 50 + [0.4],
    "some at the bound": [0.0, 0.2, 1.0, 1.0],
    "nearly all at the bound": [0.2] + [1.0] * 8,
    "two hundred": TWO_HUNDRED,
    "two scales": np.concatenate((np.linspace(0, 1e-6, 40), np.linspace(0.1, 0.8, 60))),
    "log scale": np.logspace(-12, 0, 60),
    "one outlier": np.append(np.linspace(0, 1e-4, 80), 0.9),
    "nearly constant": 0.3 + 1e-12 * np.linspace(0, 1, 70) ** 2,
}
each_shape = pytest.mark.parametrize("losses", SHAPES.values(), ids=SHAPES)
twentieths = st.lists(st.integers(0, 20), min_size=1, max_size=14)
floats = st.one_of(st.lists(st.floats(0, 1), min_size=1, max_size=25), twentieths.map(lambda k: [i / 20 for i in k]))


# reference values


@pytest.mark.parametrize(
    ("losses", "bound", "mean", "sd", "quantiles", "probabilities"),
    [
        (
            FIVE,
            1,
            0.3083333333,
            0.1264989491,
            {0.5: 0.2869536022, 0.9: 0.4843684217, 0.95: 0.5511166391, 0.99: 0.6746584686},
            {0.5: 0.9142661180, 0.2: 0.1992866941, 0.3: 0.5419890261},
        ),
        (TEN, 1, 0.2918181818, 0.0851631072, {0.95: 0.4483323572}, {0.4: 0.8890239652}),
        (TEN, 2, 0.3827272727, None, {0.95: 0.6909665347}, {0.4: 0.6297522222}),
        ([0.3] * 4, 1, 0.44, None, {0.95: 0.6689904368}, {0.5: 0.7396917951}),
        ([0.2], 1, 0.6, 0.8 / math.sqrt(12), {0.95: 0.96}, {0.4: 0.25}),
        ([0.1, 0.5], 1, 1.6 / 3, None, {0.95: 0.85}, {0.6: 0.6444444444}),
        (TWO_HUNDRED, 1, 0.0549054726, 0.0051255533, {0.95: 0.0647395353}, {0.06: 0.8625878103}),
        (THOUSAND, 1, 0.1008441909, 0.0020319310, {0.95: 0.1042510358}, {0.105: 0.9755103186}),
    ],
    ids=["five", "ten", "ten, B = 2", "all equal", "n = 1", "n = 2", "two hundred", "thousand"],
)
@pytest.mark.parametrize("order", [np.array, lambda x: np.array(x)[::-1]], ids=["given", "reversed"])
def test_reference_values(losses, bound, mean, sd, quantiles, probabilities, order):
    posterior = RiskPosterior.from_losses(order(losses), bound)
    assert posterior.mean == pytest.approx(mean, abs=1e-10)
    assert sd is None or posterior.sd == pytest.approx(sd, abs=1e-10)
    for p, x in quantiles.items():
        assert posterior.quantile(p) == pytest.approx(x, abs=1e-10)
        assert posterior.credible_bound(p) == posterior.quantile(p)
    for x, p in probabilities.items():
        assert posterior.cdf(x) == pytest.approx(p, abs=1e-10)


def test_reference_densities_and_mode():
    posterior = RiskPosterior.from_losses(FIVE)
    for x, f in {0.1: 0.5, 0.2: 3.1989026063, 0.3: 3.1392318244, 0.5: 0.8573388203, 0.8: 0.0219478738}.items():
        assert posterior.pdf(x) == pytest.approx(f, abs=1e-10)
    assert posterior.mode == pytest.approx(0.24321, abs=1e-5)
    assert posterior.pdf(posterior.mode) == pytest.approx(3.56701137, abs=1e-8)
    assert RiskPosterior.from_losses(TWO_HUNDRED).pdf(0.055) == pytest.approx(81.71674990, rel=1e-6)


def test_reference_values_with_weights():
    posterior = RiskPosterior.from_weighted(FIVE, [1, 0.5, 2, 1, 1.5], 1)
    assert posterior.cdf(0.2) == pytest.approx(0.1938890756, abs=1e-10)
    assert posterior.cdf(0.5) == pytest.approx(0.9295576219, abs=1e-10)
    assert posterior.quantile(0.95) == pytest.approx(0.5308254382, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "bound"),
    [(10, 0.2588655509), (28, 0.1014657356), (29, 0.0981446276), (59, 0.0495076099), (200, 0.0148670392)],
)
def test_reference_bounds_of_no_loss(n, bound):
    assert RiskPosterior.from_losses(np.zeros(n)).quantile(0.95) == pytest.approx(bound, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "failures", "bound", "within"),
    [
        (20, 3, 0.3436638043, 0.1329533234),
        (100, 5, 0.1022533776, 0.9424231135),
        (1000, 80, 0.0955510664, 0.9823884253),
        (10, 10, 1.0, 0.0),
    ],
)
def test_reference_values_of_failures(n, failures, bound, within):
    for posterior in (
        RiskPosterior.from_failures(failures, n),
        RiskPosterior.from_losses(np.repeat([1.0, 0.0], [failures, n - failures])),
    ):
        assert posterior.quantile(0.95) == pytest.approx(bound, abs=1e-10)
        assert posterior.cdf(0.1) == pytest.approx(within, abs=1e-10)


@pytest.mark.parametrize(("n", "bound"), [(10**4, 0.10155409202), (10**5, 0.10032130905), (10**6, 0.10003075011)])
def test_reference_bounds_of_large_samples(n, bound):
    losses = np.random.default_rng(0).beta(1, 9, n)
    assert RiskPosterior.from_losses(losses).quantile(0.95) == pytest.approx(bound, abs=1e-10)


def test_reference_bound_of_a_million_cases():
    assert RiskPosterior.from_failures(100_000, 1_000_000).quantile(0.95) == pytest.approx(0.10049481200, abs=1e-10)


# exact oracles


@settings(max_examples=120)
@given(twentieths, st.integers(-2, 82))
def test_rational_arithmetic(cells, eightieths):
    losses, x = [Fraction(k, 20) for k in cells], Fraction(eightieths, 80)
    posterior = RiskPosterior.from_losses([float(loss) for loss in losses])
    exact = exact_cdf(losses, 1, x)
    assert posterior.cdf(float(x)) == pytest.approx(float(exact), abs=2e-14)
    assert posterior.sf(float(x)) == pytest.approx(float(1 - exact), abs=2e-14)
    if min(losses) < x < 1 and x not in losses:
        assert posterior.pdf(float(x)) == pytest.approx(float(exact_pdf(losses, 1, x)), rel=1e-11)


@each_shape
@pytest.mark.parametrize("bound", [1.0, 1e6])
def test_both_tails_and_the_density_against_the_recursion(losses, bound):
    posterior = RiskPosterior.from_losses(losses, bound)
    for p, x in zip(LEVELS, posterior.quantile(LEVELS), strict=True):
        assert posterior.cdf(x) == pytest.approx(float_cdf(losses, bound, x), rel=1e-11)
        assert posterior.sf(x) == pytest.approx(float_sf(losses, bound, x), rel=1e-11)
        assert posterior.pdf(x) == pytest.approx(float_pdf(losses, bound, x), rel=1e-10)
        assert (posterior.cdf(x), posterior.sf(x)) == pytest.approx((p, 1 - p), rel=1e-7)


@pytest.mark.parametrize("x", [0.01, 0.05, 0.9, 0.99])
@pytest.mark.parametrize(
    "losses",
    [
        [0] * 60 + [Fraction(9, 10)],
        [Fraction(1, 10**6)] * 40 + [Fraction(1, 2)] * 3,
        [Fraction(k, 97) for k in range(60)],
    ],
    ids=["one large", "two scales", "even"],
)
def test_relative_accuracy_far_beyond_any_level(losses, x):
    exact = exact_cdf(losses, 1, x)
    posterior = RiskPosterior.from_losses([float(loss) for loss in losses])
    assert posterior.cdf(x) == pytest.approx(float(exact), rel=1e-11, abs=1e-300)
    assert posterior.sf(x) == pytest.approx(float(1 - exact), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("losses", [FIVE, TEN, TWO_HUNDRED[:40]])
def test_scipys_splines(losses):
    posterior, x = RiskPosterior.from_losses(losses), np.linspace(0.011, 0.83, 40)
    np.testing.assert_allclose(posterior.pdf(x), b_spline(losses, 1.0)(x), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("losses", [TEN, TWO_HUNDRED, np.append(np.zeros(90), TEN)])
def test_scipys_adaptive_inversion(losses):
    posterior = RiskPosterior.from_losses(losses)
    for x in posterior.quantile([0.1, 0.6, 0.95]):
        assert posterior.cdf(x) == pytest.approx(inverted_cdf(np.append(losses, 1.0) - x), abs=1e-10)


@pytest.mark.parametrize(("failures", "n"), [(0, 5), (1, 1), (1, 30), (17, 40), (40, 41), (3, 100_000)])
def test_clopper_and_pearson(failures, n):
    for level in (0.8, 0.95):  # the upper end of their two-sided interval leaves half of the rest above
        limit = stats.binomtest(failures, n).proportion_ci(2 * level - 1).high
        assert RiskPosterior.from_failures(failures, n).quantile(level) == pytest.approx(limit, rel=1e-10)
        assert RiskPosterior.from_failures(failures, n, 2.5).quantile(level) == pytest.approx(2.5 * limit, rel=1e-10)


@pytest.mark.parametrize("losses", [FIVE, TEN, TWO_HUNDRED])
def test_quantiles_by_bracketing_the_recursion(losses):
    for p in (0.001, 0.4, 0.99):
        found = RiskPosterior.from_losses(losses, 1.2).quantile(p)
        assert found == pytest.approx(float_quantile(losses, 1.2, p), abs=1e-13)


def test_weights_against_scipys_adaptive_inversion():
    rng = np.random.default_rng(3)
    for n in (2, 9, 60):
        losses, weights = rng.random(n).round(2), rng.lognormal(0, 1, n)
        posterior = RiskPosterior.from_weighted(losses, weights, 0.7)
        for x in posterior.quantile([0.2, 0.9]):
            expected = inverted_cdf(weights_at_the_bound(losses, weights, 0.7, 1.0, x))
            assert posterior.cdf(x) == pytest.approx(expected, abs=1e-9)


# closed forms


@given(st.floats(0, 0.99), st.integers(1, 400), st.sampled_from([1.0, 3.0]))
def test_all_equal(loss, n, bound):
    posterior, law = RiskPosterior.from_losses([loss] * n, bound), stats.beta(1, n)
    np.testing.assert_allclose(posterior.quantile(LEVELS), loss + (bound - loss) * law.ppf(LEVELS), rtol=1e-9)
    x = loss + (bound - loss) * np.array([0.001, 0.3, 0.8])
    share = (x - loss) / (bound - loss)
    np.testing.assert_allclose(posterior.cdf(x), law.cdf(share), rtol=1e-12)
    np.testing.assert_allclose(posterior.sf(x), law.sf(share), rtol=1e-9)
    np.testing.assert_allclose(posterior.pdf(x), law.pdf(share) / (bound - loss), rtol=1e-9)
    assert posterior.skewness == pytest.approx(float(law.stats("s")), rel=1e-6, abs=1e-9)


def test_one_loss_is_uniform_up_to_its_ends():
    posterior = RiskPosterior.from_losses([0.2])
    x = 1 - 0.8 * np.logspace(-15, 0, 16)[:-1]
    np.testing.assert_allclose(posterior.sf(x), (1 - x) / 0.8, rtol=1e-14)
    np.testing.assert_allclose(posterior.pdf([0.2, 0.5, 1.0]), 1.25, rtol=1e-14)
    assert list(posterior.pdf([0.199, 1.001])) == [0, 0]


def test_three_knots_make_a_triangle():
    posterior = RiskPosterior.from_losses([0.0, 0.25])
    np.testing.assert_allclose(posterior.pdf([0.0, 0.125, 0.25, 0.625, 1.0]), [0, 1, 2, 1, 0], atol=1e-12)
    assert posterior.mode == pytest.approx(0.25, abs=1e-6)


def test_the_density_at_an_end_is_its_limit_from_within():
    assert RiskPosterior.from_losses(np.zeros(12)).pdf(0.0) == pytest.approx(12)
    assert RiskPosterior.from_losses([0.2] + [1.0] * 8).pdf(1.0) == pytest.approx(9 / 0.8)
    assert RiskPosterior.from_losses(np.append(np.zeros(12), 0.4)).pdf(0.0) == 0
    curve = RiskPosterior.from_losses(np.zeros(12)).curve(np.array([0.0, 1.0]))
    assert (list(curve.cdf), list(curve.sf), list(curve.pdf)) == ([0, 1], [1, 0], [pytest.approx(12), 0])


# laws


@settings(max_examples=60)
@given(floats, st.sampled_from([1.0, 1.25, 1e6]), st.randoms(use_true_random=False))
@example([0.0] * 24 + [1e-300], 1.0, None)
@example([5e-324, 1.0], 1.0, None)
@example([0.5, 0.5 + 2**-53], 1e6, None)
def test_quantiles_invert_and_order_does_not_matter(losses, bound, random):
    posterior = RiskPosterior.from_losses(losses, bound)
    points = posterior.quantile(LEVELS)
    assert (np.diff(points) >= 0).all()
    if random is not None:
        random.shuffle(losses)
    np.testing.assert_array_equal(RiskPosterior.from_losses(losses, bound).quantile(LEVELS), points)
    low, high = posterior.support
    if high - low > 0.1 * high:  # else neighbouring floats lie several levels apart
        np.testing.assert_allclose(posterior.cdf(points)[:4], LEVELS[:4], rtol=1e-7)
        np.testing.assert_allclose(posterior.sf(points)[3:], 1 - LEVELS[3:], rtol=1e-6)


@settings(max_examples=60)
@given(floats, st.sampled_from([1.0, 1.25, 1e6]))
def test_the_cdf_is_one(losses, bound):
    posterior = RiskPosterior.from_losses(losses, bound)
    x = np.sort(np.concatenate((np.linspace(-0.1, 1.1, 9) * bound, losses, np.linspace(0, 1, 7))))
    curve = posterior.curve(x)
    for probability in (curve.cdf, curve.sf):
        assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(curve.cdf) >= -1e-14).all()
    assert (curve.pdf >= 0).all()
    np.testing.assert_allclose(curve.cdf + curve.sf, 1, atol=1e-14)
    np.testing.assert_array_equal(posterior.cdf(x), curve.cdf)


@settings(max_examples=40)
@given(floats, st.sampled_from([0.001, 3.0, 1e4]))
def test_scaling(losses, scale):
    assume(max(losses) < 0.999)
    points = RiskPosterior.from_losses(losses).quantile(LEVELS)
    scaled = RiskPosterior.from_losses(scale * np.array(losses), scale).quantile(LEVELS)
    np.testing.assert_allclose(scaled, scale * points, rtol=1e-9, atol=1e-13 * scale)


@settings(max_examples=40)
@given(floats, st.data())
def test_less_loss_or_more_zeros_never_raise_a_quantile(losses, data):
    points = RiskPosterior.from_losses(losses).quantile(LEVELS)
    slack = 1e-12 * points + 1e-14
    assert (RiskPosterior.from_losses([*losses, 0.0]).quantile(LEVELS) <= points + slack).all()
    which = data.draw(st.integers(0, len(losses) - 1))
    less = [loss * (0.5 if row == which else 1) for row, loss in enumerate(losses)]
    assert (RiskPosterior.from_losses(less).quantile(LEVELS) <= points + slack).all()


@settings(max_examples=30)
@given(twentieths)
def test_groups_and_failures_are_their_losses(cells):
    values, counts = np.unique(np.array(cells) / 20, return_counts=True)
    one = RiskPosterior.from_losses(np.array(cells) / 20)
    with_an_unseen = RiskPosterior.from_grouped([*values, 0.999], [*counts, 0])
    np.testing.assert_array_equal(with_an_unseen.quantile(LEVELS), one.quantile(LEVELS))
    n, failures = len(cells), sum(cell > 10 for cell in cells)
    by_losses = RiskPosterior.from_losses([float(cell > 10) for cell in cells])
    np.testing.assert_array_equal(RiskPosterior.from_failures(failures, n).quantile(LEVELS), by_losses.quantile(LEVELS))


def between_knots(losses, bound):
    """Nodes and weights that integrate the density's polynomial pieces exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(26)
    ends = np.array(sorted({*losses, bound}))
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


@settings(max_examples=30)
@given(floats.filter(lambda losses: min(losses) < 0.9), st.sampled_from([1.0, 2.0]))
def test_moments_are_integrals_of_the_density(losses, bound):
    posterior = RiskPosterior.from_losses(losses, bound)
    x, weights = between_knots(losses, bound)
    mass = weights * posterior.pdf(x)
    assert mass.sum() == pytest.approx(1, abs=1e-11)
    assert posterior.mean == pytest.approx(mass @ x, abs=1e-11)
    assert posterior.variance == pytest.approx(mass @ (x - posterior.mean) ** 2, rel=1e-9)
    third = mass @ (x - posterior.mean) ** 3
    assert posterior.skewness == pytest.approx(third / posterior.sd**3, abs=1e-8)


@each_shape
def test_the_density_is_the_slope_of_the_cdf(losses):
    posterior = RiskPosterior.from_losses(losses)
    for x in posterior.quantile([0.02, 0.4, 0.9]):
        step = 1e-4 * posterior.sd
        slope = (posterior.cdf(x + step) - posterior.cdf(x - step)) / (2 * step)
        assert posterior.pdf(x) == pytest.approx(slope, rel=1e-3 if len(losses) < 3 else 1e-5)


@each_shape
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_shortest_interval(losses, level):
    posterior = RiskPosterior.from_losses(losses)
    shortest, even = posterior.hpd(level), posterior.interval(level)
    for interval in (shortest, even):
        assert posterior.cdf(interval.high) - posterior.cdf(interval.low) == pytest.approx(level, abs=1e-8)
    assert shortest.high - shortest.low <= (even.high - even.low) * (1 + 1e-8)
    assert shortest.low * (1 - 1e-12) <= posterior.mode <= shortest.high * (1 + 1e-12) or len(losses) == 1
    below = np.linspace(0, 1 - level, 60)[1:-1]
    ends = posterior.quantile(np.concatenate((below, below + level)))
    lengths = ends[below.size :] - ends[: below.size]
    assert shortest.high - shortest.low <= lengths.min() * (1 + 1e-8)


@each_shape
def test_the_mode_is_the_highest_point(losses):
    posterior = RiskPosterior.from_losses(losses)
    x = np.concatenate((posterior.quantile(np.linspace(0.001, 0.999, 201)), posterior.support))
    assert posterior.pdf(x).max() <= posterior.pdf(posterior.mode) * (1 + 1e-9)


def test_equal_weights_are_no_weights():
    for losses in ([0.3], FIVE, TEN, [0.0] * 5, [1.0, 0.2, 1.0]):
        weighted = RiskPosterior.from_weighted(losses, np.full(len(losses), 2.5), 2.5)
        plain = RiskPosterior.from_losses(losses)
        np.testing.assert_allclose(weighted.quantile(LEVELS), plain.quantile(LEVELS), rtol=1e-9)
        for moment in ("mean", "variance", "skewness"):
            assert getattr(weighted, moment) == pytest.approx(getattr(plain, moment), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("n", [1, 3, 40, 3000, 30_000])
def test_weighted_moments_of_samples_of_any_size(n):
    losses = np.random.default_rng(n).beta(1, 9, n)
    weighted, plain = RiskPosterior.from_weighted(losses, np.full(n, 0.1), 0.1), RiskPosterior.from_losses(losses)
    for moment in ("mean", "sd", "skewness"):
        assert getattr(weighted, moment) == pytest.approx(getattr(plain, moment), rel=1e-9, abs=1e-10)


def test_weighted_moments_are_integrals_of_the_density():
    rng = np.random.default_rng(1)
    for n in (1, 2, 7):
        losses, weights = rng.random(n), rng.lognormal(0, 1, n)
        posterior = RiskPosterior.from_weighted(losses, weights, 2.0)
        nodes, heights = np.polynomial.legendre.leggauss(200)
        ends = np.array([*sorted(losses), 1.0])
        half = np.diff(ends)[:, None] / 2
        x, mass = (ends[:-1, None] + half * (1 + nodes)).ravel(), (half * heights).ravel()
        mass *= posterior.pdf(x)
        mean = mass @ x
        assert mass.sum() == pytest.approx(1, abs=1e-9)
        assert posterior.mean == pytest.approx(mean, rel=1e-9)
        assert posterior.sd == pytest.approx(math.sqrt(mass @ (x - mean) ** 2), rel=1e-8)
        assert posterior.skewness == pytest.approx(mass @ (x - mean) ** 3 / posterior.sd**3, abs=1e-7)


def test_weighted_ties_and_intervals():
    posterior = RiskPosterior.from_weighted([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 1.5)
    assert posterior.mode == 0.0
    assert posterior.hpd(0.9).low == 0.0
    for weights, test_weight in (([5.0], 0.1), ([0.1], 5.0)):  # n = 1: the density rises, or it falls
        posterior = RiskPosterior.from_weighted([0.2], weights, test_weight)
        x = np.linspace(0.2, 1.0, 101)
        assert posterior.pdf(x).max() <= posterior.pdf(posterior.mode) * (1 + 1e-9)
        interval = posterior.hpd(0.7)
        assert posterior.cdf(interval.high) - posterior.cdf(interval.low) == pytest.approx(0.7, abs=1e-8)


# many at once


@pytest.mark.parametrize("x", [-0.1, 0.0, 0.05, 0.35, 0.6, 1.0, 1.5])
def test_many_samples_at_once(x):
    rows = np.random.default_rng(2).random((60, 9)).round(1)
    rows[0], rows[1], rows[2, 1:] = 0.0, 1.0, 1.0
    expected = [RiskPosterior.from_losses(row).cdf(x) for row in rows]
    np.testing.assert_allclose(batch_cdf(rows, 1.0, x), expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(batch_cdf(rows[:, ::-1], 1.0, x), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("x", [0.0, 0.1, 0.3, 0.75, 0.9, 1.0])
def test_many_grouped_samples_at_once(x):
    values = np.array([0.0, 0.25, 0.5, 1.0])
    counts = np.array([[30, 4, 2, 0], [0, 7, 1, 1], [5, 0, 0, 0], [0, 0, 0, 3], [0, 0, 4, 0], [900, 50, 20, 30]])
    expected = [RiskPosterior.from_losses(np.repeat(values, row)).cdf(x) for row in counts]
    np.testing.assert_allclose(batch_cdf_grouped(values, counts, 1.0, x), expected, rtol=1e-11, atol=1e-14)
    without = RiskPosterior.from_losses(np.repeat(values, counts[0]), 2.0).cdf(x)
    assert batch_cdf_grouped(values, counts[:1], 2.0, x) == pytest.approx([without], rel=1e-11, abs=1e-14)


def test_a_bound_for_each_row():
    values, counts = np.array([0.0, 0.25, 0.5]), np.array([[30, 4, 2], [0, 7, 1], [5, 0, 0], [0, 0, 3], [9, 9, 9]])
    bounds = np.array([1.0, 0.5, 2.0, 0.5, 1e6])
    for x in (0.1, 0.4, 0.5, 0.7, 3.0):
        pairs = zip(counts, bounds, strict=True)
        expected = [RiskPosterior.from_losses(np.repeat(values, row), bound).cdf(x) for row, bound in pairs]
        np.testing.assert_allclose(batch_cdf_grouped(values, counts, bounds, x), expected, rtol=1e-11, atol=1e-14)


def test_no_samples_give_no_answers():
    assert batch_cdf(np.empty((0, 4)), 1.0, 0.5).shape == (0,)
    assert batch_cdf_grouped(np.array([0.0, 0.5]), np.empty((0, 2)), 1.0, 0.5).shape == (0,)


# edges


@each_shape
def test_ends_of_the_support_and_next_to_them(losses):
    posterior = RiskPosterior.from_losses(losses)
    low, high = posterior.support
    assert (low, high) == (min(losses), 1.0)
    x = [-1.0, low, np.nextafter(low, 2), low + 1e-15, 1 - 1e-15, np.nextafter(1, 0), 1.0, 2.0]
    curve = posterior.curve(np.array(x))
    for point, cdf, sf, pdf in zip(x, curve.cdf, curve.sf, curve.pdf, strict=True):
        assert cdf == pytest.approx(float_cdf(losses, 1.0, point), rel=1e-10, abs=1e-50)
        assert sf == pytest.approx(float_sf(losses, 1.0, point), rel=1e-10, abs=1e-50)
        assert 0 <= pdf < math.inf
    assert (posterior.quantile(0), posterior.quantile(1)) == (low, high)


def test_a_hundred_thousand_zeros_and_two_losses():
    losses = np.append(np.zeros(100_000), [0.3, 0.7])
    posterior = RiskPosterior.from_losses(losses)
    for p, x in zip(LEVELS, posterior.quantile(LEVELS), strict=True):
        assert float_cdf(losses, 1.0, x) == pytest.approx(p, rel=1e-9)
        assert float_sf(losses, 1.0, x) == pytest.approx(1 - p, rel=1e-6)


@pytest.mark.parametrize(
    "posterior",
    [
        RiskPosterior.from_failures(7, 7),
        RiskPosterior.from_losses([1.0] * 7),
        RiskPosterior.from_grouped([0.0, 1.0], [0, 7]),
        RiskPosterior.from_weighted([1.0] * 7, [0.5] * 7, 2.0),
    ],
    ids=["failures", "losses", "groups", "weights"],
)
def test_a_point_mass(posterior):
    assert posterior.is_point
    assert (posterior.mean, posterior.mode, posterior.quantile(0.3), posterior.credible_bound(0.95)) == (1, 1, 1, 1)
    assert (posterior.sd, posterior.variance, posterior.skewness) == pytest.approx((0, 0, 0), abs=1e-15)
    assert list(posterior.cdf([0.5, 0.999, 1.0, 1.1])) == [0, 0, 1, 1]
    assert list(posterior.sf([0.5, 0.999, 1.0, 1.1])) == [1, 1, 0, 0]
    assert list(posterior.pdf([0.5, 1.0])) == [0, math.inf]
    assert posterior.hpd(0.9) == posterior.interval(0.9)


def test_shapes_in_shapes_out():
    posterior = RiskPosterior.from_losses(TEN)
    for evaluate in (posterior.cdf, posterior.sf, posterior.pdf, posterior.quantile):
        assert isinstance(evaluate(0.5), float)
        assert evaluate([[0.2, 0.5], [0.7, 0.9]]).shape == (2, 2)
        assert evaluate([]).shape == (0,)
        assert evaluate([0.2, 0.5])[1] == pytest.approx(evaluate(0.5), rel=1e-12)


def test_losses_of_other_types():
    expected = RiskPosterior.from_losses([1.0, 0.0, 0.0]).quantile(0.9)
    for losses in ([True, False, False], np.array([1, 0, 0], np.int8), np.array([1, 0, 0], np.float32), (1, 0, 0)):
        assert RiskPosterior.from_losses(losses).quantile(0.9) == expected


def test_the_losses_given_stay_as_they_were():
    losses = np.array([0.4, 0.1, 0.3])
    RiskPosterior.from_losses(losses).quantile(0.5)
    RiskPosterior.from_weighted(losses, losses, 1.0).quantile(0.5)
    assert list(losses) == [0.4, 0.1, 0.3]


# refusals


@pytest.mark.parametrize(
    ("losses", "bound", "row"),
    [
        ([0.1, math.nan], 1, 2),
        ([0.1, 0.2, -0.1, 9.0], 1, 3),
        ([0.1, 0.2, 1.1, -1.0], 1, 3),
        ([math.inf], 1, 1),
        ([0.0, -math.inf], 1, 2),
        ([0.3, 0.2, 0.6], 0.5, 3),
    ],
)
def test_bad_losses_are_named_by_row(losses, bound, row):
    for make in (RiskPosterior.from_losses, lambda x, b: RiskPosterior.from_weighted(x, np.ones(len(x)), 1.0, b)):
        with pytest.raises(InputError) as error:
            make(losses, bound)
        assert error.value.row == row
        assert error.value.remedy


@pytest.mark.parametrize("bound", [math.nan, 0, -1, math.inf])
def test_bad_bounds(bound):
    for make in (
        lambda: RiskPosterior.from_losses([0.0], bound),
        lambda: RiskPosterior.from_grouped([0.0], [3], bound),
        lambda: RiskPosterior.from_failures(0, 3, bound),
        lambda: RiskPosterior.from_weighted([0.0], [1.0], 1.0, bound),
        lambda: batch_cdf(np.zeros((2, 3)), bound, 0.5),
        lambda: batch_cdf_grouped(np.array([0.0]), np.array([[3]]), bound, 0.5),
        lambda: batch_cdf_grouped(np.array([0.0]), np.array([[3], [3]]), np.array([1.0, bound]), 0.5),
    ):
        with pytest.raises(InputError):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: RiskPosterior.from_losses([]),
        lambda: RiskPosterior.from_losses([[0.1, 0.2]]),
        lambda: RiskPosterior.from_losses(0.1),
        lambda: RiskPosterior.from_failures(3, 2),
        lambda: RiskPosterior.from_failures(-1, 2),
        lambda: RiskPosterior.from_failures(0, 0),
        lambda: RiskPosterior.from_failures(0.5, 2),
        lambda: RiskPosterior.from_failures(1, math.inf),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, -1]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, 0.5]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, math.nan]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, math.inf]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [0, 0]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1]),
        lambda: RiskPosterior.from_grouped([0.1, 0.1], [1, 2]),
        lambda: RiskPosterior.from_grouped([0.1, 1.2], [1, 2]),
        lambda: RiskPosterior.from_weighted([0.1], [1.0], math.inf),
        lambda: RiskPosterior.from_weighted([0.1], [1.0], 0.0),
        lambda: RiskPosterior.from_weighted([0.1, 0.2], [1.0], 1.0),
        lambda: RiskPosterior.from_losses([0.1]).quantile(1.1),
        lambda: RiskPosterior.from_losses([0.1]).quantile(math.nan),
        lambda: RiskPosterior.from_losses([0.1]).quantile([0.5, -0.1]),
        lambda: RiskPosterior.from_losses([0.1]).cdf(math.nan),
        lambda: RiskPosterior.from_losses([0.1]).pdf([0.5, math.nan]),
        lambda: RiskPosterior.from_losses([0.1]).curve(np.array([0.5, math.nan])),
        lambda: RiskPosterior.from_failures(3, 3).pdf(math.nan),
        lambda: RiskPosterior.from_losses([0.1, 0.2]).hpd(1.5),
        lambda: RiskPosterior.from_losses([0.1, 0.2]).interval(-0.5),
        lambda: batch_cdf(np.array([0.1, 0.2]), 1.0, 0.5),
        lambda: batch_cdf(np.empty((3, 0)), 1.0, 0.5),
        lambda: batch_cdf(np.array([[0.1, 1.2]]), 1.0, 0.5),
        lambda: batch_cdf(np.array([[0.1, 0.2]]), 1.0, math.nan),
        lambda: batch_cdf_grouped(np.array([0.2, 0.1]), np.array([[1, 1]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 0.2]), np.array([[1, -1]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 0.2]), np.array([[1, 0.5]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 0.2]), np.array([[1, 2], [0, 0]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 0.2]), np.array([[1]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 1.2]), np.array([[1, 1]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1]), np.array([[1], [1]]), np.array([1.0, 0.05]), 0.5),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [1.0, math.nan, 0.0], [2.0, -1.0, 1.0], [2.0, math.inf, 1.0]])
def test_bad_weights_are_named_by_row(weights):
    with pytest.raises(InputError) as error:
        RiskPosterior.from_weighted([0.1, 0.2, 0.3], weights, 1.0)
    assert error.value.row == 2


def test_rows_of_many_are_named():
    for make in (
        lambda: batch_cdf(np.array([[0.1, 0.2], [0.1, 1.2]]), 1.0, 0.5),
        lambda: batch_cdf_grouped(np.array([0.1, 0.2]), np.array([[1, 2], [0, -1]]), 1.0, 0.5),
    ):
        with pytest.raises(InputError) as error:
            make()
        assert error.value.row == 2
