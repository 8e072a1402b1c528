"""Which columns of text are numbers.

A column is numeric if every cell that is not missing is a number under the file's marks. What would lose something
stays text: leading zeros (postcodes), more than 15 digits (identifiers), ``1,234`` where nothing shows whether the
comma groups thousands, and amounts with their unit (``5%``, ``€ 5``). Each decision that one could doubt is a note.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.common.marks import Marks, doubt, may_be_numbers, plain, trimmed

__all__ = ["stays_text", "typed"]

_DIGITS = 15
_FIRST = 200
_AMOUNT = r"^[-+]?(\p{Sc} ?)?[-+]?[0-9][0-9.,' ]*(%|\p{Sc}|[A-Z]{3})?$"
_UNIT = r"\p{Sc}|%|[A-Z]{3}$"


def typed(column: pa.ChunkedArray, name: str, marks: Marks) -> tuple[pd.Series, str]:
    """The column as int64 or float64 where it is numeric, else as text, and a note ("" if nothing needs saying).

    >>> typed(pa.chunked_array([["00123", "10115"]]), "plz", Marks(".", ""))[1]
    "Column 'plz' stays text: some values start with a zero, as codes do."
    """
    present = column.drop_null() if column.null_count else column
    if len(present) == 0:
        return pd.Series(np.full(len(column), np.nan)), f"Column {name!r} is empty."
    first = trimmed(present[:_FIRST])
    if not may_be_numbers(first):
        return _text(column), _noted(name, _unit(first))
    cells, values = _parsed(present, marks)
    why = doubt(present, marks) if values is None else _code(cells, values)
    return _text(column) if why or values is None else _filled(values, column), _noted(name, why)


def stays_text(name: str) -> str:
    """How the note begins that says why a column of what may be numbers was read as text."""
    return f"Column {name!r} stays text: "


def _noted(name: str, why: str) -> str:
    return f"{stays_text(name)}{why}." if why else ""


def _unit(cells: pa.ChunkedArray) -> str:
    """Why amounts with a sign or unit are not read: what the sign means for the number is the visitor's to say."""
    if not _all(cells, _AMOUNT):
        return ""
    example = cells[0].as_py()
    return f"its cells, such as {example}, carry a unit; give numbers alone" if _any(cells[:1], _UNIT) else ""


def _parsed(present: pa.ChunkedArray, marks: Marks) -> tuple[pa.ChunkedArray, np.ndarray | None]:
    """The cells as a programmer writes them, and as numbers, or None if any is none.

    Most files are written so already, and are read without a change to their text.
    """
    values = _numbers(present, whole_only=marks.decimal == ",")
    if values is not None:
        return present, values
    cells = plain(present, marks)
    return cells, _numbers(cells, whole_only=False)


def _numbers(cells: pa.ChunkedArray, *, whole_only: bool) -> np.ndarray | None:
    """The cells as int64 if all are whole, else as float64, or None if any is no number."""
    # A cast that fails costs more than one that succeeds, so a few cells are tried first.
    values = _cast(cells, pa.int64()) if _cast(cells[:_FIRST], pa.int64()) is not None else None
    return _cast(cells, pa.float64()) if values is None and not whole_only else values


def _cast(cells: pa.ChunkedArray, kind: pa.DataType) -> np.ndarray | None:
    """The cells as numbers, or None if any is none; the word nan is no number."""
    try:
        values = pc.cast(cells, kind).to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if np.isnan(values).any() else values


def _code(cells: pa.ChunkedArray, values: np.ndarray) -> str:
    """Why cells that can be read as numbers are not meant as such."""
    signed = bool((values <= 0).any() or pc.any(pc.starts_with(cells, "+")).as_py())
    if _starts_with_zero(cells, signed=signed):
        return "some values start with a zero, as codes do"
    large = (values >= 10**_DIGITS) | (values <= -(10**_DIGITS))
    if large.any() and _any(cells.filter(pa.array(large)), "^[+-]?[0-9]+$"):
        return f"some values have more than {_DIGITS} digits, as codes do"
    return ""


def _starts_with_zero(cells: pa.ChunkedArray, *, signed: bool) -> bool:
    """Whether a zero, behind a sign where there may be one, comes before a digit or the x of a hexadecimal number."""
    digits = pc.ascii_ltrim(cells, characters="+-") if signed else cells
    odd = pc.and_not(pc.starts_with(digits, "0"), pc.starts_with(digits, "0."))
    return bool(pc.any(odd).as_py()) and _any(digits.filter(odd), "^0[0-9xX]")


def _filled(values: np.ndarray, column: pa.ChunkedArray) -> pd.Series:
    if not column.null_count:
        return pd.Series(values)
    filled = np.full(len(column), np.nan)
    filled[column.is_valid().to_numpy()] = values
    return pd.Series(filled)


def _text(column: pa.ChunkedArray) -> pd.Series:
    return pd.Series(column.to_pandas(), dtype="str")


def _all(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
