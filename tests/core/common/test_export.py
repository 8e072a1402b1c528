"""Exports: a spreadsheet runs nothing, and what was written is read back, in every dialect."""

import csv
import gzip
import io
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.common.export import to_csv, to_json
from core.common.tables import ReadOptions, read_table

STARTS = "=+-@\t\r\n＝＋－＠"
DIALECTS = [pair for pair in itertools.product(",;\t|", ".,") if pair != (",", ",")]
words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
dangerous = st.builds(str.__add__, st.sampled_from(STARTS), words)


@settings(deadline=None)
@given(st.lists(dangerous | words, min_size=1, max_size=8), words, st.sampled_from(",;\t|"))
def test_every_cell_that_could_run_is_marked_and_no_other(cells, name, separator):
    data = to_csv(pd.DataFrame({name: cells, "n": range(len(cells))}), separator=separator).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(data, newline=""), delimiter=separator))
    written = [row[0] for row in rows]
    assert written == [f"'{cell}" if cell[0] in STARTS else cell for cell in [name, *cells]]
    assert [row[1] for row in rows[1:]] == [str(n) for n in range(len(cells))]


def test_categories_are_marked_as_text_is_and_negative_numbers_are_not():
    frame = pd.DataFrame({"c": pd.Categorical(["=a", "b", "=a"]), "x": [-1.5, 2.0, -0.0], "n": [-1, 0, 1]})
    assert to_csv(frame).decode("utf-8-sig") == "c,x,n\n'=a,-1.5,-1\nb,2.0,0\n'=a,-0.0,1\n"


@pytest.mark.parametrize(("separator", "decimal"), DIALECTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_reader_finds_every_dialect_by_itself(separator, decimal, encoding, packed):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"größe": rng.normal(size=40), "n": np.arange(40), "ort": ["Köln", "a, b", 'c "d"', "x;y|z"] * 10}
    )
    data = to_csv(frame, separator=separator, decimal=decimal).decode("utf-8-sig").encode(encoding)
    table = read_table(gzip.compress(data) if packed else data, "x")
    assert (table.reading.separator, table.reading.decimal) == (separator, decimal)
    pd.testing.assert_frame_equal(table.frame, frame, check_column_type=False)


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.lists(st.text("abcäß 名", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=4, unique=True)


@settings(max_examples=80, deadline=None)
@given(st.data(), names, st.integers(1, 20), st.sampled_from(DIALECTS), st.booleans())
def test_numbers_come_back_to_the_last_bit(data, names, n, dialect, packed):
    columns = {f"c {name}": data.draw(st.lists(finite, min_size=n, max_size=n)) for name in names}
    raw = to_csv(pd.DataFrame(columns), separator=dialect[0], decimal=dialect[1])
    options = ReadOptions(separator=dialect[0], decimal=dialect[1], thousands="")
    table = read_table(gzip.compress(raw) if packed else raw, "x", options)
    for column, values in zip(table.reading.columns, columns.values(), strict=True):
        np.testing.assert_array_equal(table.numbers(column), values)


@settings(deadline=None)
@given(st.recursive(finite | st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_plain_values_survive_json(value):
    assert json.loads(to_json(value)) == value
