"""Which columns of text are numbers, and how those numbers are written.

A column is numeric if every cell that is not missing is a number under one reading of the decimal and thousands mark.
What would lose something stays text: leading zeros (postcodes), more than 15 digits (identifiers), and ``1,234`` where
nothing shows whether the comma groups thousands. Each decision that a reader could doubt becomes a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Marks", "as_number", "choose_marks", "typed"]

_DIGITS = 15
_LOOKED_AT = 20_000
_SIGN = "^[+-]?"
_GROUPED = {mark: rf"{_SIGN}[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+" for mark in (",", r"\.", " ", "'")}
_AMBIGUOUS = {",": _GROUPED[","] + "$", ".": _GROUPED[r"\."] + "$"}
_NUMBER = {
    mark: rf"{_SIGN}([0-9]+{escaped}?[0-9]*|{escaped}[0-9]+)([eE][+-]?[0-9]+)?$"
    for mark, escaped in ((".", r"\."), (",", ","))
}
_INFINITE = "^[+-]?(?i:inf|infinity)$"


@dataclass(frozen=True)
class Marks:
    """The decimal mark and the thousands mark ("" for none) of a file's numbers."""

    decimal: str
    thousands: str


def choose_marks(
    columns: Sequence[pa.ChunkedArray], separator: str, decimal: str | None, thousands: str | None
) -> tuple[Marks, tuple[str, ...]]:
    """The marks that most columns' numbers are written with, options first, and notes where that is a guess.

    Looks at up to 20,000 cells a column; `typed` looks at all.
    """
    columns = [_sample(column) for column in columns]
    if decimal is None:
        decimal, notes = _decimal(columns, separator)
    else:
        notes = ()
    if thousands is None:
        thousands = _thousands(columns, decimal)
    return Marks(decimal, "" if thousands == decimal else thousands), notes


def typed(column: pa.ChunkedArray, name: str, marks: Marks) -> tuple[pd.Series, str]:
    """The column as numbers where it is numeric, else as text, and a note ("" if nothing needs saying)."""
    present = column.drop_null()
    if len(present) == 0:
        return pd.Series(np.full(len(column), np.nan)), f"Column {name!r} is empty."
    plain = _plain(present, marks) if _may_be_numeric(present) else None
    values = None if plain is None else _parsed(plain)
    if values is None:
        return _text(column), _why_text(present, name, marks)
    if _starts_with_zero(plain):
        return _text(column), f"Column {name!r} stays text: some values start with a zero, as codes do."
    if _has_long(plain):
        return _text(column), f"Column {name!r} stays text: some values have more than {_DIGITS} digits, as codes do."
    return _filled(values, column), ""


def as_number(text: str, marks: Marks) -> bool:
    """Whether one cell's text is a number under these marks, infinities included."""
    cell = _plain(pa.chunked_array([[text]], pa.string()), marks)
    return _any(cell, _NUMBER["."]) or _any(cell, _INFINITE)


def _decimal(columns: Sequence[pa.ChunkedArray], separator: str) -> tuple[str, tuple[str, ...]]:
    evidence = {mark: sum(_shows(column, mark) for column in columns) for mark in (".", ",")}
    doubtful = [column for column in columns if _fits(column, _AMBIGUOUS[","])]
    if evidence[","] and evidence["."]:
        best = "." if separator == "," or evidence["."] >= evidence[","] else ","
        return best, (f"Some numbers have a decimal point and some a decimal comma; {_name(best)} was taken.",)
    if evidence[","]:
        return ",", ("Numbers were read with a decimal comma.",)
    if doubtful and not evidence["."] and separator in (";", "\t"):
        return ",", (
            "Numbers such as 1,234 were read with a decimal comma; choose a thousands mark if they are whole.",
        )
    return ".", ()


def _name(mark: str) -> str:
    return "the point" if mark == "." else "the comma"


def _shows(column: pa.ChunkedArray, mark: str) -> bool:
    """Whether a column is numeric with this decimal mark, uses it, and cannot be grouped thousands."""
    present = _trimmed(column.drop_null())
    here, other = (r"\.", ",") if mark == "." else (",", r"\.")
    grouped = rf"({'|'.join(_GROUPED[group] for group in (other, ' ', chr(39)))})({here}[0-9]+)?$"
    either = pc.or_(pc.match_substring_regex(present, _NUMBER[mark]), pc.match_substring_regex(present, grouped))
    used = pc.match_substring(present, mark)
    unsure = pc.match_substring_regex(present, _AMBIGUOUS[mark])
    return len(present) > 0 and _all(either) and bool(pc.any(pc.and_not(used, unsure)).as_py())


