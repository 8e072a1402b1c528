"""Lazily read columns beside the same file read whole, and files that cannot be."""

import gzip

import numpy as np
import pandas as pd
import pytest

from core.common.errors import InputError
from core.common.lazy import open_lazily
from core.common.tables import read_path

FILES = {
    "plain.csv": b"id,days,region\n1,3.5,north\n2,7,south\n",
    "german.csv": "id;tage;ort\n1;3,5;Köln\n2;;Ulm\n".encode("utf-8-sig"),
    "quoted.csv": b'id,days,region\n1,3.5,"a, b"\n2,-7e3,"say ""x"""\n',
    "crlf.csv": b"id,days,region\r\n1,3.5,x\r\n2,4,y\r\n",
    "tabs.csv": b"id\tdays\tregion\n1\t3.5\tx\n2\t4\ty\n",
    "one.csv": b"days\n3\n4\n",
    "double.csv": b"days,days\n3,5\n4,6\n",
    "no_end.csv": b"a,b\n1,2\n3,4",
}


@pytest.mark.parametrize("name", FILES)
def test_a_csv_reads_as_the_upload_would(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    lazy, whole = open_lazily(path), read_path(path)
    assert lazy.columns == whole.columns
    for column in lazy.columns:
        chosen = lazy.select([column])
        assert chosen.columns == (column,)
        if pd.api.types.is_numeric_dtype(whole.frame[column]):
            np.testing.assert_array_equal(
                chosen.numbers(column, allow_missing=True), whole.numbers(column, allow_missing=True)
            )
        else:
            assert chosen.text(column).tolist() == whole.text(column).tolist()
    assert lazy.select(lazy.columns).reading.missing == tuple(int(n) for n in whole.frame.isna().sum())


def test_parquet_reads_the_columns_that_were_asked_for(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(5000),
            "days": np.where(rng.random(5000) < 0.1, np.nan, rng.exponential(size=5000)),
            "region": rng.choice(["n", "s"], 5000),
            "yes": rng.random(5000) < 0.5,
        }
    )
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, row_group_size=700)
    lazy = open_lazily(path)
    assert lazy.sample.reading.rows == 5000
    assert len(lazy.frame) <= 1000
    made = lazy.select(["region", "days", "yes", "days"])
    assert list(made.frame) == ["region", "days", "yes"]
    np.testing.assert_array_equal(made.numbers("days", allow_missing=True), frame["days"])
    assert made.text("region").tolist() == frame["region"].tolist()
    assert (made.binary("yes") == frame["yes"]).all()
    assert made.reading.missing == (0, int(frame["days"].isna().sum()), 0)


def test_what_lies_beyond_the_first_rows_is_read_too(tmp_path):
    path = tmp_path / "long.csv"
    rows = 400_000
    pd.DataFrame({"a": np.arange(rows), "b": np.arange(rows) / 4}).to_csv(path, index=False)
    assert path.stat().st_size > 1 << 22
    made = open_lazily(path).select(["b"])
    np.testing.assert_array_equal(made.numbers("b"), np.arange(rows) / 4)


def test_a_late_word_among_numbers_is_named_by_its_column(tmp_path):
    path = tmp_path / "late.csv"
    rows = "".join(f"{i},1.5\n" for i in range(700_000))
    path.write_text(f"id,days\n{rows}7,lots\n")
    with pytest.raises(InputError, match=r"'days': the file cannot be read to its end.*lots"):
        open_lazily(path).select(["days"])
    assert open_lazily(path).select(["id"]).frame.shape == (700_001, 1)


def test_another_file_has_another_fingerprint(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(FILES["plain.csv"])
    first = open_lazily(path)
    assert first.select(["id"]).fingerprint != first.select(["days"]).fingerprint
    before = first.fingerprint
    path.write_bytes(FILES["plain.csv"] + b"3,1,west\n")
    assert open_lazily(path).fingerprint != before


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.parquet", b"PAR1 and nothing else", "the Parquet file is damaged"),
        ("a.csv", b"a,b\n", "no rows"),
    ],
)
def test_files_that_hold_nothing_are_refused(name, data, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"(?i){words}"):
        open_lazily(path).select(["a"])


def test_absent_files_and_columns_are_named(tmp_path):
    with pytest.raises(InputError, match=r"no file 'none\.csv'"):
        open_lazily(tmp_path / "none.csv")
    path = tmp_path / "a.csv"
    path.write_bytes(FILES["plain.csv"])
    with pytest.raises(InputError, match=r"no column 'dayz' \(did you mean 'days'\?\)"):
        open_lazily(path).select(["dayz"])


def test_other_encodings_and_packed_files_are_told_what_to_do(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("ort;tage\nKöln;3\nUlm;4\n".encode("cp1252"))
    with pytest.raises(InputError, match="Save it as UTF-8, or as Parquet"):
        open_lazily(path).select(["ort"])
    path = tmp_path / "packed.csv"
    path.write_bytes(gzip.compress(FILES["plain.csv"]))
    with pytest.raises(InputError):
        open_lazily(path).select(["id"])
