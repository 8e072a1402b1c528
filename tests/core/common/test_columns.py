"""Typing of columns beside Python's own float, and the marks beside Python's own formatting."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.common.columns import typed
from core.common.marks import Marks, are_numbers, as_number, choose_marks

PLAIN = Marks(".", "")
STYLES = [(".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"), (".", ""), (",", "")]


def column(*cells):
    return pa.chunked_array([pa.array(cells, pa.string())])


def written(value: float, decimal: str, thousands: str, digits: int = 2) -> str:
    """``value`` with these marks, through Python's own formatting."""
    return f"{value:,.{digits}f}".translate(str.maketrans({",": thousands, ".": decimal}))


def is_number(cell: str) -> bool:
    """Python's opinion, less its digits with underscores, its nan and its spaces."""
    try:
        return not np.isnan(float(cell)) and "_" not in cell
    except ValueError:
        return False


@settings(max_examples=400, deadline=None)
@given(st.lists(st.text("0123456789+-.eExXinfa ,'", max_size=7), min_size=1, max_size=3))
def test_a_column_is_numeric_only_if_python_reads_every_cell(cells):
    assume(all(cell.strip() for cell in cells))
    series, _ = typed(column(*cells), "c", PLAIN)
    coded = any(re.match(r"\s*[+-]?0[0-9xX]", cell) for cell in cells)
    assert (series.dtype.kind in "if") == (all(is_number(cell) for cell in cells) and not coded)
    if series.dtype.kind in "if":
        np.testing.assert_array_equal(series, [float(cell) for cell in cells])
    np.testing.assert_array_equal([as_number(cell, PLAIN) for cell in cells], [is_number(cell) for cell in cells])


@settings(deadline=None)
@given(st.lists(st.integers(-(10**15) + 1, 10**15 - 1), min_size=1), st.booleans())
def test_whole_numbers_up_to_15_digits_stay_exact(values, missing):
    cells = [str(value) for value in values]
    series, note = typed(column(*cells, *[None] * missing), "n", PLAIN)
    assert not note
    assert series.dtype == (np.float64 if missing else np.int64)
    assert [int(value) for value in series[: len(values)]] == values


@settings(deadline=None)
@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)), min_size=1), st.sampled_from(STYLES))
def test_numbers_are_read_with_the_marks_they_were_written_with(values, style):
    cells = [written(value, *style) for value in values]
    series, _ = typed(column(*cells), "x", Marks(*style))
    np.testing.assert_array_equal(series, values)
    assert are_numbers(series.astype("str"), PLAIN).all()


@settings(deadline=None)
@given(st.lists(st.floats(1000, 1e8), min_size=1), st.sampled_from([s for s in STYLES if s[1]]))
def test_marks_are_found_where_one_number_shows_both(values, style):
    cells = [written(value, *style) for value in values]
    marks, _ = choose_marks([column(*cells), column("a", "1,2,3")], ";", None, None)
    assert marks == Marks(*style)


@settings(deadline=None)
@given(st.lists(st.floats(0, 999).map(lambda value: round(value, 2)), min_size=1), st.sampled_from(".,"))
def test_the_decimal_mark_alone_is_found(values, decimal):
    cells = [written(value, decimal, "") for value in values]
    marks, notes = choose_marks([column(*cells)], ";", None, None)
    assert marks == Marks(decimal, "")
    assert any("decimal comma" in note for note in notes) == (decimal == ",")


@pytest.mark.parametrize("cells", [("1,234",), ("1,234", "12"), ("-1,234", "999"), ("12,345", "1,000")])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_comma_that_may_be_either_is_text_with_the_remedy(cells, separator):
    marks, _ = choose_marks([column(*cells)], separator, None, None)
    series, note = typed(column(*cells), "x", marks)
    assert list(series) == list(cells)
    assert "choose a thousands mark if" in note
    assert "a decimal comma if it means" in note
    thousands, _ = choose_marks([column(*cells)], separator, None, ",")
    np.testing.assert_array_equal(typed(column(*cells), "x", thousands)[0], [int(c.replace(",", "")) for c in cells])
    comma, _ = choose_marks([column(*cells)], separator, ",", None)
    np.testing.assert_array_equal(typed(column(*cells), "x", comma)[0], [float(c.replace(",", ".")) for c in cells])


