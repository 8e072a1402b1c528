"""Choices of lambda: reference tables, brute force over every setting, refusals, and the theorems by simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.common.errors import InputError
from core.conformal.loss_paths import loss_table, path_of_scores
from core.conformal.multilabel import (
    false_discovery_table,
    mean_set_sizes,
    miss_path,
    miss_table,
    positives,
)
from core.conformal.quadrature import RiskPosterior
from core.conformal.ranks import bayesian_quadrature_rank, hoeffding_rank, kth_smallest, split_conformal_rank
from core.conformal.risk_control import choose, fixed_sequence, risk_bands
from core.conformal.rules import RULES, rule

CURVES = [
    [1, 0.5, 0.25, 0],
    [1, 0.75, 0.25, 0],
    [0.5, 0.5, 0, 0],
    [1, 1, 0.5, 0.25],
    [0.75, 0.25, 0.25, 0],
    [1, 0.5, 0.5, 0],
]


@pytest.fixture
def curves():
    return loss_table(np.array(CURVES), np.arange(1.0, 5.0), bound=1.0, falling=True)


@pytest.fixture(scope="module")
def toy():
    i, k = np.arange(200)[:, None], np.arange(6)[None]
    labels = ((7 * i + 3 * k) % 5 == 0) | (i % 6 == k)
    scores = np.clip(0.55 * labels + 0.45 * ((31 * i + 17 * k) % 101) / 101, 0, 1)
    scores = np.where((13 * i + 29 * k) % 11 == 0, scores * 0.6, scores).round(4)
    assert scores.sum() == pytest.approx(468.6715, abs=1e-9)
    assert labels.sum() == 398
    return scores, labels


def test_reference_bands(curves):
    bands = risk_bands(curves.path(), (0.8,))
    np.testing.assert_allclose(bands.expected, [0.8928571429, 0.6428571429, 0.3928571429, 0.1785714286], atol=1e-10)
    np.testing.assert_allclose(bands.quantiles[0], [0.9498830377, 0.7226608182, 0.4743481995, 0.2710766264], atol=1e-10)
    inside = [RiskPosterior.from_losses(column).cdf(0.5) for column in curves.losses.T]
    np.testing.assert_allclose(inside, [0, 0.0555555556, 0.8518518519, 0.9791666667], atol=1e-10)


@pytest.mark.parametrize(("key", "beta", "expected"), [("crc", 0.8, 3), ("bq", 0.8, 3), ("bq", 0.9, 4)])
def test_reference_choices_on_a_table(curves, key, beta, expected):
    assert choose(curves.path(), rule(key), 0.5, beta).lambda_hat == expected


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.1, (0.55, 0.53, 0.37, 0.50, 0.51, 0.41)),
        (0.2, (0.59, 0.58, 0.56, 0.57, 0.57, 0.56)),
    ],
)
def test_the_multilabel_toy(toy, alpha, expected):
    path = miss_table(positives(*toy), np.arange(100) / 100, inclusive=False).path()
    assert [each.key for each in RULES] == ["crc", "bq", "hoeffding", "hoeffding_bentkus", "wsr", "empirical_bernstein"]
    assert [choose(path, each, alpha, 0.95).lambda_hat for each in RULES] == pytest.approx(expected)


def test_the_multilabel_toy_at_one_half(toy):
    losses = positives(*toy).missed(0.5, inclusive=False)
    assert losses.mean() == pytest.approx(0.0541667, abs=1e-7)
    assert rule("bq").upper(losses, 1.0, 0.95) == pytest.approx(0.0814382563, abs=2e-8)
    assert rule("wsr").upper(losses, 1.0, 0.95) == pytest.approx(0.0890372509, abs=1e-9)


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
@settings(max_examples=25, deadline=None)
@given(
    losses=st.integers(1, 25).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=n, max_size=n)
    ),
    alpha=st.sampled_from([0.1, 0.3, 0.6]),
    beta=st.sampled_from([0.5, 0.9]),
    falling=st.booleans(),
)
def test_a_choice_equals_brute_force_over_all_settings(each, losses, alpha, beta, falling):
    values = np.sort(np.array(losses) / 4, axis=1)
    table = loss_table(values[:, ::-1] if falling else values, np.arange(6.0), bound=1.0, falling=falling)
    path = table.path()
    certified = [each.upper(path.losses(place), 1.0, beta) <= alpha * (1 + 1e-12) for place in range(6)]
    first_failure = certified.index(False) if False in certified else 6
    choice = choose(path, each, alpha, beta)
    assert choice.place == (first_failure - 1 if first_failure else None)
    assert choice.lambda_hat == (None if choice.place is None else path.lambdas[choice.place])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=80),
    st.sampled_from([0.05, 0.1, 0.3]),
    st.sampled_from([0.8, 0.95]),
)
def test_scores_with_ties_give_the_order_statistics_of_the_ranks(scores, alpha, beta):
    scores = np.array(scores, dtype=float)
    ranks = {
        "crc": split_conformal_rank(scores.size, alpha),
        "bq": bayesian_quadrature_rank(scores.size, alpha, beta),
        "hoeffding": hoeffding_rank(scores.size, alpha, beta),
    }
    for key, rank in ranks.items():
        found = choose(path_of_scores(scores), rule(key), alpha, beta).lambda_hat
        assert (math.inf if found is None else found) == kth_smallest(scores, rank)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**31), st.sampled_from(["crc", "bq"]))
def test_label_sets_on_their_jumps_equal_a_dense_grid(n, classes, seed, key):
    rng = np.random.default_rng(seed)
    scores, labels = rng.random((n, classes)).round(2), rng.random((n, classes)) < 0.5
    labels[0, 0] = True
    found = positives(scores, labels)
    exact = choose(miss_path(found), rule(key), 0.4, 0.8)
    grid = np.arange(-1, 102) / 100
    dense = choose(miss_table(found, grid).path(), rule(key), 0.4, 0.8)
    if exact.lambda_hat is None:
        assert dense.lambda_hat is None
    elif exact.place + 1 < np.unique(found.scores).size:
        assert dense.lambda_hat == pytest.approx(exact.lambda_hat)
    else:
        assert dense.lambda_hat >= exact.lambda_hat - 1e-9  # every true label is kept up to the largest score


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
@settings(max_examples=15, deadline=None)
@given(st.integers(30, 300), st.integers(0, 2**31), st.sampled_from([0.1, 0.25]), st.booleans())
def test_a_choice_on_jumps_equals_testing_every_jump(each, n, seed, alpha, graded):
    rng = np.random.default_rng(seed)
    labels = rng.random((n, 4)) < (0.6 if graded else 0.25)
    labels[0, 0] = True
    path = miss_path(positives(rng.random((n, 4)).round(3), labels)) if graded else path_of_scores(rng.random(n))
    certified = (
        each.upper(path.losses(place), path.bound, 0.9) <= alpha * (1 + 1e-12) for place in range(path.lambdas.size)
    )
    safe = next((place for place, holds in enumerate(certified) if not holds), path.lambdas.size)
    assert choose(path, each, alpha, 0.9).place == (safe - 1 if safe else None)


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
def test_a_hundred_thousand_jumps_take_few_looks_at_the_losses(each):
    path = path_of_scores(np.random.default_rng(0).random(100_000))
    looks = []
    watched = replace(path, losses=lambda place: looks.append(place) or path.losses(place))
    assert choose(watched, each, 0.1, 0.95).lambda_hat == pytest.approx(0.9, abs=0.01)
    assert len(looks) < 200


@given(st.integers(0, 2**31))
def test_missed_shares_equal_a_loop(seed):
    rng = np.random.default_rng(seed)
    scores, labels = rng.random((12, 4)).round(1), rng.random((12, 4)) < 0.4
    labels[3, 1] = True
    found = positives(scores, labels)
    rows = [row for row in range(12) if labels[row].any()]
    for inclusive in (True, False):
        inside = scores >= 0.5 if inclusive else scores > 0.5
        expected = [1 - inside[row][labels[row]].mean() for row in rows]
        np.testing.assert_allclose(found.missed(0.5, inclusive=inclusive), expected)
    np.testing.assert_allclose(mean_set_sizes(scores, np.array([0.5])), (scores >= 0.5).sum(axis=1).mean())


def test_rows_without_a_true_label_are_set_aside_or_counted_as_asked():
    found = positives(np.array([[0.9, 0.1], [0.4, 0.3]]), np.array([[1, 0], [0, 0]]))
    assert found.empty.tolist() == [False, True]
    assert miss_path(found).n == 1
    assert miss_path(found, count_empty=True).n == 2
    assert miss_table(found, np.array([0.5]), count_empty=True).losses.ravel().tolist() == [0, 0]


def test_losses_that_rise_and_fall_are_refused_with_two_ways_on():
    rng = np.random.default_rng(0)
    labels = rng.random((300, 5)) < 0.5
    scores = np.clip(0.4 * labels + 0.6 * rng.random((300, 5)), 0, 1)
    table = false_discovery_table(scores, labels, np.arange(20) / 20)
    assert table.rising_rows.size
    for each in RULES:
        with pytest.raises(InputError, match="envelope"):
            choose(table.path(), each, 0.3, 0.9)
    raised = table.envelope()
    assert raised.rising_rows.size == 0
    assert (raised.losses >= table.losses).all()
    for key in ("crc", "bq"):
        with pytest.raises(InputError, match="confidence bound"):
            fixed_sequence(table.path(), rule(key), 0.3, 0.9)
    assert fixed_sequence(table.path(), rule("hoeffding_bentkus"), 0.3, 0.9).lambda_hat is not None


def test_what_is_not_certifiable_says_how_many_cases_would_do(curves):
    choice = choose(curves.path(), rule("bq"), 0.05, 0.95)
    assert choice.lambda_hat is None
    safest = curves.losses[:, -1]
    enough, short = (np.append(safest, np.zeros(more)) for more in (choice.extra, choice.extra - 1))
    assert rule("bq").upper(enough, 1.0, 0.95) <= 0.05 < rule("bq").upper(short, 1.0, 0.95)


@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.95), (0.05, 0.95), (0.2, 0.8)])
@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
def test_needed_cases_are_the_first_that_certify_without_loss(each, alpha, beta):
    n = each.needs(alpha, beta)
    assert each.upper(np.zeros(n), 1.0, beta) <= alpha * (1 + 1e-12)
    assert n == 1 or each.upper(np.zeros(n - 1), 1.0, beta) > alpha
    expected = {
        "crc": math.ceil(round(1 / alpha, 9)) - 1,
        "bq": math.ceil(math.log(1 - beta) / math.log(1 - alpha)),
        "hoeffding": math.ceil(math.log(1 / (1 - beta)) / (2 * alpha**2)),
    }
    assert n == expected.get(each.key, n)


def test_the_crc_threshold_uses_the_sample_size_not_one_more():
    """n = 10, alpha = .1: the mean loss may be .0100, not .0191 (a notebook's slip)."""
    upper = rule("crc").upper
    assert upper(np.full(10, 0.0100), 1.0, 0.9) <= 0.1 + 1e-12
    assert upper(np.full(10, 0.0191), 1.0, 0.9) > 0.1


@pytest.mark.parametrize("key", ["bq", "hoeffding", "hoeffding_bentkus", "wsr"])
def test_few_calibration_sets_are_misled(key):
    rng, trials, alpha, beta = np.random.default_rng(8), 300, 0.2, 0.9
    failures = 0
    for _ in range(trials):
        choice = choose(path_of_scores(rng.random(60)), rule(key), alpha, beta)
        failures += choice.lambda_hat is not None and 1 - choice.lambda_hat > alpha
    assert failures / trials <= 1 - beta + 4 * math.sqrt(beta * (1 - beta) / trials)


def test_conformal_risk_control_holds_on_average():
    rng, trials, alpha = np.random.default_rng(8), 3000, 0.2
    risks = [1 - choose(path_of_scores(rng.random(40)), rule("crc"), alpha, 0.9).lambda_hat for _ in range(trials)]
    assert np.mean(risks) <= alpha + 4 * np.std(risks) / math.sqrt(trials)


def test_bad_tables_are_named():
    good = np.array(CURVES, dtype=float)
    for value, words in ((np.nan, "the loss is nan"), (1.5, "outside 0 to 1"), (-0.1, "outside 0 to 1")):
        bad = good.copy()
        bad[2, 1] = value
        with pytest.raises(InputError, match=words) as error:
            loss_table(bad, np.arange(1.0, 5.0), bound=1.0, falling=True)
        assert (error.value.row, error.value.column) == (3, "2")
    with pytest.raises(InputError, match="same lambda"):
        loss_table(good, np.array([1.0, 1.0, 2.0, 3.0]), bound=1.0, falling=True)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.9), (1.0, 0.9), (0.1, 1.0)])
def test_bad_targets_are_refused(curves, alpha, beta):
    with pytest.raises(InputError):
        choose(curves.path(), rule("bq"), alpha, beta)


def test_bad_labels_are_named():
    scores = np.array([[0.1, 0.2], [0.3, np.nan]])
    with pytest.raises(InputError, match="Row 2: the score of label 2 is missing"):
        positives(scores, np.ones((2, 2)))
    with pytest.raises(InputError, match="Row 1: label 1 is"):
        positives(np.zeros((1, 2)), np.array([[2, 0]]))
    with pytest.raises(InputError, match="No row has a true label"):
        positives(np.zeros((1, 2)), np.zeros((1, 2)))
