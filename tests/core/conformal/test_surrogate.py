import numpy as np
import pytest

from core.conformal.surrogate import CLASSES, ROWS, SEED, draw_stand_in, loss_counts, sweep


@pytest.fixture(scope="module")
def stand_in():
    return draw_stand_in(np.random.default_rng(SEED))


def test_check_sums(stand_in):
    assert stand_in.labels.shape == stand_in.scores.shape == (ROWS, CLASSES)
    assert stand_in.labels.sum() == 13867
    assert stand_in.scores.sum() == pytest.approx(36760.623, abs=5e-4)


def test_risk_and_size_at_one_threshold(stand_in):
    kept = stand_in.scores >= 0.350
    fnr = 1 - (kept & stand_in.labels).sum(axis=1) / stand_in.labels.sum(axis=1)
    assert fnr.mean() == pytest.approx(0.0586663, abs=5e-6)
    assert kept.sum(axis=1).mean() == pytest.approx(3.331179, abs=5e-7)


def test_every_row_has_a_label_and_scores_are_probabilities(stand_in):
    assert stand_in.labels.any(axis=1).all()
    assert ((stand_in.scores > 0) & (stand_in.scores < 1)).all()


def test_only_the_generator_decides(stand_in):
    again, other = (draw_stand_in(np.random.default_rng(seed)) for seed in (SEED, SEED + 1))
    np.testing.assert_array_equal(stand_in.scores, again.scores)
    assert not np.array_equal(stand_in.scores, other.scores)


def test_sweep_counts_what_each_threshold_keeps(stand_in):
    thresholds = np.array([0.98, 0.6, stand_in.scores[3, 7], 0.35, 0.02, 0.0])
    thresholds = np.sort(thresholds)[::-1]
    table = sweep(stand_in, thresholds)
    for at, threshold in enumerate(thresholds):
        kept = stand_in.scores >= threshold
        losses = 1 - (kept & stand_in.labels).sum(axis=1) / stand_in.labels.sum(axis=1)
        np.testing.assert_allclose(table.values[table.loss[at]], losses, atol=1e-15)
        np.testing.assert_array_equal(table.size[at], kept.sum(axis=1))
        assert table.sizes[at] == kept.sum()
        assert table.counts[at] @ table.values == pytest.approx(losses.sum(), rel=1e-12)


def test_sweep_losses_are_the_possible_shares(stand_in):
    table = sweep(stand_in, np.array([0.5]))
    assert table.values[0] == 0
    assert table.values[-1] == 1
    assert (np.diff(table.values) > 0).all()


def test_loss_counts():
    np.testing.assert_array_equal(loss_counts(np.array([[0, 2, 2], [1, 0, 0]]), 4), [[1, 0, 2, 0], [2, 1, 0, 0]])
