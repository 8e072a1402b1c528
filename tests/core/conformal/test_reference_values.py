"""The distribution of the risk bound: reference values, exact rational arithmetic, scipy, and laws for any losses."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.interpolate import BSpline

from core.common.errors import InputError
from core.conformal import atoms as atoms_module
from core.conformal.batches import batch_cdf, batch_cdf_grouped
from core.conformal.contour import Atoms, distribution
from core.conformal.monte_carlo import draws, draws_as_published, posterior_as_published
from core.conformal.quadrature import RiskPosterior

FIVE = [0.0, 0.1, 0.1, 0.25, 0.4]
TEN = [0.02, 0.05, 0.05, 0.11, 0.13, 0.2, 0.2, 0.31, 0.44, 0.7]
TWO_HUNDRED = ((37 * np.arange(1, 201)) % 101) / 1000
THOUSAND = 0.2 * ((619 * np.arange(1, 1001)) % 997) / 997
losses_lists = st.lists(st.integers(0, 20), min_size=1, max_size=14).map(lambda cells: [cell / 20 for cell in cells])


def exactly(losses, bound, x) -> Fraction:
    """Pr(L+ <= x) by de Boor's recursion in rational arithmetic."""
    x = Fraction(x)
    ascending = sorted([*map(Fraction, losses), Fraction(bound)])
    below, above = [w for w in ascending if w <= x][::-1], [w for w in ascending if w > x]
    over = [Fraction(1)] * (len(above) + 1)
    over[0] = Fraction(0)
    row = [Fraction(0)] + [Fraction(1)] * len(above)
    for low in below:
        new = [Fraction(0)]
        for place, high in enumerate(above, start=1):
            new.append(((high - x) * row[place] + (x - low) * new[place - 1]) / (high - low))
        row = new
    return 1 - row[-1]


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
        ([0.2], 1, 0.6, 0.8 / math.sqrt(12), {0.95: 0.96}, {}),
        ([0.1, 0.5], 1, 1.6 / 3, None, {0.95: 0.85}, {0.6: 0.6444444444}),
        (TWO_HUNDRED, 1, 0.0549054726, 0.0051255533, {0.95: 0.0647395353}, {0.06: 0.8625878103}),
        (THOUSAND, 1, 0.1008441909, 0.0020319310, {0.95: 0.1042510358}, {0.105: 0.9755103186}),
    ],
)
def test_reference_values(losses, bound, mean, sd, quantiles, probabilities):
    posterior = RiskPosterior.from_losses(losses, bound)
    assert posterior.mean == pytest.approx(mean, abs=1e-10)
    if sd is not None:
        assert posterior.sd == pytest.approx(sd, abs=1e-10)
    for p, x in quantiles.items():
        assert posterior.quantile(p) == pytest.approx(x, abs=1e-10)
    for x, p in probabilities.items():
        assert posterior.cdf(x) == pytest.approx(p, abs=1e-10)


def test_reference_densities_and_mode():
    posterior = RiskPosterior.from_losses(FIVE)
    expected = {0.1: 0.5, 0.2: 3.1989026063, 0.3: 3.1392318244, 0.5: 0.8573388203, 0.8: 0.0219478738}
    for x, density in expected.items():
        assert posterior.pdf(x) == pytest.approx(density, abs=1e-9)
    assert posterior.mode == pytest.approx(0.24321, abs=2e-5)
    assert posterior.pdf(posterior.mode) == pytest.approx(3.56701137, abs=1e-8)
    assert RiskPosterior.from_losses(TWO_HUNDRED).pdf(0.055) == pytest.approx(81.71674990, rel=1e-6)


def test_reference_values_under_covariate_shift():
    posterior = RiskPosterior.from_weighted(FIVE, [1, 0.5, 2, 1, 1.5], 1)
    assert posterior.cdf(0.2) == pytest.approx(0.1938890756, abs=1e-10)
    assert posterior.cdf(0.5) == pytest.approx(0.9295576219, abs=1e-10)
    assert posterior.quantile(0.95) == pytest.approx(0.5308254382, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "expected"),
    [(10, 0.2588655509), (28, 0.1014657356), (29, 0.0981446276), (59, 0.0495076099), (200, 0.0148670392)],
)
def test_reference_bounds_without_any_loss(n, expected):
    assert RiskPosterior.from_losses(np.zeros(n)).quantile(0.95) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("n", "failures", "bound", "within"),
    [
        (20, 3, 0.3436638043, 0.1329533234),
        (100, 5, 0.1022533776, 0.9424231135),
        (1000, 80, 0.0955510664, 0.9823884253),
        (10, 10, 1.0, 0.0),
    ],
)
def test_reference_values_for_failures(n, failures, bound, within):
    by_losses = RiskPosterior.from_losses(np.repeat([1.0, 0.0], [failures, n - failures]))
    for posterior in (RiskPosterior.from_failures(failures, n), by_losses):
        assert posterior.quantile(0.95) == pytest.approx(bound, abs=1e-10)
        assert posterior.cdf(0.1) == pytest.approx(within, abs=1e-10)


