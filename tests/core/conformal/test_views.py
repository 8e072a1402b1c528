"""Every view: its shown code gives its numbers, its figure holds them, and any valid settings can be drawn."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.common.errors import InputError
from core.common.settings import table_of
from core.conformal.loss_models import LOSS_MODELS, draw
from core.conformal.views.calibration_sets import CalibrationSetsSettings, calibration_sets_view, risk_law
from core.conformal.views.planning import PlanningSettings, planning_view
from core.conformal.views.posterior import PosteriorSettings, posterior_view
from core.conformal.views.staircase import StaircaseSettings, staircase_view, staircases

VIEWS = {
    PosteriorSettings: posterior_view,
    StaircaseSettings: staircase_view,
    CalibrationSetsSettings: calibration_sets_view,
    PlanningSettings: planning_view,
}
HOSTILE = [
    PosteriorSettings(n_cal=1, mean_loss=0.0),
    PosteriorSettings(kind="shares", n_cal=2, mean_loss=0.9, alpha=0.01, beta=0.999, arriving=True),
    PosteriorSettings(kind="amounts", n_cal=1000, mean_loss=0.9, alpha=0.9, beta=0.5),
    PosteriorSettings(kind="misses", n_cal=3, mean_loss=0.9, seed=3, arriving=True),
    StaircaseSettings(n_few=1, mean_loss=0.0),
    StaircaseSettings(kind="misses", n_few=60, mean_loss=0.9, guess=999),
    CalibrationSetsSettings(n_scores=10, alpha=0.1),
    CalibrationSetsSettings(n_scores=1000, alpha=0.9, beta=0.5),
    PlanningSettings(failures=0, cases=1),
    PlanningSettings(failures=100_000, cases=100_000, alpha=0.01),
    PlanningSettings(failures=9_999, cases=100_000, alpha=0.1, beta=0.999),
]


def any_settings(cls):
    fields = {}
    for name, setting in table_of(cls).items():
        if setting.options:
            fields[name] = st.sampled_from(setting.options)
        elif setting.kind is bool:
            fields[name] = st.booleans()
        elif setting.kind is int:
            fields[name] = st.integers(int(setting.low), int(setting.high))
        else:
            fields[name] = st.floats(setting.low, setting.high)
    return st.builds(cls, **fields)


def run(code: str) -> dict:
    names: dict = {}
    exec(compile(code, "shown code", "exec"), names)
    return names["numbers"]


@pytest.mark.parametrize("asked", [cls() for cls in VIEWS] + HOSTILE, ids=str)
def test_the_shown_code_gives_the_shown_numbers(asked):
    view = VIEWS[type(asked)](asked)
    assert run(view.code) == pytest.approx(dict(view.numbers), rel=1e-12)


@pytest.mark.parametrize("cls", VIEWS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_valid_settings_can_be_drawn_or_are_refused_in_words(cls, data):
    asked = data.draw(any_settings(cls))
    try:
        view = VIEWS[cls](asked)
    except InputError:
        return  # its words are checked where it is raised
    assert view.answer
    assert view.alt
    assert len(view.table)
    assert "nan" not in view.answer
    assert view.figure.layout.xaxis.title.text
    drawn = sum(len(trace.x) for trace in view.figure.data if trace.x is not None)
    assert drawn <= 5000


def test_the_density_is_drawn_where_its_mass_is():
    view = posterior_view(PosteriorSettings(kind="amounts", n_cal=300))
    table = view.table
    assert np.trapezoid(table["density"], table["risk"]) == pytest.approx(1, abs=2e-3)
    assert table["probability_below"].iloc[-1] > 0.9999


def test_arriving_cases_end_where_the_picture_rests():
    view = posterior_view(PosteriorSettings(n_cal=50, arriving=True))
    assert view.figure.frames[-1].name == "50"
    assert view.figure.layout.sliders[0].active == len(view.figure.frames) - 1


@pytest.mark.parametrize("kind", LOSS_MODELS)
@pytest.mark.parametrize("mean", [0.0, 0.05, 0.5, 0.9])
def test_loss_models_have_the_mean_they_claim(kind, mean):
    losses = draw(LOSS_MODELS[kind], mean, 40_000, np.random.default_rng(0))
    assert abs(losses.mean() - mean) <= 4 * losses.std() / 200
    assert losses.min() >= 0
    assert losses.max() <= 1


@pytest.mark.parametrize("kind", LOSS_MODELS)
def test_cases_arrive_and_are_not_replaced(kind):
    short, long = (draw(LOSS_MODELS[kind], 0.2, n, np.random.default_rng(5)) for n in (10, 30))
    np.testing.assert_array_equal(short, long[:10])


def test_staircases_have_the_areas_of_the_risk_bound():
    heights, ends = staircases(np.array([0.2, 0.1]), 1.0, 50_000, np.random.default_rng(0))
    areas = (heights * np.diff(ends, axis=1, prepend=0.0)).sum(axis=1)
    np.testing.assert_allclose(ends[:, -1], 1)
    assert list(heights) == [0.1, 0.2, 1.0]
    assert abs(areas.mean() - 1.3 / 3) < 4 * areas.std() / np.sqrt(areas.size)


def test_the_law_of_the_risk_matches_the_reference_failure_rates():
    assert risk_law(200, 181).sf(0.1) == pytest.approx(0.46554, abs=5e-6)
    assert risk_law(200, 188).sf(0.1) == pytest.approx(0.03205, abs=5e-6)


def test_simulated_sets_agree_with_the_exact_law():
    table = calibration_sets_view(CalibrationSetsSettings()).table
    spread = 4 * np.sqrt(table["exceeds_limit_exact"] * (1 - table["exceeds_limit_exact"]) / 2000) + 1e-9
    assert (abs(table["exceeds_limit_exact"] - table["exceeds_limit_simulated"]) <= spread).all()


def test_too_few_cases_are_told_how_many_it_takes():
    with pytest.raises(InputError, match="split conformal needs 99"):
        calibration_sets_view(CalibrationSetsSettings(n_scores=10, alpha=0.01))


def test_more_failures_than_cases_are_refused():
    with pytest.raises(InputError, match="cannot be"):
        planning_view(PlanningSettings(failures=5, cases=4))
