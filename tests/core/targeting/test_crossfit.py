"""Cross-fitted scores beside the same models fitted by hand, the sheet's values on real spells, and odd columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from core.common.errors import InputError
from core.common.tables import read_path
from core.targeting.crossfit import MODELS, MOST_CATEGORIES, crossfit
from core.targeting.examples import FEATURES, FOLDER
from core.targeting.register import register


@pytest.fixture(scope="module")
def spells():
    table = read_path(FOLDER / "unemployment.csv")
    return table.frame[list(FEATURES)], table.numbers("spell"), table.binary("censor4")


@pytest.mark.parametrize(
    ("model", "r2", "area"), [("linear", 0.1214, 0.6699), ("tree", 0.1042, 0.6631), ("boosting", 0.1040, 0.6631)]
)
def test_reference_fits(spells, model, r2, area):
    features, spell, _ = spells
    score = crossfit(features, spell, model=model).score
    assert r2_score(spell, score) == pytest.approx(r2, abs=0.02)
    assert roc_auc_score(spell >= 13, score) == pytest.approx(area, abs=0.02)


@pytest.mark.parametrize(("model", "area"), [("linear", 0.7201), ("boosting", 0.6972)])
def test_reference_fits_of_known_labels(spells, model, area):
    features, spell, running = spells
    known = ~running | (spell >= 13)
    assert known.sum() == 2375
    label = (spell >= 13).astype(float)
    score = crossfit(features, label, model=model, known=known).score
    assert roc_auc_score(label[known], score[known]) == pytest.approx(area, abs=0.02)
    assert ((score >= 0) & (score <= 1)).all()


def test_reference_values_of_targeting_by_a_linear_model(spells):
    features, spell, _ = spells
    curve = register(spell, crossfit(features, spell, model="linear").score, beta=0.15, low_is_worst=False)
    assert curve.beta == pytest.approx(0.1523, abs=1e-4)
    np.testing.assert_allclose(curve.at(np.array([0.1, 0.15, 0.25, 0.5])), [0.1611, 0.2633, 0.4185, 0.7289], atol=0.02)


@settings(max_examples=15)
@given(st.integers(50, 120), st.integers(0, 2**31), st.booleans())
def test_each_fold_is_scored_by_a_model_of_the_others(n, seed, yes_or_no):
    rng = np.random.default_rng(seed)
    x, weights, known = rng.normal(size=(n, 2)), rng.uniform(0.5, 2, n), rng.random(n) < 0.9
    y = x @ [1, -1] + rng.normal(size=n)
    target = (y > np.median(y)).astype(float) if yes_or_no else y
    known[np.argsort(y)[[0, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6, -7]]] = True
    model = "tree" if yes_or_no else "linear"
    if known.sum() < 50:
        return
    made = crossfit(
        pd.DataFrame(x, columns=["a", "b"]), target, model=model, known=known, weights=weights, seed=seed % 7
    )
    for fold in range(5):
        own = made.fold == fold
        others = ~own & known
        if yes_or_no:
            fitted = DecisionTreeClassifier(max_depth=4, random_state=0)
            expected = fitted.fit(x[others], target[others], weights[others]).predict_proba(x[own])[:, 1]
        else:
            expected = LinearRegression().fit(x[others], target[others], weights[others]).predict(x[own])
        np.testing.assert_allclose(made.score[own], expected, atol=1e-9)


def test_noise_that_a_model_can_learn_by_heart_scores_nothing():
    rng = np.random.default_rng(0)
    features = pd.DataFrame({"x": rng.normal(size=3000)})
    target = rng.normal(size=3000)
    for model in MODELS:
        score = crossfit(features, target, model=model).score
        assert r2_score(target, score) < 0.01


@pytest.mark.parametrize("model", MODELS)
def test_text_missing_cells_and_truth_values_are_used(model):
    rng = np.random.default_rng(1)
    n = 600
    city = rng.choice(["Köln", "Århus", "=x", None], n)
    x = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))
    features = pd.DataFrame({"city": pd.Series(city, dtype="str"), "x": x, "yes": rng.random(n) < 0.5, "one": 1.0})
    target = 2.0 * (features["city"] == "Köln") + np.isnan(x) + rng.normal(size=n) * 0.1
    made = crossfit(features, target.to_numpy(), model=model)
    assert r2_score(target, made.score) > 0.9  # that a cell is missing says something, and is not lost
    assert any("'one' is the same in every row" in note for note in made.notes)
    assert any("'x'" in note and "missing" in note for note in made.notes)
    assert "3 features" in made.notes[-1]


def test_a_text_that_only_some_folds_know_is_no_error():
    features = pd.DataFrame({"k": ["a"] * 59 + ["b"], "x": np.arange(60.0)})
    assert np.isfinite(crossfit(features, np.arange(60.0), model="linear").score).all()


def test_a_column_known_of_few_is_left_out_and_said():
    x = np.full(60, np.nan)
    x[0] = 3.0
    features = pd.DataFrame({"x": x, "y": np.arange(60.0)})
    for model in MODELS:
        made = crossfit(features, np.arange(60.0), model=model)
        assert np.isfinite(made.score).all()
        assert "Feature 'x' is known of 1 person only and was left out." in made.notes


def test_the_seed_deals_the_folds():
    rng = np.random.default_rng(2)
    features, target = pd.DataFrame({"x": rng.normal(size=100)}), rng.normal(size=100)
    first, again = (crossfit(features, target, model="linear", seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.score, again.score)
    assert (crossfit(features, target, model="linear", seed=4).fold != first.fold).any()


GOOD = pd.DataFrame({"x": np.arange(100.0)})


@pytest.mark.parametrize(
    ("features", "target", "words"),
    [
        (pd.DataFrame({"x": [*range(99), np.inf]}), np.arange(100.0), r"'x', row 100: the value is infinite"),
        (
            pd.DataFrame({"when": pd.date_range("2020-01-01", periods=100)}),
            np.arange(100.0),
            "'when': it holds dates",
        ),
        (
            pd.DataFrame({"name": [f"person {i}" for i in range(100)]}),
            np.arange(100.0),
            f"'name': it has 100 different texts.*up to {MOST_CATEGORIES}",
        ),
        (pd.DataFrame({"x": np.ones(100)}), np.arange(100.0), "No feature differs"),
        (GOOD, np.ones(100), "same for everybody"),
        (GOOD, (np.arange(100) < 3).astype(float), "only 3 people of one kind"),
        (GOOD.head(40), np.arange(40.0), "There are 40 rows with a known outcome"),
        (GOOD.head(40), np.arange(100.0), "do not fit"),
    ],
)
def test_what_cannot_be_modelled_is_refused_in_words(features, target, words):
    with pytest.raises(InputError, match=words):
        crossfit(features, target, model="linear")