def test_other_columns_settle_what_one_leaves_open():
    marks, _ = choose_marks([column("1,234"), column("0,5")], ";", None, None)
    assert marks == Marks(",", "")
    marks, _ = choose_marks([column("1,234"), column("1,234.5")], ";", None, None)
    assert marks == Marks(".", ",")
    marks, _ = choose_marks([column("1,234"), column("1,234,567")], ";", None, None)
    assert marks == Marks(".", ",")
    marks, _ = choose_marks([column("1.234"), column("1.234.567")], ";", None, None)
    assert marks == Marks(",", ".")


def test_a_point_that_may_group_is_read_as_decimal_and_said_where_commas_are_usual():
    assert "such as 1.234" in choose_marks([column("1.234", "2.000")], ";", None, None)[1][0]
    assert choose_marks([column("1.234", "2.000")], ",", None, None)[1] == ()
    assert choose_marks([column("1.234", "0.5")], ";", None, None)[1] == ()


def test_both_marks_in_one_file_are_said():
    marks, notes = choose_marks([column("0.5"), column("0,5")], ";", None, None)
    assert marks.decimal == "."
    assert "the point was taken" in notes[0]
    assert list(typed(column("0,5"), "b", marks)[0]) == ["0,5"]


@pytest.mark.parametrize("cell", ["00123", "-007", "+007", "+00", "0x10", "00", "01.5"])
def test_codes_with_a_zero_in_front_stay_text_wherever_they_come(cell):
    series, note = typed(column(*["1"] * 300, cell), "c", PLAIN)
    assert series.iloc[-1] == cell
    assert "start with a zero" in note


@pytest.mark.parametrize("cell", ["1234567890123456", "-1234567890123456", "9" * 23, "9" * 400])
def test_long_codes_stay_text_wherever_they_come(cell):
    series, note = typed(column(*["1"] * 300, cell), "c", PLAIN)
    assert series.iloc[-1] == cell
    assert "more than 15 digits" in note


@pytest.mark.parametrize("cell", ["0", "-0", "0.5", "-0.25", "0e3", "1e20", "123456789012345", "12345678901234567.5"])
def test_numbers_that_only_look_like_codes_are_numbers(cell):
    series, note = typed(column("1", cell), "c", PLAIN)
    assert series.iloc[1] == float(cell)
    assert not note


@pytest.mark.parametrize("word", ["nan", "NaN", "-nan", "null", "None", "NA", "", "1_000", "5%", "1 2", "+-1", "--1"])
def test_words_are_never_numbers_wherever_they_come(word):
    series, _ = typed(column(*["1"] * 300, word), "c", PLAIN)
    assert series.iloc[-1] == word
    assert not as_number(word, PLAIN)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("\u22121.234,5", -1234.5),
        ("1\u202f234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("12\u2009345,5", 12345.5),
        ("1\u2019234,5", 1234.5),
        ("\u00a01,5\u00a0", 1.5),
        ("+1,5", 1.5),
        (",5", 0.5),
    ],
)
def test_typographic_signs_and_spaces(cell, value):
    marks, _ = choose_marks([column(cell)], ";", None, None)
    assert typed(column(cell), "x", marks)[0].iloc[0] == value


def test_an_empty_column_is_missing_throughout_and_said():
    series, note = typed(column(None, None), "x", PLAIN)
    assert series.isna().all()
    assert note == "Column 'x' is empty."


def test_a_thousands_mark_leaves_the_other_one_as_decimal():
    assert choose_marks([column("1.234")], ";", None, ".")[0] == Marks(",", ".")
    assert choose_marks([column("1,234")], ";", None, ",")[0] == Marks(".", ",")
    assert choose_marks([column("1,234")], ";", ",", None)[0] == Marks(",", "")
