import math

import numpy as np
import pandas as pd
import pytest

from core.conformal.examples import EXAMPLES, FOLDER, write
from core.conformal.surrogate import SEED, draw_stand_in


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    return {path.name: path.read_bytes() for path in write(folder)}


def read(name):
    return pd.read_csv(FOLDER / name)


def test_the_command_makes_every_bundled_file_byte_for_byte(made):
    bundled = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert made == bundled


def test_the_files_are_small_and_every_file_is_offered_and_explained():
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    offered = {path.name for example in EXAMPLES for path in (example.path, example.new_rows) if path}
    explained = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert sum(sizes.values()) < 1_500_000
    assert offered == set(sizes)
    assert all(f"`{name}`" in explained for name in sizes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_each_example_is_complete_and_its_sentence_counts_its_rows(example):
    table = pd.read_csv(example.path)
    assert example.path.stem == example.key
    assert str(len(table)) in example.sentence
    assert not table.isna().to_numpy().any()
    if example.new_rows:
        truth = [name for name in table if name == "y" or name.startswith("label_")]
        assert list(pd.read_csv(example.new_rows)) == list(table.drop(columns=truth))


@pytest.mark.parametrize(("rank", "half_width"), [(200, 88.44053087), (207, 99.13774495)])
def test_diabetes_half_widths(rank, half_width):
    table = read("diabetes_intervals.csv")
    residuals = np.sort((table["y"] - table["pred"]).abs())
    assert len(residuals) == 221
    assert residuals[rank - 1] == pytest.approx(half_width, abs=1e-6)


@pytest.mark.parametrize(
    ("rank", "threshold", "flagged"),
    [(100, 0.55006, 0.363), (105, 0.29434, 0.387), (106, 0.24897, 0.394), (109, 0.0076, 0.581)],
)
def test_tumour_thresholds(rank, threshold, flagged):
    scores = np.sort(read("tumour_scores.csv")["score"])
    chosen = 1 - scores[rank - 1]
    assert len(scores) == 110
    assert chosen == pytest.approx(threshold, abs=1e-3)
    assert (read("tumour_classes.csv")["prob_malignant"] >= chosen - 1e-9).mean() == pytest.approx(flagged, abs=5e-4)


def test_ten_of_110_malignant_tumours_are_missed_at_one_half():
    assert (read("tumour_scores.csv")["score"] > 0.5).sum() == 10


@pytest.mark.parametrize("name", ["tumour_classes.csv", "digits_classes.csv", "digits_new.csv"])
def test_probabilities_add_up(name):
    probabilities = read(name).filter(like="prob_")
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert ((probabilities >= 0) & (probabilities <= 1)).all(axis=None)


def test_curves_follow_from_the_probabilities_and_fall():
    classes, curves = read("digits_classes.csv"), read("digits_curves.csv")
    truth = [row[f"prob_{int(row['y'])}"] for _, row in classes.iterrows()]
    for header in list(curves)[1:]:
        missed = [p < 1 - float(header) - 1e-12 for p in truth[:596]]
        expected = [sum(missed[i : i + 4]) / 4 for i in range(0, 596, 4)]
        assert curves[header].tolist() == expected
    assert (curves.iloc[:, 1:].diff(axis=1).iloc[:, 1:] <= 0).all(axis=None)


def test_losses_are_half_brier_scores():
    classes, losses = read("digits_classes.csv"), read("digits_losses.csv")
    for row in (0, 17, 598):
        squared = sum((classes.loc[row, f"prob_{d}"] - (classes.loc[row, "y"] == d)) ** 2 for d in range(10))
        assert losses.loc[row, "loss"] == pytest.approx(squared / 2, abs=1e-6)
    assert losses["loss"].between(0, 1).all()


def test_the_multilabel_example_is_a_slice_of_the_stand_in():
    stand_in, table = draw_stand_in(np.random.default_rng(SEED)), read("stand_in_labels.csv")
    np.testing.assert_allclose(table.filter(like="score_"), stand_in.scores[:600], atol=5.1e-5)
    np.testing.assert_array_equal(table.filter(like="label_"), stand_in.labels[:600])
    assert "synthetic" in next(e for e in EXAMPLES if e.path.stem == "stand_in_labels").title
    assert math.isclose(table.filter(like="label_").to_numpy().mean() * 80, 2.8, abs_tol=0.2)
