"""Text tables: parted columns of text, checked line by line, then typed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from core.common.columns import typed
from core.common.decoding import Decoded
from core.common.dialect import NO_SEPARATOR, find_separator, line_of, split_header
from core.common.errors import InputError
from core.common.marks import DECIMALS, Marks, choose_marks
from core.common.reading import Limits, Reading, ReadOptions, check_size, missing_notes, unique_names
from core.common.text import count

__all__ = ["frame_of", "read_text"]

_WORKERS = min(4, os.cpu_count() or 1)
_BLOCK, _LONGEST_LINE = 1 << 22, 1 << 28
_NOT_BLANK = re.compile(rb"[^\r\n]")
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
    with ThreadPoolExecutor(_WORKERS) as pool:  # columns do not know of each other, and Arrow lets go of the lock
        columns = list(pool.map(partial(_with_missing, words=options.missing), cells.columns))
        marks, notes = choose_marks(columns, separator, options.decimal, options.thousands)
        series, remarks = zip(*pool.map(partial(typed, marks=marks), columns, names), strict=True)
    frame = pd.DataFrame(dict(enumerate(series)), copy=False)
    frame.columns = pd.Index(names, dtype=object)
    return frame, marks, (*notes, *(remark for remark in remarks if remark))


def _cells(data: bytes, start: int, separator: str, width: int) -> pa.Table:
    """The rows from ``start`` as columns of text; InputError for the first that does not fit."""
    if not _NOT_BLANK.search(data, start):
        raise InputError("the file has a header but no rows", remedy="Add at least one row below the header.")
    quoted = data.find(b'"', start) >= 0
    body = _body(data, start, separator, width, quoted=quoted)
    try:
        cells = _parse(body, separator, width, quoted=quoted)
    except pa.ArrowInvalid:
        cells = _parse_slowly(body, data, start, separator, width, quoted=quoted)
    return _without_last(cells) if quoted else cells


def _body(data: bytes, start: int, separator: str, width: int, *, quoted: bool) -> pa.Buffer:
    """The rows' bytes, not copied unless the row that shows an open quotation mark is added."""
    if width == 1:
        data = data.rstrip(b"\r\n")
    if quoted:
        end = b"" if data.endswith((b"\n", b"\r")) else b"\n"
        return pa.py_buffer(b"".join((memoryview(data)[start:], end, _LAST, separator.encode() * (width - 1), b"\n")))
    return pa.py_buffer(data).slice(start)


def _without_last(cells: pa.Table) -> pa.Table:
    n = cells.num_rows - 1
    if cells.column(0)[n].as_py() != _LAST.decode():
        what = "a quotation mark opens in this row and does not close"
        raise InputError(what, row=n + 1, remedy="Close it, or double it if it is part of the text.")
    return cells.slice(0, n)


def _parse_slowly(body: pa.Buffer, data: bytes, start: int, separator: str, width: int, *, quoted: bool) -> pa.Table:
    """In order, line by line, so that the first row that does not fit is known; lines may be very long."""
    misfits = _Misfits()
    cells = None
    with suppress(pa.ArrowInvalid):
        cells = _parse(body, separator, width, quoted=quoted, block=_LONGEST_LINE, handler=misfits.note)
    if misfits.first is not None:
        raise _misfit(misfits.first, misfits.n - 1, line_of(data, start, misfits.first.number, separator))
    if cells is None:
        remedy = "Check quotation marks that open and do not close."
        raise InputError("the rows cannot be told apart", remedy=remedy)
    return cells


def _misfit(first: arrow_csv.InvalidRow, others: int, line: int) -> InputError:
    fields = f"has {count(first.actual_columns, 'field')}, the header has {first.expected_columns}"
    more = f"; {count(others, 'other row')} of another width" if others else ""
    return InputError(
        f"line {line:,} of the file {fields}{more}" if line else f"this row {fields}{more}",
        row=first.number,
        remedy="Every row needs as many fields as the header; check separators and quotation marks.",
    )


def _parse(
    body: pa.Buffer,
    separator: str,
    width: int,
    *,
    quoted: bool,
    block: int = _BLOCK,
    handler: Callable[[arrow_csv.InvalidRow], str] | None = None,
) -> pa.Table:
    names = [str(place) for place in range(width)]
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(column_names=names, use_threads=handler is None, block_size=block),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator or NO_SEPARATOR,
            newlines_in_values=quoted,
            ignore_empty_lines=width > 1,
            invalid_row_handler=handler,
        ),
        convert_options=arrow_csv.ConvertOptions(
            check_utf8=False,  # it was checked when it was decoded
            column_types={name: pa.string() for name in names},
            strings_can_be_null=False,
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
    """A note if all names are numbers, unless they are a grid, as the settings are whose losses the columns hold."""
    for decimal in DECIMALS:
        values, _ = typed(pa.chunked_array([list(fields)]), "", Marks(decimal, ""))
        if pd.api.types.is_numeric_dtype(values):
            steps = np.diff(values)
            grid = len(steps) > 1 and ((steps > 0).all() or (steps < 0).all())
            said = "The first line holds numbers but was taken as names; say so if the file has no header."
            return () if grid else (said,)
    return ()
