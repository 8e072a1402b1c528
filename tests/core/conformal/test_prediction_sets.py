"""Sets err exactly when the loss says so, and real data give the reference half-widths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.common.errors import InputError
from core.conformal.prediction_sets import class_scores, class_sets, interval_scores, intervals, set_sizes
from core.conformal.quadrature import RiskPosterior
from core.conformal.ranks import bayesian_quadrature_rank, hoeffding_rank, kth_smallest, split_conformal_rank

finite = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(finite, finite, st.floats(1e-3, 1e3)), min_size=1, max_size=30), st.floats(0, 100))
def test_an_interval_misses_exactly_when_the_loss_is_one(rows, lambda_hat):
    y, pred, sigma = np.array(rows).T
    scores = interval_scores(y, pred, sigma)
    found = intervals(pred, lambda_hat, sigma)
    inside = (found.low <= y) & (y <= found.high)
    clear = np.abs(scores - lambda_hat) > 1e-9 * (1 + np.abs(y) / sigma)
    np.testing.assert_array_equal(inside[clear], (scores <= lambda_hat)[clear])


@given(st.integers(1, 40), st.integers(2, 6), st.floats(0, 1), st.integers(0, 2**31))
def test_a_set_misses_exactly_when_the_loss_is_one(n, classes, lambda_hat, seed):
    rng = np.random.default_rng(seed)
    probabilities, truth = rng.dirichlet(np.ones(classes), n), rng.integers(0, classes, n)
    sets = class_sets(probabilities, lambda_hat)
    np.testing.assert_array_equal(sets[np.arange(n), truth], class_scores(probabilities, truth) <= lambda_hat)
    assert set_sizes(sets).max() <= classes


def test_no_certified_threshold_gives_the_whole_line_and_all_classes():
    found = intervals(np.array([1.0, 2.0]), math.inf)
    assert (found.low == -math.inf).all()
    assert (found.high == math.inf).all()
    assert class_sets(np.array([[0.1, 0.9]]), math.inf).all()


def test_diabetes_half_widths():
    x, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(x[::2], y[::2])
    scores = interval_scores(y[1::2], model.predict(x[1::2]))
    n = scores.size
    assert n == 221
    assert kth_smallest(scores, split_conformal_rank(n, 0.1)) == pytest.approx(88.44053087, abs=1e-6)
    assert kth_smallest(scores, bayesian_quadrature_rank(n, 0.1, 0.95)) == pytest.approx(99.13774495, abs=1e-6)
    assert kth_smallest(scores, hoeffding_rank(n, 0.1, 0.95)) == pytest.approx(126.38445634, abs=1e-6)


def test_missed_tumours():
    x, y = load_breast_cancer(return_X_y=True)
    malignant = (y == 0).astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(x[::2], malignant[::2])
    share = model.predict_proba(x[1::2])[:, 1]
    scores = 1 - share[malignant[1::2] == 1]
    assert scores.size == 110
    for alpha, split, quadrature, flagged in ((0.1, 0.55006, 0.29434, 0.387), (0.05, 0.24897, 0.0076, 0.581)):
        assert 1 - kth_smallest(scores, split_conformal_rank(110, alpha)) == pytest.approx(split, abs=1e-3)
        threshold = 1 - kth_smallest(scores, bayesian_quadrature_rank(110, alpha, 0.95))
        assert threshold == pytest.approx(quadrature, abs=1e-3)
        assert (share >= threshold - 1e-12).mean() == pytest.approx(flagged, abs=5e-4)
    missed = int((scores > 0.5).sum())
    assert missed == 10
    assert RiskPosterior.from_failures(missed, 110).quantile(0.95) == pytest.approx(0.1493224, abs=1e-6)


def test_what_cannot_be_is_named():
    with pytest.raises(InputError, match="'sigma', row 2"):
        interval_scores(np.zeros(2), np.zeros(2), np.array([1.0, 0.0]))
    with pytest.raises(InputError, match="Row 1"):
        class_scores(np.array([[1.2, -0.2]]), np.array([0]))
