"""Workbooks: read as openpyxl wrote them, and no small file makes the reader work for long."""

import datetime as dt
import io
import re
import zipfile

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.chart import LineChart

from core.common.errors import InputError
from core.common.tables import Limits, ReadOptions, read_table

USUAL = Limits()


def workbook(*rows, **sheets) -> bytes:
    """A workbook of one sheet with these rows, and further sheets by name."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, more in sheets.items():
        sheet = book.create_sheet(name)
        for row in more:
            sheet.append(row)
    return saved(book)


def saved(book) -> bytes:
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def with_sheet(change) -> bytes:
    """A small workbook whose sheet's XML was changed by hand."""
    source, target = zipfile.ZipFile(io.BytesIO(workbook(["a", "b"], [1, 2]))), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in source.infolist():
            text = source.read(entry)
            archive.writestr(entry, change(text.decode()) if "sheet1.xml" in entry.filename else text)
    return target.getvalue()


def read(data: bytes, limits: Limits = USUAL, **options):
    return read_table(data, "book.xlsx", ReadOptions(**options), limits)


words = st.text(st.characters(codec="ascii", categories=("L",)), min_size=1, max_size=8).map("t{}".format)
sixteen = st.floats(-1e9, 1e9).map(lambda value: float(f"{value:.16g}"))  # what the writer keeps
numbers = sixteen | st.integers(-(10**9), 10**9)


@settings(max_examples=30)
@given(st.lists(st.tuples(numbers, words, st.none() | numbers), min_size=1, max_size=6))
def test_cells_come_back_as_they_were_written(rows):
    table = read(workbook(["x", "s", "m"], *rows))
    np.testing.assert_array_equal(table.numbers("x"), [row[0] for row in rows])
    assert list(table.text("s")) == [row[1] for row in rows]
    expected = [np.nan if row[2] is None else row[2] for row in rows]
    np.testing.assert_array_equal(table.numbers("m", allow_missing=True), expected)
    assert table.reading.missing == (0, 0, sum(row[2] is None for row in rows))


def test_whole_numbers_days_times_and_truths():
    days = [dt.datetime(2025, 7, 13), dt.datetime(2025, 7, 14, 9, 30)]
    table = read(workbook(["n", "day", "yes"], [1, days[0], True], [2, days[1], False]))
    assert table.frame["n"].dtype == np.int64
    assert list(table.text("day")) == ["2025-07-13", "2025-07-14 09:30:00"]
    np.testing.assert_array_equal(table.binary("yes"), [True, False])


def test_text_that_holds_numbers_has_the_marks_of_the_whole_sheet():
    table = read(workbook(["x", "y", "plz"], ["1,5", "1,234", "00123"], ["2,25", "2,000", "10115"]))
    np.testing.assert_array_equal(table.numbers("x"), [1.5, 2.25])
    np.testing.assert_array_equal(table.numbers("y"), [1.234, 2.0])
    assert table.reading.decimal == ","
    assert list(table.text("plz")) == ["00123", "10115"]


def test_words_that_mean_missing_are_missing_in_every_kind_of_column():
    data = workbook(["x", "s", "m"], [1.5, "NA", -999], [-999, "b", 2], [3, "c", "NA"])
    table = read(data, missing=("", "NA", "-999"))
    assert table.reading.missing == (1, 1, 2)
    np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [1.5, np.nan, 3])
    np.testing.assert_array_equal(table.numbers("m", allow_missing=True), [np.nan, 2, np.nan])
    with pytest.raises(InputError, match="'NA' is not a number"):
        read(data).numbers("m")


def test_a_sheet_without_names():
    table = read(workbook([1, "a"], [2, "b"]), header=False)
    assert table.reading.columns == ("column 1", "column 2")
    np.testing.assert_array_equal(table.numbers("column 1"), [1, 2])


def test_the_first_table_is_read_and_the_others_are_named():
    book = openpyxl.load_workbook(io.BytesIO(workbook(["a"], [1], more=[["b"], [2]])))
    book.create_chartsheet("picture", 0).add_chart(LineChart())
    table = read(saved(book))
    assert table.reading.columns == ("a",)
    assert "the others are: more" in table.reading.notes[0]
    assert read(saved(book), sheet="more").numbers("b")[0] == 2
    with pytest.raises(InputError, match="no sheet 'picture'"):
        read(saved(book), sheet="picture")


def test_blank_rows_and_columns_around_the_table_are_no_rows():
    table = read(workbook(["a", "b", None], [], [1, 2, None], [None, None, None], [3, 4]))
    assert table.reading.columns == ("a", "b")
    np.testing.assert_array_equal(table.numbers("a"), [1, 3])


def test_an_empty_sheet_and_a_name_without_rows():
    with pytest.raises(InputError, match="sheet is empty"):
        read(workbook())
    with pytest.raises(InputError, match="header but no rows"):
        read(workbook(["a"]))


def test_a_far_corner_is_refused_at_once():
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    with pytest.raises(InputError, match="16,384 columns"):
        read(saved(book))


def test_a_sheet_that_claims_to_be_vast_is_read_for_what_it_holds():
    table = read(with_sheet(lambda xml: re.sub(r'ref="A1:[A-Z0-9]+"', 'ref="A1:XFD1048576"', xml)))
    assert (table.reading.rows, table.reading.columns) == (1, ("a", "b"))


def test_a_row_beyond_the_last_one_is_refused():
    def far(xml):
        return xml.replace('<row r="2"', '<row r="999999999999"')

    with pytest.raises(InputError, match="more rows than a sheet can have"):
        read(with_sheet(far))


def test_empty_cells_far_to_the_right_are_counted_before_they_fill_memory():
    def wide(xml):
        rows = "".join(f'<row r="{n}"><c r="XFD{n}" s="0"/></row>' for n in range(3, 400))
        return xml.replace("</sheetData>", rows + "</sheetData>")

    with pytest.raises(InputError, match="unpacks to"):
        read(with_sheet(wide), Limits(max_unpacked_bytes=2_000_000))
    assert read(with_sheet(wide)).reading.rows == 1


def test_one_long_text_in_many_cells_is_counted():
    data = workbook(["s"], *[["x" * 30_000]] * 100)
    with pytest.raises(InputError, match="unpacks to"):
        read(data, Limits(max_unpacked_bytes=2_000_000))
