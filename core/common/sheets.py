"""Parquet and Excel files, their unpacked size looked at before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from core.common.csv_text import frame_of
from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions, check_size, missing_notes, unique_names

__all__ = ["read_excel", "read_parquet"]


_EXACT = 2**53


def read_parquet(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    """A Parquet file; numbers, truth values and text as they are, dates as dates."""
    try:
        schema = parquet.read_schema(pa.BufferReader(data))
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        source = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        meta = source.metadata
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None
    unpacked = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
    _check_unpacked(max(unpacked, 8 * meta.num_rows * len(schema)), limits)
    check_size(meta.num_rows, len(schema), limits)
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise InputError("this column holds lists or records", column=nested[0], remedy="Give one value a cell.")
    binary = [field.name for field in schema if _is_binary(field.type)]
    if binary:
        raise InputError("this column holds bytes", column=binary[0], remedy="Give numbers or text.")
    try:
        table = source.read()
        names, notes = unique_names(table.column_names)
        decoded = sum(_decoded_size(column) for column in table.columns)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None
    _check_unpacked(decoded, limits)
    try:
        series = [_series(column, options.missing) for column in table.columns]
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None
    return _result("Parquet", series, names, notes)


def read_excel(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    """One sheet of an Excel workbook: formulas as their last values, the first sheet unless another is named."""
    _check_archive(data, limits)
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        names = book.sheetnames
        chosen = names[0] if options.sheet is None else options.sheet
        if chosen not in names:
            raise InputError(f"there is no sheet {chosen!r}", remedy=f"The sheets are: {', '.join(names)}.")
        rows = _rows(book[chosen], limits)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise InputError("the Excel file is damaged", remedy="Save it again as .xlsx, or as CSV.") from error
    if not rows:
        raise InputError("the sheet is empty", remedy="The first row has to hold the columns' names.")
    frame, reading = _from_rows(rows, options, limits)
    others = (f"Sheet {chosen!r} was read; the others are: {', '.join(n for n in names if n != chosen)}.",)
    return frame, _with_notes(reading, others if len(names) > 1 else ())


def _check_unpacked(size: int, limits: Limits) -> None:
    if size > limits.max_unpacked_bytes:
        raise InputError(f"the file unpacks to {size / 1e6:,.0f} MB", remedy="Split it.")


def _decoded_size(column: pa.ChunkedArray) -> int:
    """The bytes that a column of words from a dictionary fills as text: a few can stand for very many."""
    if not pa.types.is_dictionary(column.type):
        return 0
    lengths = (pc.binary_length(chunk.dictionary.cast(pa.string())).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(pc.cast(length, pa.int64())).as_py() or 0 for length in lengths)


def _is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)


def _check_archive(data: bytes, limits: Limits) -> None:
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, OSError, ValueError):
        raise InputError("the file is damaged", remedy="Save it again.") from None
    if not any(entry.filename == "xl/workbook.xml" for entry in entries):
        raise InputError("this is a zip archive, not an Excel file", remedy="Upload the table itself, or .csv.gz.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.max_unpacked_bytes:
        raise InputError(f"the file unpacks to {unpacked / 1e6:,.0f} MB", remedy="Save the table as CSV or Parquet.")


def _rows(sheet: Any, limits: Limits) -> list[tuple]:
    rows = []
    for row in sheet.iter_rows(values_only=True):
        if any(cell is not None for cell in row):
            rows.append(row)
        if len(rows) > limits.max_rows + 1:
            check_size(len(rows), 1, limits)
    return rows


def _from_rows(rows: list[tuple], options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    width = max(
        len(row) - next((k for k, cell in enumerate(reversed(row)) if cell is not None), len(row)) for row in rows
    )
    full = [(*row[:width], *(None,) * (width - len(row))) for row in rows]
    head, body = (full[0], full[1:]) if options.header else ((None,) * width, full)
    names, notes = unique_names(["" if cell is None else str(cell) for cell in head])
    check_size(len(body), width, limits)
    typing: list[str] = []
    series = []
    for place, name in enumerate(names):
        column, remarks = _excel_column([row[place] for row in body], name, options)
        series.append(column)
        typing += remarks
    return _result("Excel", series, names, (*notes, *typing))


def _excel_column(cells: list, name: str, options: ReadOptions) -> tuple[pd.Series, tuple[str, ...]]:
    """Numbers stay numbers; a column with any text is read as text tables are."""
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        values = np.array([np.nan if _is_missing(cell, options.missing) else cell for cell in cells], dtype=float)
        whole = all(isinstance(cell, int) for cell in cells) and not np.isnan(values).any()
        return pd.Series(values.astype(np.int64) if whole and (abs(values) < 2**53).all() else values), ()
    text = pa.table({"0": pa.array(["" if cell is None else str(cell) for cell in cells], pa.string())})
    frame, _, notes = frame_of(text, (name,), ",", options)
    return frame[name], notes


def _is_missing(cell: float | None, words: tuple[str, ...]) -> bool:
    return cell is None or str(cell) in words


def _series(column: pa.ChunkedArray, missing: tuple[str, ...]) -> pd.Series:
    """A column as pandas holds it; words that mean missing are, and whole numbers too large for float64 stay text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind, column = kind.value_type, column.cast(kind.value_type)
    if pa.types.is_decimal(kind) or (pa.types.is_boolean(kind) and column.null_count):
        column = pc.cast(column, pa.float64()) if pa.types.is_decimal(kind) else pc.cast(column, pa.int8())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind):
        words = pc.is_in(column.cast(pa.string()), value_set=pa.array(sorted({*missing}), pa.string()))
        column = pc.if_else(words, pa.scalar(None, column.type), column) if pc.any(words).as_py() else column
    if pa.types.is_integer(kind) and column.null_count and _is_large(column):
        column = column.cast(pa.string())
    return pd.Series(column.to_pandas())


def _is_large(column: pa.ChunkedArray) -> bool:
    least, most = (pc.min_max(column)[side].as_py() for side in ("min", "max"))
    return most is not None and max(abs(least), abs(most)) > _EXACT


def _result(
    form: str, series: list[pd.Series], names: tuple[str, ...], notes: tuple[str, ...]
) -> tuple[pd.DataFrame, Reading]:
    frame = pd.DataFrame(dict(enumerate(series)), copy=False)
    frame.columns = pd.Index(names, dtype=object)
    missing = tuple(int(n) for n in frame.isna().sum())
    said = (*notes, *missing_notes(names, missing))
    return frame, Reading(format=form, rows=len(frame), columns=names, missing=missing, notes=said)


def _with_notes(reading: Reading, notes: tuple[str, ...]) -> Reading:
    return Reading(**{**reading.__dict__, "notes": (*notes, *reading.notes)})
