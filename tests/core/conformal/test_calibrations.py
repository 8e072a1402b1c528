"""Uploaded tables as calibrations: against a loop over rows, refusals with column and row, and the shown code."""

import numpy as np
import pytest

from core.common.errors import InputError
from core.common.tables import ReadOptions, read_path, read_table
from core.conformal import calibrations
from core.conformal.examples import EXAMPLES, FOLDER
from core.conformal.quadrature import RiskPosterior
from core.conformal.views.losses import LossSettings, groups_view, losses_view
from core.conformal.views.setting import SOURCES, SettingSettings, cut, setting_view
from core.conformal.views.tuning import TargetSettings, tune, tuning_view


def table(text: str):
    return read_table(text.encode(), "file.csv")


def at(calibration, lambda_: float) -> list[float]:
    place = int(np.flatnonzero(np.isclose(calibration.path.lambdas, lambda_))[0])
    return calibration.path.losses(place).tolist()


def test_intervals_lose_what_lies_outside():
    found = calibrations.from_intervals(table("y,pred,sigma\n1,2,1\n5,3,4\n0,3,1\n"), "y", "pred", "sigma")
    assert at(found, 1.0) == [0, 0, 1]
    assert at(found, 0.5) == [1, 0, 1]
    assert "sigma" in found.knob


def test_classes_lose_what_the_set_leaves_out():
    found = calibrations.from_classes(table("prob_a,prob_b,y\n0.7,0.3,a\n0.4,0.6,a\n0.5,0.6,b\n"), "y")
    assert at(found, 0.4) == [0, 1, 0]
    assert "1 row the probabilities do not add up" in found.notes[0]


def test_labels_lose_the_share_that_is_missed():
    text = "score_a,score_b,label_a,label_b\n0.9,0.2,1,1\n0.3,0.8,0,1\n0.1,0.1,0,0\n"
    found = calibrations.from_labels(table(text))
    assert at(found, 0.8) == [0.5, 0]
    assert found.notes == ("1 row without a true label are set aside.",)
    assert at(calibrations.from_labels(table(text), count_empty=True), 0.8) == [0.5, 0, 0]


def test_curves_take_their_lambdas_from_the_names_in_any_order_and_dialect():
    found = calibrations.from_curves(table("id;0,2;0,1\n7;0,5;1\n8;0;0,5\n"))
    assert found.path.lambdas.tolist() == [0.2, 0.1]  # safest first
    assert at(found, 0.1) == [1, 0.5]
    assert found.notes == ("Columns that are no lambda are left aside: id.",)


def test_rising_curves_need_the_envelope():
    rising = table("0.1,0.2\n0.2,0.5\n1,0\n")
    assert not calibrations.from_curves(rising).path.monotone
    raised = calibrations.from_curves(rising, envelope=True)
    assert raised.path.monotone
    assert at(raised, 0.1) == [0.5, 1]
    assert calibrations.from_curves(rising, falling=False).path.lambdas.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("text", "make", "words"),
    [
        ("y,pred\n1,x\n", lambda t: calibrations.from_intervals(t, "y", "pred"), "Column 'pred', row 1"),
        ("y,pred\n1,\n", lambda t: calibrations.from_intervals(t, "y", "pred"), "row 1|is empty"),
        ("prob_a,prob_b,y\n0.5,0.5,z\n", lambda t: calibrations.from_classes(t, "y"), "Column 'y', row 1.*prob_z"),
        ("score_a,score_b,label_a\n1,1,1\n", calibrations.from_labels, "no column 'label_b'"),
        ("x,y\n1,2\n", calibrations.from_labels, "score_<label>"),
        ("a,0.1\n1,2\n", calibrations.from_curves, "fewer than two columns"),
        ("0.1,0.2\n0,1.5\n", calibrations.from_curves, "Column '0.2', row 1"),
        ("score\n1\n\n", lambda t: calibrations.from_scores(t, "scores"), "did you mean 'score'"),
    ],
)
def test_refusals_name_the_place(text, make, words):
    with pytest.raises(InputError, match=f"(?i){words}"):
        make(table(text))


MAKERS = {
    "intervals": ("from_intervals(table, 'y', 'pred', None)", lambda t: calibrations.from_intervals(t, "y", "pred")),
    "scores": ("from_scores(table, 'score')", lambda t: calibrations.from_scores(t, "score")),
    "classes": ("from_classes(table, 'y')", lambda t: calibrations.from_classes(t, "y")),
    "labels": ("from_labels(table)", calibrations.from_labels),
    "curves": ("from_curves(table)", calibrations.from_curves),
}


def run(code: str) -> dict:
    names: dict = {}
    exec(compile(code, "shown code", "exec"), names)
    return names["numbers"]


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each.task in MAKERS], ids=lambda each: each.key)
def test_the_code_shown_for_a_file_gives_the_choices_shown(example, monkeypatch):
    monkeypatch.chdir(FOLDER)
    code, make = MAKERS[example.task]
    read = read_path(example.path)
    lines = (
        f"from core.common.tables import read_path\nfrom core.conformal import calibrations\n\ntable = {read.code()}\n"
    )
    view = tuning_view(tune(make(read), TargetSettings()), code=f"{lines}calibration = calibrations.{code}")
    assert run(view.code) == dict(view.numbers)
    assert list(view.summary["Rule"]) == list(view.table["rule"])


@pytest.mark.parametrize("source", SOURCES)
def test_the_code_shown_for_an_example_gives_the_choices_shown(source, monkeypatch):
    monkeypatch.chdir(FOLDER.parents[1])
    view = setting_view(SettingSettings(source=source, n_rows=100))
    assert run(view.code) == dict(view.numbers)


def test_the_code_shown_for_losses_and_groups_gives_their_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7 / 10:.1f};{'ab'[i % 2]}\n".replace(".", ",") for i in range(60))
    (tmp_path / "mine.csv").write_text("cost;group\n" + rows)
    read = read_path(tmp_path / "mine.csv", ReadOptions(separator=";"))
    for view in (
        losses_view(read, "cost", LossSettings(alpha=0.4)),
        groups_view(read, "cost", "group", LossSettings(alpha=0.4)),
    ):
        assert run(view.code) == pytest.approx(dict(view.numbers))


def test_groups_are_each_their_own_posterior_and_small_ones_are_named():
    read = table("loss,who\n" + "0,a\n" * 40 + "1,a\n" * 2 + "0,b\n" * 5)
    view = groups_view(read, "loss", "who", LossSettings(alpha=0.15))
    found = view.table.set_index("group")
    assert found.loc["a", "bound"] == pytest.approx(RiskPosterior.from_failures(2, 42).quantile(0.95))
    assert found.loc["b", "bound_joint"] == pytest.approx(RiskPosterior.from_failures(0, 5).quantile(0.975))
    assert "b" in view.notes[0]


def test_a_limit_above_the_largest_loss_is_refused():
    with pytest.raises(InputError, match="not below B"):
        losses_view(table("loss\n0\n0.2\n"), "loss", LossSettings(alpha=0.5, bound=0.4))


def test_a_cut_is_a_random_part_without_repeats():
    read = table("x\n" + "".join(f"{i}\n" for i in range(20)))
    part = cut(read, 8, 3).numbers("x")
    assert len(set(part)) == 8
    assert not np.array_equal(part, cut(read, 8, 4).numbers("x"))
    with pytest.raises(InputError, match="600"):
        setting_view(SettingSettings(source="missed tumours", n_rows=600))
