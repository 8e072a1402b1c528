"""The targeting page in its default and in hostile settings, and registers of all kinds on its second tab."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages import conftest
from tests.pages.conftest import raw_text, text, uploaded

VIEWS = (
    "Who is reached?",
    "Places or prediction?",
    "First and last mile",
    "How many places?",
    "Who is screened?",
    "Two levers",
)
PICTURES = ("Who is reached?", "Places or prediction?", "Theory beside it", "Group by group")


def opened(**link: str) -> AppTest:
    return conftest.opened("targeting", **link)


def register(rows: int = 400, **columns) -> str:
    """A CSV with an outcome, a score that knows half of it, a group, and whatever else is asked for."""
    rng = np.random.default_rng(0)
    outcome = rng.exponential(100, rows).round(1)
    made = {
        "outcome": outcome,
        "score": (outcome + rng.normal(0, 100, rows)).round(2),
        "group": rng.choice(["north", "south"], rows),
        **columns,
    }
    lines = [",".join(made), *(",".join(map(str, row)) for row in zip(*made.values(), strict=True))]
    return "\n".join(lines) + "\n"


def upload(data: str | bytes) -> AppTest:
    return uploaded(opened(tab="Your data"), data)


def asked(app: AppTest, label: str):
    """The widget of that label."""
    widgets = (*app.selectbox, *app.multiselect, *app.toggle, *app.number_input)
    return next(widget for widget in widgets if widget.label.startswith(label))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws_a_chart_and_its_code(view):
    app = opened(view=view)
    assert app.get("plotly_chart")
    assert any("numbers = {" in code.value for code in app.code)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "link",
    [
        {"alpha": "0.005", "beta": "0.01", "r2": "0"},
        {"alpha": "0.95", "beta": "0.5", "r2": "0.99"},
        {"alpha": "0.95", "access_step": "0.3"},
        {"r2": "0.99", "prediction_step": "0.3"},
        {"place_cost": "1e9", "prediction_cost": "0.01"},
    ],
)
def test_hostile_settings_are_drawn_or_refused_in_words(view, link):
    app = opened(view=view, **link)
    assert app.get("plotly_chart") or app.error


def test_the_real_register_opens_with_its_columns_known():
    app = opened(tab="Your data")
    shown = text(app)
    assert "unemployment.csv" in shown
    assert "1,255 spells had not ended" in shown
    assert app.get("plotly_chart")


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_of_the_real_register_draws(picture):
    app = opened(tab="Your data", picture=picture)
    assert app.get("plotly_chart")
    assert any("numbers = {" in code.value for code in app.code)


def test_a_register_with_a_score_needs_no_click():
    shown = text(upload(register()))
    assert re.search(r"Screening 10% \(40 people\) by score reaches \*\*\d", shown)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (register(score=[""] + ["1"] * 398 + ["2"]), "Column 'score', row 1"),
        (register(score=["x"] + ["1"] * 399), "'x' is not a number"),
        (register(score=["inf"] + ["1"] * 399), "infinite"),
        (register(score=[1] * 400), "same for everybody"),
        (register(outcome=[5] * 400), "verybody is worst-off"),
        (register(rows=12), "fewer than 5 worst-off"),
        ("outcome,score,group\n", "header but no rows"),
        ("outcome,score,group\n1,2,a\n3,4\n", "line 3 of the file has 2 fields"),
    ],
)
def test_bad_registers_are_refused_in_words(data, words):
    shown = text(upload(data))
    assert re.search(words, shown, re.IGNORECASE), shown[-600:]


def test_missing_outcomes_are_counted_and_said():
    rng = np.random.default_rng(1)
    outcome = ["" if row < 30 else f"{rng.exponential(100):.1f}" for row in range(400)]
    shown = text(upload(register(outcome=outcome)))
    assert "30 rows without an outcome" in shown
    assert "Whatever the unknown ones are" in shown


def test_a_german_file_reads_the_same():
    plain = upload(register())
    german = register().replace(",", ";").replace(".", ",").encode("utf-8-sig")
    assert answer(upload(german)) == answer(plain)


def test_a_register_of_unknown_columns_asks_before_it_answers():
    app = upload("weeks,age\n" + "".join(f"{i % 50},{20 + i % 40}\n" for i in range(300)))
    assert "there is no score" in text(app).lower()
    asked(app, "Or features").set_value(["age"]).run()
    assert "Screening 10%" in text(app)


def test_the_wrong_direction_of_a_score_is_told():
    app = upload(register())
    asked(app, "Low scores are bad").set_value(True).run()
    assert "Worse than chance" in text(app)


def test_names_that_look_like_markup_are_shown_letter_by_letter():
    app = upload(register().replace("score", ":red[$x$]"))
    asked(app, "Outcome").set_value("outcome").run()
    asked(app, "Scores").set_value([":red[$x$]"]).run()
    assert "Screening 10%" in text(app)
    assert ":red[$x$]" not in raw_text(app)


def answer(app: AppTest) -> str:
    return next(element.value for element in app.markdown if element.value.startswith("Screening"))
