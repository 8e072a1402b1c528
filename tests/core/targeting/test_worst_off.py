"""Who is worst-off: Kaplan and Meier beside the weights, repeated rows beside weights, all ways unknown rows can be."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.targeting.worst_off import by_label, by_share, by_threshold, repeated, standing_for_missing
from tests.core.targeting.oracles import kaplan_meier_reaching

spells = st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=4, max_size=40)


def columns(rows):
    duration, running = zip(*rows, strict=True)
    return np.array(duration, dtype=float), np.array(running)


@given(spells, st.integers(2, 7))
def test_the_share_of_long_spells_is_kaplan_meiers(rows, threshold):
    duration, running = columns(rows)
    known = (duration >= threshold) | ~running
    assume((duration >= threshold).any() and (known & (duration < threshold)).any())
    made = by_threshold(duration, threshold, low_is_worst=False, running=running)
    expected = kaplan_meier_reaching(duration, running, threshold)
    assert made.beta * made.weight.sum() / len(rows) == pytest.approx(expected)
    assert (made.weight[~known] == 0).all()
    assert (made.flag == (duration >= threshold)).all()


@given(spells, st.sampled_from([0.15, 0.3, 0.5]))
def test_a_share_of_censored_spells_takes_the_shortest_duration_that_few_enough_reach(rows, beta):
    duration, running = columns(rows)
    times = sorted(set(duration))
    few = [time for time in times if kaplan_meier_reaching(duration, running, time) <= beta * (1 + 1e-12)]
    expected = few[0] if few else times[-1]
    flag = duration >= expected
    assume(not flag[flag | ~running].all())
    made = by_share(duration, beta, low_is_worst=False, running=running)
    assert made.threshold == expected


def test_without_running_spells_everybody_counts_once():
    duration = np.array([3.0, 9, 1, 30, 14])
    made = by_threshold(duration, 9, low_is_worst=False, running=np.zeros(5, dtype=bool))
    assert made.weight.tolist() == [1] * 5
    assert made.beta == pytest.approx(3 / 5)
    assert made.notes == ("No spell was still running.",)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=12), st.sampled_from([0.2, 0.5]))
def test_weights_are_repeated_rows(rows, beta):
    outcome, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    twice = np.repeat(outcome, weights.astype(int))
    order = np.sort(twice)
    people = int(beta * twice.size + 1e-9)
    assume(people and (twice > order[people - 1]).any())
    last = order[people - 1]
    # where the share ends inside a row's copies, that row stays out, as one person cannot be split
    assume((outcome < last) @ weights + weights[outcome == last].min() <= people)
    weighted = by_share(outcome, beta, low_is_worst=True, weights=weights)
    plain = by_share(twice, beta, low_is_worst=True)
    assert weighted.threshold == plain.threshold
    assert weighted.beta == pytest.approx(plain.beta)
    turned = by_share(outcome[::-1], beta, low_is_worst=True, weights=3 * weights[::-1])
    assert turned.threshold == plain.threshold  # neither the order of rows nor the unit of weights matters


@given(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=9))
def test_bounds_are_what_unknown_labels_can_be(labels):
    label = np.array(labels)
    unknown = np.flatnonzero(np.isnan(label))
    assume({0.0, 1.0} <= set(label[~np.isnan(label)]))
    shares = []
    for guess in itertools.product((0, 1), repeat=unknown.size):
        filled = label.copy()
        filled[unknown] = guess
        shares.append(filled.mean())
    made = by_label(label)
    assert made.bounds == pytest.approx((min(shares), max(shares)))
    assert made.bounds[0] <= made.beta <= made.bounds[1]


def test_outcomes_missing_by_score_are_made_up_for():
    rng = np.random.default_rng(0)
    score = rng.normal(size=200_000)
    outcome = score + rng.normal(size=score.size)
    truth = (outcome <= -1.5).mean()
    hidden = np.where(rng.random(score.size) < 0.8 * (score < 0), np.nan, outcome)  # the worse off answer less
    naive = by_threshold(hidden, -1.5, low_is_worst=True).beta
    made = by_threshold(hidden, -1.5, low_is_worst=True, score=score).beta
    assert abs(naive - truth) > 0.05
    assert made == pytest.approx(truth, abs=0.006)


def test_spells_cut_at_random_are_made_up_for():
    rng = np.random.default_rng(1)
    spell, record = rng.exponential(10, 100_000), rng.exponential(15, 100_000)
    seen, running = np.minimum(spell, record), record < spell
    truth = np.exp(-1.2)
    made = by_threshold(seen, 12, low_is_worst=False, running=running)
    assert made.beta == pytest.approx(truth, abs=0.005)
    assert (seen >= 12).mean() < truth - 0.1  # running spells taken as ended
    assert made.bounds[0] < truth < made.bounds[1]


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 2**31))
def test_known_rows_stand_for_all(known, seed):
    known, rng = np.array(known), np.random.default_rng(seed)
    assume(known.any())
    weights, score = rng.uniform(0.5, 2, known.size), rng.normal(size=known.size).round(1)
    made = standing_for_missing(known, weights, score)
    assert made.sum() == pytest.approx(weights.sum())
    assert (made[known] >= weights[known] - 1e-12).all()
    assert (made[~known] == 0).all()


def test_high_is_worst_is_low_is_worst_turned():
    outcome = np.random.default_rng(0).normal(size=101)
    low, high = by_share(outcome, 0.2, low_is_worst=True), by_share(-outcome, 0.2, low_is_worst=False)
    assert (low.flag == high.flag).all()
    assert low.threshold == -high.threshold


def test_repeated_rows_are_the_same_people():
    made = by_share(np.arange(10.0), 0.3, low_is_worst=True)
    thrice = repeated(made, 3)
    assert thrice.flag.tolist() == made.flag.tolist() * 3
    assert thrice.beta == made.beta


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: by_label(np.array([0.0, 1.0, 2.0])), "Row 3: the label is 2"),
        (lambda: by_label(np.array([0.0, 0.0])), "Nobody is worst-off"),
        (lambda: by_label(np.array([1.0, 1.0])), "Everybody is worst-off"),
        (lambda: by_label(np.array([np.nan, np.nan])), "No row has an outcome"),
        (lambda: by_share(np.array([1.0, np.inf, 2]), 0.4, low_is_worst=True), "'outcome', row 2: the value is inf"),
        (lambda: by_share(np.arange(5.0), 0.1, low_is_worst=True), "less than one person"),
        (lambda: by_share(np.arange(5.0), 0.0, low_is_worst=True), "between 0 and 1"),
        (lambda: by_threshold(np.arange(5.0), -1, low_is_worst=True), "Nobody is worst-off"),
        (lambda: by_threshold(np.arange(5.0), 9, low_is_worst=True), "Everybody is worst-off"),
        (
            lambda: by_share(np.arange(5.0), 0.4, low_is_worst=True, running=np.ones(5, dtype=bool)),
            "high is worst, such as a duration",
        ),
        (lambda: by_share(np.arange(5.0), 0.4, low_is_worst=True, weights=np.array([1, 1, -1.0, 1, 1])), "row 3"),
        (lambda: by_share(np.array([]), 0.4, low_is_worst=True), "do not fit"),
    ],
)
def test_what_cannot_be_is_refused_in_words(make, words):
    with pytest.raises(InputError, match=f"(?i){words}"):
        make()
