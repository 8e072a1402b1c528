import numpy as np
import pytest

from core.conformal.surrogate import CLASSES, ROWS, SEED, draw_stand_in


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
