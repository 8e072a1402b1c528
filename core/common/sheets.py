"""Parquet and Excel files, their unpacked size looked at before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from core.common.csv_text import frame_of
from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions, check_size, unique_names
from core.common.text import count

__all__ = ["read_excel", "read_parquet"]


def read_parquet(data: bytes, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    """A Parquet file; numbers, truth values and text as they are, dates as dates."""
    try:
        source = parquet.ParquetFile(pa.BufferReader(data))
        meta, schema = source.metadata, source.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None
    unpacked = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
    if unpacked > limits.max_unpacked_bytes:
        raise InputError(f"the file unpacks to {unpacked / 1e6:,.0f} MB", remedy="Split it.")
    check_size(meta.num_rows, len(schema), limits)
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise InputError("this column holds lists or records", column=nested[0], remedy="Give one value a cell.")
    try:
        table = source.read()
        names, notes = unique_names(table.column_names)
        series = [_series(column) for column in table.columns]
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
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
        whole = all(isinstance(cell, int) for cell in cells)
        return pd.Series(values.astype(np.int64) if whole and (abs(values) < 2**53).all() else values), ()
    text = pa.table({"0": pa.array(["" if cell is None else str(cell) for cell in cells], pa.string())})
    frame, _, notes = frame_of(text, (name,), ",", options)
    return frame[name], notes


def _series(column: pa.ChunkedArray) -> pd.Series:
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        raise ValueError("binary cells")
    return pd.Series(column.to_pandas())


def _result(
    form: str, series: list[pd.Series], names: tuple[str, ...], notes: tuple[str, ...]
) -> tuple[pd.DataFrame, Reading]:
    frame = pd.concat(series, axis=1, keys=range(len(names)))
    frame.columns = pd.Index(names, dtype=object)
    missing = tuple(int(n) for n in frame.isna().sum())
    blank = [f"{count(n, 'cell')} of column {name!r} missing." for n, name in zip(missing, names, strict=True) if n]
    return frame, Reading(format=form, rows=len(frame), columns=names, missing=missing, notes=(*notes, *blank[:5]))


def _with_notes(reading: Reading, notes: tuple[str, ...]) -> Reading:
    return Reading(**{**reading.__dict__, "notes": (*notes, *reading.notes)})
