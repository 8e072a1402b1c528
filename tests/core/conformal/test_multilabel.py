"""Label sets: loops over rows, a table of reference, the exact recursion, refusals, and the order of the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from core.common.errors import InputError
from core.conformal.multilabel import (
    false_discovery_table,
    mean_set_sizes,
    miss_path,
    miss_table,
    positives,
)
from core.conformal.risk_control import choose
from core.conformal.rules import RULES, rule


@pytest.fixture(scope="module")
def toy():
    i, k = np.arange(200)[:, None], np.arange(6)[None]
    labels = ((7 * i + 3 * k) % 5 == 0) | (i % 6 == k)
    scores = np.clip(0.55 * labels + 0.45 * ((31 * i + 17 * k) % 101) / 101, 0, 1)
    scores = np.where((13 * i + 29 * k) % 11 == 0, scores * 0.6, scores).round(4)
    assert scores.sum() == pytest.approx(468.6715, abs=1e-9)
    assert labels.sum() == 398
    return scores, labels


def survival(losses, x):
    """Pr(L+ > x) by de Boor's recursion: convex combinations only."""
    w = np.append(np.sort(losses), 1.0)
    low, high = w[w <= x][::-1], w[w > x]
    above = np.ones(high.size + 1)  # no loss below x left
    for small in low:
        row = np.zeros(high.size + 1)  # no loss above x left
        for j, large in enumerate(high, start=1):
            row[j] = ((large - x) * above[j] + (x - small) * row[j - 1]) / (large - small)
        above = row
    return above[-1]


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (
            0.1,
            {
                "crc": 0.55,
                "hoeffding": 0.37,
                "empirical_bernstein": 0.41,
                "wsr": 0.51,
                "hoeffding_bentkus": 0.50,
                "bq": 0.53,
            },
        ),
        (
            0.2,
            {
                "crc": 0.59,
                "hoeffding": 0.56,
                "empirical_bernstein": 0.56,
                "wsr": 0.57,
                "hoeffding_bentkus": 0.57,
                "bq": 0.58,
            },
        ),
    ],
)
def test_the_toy(toy, alpha, expected):
    path = miss_table(positives(*toy), np.arange(100) / 100, inclusive=False).path()
    assert {each.key: choose(path, each, alpha, 0.95).lambda_hat for each in RULES} == pytest.approx(expected)


def test_the_toy_at_one_half(toy):
    losses = positives(*toy).missed(0.5, inclusive=False)
    assert losses.mean() == pytest.approx(0.0541667, abs=1e-7)
    assert rule("wsr").upper(losses, 1.0, 0.95) == pytest.approx(0.0890372509, abs=1e-10)
    exact = optimize.brentq(lambda x: survival(losses, x) - 0.05, 0.06, 0.1, xtol=1e-14)
    assert exact == pytest.approx(0.08143826, abs=1e-8)
    assert rule("bq").upper(losses, 1.0, 0.95) == pytest.approx(exact, abs=1e-11)


@settings(deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.booleans())
def test_losses_and_sizes_equal_a_loop(seed, inclusive, count_empty):
    rng = np.random.default_rng(seed)
    scores, labels = rng.random((12, 4)).round(1), rng.random((12, 4)) < 0.3
    labels[3, 1] = True
    found = positives(scores, labels)
    thresholds = np.array([0.0, 0.3, 0.5, 1.0])
    table = miss_table(found, thresholds, count_empty=count_empty, inclusive=inclusive)
    assert table.losses.shape[0] == found.rows(count_empty=count_empty)
    for place, t in enumerate(thresholds):
        inside = scores >= t if inclusive else scores > t
        misses = [
            1 - inside[row][labels[row]].mean() if labels[row].any() else 0.0
            for row in range(12)
            if count_empty or labels[row].any()
        ]
        np.testing.assert_allclose(table.losses[:, place], misses, atol=1e-15)
        size = mean_set_sizes(scores, thresholds[place : place + 1], inclusive=inclusive)
        assert size == pytest.approx(inside.sum(axis=1).mean())


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**31), st.sampled_from(["crc", "bq", "hoeffding"]))
def test_a_choice_on_the_jumps_equals_a_dense_grid(n, classes, seed, key):
    rng = np.random.default_rng(seed)
    scores, labels = rng.random((n, classes)).round(2), rng.random((n, classes)) < 0.5
    labels[0, 0] = True
    found = positives(scores, labels)
    exact = choose(miss_path(found), rule(key), 0.4, 0.8)
    dense = choose(miss_table(found, np.arange(-1, 102) / 100).path(), rule(key), 0.4, 0.8)
    assert (exact.lambda_hat is None) == (dense.lambda_hat is None)
    assert exact.lambda_hat is None or dense.lambda_hat == pytest.approx(exact.lambda_hat)