@pytest.mark.parametrize(("n", "expected"), [(10**4, 0.10155409202), (10**5, 0.10032130905), (10**6, 0.10003075011)])
def test_reference_bounds_of_large_samples(n, expected):
    losses = np.random.default_rng(0).beta(1, 9, n)
    assert RiskPosterior.from_losses(losses).quantile(0.95) == pytest.approx(expected, abs=1e-9)


def test_reference_bound_of_a_million_failures_and_successes():
    losses = np.repeat([1.0, 0.0], [100_000, 900_000])
    assert RiskPosterior.from_losses(losses).quantile(0.95) == pytest.approx(0.10049481200, abs=1e-9)


def test_reference_values_of_the_published_weighting():
    scores = np.arange(1, 41) / 41

    def certified(order):
        return next(k for k in range(1, 41) if posterior_as_published((order > k / 41 + 1e-12) * 1.0).cdf(0.2) >= 0.95)

    assert (certified(scores), certified(scores[::-1])) == (37, 38)
    right = [RiskPosterior.from_losses((scores > k / 41 + 1e-12) * 1.0).cdf(0.2) for k in (36, 37)]
    assert right == pytest.approx([0.9240855, 0.9715379], abs=1e-7)
    assert posterior_as_published(TEN).quantile(0.95) == pytest.approx(0.4516, abs=5e-5)
    assert posterior_as_published(TEN[::-1]).quantile(0.95) == pytest.approx(0.5564, abs=5e-5)
    assert posterior_as_published(TEN).mean == pytest.approx(RiskPosterior.from_losses(TEN).mean)


@settings(max_examples=150, deadline=None)
@given(losses_lists, st.integers(-2, 44))
def test_the_integral_equals_rational_arithmetic(losses, cell):
    x = cell / 40
    exact = float(exactly([Fraction(round(loss * 20), 20) for loss in losses], 1, Fraction(cell, 40)))
    posterior = RiskPosterior.from_losses(losses)
    assert posterior.cdf(x) == pytest.approx(exact, abs=1e-13)
    assert posterior.sf(x) == pytest.approx(1 - exact, abs=1e-13)


