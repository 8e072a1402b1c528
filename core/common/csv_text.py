"""Text tables: parted columns of text, checked line by line, then typed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from core.common.columns import Marks, as_number, choose_marks, typed
from core.common.decoding import Decoded
from core.common.dialect import NO_SEPARATOR, find_separator, line_of, split_header
from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions, check_size, missing_notes, unique_names
from core.common.text import count

__all__ = ["frame_of", "read_text"]

_LAST = b"end"  # the first cell of a row that is added, to see whether an open quotation mark swallows it


@dataclass
class _Misfits:
    """The first row of another width, and how many there are."""

    first: arrow_csv.InvalidRow | None = None
    n: int = 0

    def note(self, row: arrow_csv.InvalidRow) -> str:
        self.first, self.n = self.first or row, self.n + 1
        return "skip"


def read_text(decoded: Decoded, options: ReadOptions, limits: Limits, *, packed: bool) -> tuple[pd.DataFrame, Reading]:
    """The table in decoded text, with how it was read."""
    found, start = find_separator(decoded.data)
    separator = found if options.separator is None else options.separator
    header = split_header(decoded.data, start, separator)
    fields = header.fields if options.header else tuple(f"column {place}" for place in range(1, len(header.fields) + 1))
    names, notes = unique_names(fields)
    check_size(1, len(names), limits)
    cells = _cells(decoded.data, header.end if options.header else start, separator, len(names))
    names, cells, dropped = _without_trailing(names, cells, header.fields)
    check_size(cells.num_rows, len(names), limits)
    frame, marks, typing = frame_of(cells, names, separator, options)
    looks = _looks_like_data(header.fields) if options.header else ()
    missing = tuple(int(n) for n in frame.isna().sum())
    reading = Reading(
        format="CSV, gzip" if packed else "CSV",
        rows=len(frame),
        columns=names,
        missing=missing,
        encoding=decoded.encoding,
        separator=separator,
        decimal=marks.decimal,
        thousands=marks.thousands,
        notes=(*decoded.notes, *notes, *dropped, *looks, *typing, *missing_notes(names, missing)),
    )
    return frame, reading


def frame_of(
    cells: pa.Table, names: tuple[str, ...], separator: str, options: ReadOptions
) -> tuple[pd.DataFrame, Marks, tuple[str, ...]]:
    """Columns of text as a frame of numbers and text, the marks the numbers were written with, and notes."""
    columns = [_with_missing(column, options.missing) for column in cells.columns]
    marks, notes = choose_marks(columns, separator, options.decimal, options.thousands)
    series, remarks = zip(
        *(typed(column, name, marks) for column, name in zip(columns, names, strict=True)), strict=True
    )
    frame = pd.DataFrame(dict(enumerate(series)), copy=False)
    frame.columns = pd.Index(names, dtype=object)
    return frame, marks, (*notes, *(remark for remark in remarks if remark))


def _cells(data: bytes, start: int, separator: str, width: int) -> pa.Table:
    """The rows from ``start`` as columns of text; InputError for the first that does not fit."""
    body = data[start:]
    if not body.strip(b"\r\n"):
        raise InputError("the file has a header but no rows", remedy="Add at least one row below the header.")
    if width == 1:
        body = body.rstrip(b"\r\n")
    quoted = b'"' in body
    if quoted:
        body += (b"" if body.endswith((b"\n", b"\r")) else b"\n") + _LAST + separator.encode() * (width - 1) + b"\n"
    try:
        cells = _parse(body, separator, width, threads=True)
    except pa.ArrowInvalid:
        raise _misfit(body, data, start, separator, width) from None
    return _without_last(cells) if quoted else cells


def _without_last(cells: pa.Table) -> pa.Table:
    n = cells.num_rows - 1
    if cells.column(0)[n].as_py() != _LAST.decode():
        what = "a quotation mark opens in this row and does not close"
        raise InputError(what, row=n + 1, remedy="Close it, or double it if it is part of the text.")
    return cells.slice(0, n)


def _misfit(body: bytes, data: bytes, start: int, separator: str, width: int) -> InputError:
    misfits = _Misfits()
    with suppress(pa.ArrowInvalid):
        _parse(body, separator, width, threads=False, handler=misfits.note)
    first = misfits.first
    if first is None:
        return InputError("the rows cannot be told apart", remedy="Check quotation marks that open and do not close.")
    line = line_of(data, start, first.number, separator)
    fields = f"has {count(first.actual_columns, 'field')}, the header has {first.expected_columns}"
    others = f"; {count(misfits.n - 1, 'other row')} of another width" if misfits.n > 1 else ""
    return InputError(
        f"line {line:,} of the file {fields}{others}" if line else f"this row {fields}{others}",
        row=first.number,
        remedy="Every row needs as many fields as the header; check separators and quotation marks.",
    )


def _parse(body: bytes, separator: str, width: int, *, threads: bool, handler=None) -> pa.Table:
    names = [str(place) for place in range(width)]
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(column_names=names, use_threads=threads, block_size=1 << 24),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator or NO_SEPARATOR,
            newlines_in_values=b'"' in body,
            ignore_empty_lines=width > 1,
            invalid_row_handler=handler,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names}, strings_can_be_null=False
        ),
    )


def _with_missing(column: pa.ChunkedArray, words: tuple[str, ...]) -> pa.ChunkedArray:
    missing = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(sorted(set(words)), pa.string()))
    if not pc.any(missing).as_py():
        return column
    return pc.if_else(missing, pa.scalar(None, pa.string()), column)


def _without_trailing(
    names: tuple[str, ...], cells: pa.Table, fields: tuple[str, ...]
) -> tuple[tuple[str, ...], pa.Table, tuple[str, ...]]:
    """Without the nameless, empty last column that a separator at every line's end makes."""
    if len(names) < 2 or fields[-1].strip() or not pc.all(pc.equal(cells.column(len(names) - 1), "")).as_py():
        return names, cells, ()
    return (
        names[:-1],
        cells.select(range(len(names) - 1)),
        ("Every line ends with a separator; the empty last column is left out.",),
    )


def _looks_like_data(fields: tuple[str, ...]) -> tuple[str, ...]:
    marks = (Marks(".", ""), Marks(",", ""))
    if len(fields) and all(field.strip() and any(as_number(field, mark) for mark in marks) for field in fields):
        if np.unique(fields).size == len(fields) and len(fields) > 2:
            return ()  # lambdas as column names are numbers too
        return ("The first line holds numbers but was taken as names; say so if the file has no header.",)
    return ()
