"""Parquet: what pyarrow wrote is read back, types and codes kept, and nothing unfolds beyond its limit."""

import datetime as dt
import decimal
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from core.common.errors import InputError
from core.common.export import to_parquet
from core.common.tables import Limits, ReadOptions, read_table

USUAL = Limits()


def read(columns: dict | pa.Table, limits: Limits = USUAL, **options):
    data = io.BytesIO()
    parquet.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), data)
    return read_table(data.getvalue(), "a.parquet", ReadOptions(**options), limits)


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("kind", INTEGERS)
def test_whole_numbers_of_every_width(kind):
    table = read({"n": pa.array([0, 1, 127], kind), "m": pa.array([1, None, 3], kind)})
    assert [str(t) for t in table.frame.dtypes] == ["int64", "float64"]
    np.testing.assert_array_equal(table.numbers("n"), [0, 1, 127])
    np.testing.assert_array_equal(table.numbers("m", allow_missing=True), [1, np.nan, 3])


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(10, 3)])
def test_broken_numbers_of_every_width_are_float64(kind):
    cells = [decimal.Decimal("0.125"), None] if pa.types.is_decimal(kind) else [np.float16(0.125), None]
    table = read({"x": pa.array(cells, kind)})
    assert table.frame["x"].dtype == np.float64
    np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [0.125, np.nan])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_of_every_kind_stays_text(kind):
    words = pa.array(["00123", None, "é"], kind)
    table = read({"s": words, "d": pa.array(["b", "a", "b"]).dictionary_encode()})
    assert list(table.text("s")) == ["00123", "", "é"]
    assert list(table.text("d")) == ["b", "a", "b"]
    assert [str(t) for t in table.frame.dtypes] == ["str", "str"]
    with pytest.raises(InputError, match="row 1: 'b' is not a number"):
        table.numbers("d")


def test_days_times_truths_and_nothing():
    table = read(
        {
            "day": [dt.date(2025, 7, 13), None],
            "when": [dt.datetime(2025, 7, 13, 9), None],
            "yes": [True, False],
            "maybe": [True, None],
            "none": pa.nulls(2),
        }
    )
    assert list(table.text("day")) == ["2025-07-13", ""]
    assert table.text("when")[0].startswith("2025-07-13 09:00")
    np.testing.assert_array_equal(table.binary("yes"), [True, False])
    np.testing.assert_array_equal(table.numbers("maybe", allow_missing=True), [1, np.nan])
    assert table.reading.missing == (1, 1, 0, 1, 2)
    assert "Column 'none' is empty." in table.reading.notes


@pytest.mark.parametrize("cells", [pa.array([2**64 - 1], pa.uint64()), pa.array([2**60 + 1, None])])
def test_codes_too_long_for_a_number_keep_every_digit(cells):
    assert read({"id": cells}).text("id")[0] == str(cells[0].as_py())


def test_words_that_mean_missing_are_missing_in_every_kind_of_column():
    table = read({"n": [1, -999], "x": [-999.0, 0.5], "s": ["NA", "b"]}, missing=("", "NA", "-999"))
    assert table.reading.missing == (1, 1, 1)
    np.testing.assert_array_equal(table.numbers("n", allow_missing=True), [1, np.nan])


def test_numbers_stored_as_text_say_so():
    with pytest.raises(InputError, match="numbers are stored as text"):
        read({"x": ["1", "2"]}).numbers("x")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (pa.array([[1], [2]]), "lists or records"),
        (pa.array([{"a": 1}]), "lists or records"),
        (pa.array([b"a"]), "holds bytes"),
        (pa.array([b"a"], pa.binary(1)), "holds bytes"),
        (pa.array([b"a"], pa.large_binary()), "holds bytes"),
    ],
)
def test_cells_that_are_no_values_are_refused_with_their_column(cells, words):
    with pytest.raises(InputError, match=words) as error:
        read({"good": pa.array([1] * len(cells)), "bad": cells})
    assert error.value.column == "bad"


def test_repeated_values_are_measured_as_they_would_unfold():
    """A constant column takes no room on disk, and a long word in a dictionary is stored once."""
    constants = {f"c{k}": np.zeros(100_000, np.int8) for k in range(20)}
    with pytest.raises(InputError, match="unpacks to 16 MB"):
        read(constants, Limits(max_unpacked_bytes=10_000_000))
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000, np.int32)), ["z" * 100_000])
    with pytest.raises(InputError, match="unpacks to 300 MB"):
        read({"s": word}, Limits(max_unpacked_bytes=10_000_000))


def test_a_table_without_rows_or_columns():
    for empty in (pa.table({"a": pa.array([], pa.int64())}), pa.table({})):
        with pytest.raises(InputError, match="no rows"):
            read(empty)


columns = st.integers(1, 6).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "x": st.lists(st.floats(allow_nan=False), min_size=n, max_size=n),
            "n": st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=n, max_size=n),
            "s": st.lists(st.text(min_size=1), min_size=n, max_size=n),
        }
    )
)


@settings(max_examples=40)
@given(columns)
def test_what_we_write_is_read_back_unchanged(columns):
    frame = pd.DataFrame(columns)
    back = read_table(to_parquet(frame), "x")
    pd.testing.assert_frame_equal(back.frame, frame, check_column_type=False)
    np.testing.assert_array_equal(back.numbers("x", allow_infinite=True), frame["x"])


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_in_words(data):
    raw = bytearray(to_parquet(pd.DataFrame({"x": [0.5, 1.5], "s": ["a", "b"]})))
    for place in data.draw(st.lists(st.integers(4, len(raw) - 1), min_size=1, max_size=4)):
        raw[place] = data.draw(st.integers(0, 255))
    try:
        table = read_table(bytes(raw), "x")
    except InputError:
        return
    assert len(table.frame) == table.reading.rows
