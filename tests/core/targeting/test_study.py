"""From a table to a study: the sheet's values on real spells, roles of every kind, and what the report says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.common.errors import InputError
from core.common.export import to_csv
from core.common.tables import read_path, read_table
from core.targeting.examples import EXAMPLES, FEATURES, FOLDER, PRESETS
from core.targeting.people import Roles, people
from core.targeting.report import register_report
from core.targeting.study import StudySettings, study
from tests.core.targeting.oracles import kaplan_meier_reaching, reached

ALPHAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
FACE_VALUE = Roles(outcome="spell", cut=0.25, features=FEATURES, models=("linear",))


@pytest.fixture(scope="module")
def spells():
    return read_path(FOLDER / "unemployment.csv")


@pytest.fixture(scope="module")
def censored(spells):
    return people(spells, PRESETS[0])


def table_of(**columns):
    return read_table(to_csv(pd.DataFrame(columns)), "a.csv")


@pytest.mark.parametrize(
    ("beta", "ratios"),
    [
        (0.25, (5.440, 2.566, 1.433, 1.200, 0.9835, 0.8429, 0.9444)),
        (0.15, (2.966, 1.722, 1.000, 0.806, 0.673, 0.630, 0.704)),
        (0.05, (1.308, 0.811, 0.636, 0.426, 0.313, 0.449, 0.567)),
    ],
)
def test_reference_ratios_of_the_papers_lever(spells, beta, ratios):
    found = people(spells, replace(FACE_VALUE, cut=beta))
    for alpha, expected in zip(ALPHAS, ratios, strict=True):
        made = study(found, StudySettings(alpha=alpha, access_step=0.1, prediction_step=0.1))
        assert made.gains["residuals"].ratio.value == pytest.approx(expected, rel=0.03, abs=0.02)
        if 0.05 <= alpha <= 0.3:  # the calibrated lever credits prediction less on this skewed outcome
            assert made.gains["calibrated"].ratio.value > made.gains["residuals"].ratio.value


def test_reference_values_of_the_linear_model(spells):
    made = study(people(spells, FACE_VALUE), StudySettings())
    assert made.forecast.r2 == pytest.approx(0.121434, abs=1e-4)
    values = (0.0318, 0.0896, 0.1592, 0.2500, 0.3231, 0.4634, 0.6026)
    np.testing.assert_allclose(made.now.whole.at(np.array(ALPHAS)), values, atol=0.005)


def test_running_spells_raise_the_share_of_long_ones(spells, censored):
    spell, running = spells.numbers("spell"), spells.binary("censor4")
    worst_off = censored.worst_off
    assert (spell >= 13).mean() == pytest.approx(0.1523, abs=1e-4)
    known = ~running | (spell >= 13)
    assert ((spell >= 13)[known]).mean() == pytest.approx(0.2143, abs=1e-4)
    assert (~known).sum() == 968
    assert worst_off.beta == pytest.approx(
        kaplan_meier_reaching(spell, running, 13) * spell.size / worst_off.weight.sum()
    )
    assert worst_off.beta == pytest.approx(0.351, abs=0.001)
    assert worst_off.bounds[0] < worst_off.beta < worst_off.bounds[1]
    assert any("968 it is unknown" in note for note in censored.notes)


def test_curves_are_counts(censored):
    made = study(censored, StudySettings(alpha=0.2))
    worst_off, score = censored.worst_off, made.score.value
    expected = reached(worst_off.flag, -score, 0.2 * worst_off.weight.sum(), worst_off.weight)
    assert made.now.at(0.2) == pytest.approx(expected)
    assert made.now.low[20] <= made.now.at(0.2) <= made.now.high[20]


def test_the_same_seed_gives_the_same_study(censored):
    first, again = (study(censored, StudySettings(), seed=5).gains["calibrated"] for _ in range(2))
    assert first == again
    assert study(censored, StudySettings(), seed=6).gains["calibrated"] != first


def test_several_scores_share_people_and_resamples():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=800)
    table = table_of(y=y, good=y + rng.normal(size=800), bad=y + 3 * rng.normal(size=800), x=y + rng.normal(size=800))
    roles = Roles(outcome="y", cut=0.2, scores=("good", "bad"), features=("x",), models=("linear", "tree"))
    made = study(people(table, roles), StudySettings(), chosen="bad")
    assert list(made.curves) == ["good", "bad", "linear model", "tree model"]
    assert made.now is made.curves["bad"]
    assert made.curves["good"].area > made.curves["bad"].area


@pytest.mark.parametrize(("low_outcome", "low_score"), [(True, True), (True, False), (False, True), (False, False)])
def test_directions_turn_nothing_but_signs(low_outcome, low_score):
    rng = np.random.default_rng(1)
    bad = rng.normal(size=500)
    guess = bad + rng.normal(size=500)
    table = table_of(y=-bad if low_outcome else bad, s=-guess if low_score else guess)
    roles = Roles(outcome="y", cut=0.2, low_is_worst=low_outcome, scores=("s",), low_score_is_worst=low_score)
    made = study(people(table, roles), StudySettings())
    plain = study(people(table_of(y=bad, s=guess), Roles(outcome="y", cut=0.2, scores=("s",))), StudySettings())
    np.testing.assert_allclose(made.now.reached, plain.now.reached, atol=1e-9)
    assert made.forecast.correlation2 == pytest.approx(plain.forecast.correlation2)
    assert made.gains["calibrated"].ratio.value == pytest.approx(plain.gains["calibrated"].ratio.value, rel=0.2)


def test_labels_weights_and_missing_outcomes():
    rng = np.random.default_rng(2)
    score = rng.normal(size=1000)
    label = (score + rng.normal(size=1000) > 1).astype(float)
    label[:50] = np.nan
    weight = rng.choice([1.0, 2.0], 1000)
    table = table_of(label=label, score=score, weight=weight)
    found = people(table, Roles(outcome="label", definition="label", scores=("score",), weights="weight"))
    assert found.worst_off.weight.sum() == pytest.approx(weight.sum())
    assert found.n == 1000
    assert any("50 rows without an outcome" in note for note in found.notes)
    made = study(found, StudySettings())
    assert made.total_people == pytest.approx(weight.sum())
    assert made.forecast.rescaled


def test_a_score_that_tells_nothing_still_has_a_curve():
    rng = np.random.default_rng(3)
    y = rng.normal(size=300)
    made = study(people(table_of(y=y, s=-y), Roles(outcome="y", cut=0.2, scores=("s",))), StudySettings())
    assert made.theory_r2 is None
    assert made.now.area < 0.1
    with pytest.raises(InputError, match="falls where the outcome rises"):
        _ = made.gains


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (Roles(outcome="y"), "There is no score"),
        (Roles(outcome="y", scores=("absent",)), "no column 'absent'"),
        (Roles(outcome="t", scores=("s",)), "'t', row 1: 'a' is not a number"),
        (Roles(outcome="y", definition="label", scores=("s",)), "label is .* It has to be 0 or 1"),
        (Roles(outcome="y", definition="label", scores=("s",), running="r"), "a label has no running spells"),
        (Roles(outcome="y", scores=("s",), running="t"), "'a' is neither yes nor no"),
        (Roles(outcome="y", scores=("s",), weights="s"), "'weight', row .* not positive"),
        (Roles(outcome="y", scores=("gap",)), "'gap', row 3: the value is missing"),
        (Roles(outcome="y", scores=("s",), low_is_worst=True, running="r"), "high is worst, such as a duration"),
    ],
)
def test_roles_that_do_not_fit_are_refused(roles, words):
    rng = np.random.default_rng(4)
    gap = rng.normal(size=60)
    gap[2] = np.nan
    table = table_of(y=rng.normal(size=60), s=rng.normal(size=60), t=["a", "b"] * 30, r=[0, 1] * 30, gap=gap)
    with pytest.raises(InputError, match=f"(?i){words}"):
        people(table, roles)


def test_small_counts_stop_a_study():
    rng = np.random.default_rng(5)
    found = people(table_of(y=rng.normal(size=30), s=rng.normal(size=30)), Roles(outcome="y", cut=0.1, scores=("s",)))
    with pytest.raises(InputError, match="fewer than 5 worst-off"):
        study(found, StudySettings())
    assert study(found, StudySettings(smallest=3)).now.at(1.0) == 1


def test_groups_are_asked_for(censored):
    assert {group.name for group in study(censored, StudySettings()).groups} == {"no", "yes"}
    with pytest.raises(InputError, match="there are no groups".capitalize()):
        _ = study(replace(censored, group=None), StudySettings()).groups


@pytest.mark.parametrize("place", range(len(EXAMPLES)))
def test_the_report_of_every_example_says_it_all(place):
    example, roles = EXAMPLES[place], PRESETS[place]
    table = read_path(example.path)
    made = study(people(table, roles), StudySettings())
    link = "http://127.0.0.1:8501/targeting?alpha=0.1"
    text = register_report(made, roles, code="", source=table, link=link, made="2026-12-04").to_html()
    for words in (
        "Should the next euro buy a better prediction",
        "Screening 10%",
        "At your prices",
        "What this rests on",
        "Smallest count shown",
        link,
        table.fingerprint[:12],
        "arXiv 2501.19334",
        "2026-12-04",
        f"Outcome</dt><dd>{roles.outcome}",
    ):
        assert words in text, words


def test_a_report_without_steps_says_why():
    rng = np.random.default_rng(6)
    y = rng.normal(size=300)
    table, roles = table_of(y=y, s=-y), Roles(outcome="y", cut=0.2, scores=("s",))
    made = study(people(table, roles), StudySettings())
    text = register_report(made, roles, code="", source=table, link="", made="2026-12-04").to_html()
    assert "cannot be compared: the score falls where the outcome rises" in text
