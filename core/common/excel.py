"""Excel workbooks: one sheet, its unpacked size looked at first and its cells counted while they are read."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa

from core.common.csv_text import frame_of
from core.common.errors import InputError
from core.common.marks import Marks
from core.common.reading import Limits, Reading, ReadOptions, check_size, check_unpacked, missing_notes, unique_names

__all__ = ["read_excel"]

_EXACT = 2**53
_LAST_ROW = 1_048_576  # of any sheet
_POINTER = 8  # bytes that an empty cell takes

Cells = tuple[Any, ...]


def read_excel(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    """One sheet of an Excel workbook: formulas as their last values, the first sheet unless another is named."""
    _check_archive(data, limits)
    try:
        rows, chosen, others = _sheet(data, options.sheet, limits)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise InputError("the Excel file is damaged", remedy="Save it again as .xlsx, or as CSV.") from error
    if not rows:
        raise InputError("the sheet is empty", remedy="The first row has to hold the columns' names.")
    notes = (f"Sheet {chosen!r} was read; the others are: {', '.join(others)}.",) if others else ()
    return _from_rows(rows, notes, options, limits)


def _check_archive(data: bytes, limits: Limits) -> None:
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, OSError, ValueError):
        raise InputError("the file is damaged", remedy="Save it again.") from None
    if not any(entry.filename == "xl/workbook.xml" for entry in entries):
        raise InputError("this is a zip archive, not an Excel file", remedy="Upload the table itself, or .csv.gz.")
    check_unpacked(sum(entry.file_size for entry in entries), limits)


def _sheet(data: bytes, name: str | None, limits: Limits) -> tuple[list[Cells], str, tuple[str, ...]]:
    """The rows of the sheet, its name, and the names of the other sheets; charts are none."""
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    chosen = next(iter(sheets), "") if name is None else name
    if chosen not in sheets:
        raise InputError(f"there is no sheet {chosen!r}", remedy=f"The sheets are: {', '.join(sheets)}.")
    return _rows(sheets[chosen], limits), chosen, tuple(other for other in sheets if other != chosen)


def _rows(sheet: Any, limits: Limits) -> list[Cells]:
    """The rows that hold something, without the empty cells behind the last one that does.

    What the file says of the sheet's size is not believed, and neither is the place of a cell: a few bytes can claim
    billions of empty cells, and one long text can stand in millions of them.
    """
    sheet.reset_dimensions()
    rows, size = [], 0
    for place, row in enumerate(sheet.iter_rows(values_only=True)):
        size += _POINTER * len(row) + sum(len(cell) for cell in row if isinstance(cell, str))
        check_unpacked(size, limits)
        width = next((k for k in range(len(row), 0, -1) if row[k - 1] is not None), 0)
        if width:
            rows.append(row[:width])
            check_size(len(rows) - 1 or 1, width, limits)
        if place > _LAST_ROW:
            raise InputError("the sheet has more rows than a sheet can have", remedy="Save it again as .xlsx or CSV.")
    return rows


def _from_rows(
    rows: list[Cells], notes: tuple[str, ...], options: ReadOptions, limits: Limits
) -> tuple[pd.DataFrame, Reading]:
    width = max(map(len, rows))
    check_unpacked(_POINTER * width * len(rows), limits)
    full = [row + (None,) * (width - len(row)) for row in rows]
    head, body = (full[0], full[1:]) if options.header else ((None,) * width, full)
    names, renamed = unique_names([_word(cell) for cell in head] if options.header else _numbered(width))
    check_size(len(body), width, limits)
    frame, marks, typing = _frame(list(zip(*body, strict=True)), names, options)
    missing = tuple(int(n) for n in frame.isna().sum())
    reading = Reading(
        format="Excel",
        rows=len(frame),
        columns=names,
        missing=missing,
        decimal=marks.decimal,
        thousands=marks.thousands,
        notes=(*notes, *renamed, *typing, *missing_notes(names, missing)),
    )
    return frame, reading


def _frame(
    columns: list[Cells], names: tuple[str, ...], options: ReadOptions
) -> tuple[pd.DataFrame, Marks, tuple[str, ...]]:
    """Numbers stay numbers; columns with any text are read as those of a text table are."""
    words = {
        name: pa.array(map(_word, cells), pa.string())
        for name, cells in zip(names, columns, strict=True)
        if not all(map(_is_number, cells)) or all(cell is None for cell in cells)
    }
    read = frame_of(pa.table(words), tuple(words), ",", options) if words else (pd.DataFrame(), Marks(".", ""), ())
    text, marks, notes = read
    series = (
        text[name] if name in words else _numeric(cells, options.missing)
        for name, cells in zip(names, columns, strict=True)
    )
    frame = pd.DataFrame(dict(enumerate(series)), copy=False)
    frame.columns = pd.Index(names, dtype=object)
    return frame, marks, notes


def _numeric(cells: Cells, missing: tuple[str, ...]) -> pd.Series:
    values = np.array([np.nan if cell is None or str(cell) in missing else cell for cell in cells], dtype=float)
    exact = all(isinstance(cell, int) for cell in cells) and bool((np.abs(values) < _EXACT).all())
    return pd.Series(values.astype(np.int64) if exact else values)


def _is_number(cell: Any) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _word(cell: Any) -> str:
    """A cell as text; a day is written without the midnight that a sheet gives it."""
    if isinstance(cell, datetime):
        return str(cell).removesuffix(" 00:00:00")
    return "" if cell is None else str(cell)


def _numbered(width: int) -> list[str]:
    return [f"column {place}" for place in range(1, width + 1)]
