"""The reader: every real file that a visitor may bring is read as its writer meant it, or refused in words."""

import gzip
import io
import time
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from core.common.errors import InputError
from core.common.export import to_csv
from core.common.tables import Limits, ReadOptions, read_path, read_table


def read(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    return read_table(data, "file.csv", ReadOptions(**options))


def notes(table) -> str:
    return " ".join(table.reading.notes)


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;2,5\n3,25;4,5\n",
        "sep=;\na;b\n1,5;2,5\n3,25;4,5\n",
        "a,b\r\n1.5,2.5\r\n3.25,4.5\r\n",
        "a\tb\n1.5\t2.5\n3.25\t4.5",
        "a|b\n1.5|2.5\n3.25|4.5\n\n",
        "\n\na,b\n1.5,2.5\n3.25,4.5\n",
        'a,b\n"1.5","2.5"\n"3.25","4.5"\n',
        "a;b;\n1,5;2,5;\n3,25;4,5;\n",
        " a , b \n 1.5 , 2.5 \n 3.25 , 4.5 \n",
        "a,b\r1.5,2.5\r3.25,4.5\r",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_table_in_every_dialect(text, encoding, packed):
    data = text.encode(encoding)
    table = read(gzip.compress(data) if packed else data)
    assert table.reading.columns == ("a", "b")
    np.testing.assert_array_equal(table.numbers("a"), [1.5, 3.25])
    np.testing.assert_array_equal(table.numbers("b"), [2.5, 4.5])


def test_latin_letters_are_read_and_said():
    table = read("größe;name\n1,5;Müller\n".encode("cp1252"))
    assert table.reading.columns == ("größe", "name")
    assert table.text("name")[0] == "Müller"
    assert table.reading.encoding == "Windows-1252"
    assert "choose the encoding" in notes(table)


@pytest.mark.parametrize(("text", "expected"), [("x\n0,25\n0,5\n", [0.25, 0.5]), ("x\n0.25\n0.5\n", [0.25, 0.5])])
def test_one_column_is_one_column(text, expected):
    table = read(text)
    assert table.reading.columns == ("x",)
    np.testing.assert_array_equal(table.numbers("x"), expected)


def test_a_blank_line_in_one_column_is_a_missing_value_not_a_lost_row():
    with pytest.raises(InputError, match="Column 'x', row 2: the value is missing"):
        read("x\n1\n\n3\n").numbers("x")


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        ("a,b\n1,2\n3,4,5\n", 2, "3 fields, the header has 2"),
        ("a,b\n1,2,3\n4,5,6\n", 1, "3 fields, the header has 2; 1 other row"),
        ("a,b\n1\n2,3\n", 1, "1 fields?, the header has 2"),
    ],
)
def test_rows_of_another_width_are_named(text, row, words):
    with pytest.raises(InputError, match=words) as error:
        read(text)
    assert error.value.row == row


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "file is empty"),
        (b"   \n \n", "file is empty"),
        (b"a,b\n", "header but no rows"),
        (b"a,b", "header but no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not a text table"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"0" * 100, "old Excel file"),
        (b"PAR1 and nothing else", "Parquet file is damaged"),
        (b"PK\x03\x04 and nothing else", "file is damaged"),
        (gzip.compress(b"a,b\n1,2\n")[:-12], "gzip"),
        (b"\x1f\x8bnot really", "gzip"),
    ],
)
def test_what_cannot_be_read_says_why(data, words):
    with pytest.raises(InputError, match=words):
        read_table(data, "x")


def test_names_that_come_twice_or_not_at_all_are_changed_and_said():
    table = read("a,a,,b\n1,2,3,4\n")
    assert table.reading.columns == ("a", "a (2)", "column 3", "b")
    assert "comes twice" in notes(table)
    assert "has no name" in notes(table)


def test_names_in_any_script_have_one_form():
    table = read("cafe\u0301,名前\n1,2\n")
    assert table.reading.columns == ("caf\u00e9", "名前")


@pytest.mark.parametrize("word", ["NA", "None", "null", "nan", "N/A", "-"])
def test_words_that_may_mean_missing_are_text_until_listed(word):
    text = f"x,land\n1,a\n{word},b\n3,{word}\n"
    with pytest.raises(InputError, match="words that mean missing") as error:
        read(text).numbers("x")
    assert (error.value.row, error.value.column) == (2, "x")
    table = read(text, missing=("", word))
    assert table.reading.missing == (1, 1)
    np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [1, np.nan, 3])


