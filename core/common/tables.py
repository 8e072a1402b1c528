"""The one reader of uploads: CSV in its many dialects, gzip, Parquet and Excel, by content and not by name.

Nothing is dropped, filled or guessed without a note. Errors name the line, or column and row, and the remedy. Rows
count from 1 after the header.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd

from core.common import sheets
from core.common.columns import Marks, as_number
from core.common.csv_text import read_text
from core.common.decoding import decode, gunzip, is_gzip
from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions
from core.common.text import count

__all__ = ["Limits", "ReadOptions", "Reading", "Table", "read_path", "read_table"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """A table as it was read: numeric columns as float64 or int64, all others as text.

    ``fingerprint`` is that of the uploaded bytes and of the options that change how they are read.
    """

    frame: pd.DataFrame = field(repr=False)
    name: str
    fingerprint: str
    reading: Reading
    options: ReadOptions = field(default_factory=ReadOptions)

    def code(self) -> str:
        """The Python expression that reads this file again in the same way."""
        usual = ReadOptions()
        given = [f"{k}={v!r}" for k, v in self.options.__dict__.items() if v != getattr(usual, k)]
        return f"read_path({self.name!r}" + (f", ReadOptions({', '.join(given)})" if given else "") + ")"

    def numbers(self, column: str, *, allow_missing: bool = False, allow_infinite: bool = False) -> np.ndarray:
        """The column as float64 (n,); InputError names the first cell that is no number, missing or infinite."""
        self.require(column)
        series = self.frame[column]
        if not (pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series)):
            self._refuse_text(column, series)
        values = series.to_numpy(dtype=float, na_value=np.nan)
        if not allow_missing:
            _refuse(np.isnan(values), column, "the value is missing", "Fill it in or remove the row.")
        if not allow_infinite:
            _refuse(np.isinf(values), column, "the value is infinite", "Give a finite number.")
        return values

    def text(self, column: str) -> np.ndarray:
        """The column as text (n,); a missing cell is the empty text."""
        self.require(column)
        series = self.frame[column]
        return np.where(series.isna(), "", series.astype(str)).astype(object)

    def require(self, *columns: str) -> None:
        """Raise InputError unless all columns are there, with the nearest name that is."""
        for column in columns:
            if column not in self.frame.columns:
                raise InputError(
                    f"there is no column {column!r}{_near(column, self.reading.columns)}", remedy=_listed(self)
                )

    def _refuse_text(self, column: str, series: pd.Series) -> None:
        note = next((note for note in self.reading.notes if repr(column) in note), "")
        marks = Marks(self.reading.decimal, self.reading.thousands)
        cells = enumerate(series.fillna("").astype(str), start=1)
        odd = next(((row, cell) for row, cell in cells if cell != "" and not as_number(cell, marks)), None)
        if note or odd is None:
            raise InputError("this column was read as text", column=column, remedy=note or "It has to hold numbers.")
        raise InputError(
            f"{odd[1][:40]!r} is not a number",
            column=column,
            row=odd[0],
            remedy="If that means missing, list it under the words that mean missing; else correct it.",
        )


_AS_FOUND, _USUAL = ReadOptions(), Limits()


def read_table(data: bytes, name: str, options: ReadOptions = _AS_FOUND, limits: Limits = _USUAL) -> Table:
    """Read an upload; InputError says in words why it cannot be.

    >>> table = read_table("a;b\\n1,5;x\\n2,5;y\\n".encode(), "small.csv")
    >>> table.reading.separator, table.reading.decimal, table.numbers("a")
    (';', ',', array([1.5, 2.5]))
    """
    if len(data) > limits.max_bytes:
        raise InputError(
            f"the file has {len(data) / 1e6:,.0f} MB", remedy=f"{limits.max_bytes / 1e6:,.0f} MB are read."
        )
    if not data:
        raise InputError("the file is empty", remedy="Upload a file with a header line and at least one row.")
    frame, reading = _read(data, options, limits)
    digest = hashlib.blake2b(data, digest_size=20)
    digest.update(repr(options).encode())
    return Table(frame=frame, name=name, fingerprint=digest.hexdigest(), reading=reading, options=options)


def read_path(path: str | Path, options: ReadOptions = _AS_FOUND, limits: Limits = _USUAL) -> Table:
    """Read a file of this machine as an upload would be."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path.name!r}")
    return read_table(path.read_bytes(), path.name, options, limits)


def _read(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    if data[:4] == b"PAR1":
        return sheets.read_parquet(data, limits)
    if data[:4] == b"PK\x03\x04":
        return sheets.read_excel(data, options, limits)
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise InputError("this is an old Excel file (.xls)", remedy="Save it as .xlsx or CSV.")
    packed = is_gzip(data)
    decoded = decode(gunzip(data, limits.max_unpacked_bytes) if packed else data, options.encoding)
    return read_text(decoded, options, limits, packed=packed)


def _refuse(bad: np.ndarray, column: str, what: str, remedy: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        more = f", and {count(rows.size - 1, 'other')} in this column" if rows.size > 1 else ""
        raise InputError(what + more, column=column, row=int(rows[0]) + 1, remedy=remedy)


def _near(column: str, columns: tuple[str, ...]) -> str:
    found = get_close_matches(column.lower(), [name.lower() for name in columns], n=1)
    actual = next((name for name in columns if found and name.lower() == found[0]), None)
    return f"; did you mean {actual!r}?" if actual else ""


def _listed(table: Table) -> str:
    shown = ", ".join(repr(name) for name in table.reading.columns[:12])
    return f"The columns are: {shown}{' and more' if len(table.reading.columns) > 12 else ''}."
