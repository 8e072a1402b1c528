"""The one reader of uploads: CSV in its many dialects, gzip, Parquet and Excel, by content and not by name.

Nothing is dropped, filled or guessed without a note. Errors name the line, or column and row, and the remedy. Rows
count from 1 after the header.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd

from core.common.columns import stays_text
from core.common.csv_text import read_text
from core.common.decoding import decode, gunzip, is_gzip
from core.common.errors import InputError
from core.common.excel import read_excel
from core.common.marks import DECIMALS, THOUSANDS, Marks, are_numbers, as_number
from core.common.parquet_file import read_parquet
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

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names, in the file's order."""
        return self.reading.columns

    def select(self, columns: Sequence[str]) -> Table:
        """This table itself, once all of ``columns`` are known to be there; a lazy table reads them here."""
        self.require(*columns)
        return self

    def code(self) -> str:
        """The Python expression that reads this file again in the same way."""
        usual = ReadOptions()
        given = [f"{k}={v!r}" for k, v in self.options.__dict__.items() if v != getattr(usual, k)]
        return f"read_path({self.name!r}" + (f", ReadOptions({', '.join(given)})" if given else "") + ")"

    def numbers(self, column: str, *, allow_missing: bool = False, allow_infinite: bool = False) -> np.ndarray:
        """The column as float64 (n,).

        InputError names the first cell that is no number, missing or infinite, and how many others there are.
        """
        self.require(column)
        series = self.frame[column]
        if not (pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series)):
            self._refuse_text(column, series)
        values = series.to_numpy(dtype=float, na_value=np.nan)
        if not allow_missing:
            _refuse(np.isnan(values), column, "the value is missing", "Fill it in or remove the row.")
        if not allow_infinite:
            _refuse(np.isinf(values), column, "the value is infinite", "Give a finite number.")
        if pd.api.types.is_integer_dtype(series):
            _refuse(np.abs(values) >= _EXACT, column, "the value has more digits than a number keeps", "It is a code.")
        return values

    def text(self, column: str) -> np.ndarray:
        """The column as text (n,), whole numbers without a point; a missing cell is the empty text."""
        self.require(column)
        return _as_text(self.frame[column])

    def labels(self, column: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The column's classes: the place (n,) of each row's class among them, and their names in sorted order.

        InputError names the first row without one.
        """
        self.require(column)
        codes, values = pd.factorize(self.frame[column])  # each different value is made text once only
        cells = np.append(_as_text(pd.Series(values)), "").astype(str)
        _refuse((cells == "")[codes], column, "the class is missing", "Fill it in or remove the row.")
        names, places = np.unique(cells[:-1], return_inverse=True)
        return places[codes], tuple(names.tolist())

    def binary(self, column: str) -> np.ndarray:
        """The column as truth values (n,): 1, true or yes, and 0, false or no, in any case of letters.

        InputError names the first cell that is none of these.

        >>> read_table("hired\\nYes\\nno\\n".encode(), "a.csv").binary("hired")
        array([ True, False])
        """
        cells = pd.Series(self.text(column), dtype="str")
        truth = cells.str.strip().str.lower().map(_TRUTH)
        odd = truth.isna().to_numpy()
        first = cells.iloc[int(np.argmax(odd))]
        what = f"{first[:40]!r} is neither yes nor no" if first else "the value is missing"
        _refuse(odd, column, what, "Write 1 or 0, true or false, yes or no.")
        return truth.to_numpy(dtype=bool)

    def has(self, *columns: str) -> bool:
        """Whether all columns are there."""
        return set(columns) <= set(self.reading.columns)

    def require(self, *columns: str) -> None:
        """Raise InputError unless all columns are there, with the nearest names that are."""
        absent = [column for column in columns if column not in self.reading.columns]
        if absent:
            missing = ", ".join(f"{column!r}{_near(column, self.reading.columns)}" for column in absent)
            raise InputError(f"there is no column {missing}", remedy=_listed(self.reading.columns))

    def _refuse_text(self, column: str, series: pd.Series) -> NoReturn:
        why = next((note for note in self.reading.notes if note.startswith(stays_text(column))), "")
        if why:
            why = why.removeprefix(stays_text(column)).removesuffix(".")
            raise InputError(f"this column was read as text; {why}", column=column)
        cells = series.astype("str").fillna("")
        empty = (cells == "").to_numpy() | series.isna().to_numpy()
        odd = ~are_numbers(cells, Marks(self.reading.decimal, self.reading.thousands)) & ~empty
        if odd.any():
            first = str(cells.iloc[int(np.argmax(odd))])
            _refuse(odd, column, f"{first[:40]!r} is not a number", _remedy(first))
        _refuse(empty, column, "the value is missing", "Fill it in or remove the row.")
        what = "its numbers are stored as text" if self.reading.format == "Parquet" else "it was read as text"
        raise InputError(what, column=column, remedy="It has to hold numbers.")


_AS_FOUND, _USUAL = ReadOptions(), Limits()
_EXACT = 2**53  # whole numbers below this one are all float64
_SHOWN = 12
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls)",
    b"%PDF-": "a PDF file",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "an XML file",
    b"{\\rtf": "a text document (.rtf)",
    b'{"': "a JSON file",
    b"[{": "a JSON file",
}


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
    _check(options)
    frame, reading = _read(data, options, limits)
    return Table(frame=frame, name=name, fingerprint=_fingerprint(data, options), reading=reading, options=options)


def read_path(path: str | Path, options: ReadOptions = _AS_FOUND, limits: Limits = _USUAL) -> Table:
    """Read a file of this machine as an upload would be."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path.name!r}")
    return read_table(path.read_bytes(), path.name, options, limits)