def test_codes_stay_text():
    table = read("plz,id,n\n00123,12345678901234567890123,1\n10115,22345678901234567890123,2\n")
    assert list(table.text("plz")) == ["00123", "10115"]
    assert table.text("id")[0] == "12345678901234567890123"
    assert table.frame["n"].dtype == np.int64
    assert "start with a zero" in notes(table)
    assert "more than 15 digits" in notes(table)


def test_infinity_is_a_number_that_is_refused_unless_allowed():
    table = read("x\n1\ninf\n-Inf\n")
    with pytest.raises(InputError, match="row 2: the value is infinite, and 1 other"):
        table.numbers("x")
    np.testing.assert_array_equal(table.numbers("x", allow_infinite=True), [1, np.inf, -np.inf])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x;y\n1.234,56;a\n2.000,00;b\n", [1234.56, 2000]),
        ('x,y\n"1,234.56",a\n"2,000.00",b\n', [1234.56, 2000]),
        ("x;y\n1 234,5;a\n2 000,25;b\n", [1234.5, 2000.25]),
        ("x;y\n1\u202f234,5;a\n12\u00a0000,25;b\n", [1234.5, 12000.25]),
        ("x;y\n1'234.5;a\n2'000.25;b\n", [1234.5, 2000.25]),
        ("x,y\n\u22121.5,a\n2,b\n", [-1.5, 2]),
        ("x,y\n1e3,a\n-2.5E-1,b\n", [1000, -0.25]),
        ("x,y\n+1.5,a\n.5,b\n", [1.5, 0.5]),
        ("x;y\n0,250;a\n1,500;b\n", [0.25, 1.5]),
    ],
)
def test_numbers_as_people_write_them(text, expected):
    np.testing.assert_allclose(read(text).numbers("x"), expected)


def test_a_comma_that_may_group_thousands_is_not_guessed():
    text = 'x,y\n"1,234",a\n"2,000",b\n'
    table = read(text)
    with pytest.raises(InputError, match="choose a thousands mark"):
        table.numbers("x")
    np.testing.assert_array_equal(read(text, thousands=",").numbers("x"), [1234, 2000])
    np.testing.assert_array_equal(read(text, decimal=",").numbers("x"), [1.234, 2.0])


def test_a_point_under_a_decimal_comma_is_never_moved():
    """18500.00 must not become 1,850,000."""
    with pytest.raises(InputError):
        read("x;y\n18500.00;1,5\n2,5;2,5\n", decimal=",").numbers("x")


def test_a_file_without_header():
    table = read("1,2\n3,4\n")
    assert "has no header" in notes(table)
    np.testing.assert_array_equal(read("1,2\n3,4\n", header=False).numbers("column 1"), [1, 3])


def test_quoted_cells_hold_separators_and_line_ends():
    table = read('name,x\n"Doe, Jane\nPhD",1\n"a ""b""",2\n')
    assert list(table.text("name")) == ["Doe, Jane\nPhD", 'a "b"']
    np.testing.assert_array_equal(table.numbers("x"), [1, 2])


def test_an_unclosed_quote_is_refused():
    with pytest.raises(InputError):
        read('a,b\n"1,2\n3,4\n')


def test_an_unknown_column_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'Loss'") as error:
        read("id,Loss\n1,2\n").numbers("loss")
    assert "'id', 'Loss'" in str(error.value)


def test_an_empty_column_is_said():
    table = read("a,b\n1,\n2,\n")
    assert "'b' is empty" in notes(table)
    with pytest.raises(InputError, match="row 1: the value is missing, and 1 other"):
        table.numbers("b")


def test_excel():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["n", "x", "name", None])
    sheet.append([1, 1.5, "00123", None])
    sheet.append([2, None, "b", None])
    book.create_sheet("other").append(["z"])
    book["other"].append([7])
    data = io.BytesIO()
    book.save(data)
    table = read_table(data.getvalue(), "book.xlsx")
    assert table.reading.columns == ("n", "x", "name")
    np.testing.assert_array_equal(table.numbers("n"), [1, 2])
    np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [1.5, np.nan])
    assert table.text("name")[0] == "00123"
    assert "other" in notes(table)
    assert read_table(data.getvalue(), "b", ReadOptions(sheet="other")).numbers("z")[0] == 7
    with pytest.raises(InputError, match="The sheets are"):
        read_table(data.getvalue(), "b", ReadOptions(sheet="none"))


