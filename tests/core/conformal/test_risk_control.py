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
    miss_path,
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


def test_reference_bands(curves):
    bands = risk_bands(curves.path(), (0.8,))
    np.testing.assert_allclose(bands.expected, [0.8928571429, 0.6428571429, 0.3928571429, 0.1785714286], atol=1e-10)
    np.testing.assert_allclose(bands.quantiles[0], [0.9498830377, 0.7226608182, 0.4743481995, 0.2710766264], atol=1e-10)
    inside = [RiskPosterior.from_losses(column).cdf(0.5) for column in curves.losses.T]
    np.testing.assert_allclose(inside, [0, 0.0555555556, 0.8518518519, 0.9791666667], atol=1e-10)


@pytest.mark.parametrize(("key", "beta", "expected"), [("crc", 0.8, 3), ("bq", 0.8, 3), ("bq", 0.9, 4)])
def test_reference_choices_on_a_table(curves, key, beta, expected):
    assert choose(curves.path(), rule(key), 0.5, beta).lambda_hat == expected


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
@settings(max_examples=15, deadline=None)
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


def test_a_refusal_names_the_first_row_and_the_two_settings():
    losses = np.array(CURVES, dtype=float)
    losses[2, 2:] = 0.25, 0.4  # row 3 loses more at 4 than at 3
    losses[4, 1:3] = 0.1, 0.3
    with pytest.raises(InputError, match=r"lambda 4 is larger than at 3, .* and 1 other row likewise") as error:
        choose(loss_table(losses, np.arange(1.0, 5.0), bound=1.0, falling=True).path(), rule("crc"), 0.5, 0.9)
    assert error.value.row == 3
    rising = loss_table(losses[2:3, ::-1], np.arange(4.0), bound=1.0, falling=False)
    with pytest.raises(InputError, match="lambda 0 is larger than at 1, which is the riskier; "):
        choose(rising.path(), rule("bq"), 0.5, 0.9)


def test_rounding_is_no_rise():
    losses = np.array([[0.3, 0.1 + 0.2, 0.0]])  # 0.30000000000000004 at the safer setting
    assert choose(loss_table(losses, np.arange(3.0), bound=1.0, falling=True).path(), rule("crc"), 0.7, 0.9).place == 2


paths = (
    st.integers(1, 40)
    .flatmap(lambda n: st.lists(st.lists(st.integers(0, 8), min_size=5, max_size=5), min_size=n, max_size=n))
    .map(lambda losses: np.sort(np.array(losses) / 8, axis=1))
)


def reached(choice):
    """How far along the path a choice is; -1 for none."""
    return -1 if choice.place is None else choice.place


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
@settings(max_examples=8, deadline=None)
@given(losses=paths, seed=st.integers(0, 99))
def test_choices_go_further_with_the_limit_and_less_far_with_the_certainty(each, losses, seed):
    def path(values, bound=1.0):
        return loss_table(values, np.arange(5.0), bound=bound, falling=False).path()

    places = [reached(choose(path(losses), each, alpha, 0.8)) for alpha in (0.1, 0.3, 0.5, 0.9)]
    assert places == sorted(places)
    places = [reached(choose(path(losses), each, 0.37, beta)) for beta in (0.99, 0.8, 0.5)]
    assert places == sorted(places)
    choice = choose(path(losses), each, 0.37, 0.8)
    scaled = choose(path(4 * losses, 4.0), each, 4 * 0.37, 0.8)
    assert (scaled.place, scaled.extra) == (choice.place, choice.extra)
    assert scaled.upper == pytest.approx(4 * choice.upper, abs=1e-8)
    if each.key != "wsr":
        shuffled = np.random.default_rng(seed).permutation(losses)
        assert choose(path(shuffled), each, 0.37, 0.8).place == choice.place


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
def test_none_and_all_are_told_apart(each):
    """A published table rule answers the first lambda in both cases."""
    none = choose(path_of_scores(np.arange(5.0)), each, 0.01, 0.95)
    assert (none.lambda_hat, none.place, none.n) == (None, None, 5)
    assert none.upper > 0.01
    everything = choose(
        loss_table(np.zeros((2000, 3)), np.arange(3.0), bound=1.0, falling=True).path(), each, 0.1, 0.95
    )
    assert (everything.lambda_hat, everything.extra) == (0.0, None)
    assert (everything.alpha, everything.beta) == (0.1, 0.95)


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.key)
@settings(max_examples=10, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 99))
def test_extra_is_the_first_number_of_cases_that_would_do(each, n, seed):
    losses = np.random.default_rng(seed).beta(0.4, 2, n)
    choice = choose(loss_table(losses[:, None], np.zeros(1), bound=1.0, falling=True).path(), each, 0.25, 0.8)
    if choice.lambda_hat is None:
        holds = [each.upper(np.append(losses, np.zeros(k)), 1.0, 0.8) <= 0.25 for k in range(choice.extra + 1)]
        assert holds == [False] * choice.extra + [True]


@pytest.mark.parametrize(("n", "alpha", "expected"), [(9, 0.1, 9), (8, 0.1, None), (19, 0.05, 19), (99, 0.1, 90)])
def test_a_tie_at_alpha_counts_and_too_few_cases_give_no_threshold(n, alpha, expected):
    """Where peers stop with an error, take the maximum, or are one rank too high."""
    assert choose(path_of_scores(np.arange(1.0, n + 1)), rule("crc"), alpha, 0.95).lambda_hat == expected


@pytest.mark.parametrize("key", ["hoeffding", "hoeffding_bentkus", "wsr", "empirical_bernstein"])
def test_a_fixed_sequence_seldom_passes_a_setting_above_the_limit(key):
    rng, trials, alpha, beta = np.random.default_rng(4), 120, 0.3, 0.8
    risks = np.array([0.05, 0.1, 0.32, 0.1, 0.5])  # safest first: up and down
    passed = 0
    for _ in range(trials):
        losses = (rng.random((120, 5)) < risks).astype(float)
        path = loss_table(losses, -np.arange(5.0), bound=1.0, falling=True).path()
        passed += reached(fixed_sequence(path, rule(key), alpha, beta)) >= 2
    assert passed / trials <= 1 - beta + 4 * math.sqrt(beta * (1 - beta) / trials)


def test_conformal_risk_control_of_graded_losses_holds_on_average():
    """The share of three uniform scores that lie below the threshold: the threshold is the risk."""
    rng, trials, alpha = np.random.default_rng(2), 1500, 0.3
    risks = np.empty(trials)
    for trial in range(trials):
        found = positives(rng.random((12, 3)), np.ones((12, 3)))
        risks[trial] = choose(miss_path(found), rule("crc"), alpha, 0.9).lambda_hat
    assert risks.mean() <= alpha + 4 * risks.std() / math.sqrt(trials)
