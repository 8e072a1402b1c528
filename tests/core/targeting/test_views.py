"""Every view: its shown code gives its numbers, any valid settings can be drawn, and small counts do not leave."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.common.errors import InputError
from core.common.export import to_csv
from core.common.settings import table_of, to_code
from core.common.tables import read_path, read_table
from core.targeting.examples import EXAMPLES, PRESETS
from core.targeting.gaussian import value
from core.targeting.people import Roles, people
from core.targeting.study import StudySettings, study
from core.targeting.views.capacity import CapacitySettings, capacity_view
from core.targeting.views.levers import LeversSettings, levers_view
from core.targeting.views.miles import MilesSettings, miles_view
from core.targeting.views.priorities import PrioritiesSettings, par_map, priorities_view
from core.targeting.views.reach import ReachSettings, reach_view
from core.targeting.views.register_curve import register_curve_view
from core.targeting.views.register_groups import register_groups_view
from core.targeting.views.register_steps import register_steps_view
from core.targeting.views.register_theory import ratios, register_theory_view
from core.targeting.views.screened import ScreenedSettings, screened_view
from tests.core.targeting.oracles import run

VIEWS = {
    ReachSettings: reach_view,
    PrioritiesSettings: priorities_view,
    MilesSettings: miles_view,
    CapacitySettings: capacity_view,
    ScreenedSettings: screened_view,
    LeversSettings: levers_view,
}
REGISTER_VIEWS = (register_curve_view, register_steps_view, register_theory_view, register_groups_view)
ENDS = ({}, {"r2": 0.0}, {"r2": 0.99}, {"alpha": 0.005}, {"alpha": 0.95}, {"beta": 0.01}, {"r2": 0.9, "beta": 0.5})


def any_settings(cls):
    fields = {
        name: st.integers(int(setting.low), int(setting.high))
        if setting.kind is int
        else st.floats(setting.low, setting.high)
        for name, setting in table_of(cls).items()
    }
    return st.builds(cls, **fields)


def ends(cls):
    """Settings at the ends of their ranges, with steps that stay inside."""
    steps = {name: 0.005 for name in ("access_step", "prediction_step") if name in table_of(cls)}
    return [
        cls(**{name: at for name, at in (steps | end).items() if name in table_of(cls)})
        for end in ENDS
        if set(end) <= set(table_of(cls))
    ]


@pytest.fixture(scope="module")
def example_studies():
    return {
        place: study(people(read_path(EXAMPLES[place].path), PRESETS[place]), StudySettings())
        for place in range(len(EXAMPLES))
    }


@pytest.mark.parametrize("asked", [asked for cls in VIEWS for asked in ends(cls)], ids=to_code)
def test_the_shown_code_gives_the_shown_numbers(asked):
    view = VIEWS[type(asked)](asked)
    assert run(view.code) == pytest.approx(dict(view.numbers), rel=1e-10, nan_ok=True)
    assert view.answer
    assert view.alt
    assert len(view.table)


@settings(max_examples=60)
@given(st.sampled_from(list(VIEWS)).flatmap(any_settings))
def test_any_settings_are_drawn_or_refused_in_words(asked):
    try:
        view = VIEWS[type(asked)](asked)
    except InputError:
        return
    assert "nan" not in view.answer.lower()


@pytest.mark.parametrize(("place", "view"), product(range(len(EXAMPLES)), REGISTER_VIEWS))
def test_the_shown_code_of_a_register_gives_its_numbers(example_studies, place, view):
    example, roles = EXAMPLES[place], PRESETS[place]
    code = f"""from core.common.tables import read_path
from core.targeting.people import Roles, people
from core.targeting.study import StudySettings, study

register = people(read_path({str(example.path)!r}), {roles!r})
found = study(register, StudySettings())"""
    made = view(example_studies[place], code=code)
    assert run(made.code) == pytest.approx(dict(made.numbers), rel=1e-12)


def test_the_map_is_the_formula_point_by_point():
    asked = PrioritiesSettings(beta=0.2)
    alpha, r2 = np.array([0.05, 0.3]), np.array([0.1, 0.6, 0.9])
    par, reached = par_map(alpha, r2, asked)
    for row, column in product(range(3), range(2)):
        a, r = alpha[column], r2[row]
        now = value(a, 0.2, r)
        expected = (value(a + 0.05, 0.2, r) - now) / (value(a, 0.2, r + 0.05) - now)
        assert par[row, column] == pytest.approx(expected, rel=1e-9)
        assert reached[row, column] == pytest.approx(now)


def test_screened_people_fill_the_capacity():
    view = screened_view(ScreenedSettings(alpha=0.2, beta=0.15, r2=0.3))
    for column in [name for name in view.table if "now" in name]:
        area = np.trapezoid(view.table[column], view.table.iloc[:, 0])
        assert area == pytest.approx(0.2, abs=0.005)


def small_register(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=rows)
    frame = pd.DataFrame({"y": y, "s": y + rng.normal(size=rows), "g": ["a"] * (rows - 4) + ["tiny"] * 4})
    table = read_table(to_csv(frame), "a.csv")
    return people(table, Roles(outcome="y", cut=0.2, scores=("s",), group="g"))


@pytest.mark.parametrize("smallest", [1, 3, 5])
def test_no_small_count_can_be_read_from_what_leaves(smallest):
    made = study(small_register(), StudySettings(smallest=smallest))
    curve = register_curve_view(made, code="").table
    worst, total = made.worst_people, made.total_people
    for shares, whole in ((curve["s: reached"], worst), (curve["capacity"], total)):
        counts = (shares.dropna() * whole).round(9)
        inner = counts[(counts > 0) & (counts < whole)]
        assert (inner >= smallest).all()
        assert (whole - inner >= smallest).all()
    steps = register_steps_view(made, code="").table["people_found"].dropna()
    assert ((steps <= 0) | (steps >= smallest)).all()
    groups = register_groups_view(made, code="").table
    assert groups.loc[groups["group"] == "tiny", "people"].isna().all() == (smallest > 1)


def test_the_ratios_by_capacity_hold_the_answers_ratio(example_studies):
    for made in example_studies.values():
        for lever in ("calibrated", "residuals"):
            found = ratios(made, lever)
            here = found[np.isclose(found["alpha"], made.settings.alpha)]
            assert here["ratio"].item() == pytest.approx(made.gains[lever].ratio.value, rel=1e-6)
            assert here["low"].item() <= here["high"].item()


def test_a_better_price_turns_the_verdict(example_studies):
    made = example_studies[1]
    cheap = study(made.people, replace(made.settings, place_cost=0.01), chosen=made.chosen)
    dear = study(made.people, replace(made.settings, place_cost=1e8), chosen=made.chosen)
    assert "**capacity wins**" in register_steps_view(cheap, code="").answer
    assert "**prediction wins**" in register_steps_view(dear, code="").answer
    par = made.gains["calibrated"].ratio.value
    place = par * made.settings.prediction_cost / (made.settings.access_step * made.total_people)
    even = study(made.people, replace(made.settings, place_cost=place), chosen=made.chosen)
    assert "too close to call" in register_steps_view(even, code="").answer