def _read(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    if data[:4] == _PARQUET:
        return read_parquet(data, options, limits)
    if data[:4] == _ZIP:
        return read_excel(data, options, limits)
    packed = is_gzip(data)
    if packed:
        data = gunzip(data, limits.max_unpacked_bytes)
    if packed and (is_gzip(data) or data[:4] in (_PARQUET, _ZIP)):
        raise InputError("the gzip file holds another packed file", remedy="Upload that one, or CSV.")
    start = data[:64].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for mark, kind in _FOREIGN.items():
        if start.startswith(mark.lower()):
            raise InputError(f"this is {kind}", remedy="Save the table as .xlsx, CSV or Parquet.")
    return read_text(decode(data, options.encoding), options, limits, packed=packed)


def _fingerprint(data: bytes, options: ReadOptions) -> str:
    """Of the bytes and then of the options, whose part has a fixed length: no two pairs are the same bytes joined."""
    digest = hashlib.blake2b(data, digest_size=20)
    digest.update(hashlib.blake2b(repr(options).encode(), digest_size=20).digest())
    return digest.hexdigest()


def _check(options: ReadOptions) -> None:
    """Raise InputError for options that no file can be read with."""
    separator, decimal, thousands = options.separator, options.decimal, options.thousands
    if separator and (len(separator) > 1 or separator.isalnum() or not (separator == "\t" or " " <= separator <= "~")):
        raise InputError(f"columns cannot be parted by {separator!r}", remedy="Use a comma, semicolon, tab or bar.")
    if separator == '"':
        raise InputError("columns cannot be parted by a quotation mark", remedy="Use a comma, semicolon, tab or bar.")
    if decimal is not None and decimal not in DECIMALS:
        raise InputError(f"{decimal!r} is no decimal mark", remedy="It is a point or a comma.")
    if thousands is not None and thousands not in THOUSANDS:
        raise InputError(
            f"{thousands!r} is no thousands mark", remedy="It is a comma, point, space, apostrophe or nothing."
        )
    if thousands and thousands == decimal:
        raise InputError(f"{decimal!r} is both decimal and thousands mark", remedy="Change one of the two.")


def _as_text(series: pd.Series) -> np.ndarray:
    """Cells as text (n,), whole numbers without a point, missing ones empty."""
    if pd.api.types.is_float_dtype(series):
        values = series.to_numpy(dtype=float)
        known = values[~np.isnan(values)]
        if (np.abs(known) <= _EXACT).all() and (known == np.trunc(known)).all():
            series = series.astype("Int64")
    return np.where(series.isna(), "", series.astype(str)).astype(object)


def _refuse(bad: np.ndarray, column: str, what: str, remedy: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        more = f", and {count(rows.size - 1, 'other')} in this column" if rows.size > 1 else ""
        raise InputError(what + more, column=column, row=int(rows[0]) + 1, remedy=remedy)


def _remedy(cell: str) -> str:
    """What to do about a cell that is no number as this file writes them."""
    if any(as_number(cell, Marks(mark, group)) for mark in DECIMALS for group in THOUSANDS if group != mark):
        return "If it is one, choose the decimal and thousands marks that it is written with."
    return "If that means missing, list it under the words that mean missing; else correct it."


def _near(column: str, columns: tuple[str, ...]) -> str:
    lower = {name.lower(): name for name in columns}
    found = get_close_matches(column.lower(), lower, n=3)
    return f" (did you mean {' or '.join(repr(lower[name]) for name in found)}?)" if found else ""


def _listed(columns: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in columns[:_SHOWN])
    return f"The columns are: {shown}{' and more' if len(columns) > _SHOWN else ''}."
