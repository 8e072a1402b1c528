"""Words and exports: a visitor's text never runs, numbers read as people write them."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.export import template_csv, to_csv, to_json
from core.common.text import count, markdown, number, percent, plotly, short


@given(st.text())
def test_markdown_escapes_every_mark(text):
    shown = markdown(text)
    plain = shown.replace("\\\\", "\0")
    for mark in "`*_~$[]():#<>|!{}":
        assert plain.count(mark) == plain.count("\\" + mark)
    assert "\n" not in shown


@given(st.text())
def test_plotly_text_holds_no_tag(text):
    assert "<" not in plotly(text)
    assert ">" not in plotly(text)


@given(st.lists(st.text(min_size=1, max_size=60), max_size=8))
def test_short_labels_stay_apart(texts):
    taken: list[str] = []
    for text in texts:
        taken.append(short(text, 12, taken))
    assert len(set(taken)) == len(taken)


@given(st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-4))
def test_numbers_keep_three_digits(value):
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=6e-3)


@given(st.floats(0, 1))
def test_percentages_never_round_to_certainty(share):
    text = percent(share)
    assert (text == "100%") == (share == 1)
    assert (text == "0%") == (share == 0)


def test_words_for_what_is_not_finite():
    assert [number(value) for value in (math.nan, math.inf, -math.inf)] == [
        "not available",
        "infinite",
        "minus infinite",
    ]
    assert percent(math.nan) == "not available"
    assert count(0, "row") == "0 rows"


@given(st.lists(st.sampled_from(["=1+1", "+1", "-x", "@a", "\tx", "\rx", "safe", "a=b"]), min_size=1), st.booleans())
def test_no_cell_or_name_of_an_export_starts_a_formula(texts, european):
    frame = pd.DataFrame({"=cmd()": texts, "number": np.arange(len(texts)) - 1.5})
    data = to_csv(frame, **({"separator": ";", "decimal": ","} if european else {})).decode("utf-8-sig")
    first = [line.lstrip('"') for line in data.split("\n") if line]
    assert not any(line.startswith(("=", "+", "-", "@", "\t", "\r")) for line in first)
    assert ("-1,5" if european else "-1.5") in data  # numbers stay numbers


def test_json_has_no_nan():
    value = {"a": np.float64(math.nan), "b": np.arange(2), "c": pd.Timestamp("2020-01-01"), "d": [math.inf, None, "x"]}
    assert json.loads(to_json(value)) == {"a": None, "b": [0, 1], "c": "2020-01-01T00:00:00", "d": [None, None, "x"]}


def test_a_template_is_a_table():
    assert template_csv({"loss": [0.0, 0.25]}).decode("utf-8-sig") == "loss\n0.0\n0.25\n"