def test_a_zip_that_is_no_workbook_and_one_that_would_burst():
    plain, bomb = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 50_000_000)
    with pytest.raises(InputError, match="zip archive"):
        read_table(plain.getvalue(), "x")
    with pytest.raises(InputError, match="unpacks to 50 MB"):
        read_table(bomb.getvalue(), "x", limits=Limits(max_unpacked_bytes=10_000_000))


def test_a_gzip_bomb_is_stopped_while_it_unpacks():
    with pytest.raises(InputError, match="more than 1 MB"):
        read_table(gzip.compress(b"0" * 50_000_000), "x", limits=Limits(max_unpacked_bytes=1_000_000))


def test_parquet_keeps_its_types_and_is_measured_before_it_is_read():
    frame = pd.DataFrame(
        {"x": [1.5, None], "n": [1, 2], "s": ["=a", "b"], "t": [True, False], "d": pd.to_datetime(["2020-01-01"] * 2)}
    )
    data = frame.to_parquet(index=False)
    table = read_table(data, "x.parquet")
    np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [1.5, np.nan])
    np.testing.assert_array_equal(table.numbers("t"), [1, 0])
    assert table.text("s")[0] == "=a"
    with pytest.raises(InputError):
        table.numbers("d")
    with pytest.raises(InputError, match="unpacks to"):
        read_table(data, "x", limits=Limits(max_unpacked_bytes=10))
    with pytest.raises(InputError, match="2 rows"):
        read_table(data, "x", limits=Limits(max_rows=1))
    lists = io.BytesIO()
    parquet.write_table(pa.table({"v": [[1], [2]]}), lists)
    with pytest.raises(InputError, match="'v': this column holds lists"):
        read_table(lists.getvalue(), "x")


def test_limits_are_told():
    with pytest.raises(InputError, match="The file has"):
        read_table(b"a\n1\n", "x", limits=Limits(max_bytes=2))
    with pytest.raises(InputError, match="table has 2 columns"):
        read_table(b"a,b\n1,2\n", "x", limits=Limits(max_columns=1))
    with pytest.raises(InputError, match="2 rows"):
        read_table(b"a\n1\n2\n", "x", limits=Limits(max_rows=1))


def test_fingerprints_tell_bytes_and_options_apart():
    one, other = b"a\n1\n2\n", b"a\n1\n3\n"
    prints = {
        read_table(one, "x").fingerprint,
        read_table(other, "x").fingerprint,
        read_table(one, "x", ReadOptions(decimal=",")).fingerprint,
    }
    assert len(prints) == 3
    assert read_table(one, "other name").fingerprint == read_table(one, "x").fingerprint


def test_a_missing_path_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert read_path(tmp_path / "a.csv").numbers("x")[0] == 1
    with pytest.raises(InputError, match=r"no file 'b\.csv'"):
        read_path(tmp_path / "b.csv")


@pytest.mark.parametrize(
    "options",
    [
        {"separator": "ab"},
        {"separator": "\n"},
        {"separator": '"'},
        {"separator": "§"},
        {"separator": "x"},
        {"decimal": "x"},
        {"thousands": "_"},
        {"thousands": ".", "decimal": "."},
        {"encoding": "no such"},
        {"encoding": "\0"},
    ],
)
def test_options_that_no_file_can_be_read_with_are_refused(options):
    with pytest.raises(InputError):
        read("a;b\n1;2\n", **options)


def test_a_bad_cell_at_the_end_of_a_long_column_is_found_at_once():
    text = "x\n" + "0.5\n" * 200_000
    table = read(text + "oops\n1\nagain\n")
    start = time.perf_counter()
    with pytest.raises(InputError, match="row 200,001: 'oops' is not a number, and 1 other"):
        table.numbers("x")
    assert time.perf_counter() - start < 2


def test_a_note_about_the_name_does_not_hide_the_bad_cell():
    with pytest.raises(InputError, match="row 2: 'foo' is not a number"):
        read("a,a\n1,2\nfoo,3\n").numbers("a")


def test_a_number_in_other_marks_is_told_from_a_word():
    table = read("a;b\n1,5;2.5\n2,5;3.5\n")
    with pytest.raises(InputError, match="choose the decimal and thousands marks"):
        table.numbers("a")


