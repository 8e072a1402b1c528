"""Groups beside brute force, intervals beside the plain bootstrap, and what is hidden of small ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.targeting.groups import MOST_GROUPS, by_group, screened
from core.targeting.privacy import check_enough, small, without_small
from core.targeting.resampling import Resampler
from core.targeting.worst_off import by_label, by_share


def groups_of(flag, score, group, names, *, alpha=0.2, smallest=1, draws=50, weights=None):
    rng = np.random.default_rng(0)
    worst_off = by_label(flag.astype(float), weights=weights)
    resampler = Resampler(worst_off, draws=draws, rng=rng)
    bins = resampler.bins(score, low_is_worst=True)
    return by_group(
        worst_off, score, group, names, alpha, resampler, bins, low_is_worst=True, level=0.9, smallest=smallest
    )


@given(st.integers(6, 60), st.integers(0, 2**31), st.floats(0.05, 0.95))
def test_chances_are_the_expectation_over_orders_of_ties(n, seed, alpha):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 5, n).astype(float)
    weights = rng.uniform(0.5, 2, n)
    worst_off = by_share(rng.normal(size=n), 0.5, low_is_worst=True, weights=weights)
    chance = screened(worst_off, score, alpha, low_is_worst=True)
    assert (worst_off.weight * chance).sum() == pytest.approx(alpha * worst_off.weight.sum())
    left = alpha * weights.sum()
    for value in np.unique(score):
        tied = score == value
        share = np.clip(left / weights[tied].sum(), 0, 1)
        np.testing.assert_allclose(chance[tied], share, atol=1e-9)
        left -= share * weights[tied].sum()


@given(st.integers(20, 80), st.integers(0, 2**31))
def test_recall_and_burden_are_counts(n, seed):
    rng = np.random.default_rng(seed)
    flag, score, group = rng.random(n) < 0.4, rng.normal(size=n), rng.integers(0, 3, n)
    flag[:2] = [True, False]
    places = int(0.25 * n)
    first = np.argsort(score)[:places]
    chosen = np.isin(np.arange(n), first)
    made = groups_of(flag, score, group, ("a", "b", "c"), alpha=places / n)
    for place, found in enumerate(made):
        member = group == place
        if (member & flag).any():
            assert found.recall.value == pytest.approx(chosen[member & flag].mean())
        if (member & ~flag).any():
            assert found.burden.value == pytest.approx(chosen[member & ~flag].mean())
        if member.any():
            assert found.screened.value == pytest.approx(chosen[member].mean())
        assert (found.people, found.worst) == (member.sum(), (member & flag).sum())
    total = sum(found.recall.value * found.worst for found in made if found.worst)
    assert total == pytest.approx(chosen[flag].sum())  # the groups' parts are the whole


def test_intervals_are_the_plain_bootstraps():
    rng = np.random.default_rng(1)
    n = 1500
    flag, group = rng.random(n) < 0.3, rng.integers(0, 2, n)
    score = rng.normal(size=n) - flag
    made = groups_of(flag, score, group, ("a", "b"), draws=2000)
    plain = []
    for _ in range(1500):
        rows = rng.integers(n, size=n)
        cut = np.sort(score[rows])[int(0.2 * n) - 1]
        mine = rows[(group[rows] == 0) & flag[rows]]
        plain.append((score[mine] <= cut).mean())
    low, high = np.quantile(plain, [0.05, 0.95])
    assert made[0].recall.low == pytest.approx(low, abs=0.012)
    assert made[0].recall.high == pytest.approx(high, abs=0.012)


def test_a_small_group_hides_the_next_smallest_with_it():
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1, 2], [300, 200, 6])
    flag, score = rng.random(506) < 0.5, rng.normal(size=506)
    made = groups_of(flag, score, group, ("large", "middle", "tiny"), smallest=5)
    assert [found.hidden for found in made] == [False, True, True]
    for found in made[1:]:
        assert np.isnan([found.people, found.worst, found.recall.value, found.burden.low]).all()


def test_nobody_hidden_where_counts_are_large_or_zero():
    group = np.repeat([0, 1], 100)
    flag = np.concatenate((np.tile([True, False], 50), np.zeros(100, dtype=bool)))
    made = groups_of(flag, np.arange(200.0), group, ("a", "b"), alpha=0.3, smallest=5)
    assert [found.hidden for found in made] == [False, False]
    assert np.isnan(made[1].recall.value)  # a group without worst-off people has no recall
    assert made[1].burden.value == 0


def test_too_many_groups_are_refused():
    n = MOST_GROUPS + 1
    with pytest.raises(InputError, match=f"there are {n} groups".capitalize()):
        groups_of(np.arange(n) % 2 == 0, np.arange(n, dtype=float), np.arange(n), tuple(map(str, range(n))))


@given(st.integers(0, 100), st.integers(1, 20))
def test_small_counts_and_their_complements_are_left_out(count, smallest):
    shown = without_small(np.array([count / 100]), 100, smallest)[0]
    expected = (count == 0 or count >= smallest) and (count == 100 or 100 - count >= smallest)
    assert np.isnan(shown) != expected
    assert small(count, smallest) == (0 < count < smallest)


def test_too_few_worst_off_are_refused():
    check_enough(5, 5, 5)
    with pytest.raises(InputError, match="fewer than 5 worst-off people"):
        check_enough(4, 50, 5)
    with pytest.raises(InputError, match="fewer than 5 people who are not worst-off"):
        check_enough(50, 4, 5)