def _thousands(columns: Sequence[pa.ChunkedArray], decimal: str) -> str:
    """A space or an apostrophe is never a decimal mark; point or comma groups only beside the other one."""
    comma = r"\." if decimal == "." else ","
    for mark, pattern in ((" ", " "), ("'", "'"), *(((",", ","),) if decimal == "." else ((".", r"\."),))):
        whole = rf"({_GROUPED[pattern]}|{_SIGN}[0-9]{{1,3}})({comma}[0-9]+)?$"
        sure = rf"{_GROUPED[pattern]}{comma}[0-9]+$" if mark in ",." else f"{_GROUPED[pattern]}"
        for column in columns:
            if _fits(column, whole) and _any(_trimmed(column.drop_null()), sure):
                return mark
    return ""


def _fits(column: pa.ChunkedArray, pattern: str) -> bool:
    present = _trimmed(column.drop_null())
    return len(present) > 0 and _all(pc.match_substring_regex(present, pattern))


def _trimmed(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without spaces around, a typographic minus as a hyphen, and every kind of space inside as a plain one."""
    cells = pc.utf8_trim_whitespace(cells)
    if pc.all(pc.string_is_ascii(cells)).as_py():
        return cells
    cells = pc.replace_substring(cells, "\u2212", "-")
    return pc.replace_substring_regex(cells, "[\u00a0\u202f\u2009]", " ")


def _plain(cells: pa.ChunkedArray, marks: Marks) -> pa.ChunkedArray:
    """Cells as a programmer writes numbers: grouping marks out, a point for the decimal mark."""
    cells = _trimmed(cells)
    if marks.thousands and _any(cells, "." if marks.thousands != " " else " "):
        pattern = r"\." if marks.thousands == "." else marks.thousands
        decimal = r"\." if marks.decimal == "." else marks.decimal
        whole = pc.match_substring_regex(cells, rf"{_GROUPED[pattern]}({decimal}[0-9]*)?$")
        cells = pc.if_else(whole, pc.replace_substring(cells, marks.thousands, ""), cells)
    if marks.decimal == ",":
        points = pc.match_substring(
            cells, "."
        )  # under a decimal comma a point is no number: made unreadable, not moved
        cells = pc.if_else(points, "x", pc.replace_substring(cells, ",", "."))
    if pc.any(pc.starts_with(cells, "+")).as_py():
        cells = pc.replace_substring_regex(cells, r"^\+", "")
    return cells


def _sample(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Evenly spread cells that are not missing."""
    present = column.drop_null()
    if len(present) <= _LOOKED_AT:
        return present
    return present.take(pa.array(np.linspace(0, len(present) - 1, _LOOKED_AT).astype(np.int64)))


def _may_be_numeric(present: pa.ChunkedArray) -> bool:
    """Whether the first cells all look like numbers of some kind: one that does not settles the column."""
    return _all(pc.match_substring_regex(_trimmed(present[:200]), rf"^[-+0-9.,' ]+([eE][+-]?[0-9]+)?$|{_INFINITE}"))


def _parsed(plain: pa.ChunkedArray) -> np.ndarray | None:
    """The cells as numbers, whole ones as int64, or None if any is none; the words nan and null are no numbers."""
    for kind in (pa.int64(), pa.float64()):
        try:
            values = pc.cast(plain, kind).to_numpy()
        except pa.ArrowInvalid:
            continue
        return None if np.isnan(values).any() else values
    return None


def _starts_with_zero(plain: pa.ChunkedArray) -> bool:
    if not pc.any(pc.or_(pc.starts_with(plain, "0"), pc.starts_with(plain, "-0"))).as_py():
        return False
    return _any(plain, r"^[+-]?0[0-9]")


def _has_long(plain: pa.ChunkedArray) -> bool:
    if pc.max(pc.binary_length(plain)).as_py() <= _DIGITS:
        return False
    return _any(plain, rf"^[+-]?[0-9]{{{_DIGITS + 1},}}$")


def _filled(values: np.ndarray, column: pa.ChunkedArray) -> pd.Series:
    if not column.null_count:
        return pd.Series(values)
    filled = np.full(len(column), np.nan)
    filled[column.is_valid().to_numpy()] = values
    return pd.Series(filled)


def _why_text(present: pa.ChunkedArray, name: str, marks: Marks) -> str:
    other = "," if marks.decimal == "." else "."
    if _fits(present, _AMBIGUOUS[other]):
        return f"Column {name!r} stays text: choose a thousands mark if {present[0].as_py()} means a whole number."
    return ""


def _text(column: pa.ChunkedArray) -> pd.Series:
    return pd.Series(column.to_pandas(), dtype="str")


def _all(mask: pa.ChunkedArray) -> bool:
    return bool(pc.all(mask).as_py())


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