def test_all_absent_columns_and_their_nearest_names_are_listed():
    table = read("loss,score_a,score_b\n1,2,3\n")
    with pytest.raises(InputError) as error:
        table.require("loss", "Score_a", "zzz")
    assert "'Score_a' (did you mean 'score_a' or 'score_b'?), 'zzz'" in str(error.value)
    table.require("loss", "score_a")


def test_whole_numbers_are_text_without_a_point_though_some_are_missing():
    table = read("y,x\n1,0.5\n,1\n3,2\n")
    assert list(table.text("y")) == ["1", "", "3"]
    assert list(table.text("x")) == ["0.5", "1.0", "2.0"]


def test_a_gzip_file_that_holds_another_file_is_refused():
    for inner in (gzip.compress(b"a,b\n1,2\n"), b"PAR1" + b"x" * 20, b"PK\x03\x04" + b"x" * 20):
        with pytest.raises(InputError, match="another packed file"):
            read(gzip.compress(inner))


def test_whole_numbers_beyond_float64_are_not_rounded():
    table = read_table(pd.DataFrame({"id": [2**53 - 1, 2**53 + 1], "n": [1 - 2**53, 0]}).to_parquet(index=False), "x")
    with pytest.raises(InputError, match="row 2: the value has more digits"):
        table.numbers("id")
    assert list(table.text("id")) == [str(2**53 - 1), str(2**53 + 1)]
    assert [int(value) for value in table.numbers("n")] == [1 - 2**53, 0]


def test_names_with_quotation_marks_and_separators():
    assert read('size (5"),b\n1,2\n').reading.columns == ('size (5")', "b")
    assert read('"a,b"\n0,25\n0,5\n').reading.columns == ("a,b",)
    np.testing.assert_array_equal(read('"a,b"\n0,25\n0,5\n').numbers("a,b"), [0.25, 0.5])
    assert read('"a ""b"""\n1\n').reading.columns == ('a "b"',)


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        ("a,b\n1,2\n\n\n3,4\n5,6,7\n", 3, "line 6 of the file has 3 fields, the header has 2"),
        ('a,b\n1,"2\n2"\n3,4,5\n6\n', 2, "line 4 of the file has 3 fields, the header has 2; 1 other row"),
        ("sep=;\r\na;b\r\n1;2\r\n3\r\n", 2, "line 4 of the file has 1 field, the header has 2"),
        ("\n\na,b\r1,2\r3\r", 2, "line 5 of the file has 1 field"),
    ],
)
def test_the_line_is_the_one_an_editor_shows(text, row, words):
    with pytest.raises(InputError, match=words) as error:
        read(text)
    assert error.value.row == row


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ('a,b\n1,x\n2,"z\n3,4\n', 2),
        ('a\tb\n1\t"x\n2\ty\n', 1),
        ('x\n1\n"2\n3\n', 2),
        ('a,b\n1,"x""', 1),
    ],
)
def test_an_open_quotation_mark_swallows_no_rows(text, row):
    with pytest.raises(InputError, match="opens in this row and does not close") as error:
        read(text)
    assert error.value.row == row


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_closed_quotation_marks_cost_no_row(end):
    assert list(read('a,b\n1,"x\n"\n2,"end"' + end).text("b")) == ["x\n", "end"]
    assert list(read('x\n"end"\n"end"' + end).text("x")) == ["end", "end"]


def test_missing_cells_are_counted_and_said():
    table = read("a,b,c\n1,,x\n,,\n3,4,\n")
    assert table.reading.missing == (1, 2, 2)
    assert "Column 'a' has 1 missing cell." in table.reading.notes
    assert "Column 'b' has 2 missing cells." in table.reading.notes
    wide = read(",".join("abcdefg") + "\n" + ",".join("1" * 7) + "\n" + "," * 6 + "\n")
    assert "2 other columns with missing cells." in wide.reading.notes


def test_words_that_mean_missing_are_the_same_in_every_format():
    frame = pd.DataFrame({"n": [1, -999, 3], "x": [0.5, 1.5, -999], "s": ["a", "NA", "c"]})
    chosen = ReadOptions(missing=("", "-999", "NA", "-999.0"))
    book = io.BytesIO()
    frame.to_excel(book, index=False)
    for data in (frame.to_csv(index=False).encode(), frame.to_parquet(index=False), book.getvalue()):
        table = read_table(data, "x", chosen)
        assert table.reading.missing == (1, 1, 1)
        np.testing.assert_array_equal(table.numbers("n", allow_missing=True), [1, np.nan, 3])
        np.testing.assert_array_equal(table.numbers("x", allow_missing=True), [0.5, 1.5, np.nan])
        assert list(table.text("s")) == ["a", "", "c"]