@pytest.mark.parametrize("x", [0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize(
    "losses",
    [
        [0] * 60 + [Fraction(9, 10)],
        [Fraction(1, 10**6)] * 40 + [Fraction(1, 2)] * 3,
        [Fraction(k, 997) for k in range(80)],
    ],
    ids=["one large", "two scales", "even"],
)
def test_tails_keep_their_relative_accuracy(losses, x):
    exact = exactly(losses, 1, Fraction(x))
    posterior = RiskPosterior.from_losses([float(loss) for loss in losses])
    if exact > 0:
        assert posterior.cdf(x) == pytest.approx(float(exact), rel=1e-10)
    if exact < 1:
        assert posterior.sf(x) == pytest.approx(float(1 - exact), rel=1e-9)


@pytest.mark.parametrize("losses", [FIVE, TEN, list(np.linspace(0, 0.9, 12))])
def test_the_density_is_scipys_b_spline(losses):
    knots = np.sort([*losses, 1.0])
    spline = BSpline.basis_element(knots)
    x = np.linspace(0.05, 0.95, 19)
    x = x[(x > knots[0]) & ~np.isin(x, knots)]
    posterior = RiskPosterior.from_losses(losses)
    np.testing.assert_allclose(posterior.pdf(x), len(losses) / (1 - knots[0]) * spline(x), atol=1e-9)


@pytest.mark.parametrize("losses", [FIVE, TEN, TWO_HUNDRED])
def test_draws_of_the_definition_agree(losses):
    drawn = draws(losses, 1.0, 100_000, np.random.default_rng(0))
    posterior = RiskPosterior.from_losses(losses)
    for p in (0.05, 0.5, 0.95):
        share = (drawn <= posterior.quantile(p)).mean()
        assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / drawn.size)
    published = draws_as_published(losses, 1.0, 100_000, np.random.default_rng(1))
    share = (published <= posterior_as_published(losses).quantile(0.9)).mean()
    assert abs(share - 0.9) < 4 * math.sqrt(0.09 / published.size)


@settings(max_examples=25, deadline=None)
@given(losses_lists, st.sampled_from([1.0, 1.5, 1e6]), st.randoms())
def test_laws(losses, bound, random):
    posterior = RiskPosterior.from_losses(losses, bound)
    shuffled = losses.copy()
    random.shuffle(shuffled)
    again = RiskPosterior.from_losses(shuffled, bound)
    levels = np.array([1e-9, 1e-4, 0.05, 0.5, 0.95, 0.9999, 1 - 1e-9])
    points = posterior.quantile(levels)
    np.testing.assert_array_equal(points, again.quantile(levels))
    if posterior.is_point:
        return
    assert (np.diff(points) >= 0).all()
    np.testing.assert_allclose(posterior.cdf(points)[:4], levels[:4], rtol=1e-7)
    np.testing.assert_allclose(posterior.sf(points)[4:], (1 - levels)[4:], rtol=1e-6)
    scaled = RiskPosterior.from_losses(np.array(losses) / bound, 1.0)
    np.testing.assert_allclose(scaled.quantile(levels[2:5]) * bound, points[2:5], rtol=1e-9)
    more = RiskPosterior.from_losses([*losses, 0.0], bound)
    assert (more.quantile(levels) <= points * (1 + 1e-12) + 1e-15).all()
    higher = RiskPosterior.from_losses([min(bound, loss + 0.05) for loss in losses], bound)
    assert (higher.quantile(levels) >= points * (1 - 1e-12)).all()


@settings(max_examples=25, deadline=None)
@given(losses_lists.filter(lambda losses: len(losses) > 2 and len({*losses, 1.0}) > 1))
def test_moments_and_intervals(losses):
    posterior = RiskPosterior.from_losses(losses)
    low, high = posterior.support
    nodes, weights = np.polynomial.legendre.leggauss(24)  # exact for the polynomial between two knots
    ends = np.array(sorted({*losses, 1.0}))
    half = np.diff(ends)[:, None] / 2
    x, weights = (ends[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
    density = posterior.pdf(x)

    def over(values):
        return float((weights * density * values).sum())

    mean = over(x)
    assert over(1.0) == pytest.approx(1, abs=1e-10)
    assert posterior.mean == pytest.approx(mean, abs=1e-8)
    assert posterior.variance == pytest.approx(over((x - mean) ** 2), abs=1e-8)
    third = over((x - mean) ** 3)
    assert posterior.skewness == pytest.approx(third / posterior.variance**1.5, abs=1e-4)
    shortest, even = posterior.hpd(0.8), posterior.interval(0.8)
    assert posterior.cdf(shortest.high) - posterior.cdf(shortest.low) == pytest.approx(0.8, abs=1e-7)
    assert shortest.high - shortest.low <= even.high - even.low + 1e-7
    assert low <= shortest.low <= shortest.high <= high


NASTY = {
    "heavy tail": lambda rng: np.minimum(rng.lognormal(-6, 1.5, 6000), 1),
    "two scales": lambda rng: np.concatenate((1e-6 * rng.random(1800), rng.random(4200))),
    "outlier": lambda rng: np.append(1e-4 * rng.random(5999), 0.9),
    "two clusters": lambda rng: np.concatenate((0.1 + 1e-9 * rng.random(3000), 0.9 + 1e-9 * rng.random(3000))),
    "nearly constant": lambda rng: 0.3 + 1e-12 * rng.random(3000),
    "even": lambda rng: rng.random(6000),
}


@pytest.mark.parametrize("name", NASTY)
def test_a_summary_in_blocks_loses_nothing(name):
    losses = np.sort(NASTY[name](np.random.default_rng(0)))
    full = Atoms(values=np.append(losses, 1.0), counts=np.ones(losses.size + 1))
    blocks = atoms_module.summarise(losses, 1.0)
    assert blocks.values.size < full.values.size / 2
    mean, sd = full.values.mean(), full.values.std() / math.sqrt(losses.size + 2)
    x = mean + sd * np.array([-4.0, -1.0, 0.0, 1.64, 4.0])
    x = x[(x > losses[0]) & (x < 1)]
    exact, found = distribution(full, x), distribution(blocks, x)
    np.testing.assert_allclose(found.cdf, exact.cdf, atol=1e-11)
    np.testing.assert_allclose(found.pdf, exact.pdf, rtol=1e-9)


def test_groups_give_what_their_losses_give():
    values, counts = np.array([0.0, 0.25, 0.5]), np.array([[30, 4, 2], [0, 7, 1], [5, 0, 0]])
    for row in counts:
        one = RiskPosterior.from_grouped(values, row).quantile(0.9)
        assert one == pytest.approx(RiskPosterior.from_losses(np.repeat(values, row)).quantile(0.9), abs=1e-12)
    for x in (0.0, 0.1, 0.3, 1.0):
        expected = [RiskPosterior.from_losses(np.repeat(values, row)).cdf(x) for row in counts]
        np.testing.assert_allclose(batch_cdf_grouped(values, counts, 1.0, x), expected, atol=1e-12)


def test_many_samples_at_once_give_what_each_gives():
    rows = np.random.default_rng(2).random((50, 9)).round(1)
    for x in (0.0, 0.35, 0.6, 1.0):
        expected = [RiskPosterior.from_losses(row).cdf(x) for row in rows]
        np.testing.assert_allclose(batch_cdf(rows, 1.0, x), expected, atol=1e-12)


def test_two_values_among_many_zeros():
    posterior = RiskPosterior.from_losses(np.append(np.zeros(100_000), 1.0))
    law = stats.beta(2, 100_000)
    x = law.ppf([1e-6, 0.5, 0.95, 1 - 1e-9])
    np.testing.assert_allclose(posterior.cdf(x[:3]), law.cdf(x[:3]), rtol=1e-9)
    near = RiskPosterior.from_losses(np.append(np.zeros(100_000), 1.0 - 1e-9))  # three values: by the integral
    np.testing.assert_allclose(near.cdf(x[:3]), law.cdf(x[:3]), rtol=1e-6)
    np.testing.assert_allclose(near.sf(x[3]), law.sf(x[3]), rtol=1e-6)


def test_a_point_mass():
    posterior = RiskPosterior.from_failures(7, 7)
    assert posterior.is_point
    assert (posterior.cdf(0.999), posterior.cdf(1.0), posterior.sd, posterior.quantile(0.3)) == (0, 1, 0, 1)
    assert posterior.pdf(1.0) == math.inf
    assert posterior.hpd(0.9).low == posterior.hpd(0.9).high == posterior.mode == 1


def test_support_ends_and_beyond():
    posterior = RiskPosterior.from_losses(FIVE)
    assert posterior.support == (0.0, 1.0)
    assert list(posterior.cdf([-1, 0, 1, 2])) == [0, 0, 1, 1]
    assert 0 <= posterior.cdf(1e-300) <= 1e-12
    assert 1 - 1e-12 <= posterior.cdf(1 - 1e-16) <= 1
    assert posterior.quantile(0) == 0
    assert posterior.quantile(1) == 1


def test_memory_is_a_small_multiple_of_the_input():
    losses = np.random.default_rng(0).random(1_000_000)
    tracemalloc.start()
    RiskPosterior.from_losses(losses).quantile(0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * losses.nbytes


@pytest.mark.parametrize(
    ("losses", "bound", "row"),
    [
        ([0.1, math.nan], 1, 2),
        ([0.1, -0.1], 1, 2),
        ([0.1, 0.2, 1.1], 1, 3),
        ([math.inf], 1, 1),
        ([0.3, 0.2, 0.6], 0.5, 3),
    ],
)
def test_bad_losses_are_named(losses, bound, row):
    with pytest.raises(InputError) as error:
        RiskPosterior.from_losses(losses, bound)
    assert error.value.row == row


@pytest.mark.parametrize(
    "make",
    [
        lambda: RiskPosterior.from_losses([]),
        lambda: RiskPosterior.from_losses([[0.1]]),
        lambda: RiskPosterior.from_losses([0.1], math.nan),
        lambda: RiskPosterior.from_losses([0.1], 0),
        lambda: RiskPosterior.from_failures(3, 2),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, -1]),
        lambda: RiskPosterior.from_grouped([0.1, 0.2], [1, 0.5]),
        lambda: RiskPosterior.from_weighted([0.1], [0.0], 1),
        lambda: RiskPosterior.from_weighted([0.1], [1.0], math.inf),
        lambda: RiskPosterior.from_losses([0.1]).quantile(1.1),
        lambda: RiskPosterior.from_losses([0.1]).cdf(math.nan),
        lambda: draws([0.1], 1.0, 0, np.random.default_rng(0)),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(InputError):
        make()
