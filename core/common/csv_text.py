"""Text tables: parted columns of text, checked line by line, then typed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from core.common.columns import Marks, as_number, choose_marks, typed
from core.common.decoding import Decoded
from core.common.dialect import find_separator, split_header
from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions, check_size, unique_names

__all__ = ["frame_of", "read_text"]

_NONE = "\x1f"  # parts nothing: a character that no table holds


def read_text(decoded: Decoded, options: ReadOptions, limits: Limits, *, packed: bool) -> tuple[pd.DataFrame, Reading]:
    """The table in decoded text, with how it was read."""
    found, start = find_separator(decoded.data)
    separator = found if options.separator is None else options.separator
    header = split_header(decoded.data, start, separator)
    fields = header.fields if options.header else tuple(f"column {place}" for place in range(1, len(header.fields) + 1))
    names, notes = unique_names(fields)
    check_size(1, len(names), limits)
    cells = _cells(decoded.data[header.end if options.header else start :], separator, len(names))
    names, cells, dropped = _without_trailing(names, cells, header.fields)
    check_size(cells.num_rows, len(names), limits)
    frame, marks, typing = frame_of(cells, names, separator, options)
    looks = _looks_like_data(header.fields) if options.header else ()
    reading = Reading(
        format="CSV, gzip" if packed else "CSV",
        rows=len(frame),
        columns=names,
        missing=tuple(int(n) for n in frame.isna().sum()),
        encoding=decoded.encoding,
        separator=separator,
        decimal=marks.decimal,
        thousands=marks.thousands,
        notes=(*decoded.notes, *notes, *dropped, *looks, *typing),
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
    frame = pd.concat(series, axis=1, keys=range(len(names)))
    frame.columns = pd.Index(names, dtype=object)
    return frame, marks, (*notes, *(remark for remark in remarks if remark))


def _cells(body: bytes, separator: str, width: int) -> pa.Table:
    """The rows as columns of text; InputError for the first line with more or fewer fields than the header."""
    if not body.strip(b"\r\n"):
        raise InputError("the file has a header but no rows", remedy="Add at least one row below the header.")
    try:
        return _parse(body, separator, width, threads=True)
    except pa.ArrowInvalid:
        pass
    ragged: list[arrow_csv.InvalidRow] = []

    def note(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    with suppress(pa.ArrowInvalid):
        _parse(body, separator, width, threads=False, handler=note)
    if not ragged:
        raise InputError("the rows cannot be told apart", remedy="Check quotation marks that open and do not close.")
    first = ragged[0]
    more = f"; {len(ragged) - 1:,} other rows do not fit either" if len(ragged) > 1 else ""
    raise InputError(
        f"this row has {first.actual_columns} fields, the header has {first.expected_columns}{more}",
        row=first.number,
        remedy="Every row needs as many fields as the header; check separators and quotation marks.",
    )


def _parse(body: bytes, separator: str, width: int, *, threads: bool, handler=None) -> pa.Table:
    names = [str(place) for place in range(width)]
    one_column = width == 1
    return arrow_csv.read_csv(
        pa.BufferReader(body.rstrip(b"\r\n") if one_column else body),
        read_options=arrow_csv.ReadOptions(column_names=names, use_threads=threads, block_size=1 << 24),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator or _NONE,
            newlines_in_values=b'"' in body,
            ignore_empty_lines=not one_column,
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