def stored(table: pa.Table) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def test_a_word_repeated_by_a_dictionary_is_measured_as_the_text_it_stands_for():
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int32)), pa.array(["a" * 100_000]))
    data = stored(pa.table({"x": words}))
    assert len(data) < 200_000
    with pytest.raises(InputError, match="unpacks to 300 MB"):
        read_table(data, "x", limits=Limits(max_unpacked_bytes=10_000_000))


def test_many_rows_of_one_value_are_measured_as_the_frame_they_fill():
    data = stored(pa.table({"x": np.zeros(1_000_000)}))
    assert len(data) < 10_000
    with pytest.raises(InputError, match="unpacks to 8 MB"):
        read_table(data, "x", limits=Limits(max_unpacked_bytes=7_999_999))
    assert read_table(data, "x", limits=Limits(max_unpacked_bytes=8_000_000)).reading.rows == 1_000_000


def test_parquet_columns_of_every_kind():
    ids = [2**60 + 1, None]
    kinds = {"id": pa.array(ids), "t": pa.array([True, None]), "d": pa.array(["a", None]).dictionary_encode()}
    table = read_table(stored(pa.table(kinds)), "x")
    assert list(table.text("id")) == [str(2**60 + 1), ""]
    np.testing.assert_array_equal(table.numbers("t", allow_missing=True), [1, np.nan])
    assert list(table.text("d")) == ["a", ""]
    for kind in (pa.binary(), pa.binary(1), pa.large_binary()):
        with pytest.raises(InputError, match="'b': this column holds bytes"):
            read_table(stored(pa.table({"b": pa.array([b"x"], kind)})), "x")


cells = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
texts = cells.map(lambda cell: "t" + " ".join(cell.split()))
frames = st.integers(1, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "x": st.lists(st.floats(-1e6, 1e6).map(lambda v: v + 0.5), min_size=n, max_size=n),
            "n": st.lists(st.integers(-(10**9), 10**9), min_size=n, max_size=n),
            "s": st.lists(texts, min_size=n, max_size=n),
        }
    )
)


@settings(max_examples=60, deadline=None)
@given(frames, st.sampled_from([(",", "."), (";", ","), ("\t", "."), (";", ".")]), st.booleans())
def test_what_we_write_is_read_back_unchanged(columns, dialect, packed):
    separator, decimal = dialect
    frame = pd.DataFrame(columns)
    data = to_csv(frame, separator=separator, decimal=decimal)
    back = read_table(gzip.compress(data) if packed else data, "x", ReadOptions(separator=separator, decimal=decimal))
    np.testing.assert_array_equal(back.numbers("x"), frame["x"])
    np.testing.assert_array_equal(back.numbers("n"), frame["n"])
    assert list(back.text("s")) == list(frame["s"])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200) | st.text(alphabet=';,\t|"\n\r 0123.abé-+=', max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused_in_words(data):
    try:
        table = read_table(data, "x")
    except InputError as error:
        assert str(error)  # noqa: PT017
    else:
        assert len(table.frame) == table.reading.rows > 0
        assert tuple(table.frame.columns) == table.reading.columns


options = st.builds(
    ReadOptions,
    separator=st.sampled_from([None, "", ",", ";", "\t", "|", " "]),
    decimal=st.sampled_from([None, ".", ","]),
    thousands=st.sampled_from([None, "", ",", ".", " ", "'"]),
    encoding=st.sampled_from([None, "utf-8", "utf-16", "cp1252"]),
    missing=st.sampled_from([("",), ("", "a"), ()]),
    header=st.booleans(),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet=";,\t|\"'\n\r 0123.abé-+=", max_size=60), options)
def test_any_options_read_any_text_or_refuse_it_in_words(text, chosen):
    try:
        table = read_table(text.encode(), "x", chosen)
    except InputError:
        return
    for column in table.reading.columns:
        assert len(table.text(column)) == table.reading.rows
        try:
            assert np.isfinite(table.numbers(column)).all()
        except InputError as error:
            assert column == error.column  # noqa: PT017


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([b"PK\x03\x04", b"PAR1", b"\x1f\x8b"]), st.binary(max_size=200))
def test_damaged_archives_are_refused_in_words(mark, data):
    with pytest.raises(InputError):
        read_table(mark + data, "x")
