"""The conformal page in its default and in hostile settings, under the framework's own test driver."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages import conftest
from tests.pages.conftest import raw_text, text, uploaded

VIEWS = (
    "How sure are we?",
    "Why a bound?",
    "Which setting?",
    "How often does a rule fail?",
    "How many cases are enough?",
)
TASKS = ("Intervals", "Scores", "Classes", "Label sets", "Loss curves", "Losses")


def opened(**link: str) -> AppTest:
    return conftest.opened("conformal", **link)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws_a_chart_and_its_code(view):
    app = opened(view=view)
    assert app.get("plotly_chart")
    assert any("numbers = {" in code.value for code in app.code)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_runs_on_its_bundled_example(task):
    app = opened(tab="Your data", task=task)
    assert app.get("plotly_chart")
    assert not app.error


@pytest.mark.parametrize(
    "link",
    [
        {"n_cal": "1", "mean_loss": "0.0", "alpha": "0.01", "beta": "0.999"},
        {"n_cal": "1000", "kind": "amounts", "mean_loss": "0.9", "arriving": "true"},
        {"view": "Which setting?", "source": "missed tumours", "n_rows": "600"},
        {"view": "Which setting?", "n_rows": "1", "alpha": "0.01"},
        {"view": "How often does a rule fail?", "n_scores": "10", "alpha": "0.01"},
        {"view": "How many cases are enough?", "failures": "9", "cases": "3"},
        {"tab": "Your data", "task": "Losses", "alpha": "0.01", "beta": "0.999"},
        {"tab": "Your data", "task": "Intervals", "alpha": "0.01", "beta": "0.999"},
    ],
)
def test_hostile_settings_are_drawn_or_refused_in_words(link):
    app = opened(**link)
    assert app.get("plotly_chart") or app.error


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"n_cal": "abc"}, "n_cal=abc"),
        ({"alpha": "7"}, "between 0.01 and 0.9"),
        ({"n_call": "5"}, "did you mean n_cal"),
        ({"kind": "33'<script>"}, "has to be one of"),
        ({"task": "x"}, "task=x"),
    ],
)
def test_a_bad_link_is_told(link, words):
    app = opened(**link)
    assert words in text(app)
    assert app.get("plotly_chart")


def upload(task: str, data: str | bytes) -> AppTest:
    return uploaded(opened(tab="Your data", task=task), data)


@pytest.mark.parametrize(
    ("task", "data", "words"),
    [
        ("Losses", "loss\n0.5\n1.7\n", "Column 'loss', row 2"),
        ("Losses", "loss\n-1\n", "negative"),
        ("Losses", "loss\n0.5\nNA\n", "words that mean missing"),
        ("Losses", "loss\n0.5\ninf\n", "infinite"),
        ("Losses", "loss\n", "header but no rows"),
        ("Losses", "", "empty"),
        ("Losses", b"\x89PNG\r\n\x1a\n\x00\x00", "not a text table"),
        ("Intervals", "y,pred\n1,2\n3\n", "line 3 of the file has 1 field, the header has 2"),
        ("Intervals", "y,pred,sigma\n1,2,1\n3,4,0\n", "Column 'sigma', row 2"),
        ("Classes", "y\na\n", "prob_"),
        ("Classes", "prob_a,prob_b,y\n0.5,0.5,c\n", "no column prob_c"),
        ("Classes", "prob_a,prob_b,y\n1.5,0.5,a\n", "runs from 0 to 1|run from 0 to 1"),
        ("Label sets", "score_a\n0.5\n", "label_a"),
        ("Label sets", "score_a,label_a\n0.5,2\n", "Labels are 0 or 1"),
        ("Loss curves", "a,b\n1,2\n", "fewer than two columns are named by a lambda"),
        ("Loss curves", "0.1,0.2\n0,1\n1,0\n", "envelope"),
    ],
)
def test_bad_files_are_refused_in_words(task, data, words):
    shown = text(upload(task, data))
    assert re.search(words, shown, re.IGNORECASE), shown[-600:]


def test_too_few_cases_are_told_how_many_it_takes():
    assert "n = 29" in text(upload("Losses", "loss\n" + "0\n" * 20))
    assert "n = 29" in text(upload("Scores", "score\n" + "".join(f"0.{i}\n" for i in range(1, 10))))


def test_names_that_look_like_markup_are_shown_letter_by_letter():
    app = upload("Losses", "loss,:red[$x$]\n0,a\n1,b\n")
    assert ":red[$x$]" not in raw_text(app)