def test_rows_without_a_true_label_are_set_aside_or_counted_as_asked():
    found = positives(np.array([[0.4, 0.3], [0.9, 0.1]]), np.array([[0, 0], [1, 0]]))
    assert found.empty.tolist() == [True, False]
    assert miss_path(found).n == 1
    assert miss_path(found, count_empty=True).n == 2
    assert miss_table(found, np.array([0.95]), count_empty=True).losses.ravel().tolist() == [0, 1]


def test_counted_rows_keep_their_places_because_betting_goes_by_the_order():
    rng = np.random.default_rng(5)
    scores, labels = rng.random((80, 3)), rng.random((80, 3)) < 0.25
    path = miss_path(positives(scores, labels), count_empty=True)
    place = path.lambdas.size // 4
    inside = scores >= path.lambdas[place]
    by_row = np.array([1 - inside[row][labels[row]].mean() if labels[row].any() else 0.0 for row in range(80)])
    np.testing.assert_allclose(path.losses(place), by_row, atol=1e-15)
    ours, rows_sorted = (rule("wsr").upper(losses, 1.0, 0.9) for losses in (path.losses(place), np.sort(by_row)[::-1]))
    assert ours == pytest.approx(rule("wsr").upper(by_row, 1.0, 0.9), abs=1e-10)
    assert abs(ours - rows_sorted) > 1e-4


@given(st.integers(0, 2**31))
def test_false_discoveries_equal_a_loop_and_an_empty_set_has_none(seed):
    rng = np.random.default_rng(seed)
    scores, labels, thresholds = rng.random((9, 4)).round(1), rng.random((9, 4)) < 0.5, np.array([0.0, 0.4, 0.8, 2.0])
    table = false_discovery_table(scores, labels, thresholds)
    for row, column in np.ndindex(9, 4):
        inside = scores[row] >= thresholds[column]
        expected = (~labels[row][inside]).mean() if inside.any() else 0.0
        assert table.losses[row, column] == pytest.approx(expected)


def test_bad_labels_and_scores_are_named():
    bad = np.array([[0.1, 0.2], [0.3, np.nan]])
    for use in (
        lambda: positives(bad, np.ones((2, 2))),
        lambda: mean_set_sizes(bad, np.array([0.5])),
        lambda: false_discovery_table(bad, np.ones((2, 2)), np.array([0.5])),
    ):
        with pytest.raises(InputError, match="Row 2: the score of label 2 is missing"):
            use()
    for odd in (2, np.nan, -1):
        with pytest.raises(InputError, match="Row 1: label 1 is"):
            positives(np.zeros((1, 2)), np.array([[odd, 0]]))
    with pytest.raises(InputError, match="No row has a true label"):
        positives(np.zeros((1, 2)), np.zeros((1, 2)))
    for shape in ((2, 3), (3, 2), (2,)):
        with pytest.raises(InputError, match="do not fit"):
            positives(np.zeros((2, 2)), np.zeros(shape))
    with pytest.raises(InputError, match="no score"):
        positives(np.zeros((0, 2)), np.zeros((0, 2)))
