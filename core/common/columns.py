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

__all__ = ["DECIMALS", "THOUSANDS", "Marks", "are_numbers", "as_number", "choose_marks", "stays_text", "typed"]

DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'")

_DIGITS = 15
_LOOKED_AT = 20_000
_ESCAPED = {".": r"\.", ",": ",", " ": " ", "'": "'"}
_OTHER = {".": ",", ",": "."}
_GROUPED = {mark: rf"^[+-]?[1-9][0-9]{{0,2}}({escaped}[0-9]{{3}})+" for mark, escaped in _ESCAPED.items()}
_TWICE = {mark: rf"^[+-]?[1-9][0-9]{{0,2}}({_ESCAPED[mark]}[0-9]{{3}}){{2,}}$" for mark in DECIMALS}
_NUMBER = {
    mark: rf"^[+-]?([0-9]+{_ESCAPED[mark]}?[0-9]*|{_ESCAPED[mark]}[0-9]+)([eE][+-]?[0-9]+)?$" for mark in DECIMALS
}
_INFINITE = "^[+-]?(?i:inf|infinity)$"
_NUMBER_LIKE = rf"^[-+0-9.,' ]+([eE][+-]?[0-9]+)?$|{_INFINITE}"


@dataclass(frozen=True)
class Marks:
    """The decimal mark and the thousands mark ("" for none) of a file's numbers."""

    decimal: str
    thousands: str


def choose_marks(
    columns: Sequence[pa.ChunkedArray], separator: str, decimal: str | None, thousands: str | None
) -> tuple[Marks, tuple[str, ...]]:
    """The marks that most columns' numbers are written with, options first, and notes where that is a guess.

    Looks at up to 20,000 cells a column; `typed` looks at all. A point or comma that groups thousands leaves the other
    one to be the decimal mark.

    >>> choose_marks([pa.chunked_array([["1.234,50", "7"]])], ";", None, None)
    (Marks(decimal=',', thousands='.'), ('Numbers were read with a decimal comma.',))
    """
    samples = [_sample(column) for column in columns]
    notes: tuple[str, ...] = ()
    if decimal is None and thousands in _OTHER:
        decimal = _OTHER[thousands]
    if decimal is None:
        decimal, notes = _decimal(samples, separator)
    if thousands is None:
        thousands = _thousands(samples, decimal)
    return Marks(decimal, "" if thousands == decimal else thousands), notes


def typed(column: pa.ChunkedArray, name: str, marks: Marks) -> tuple[pd.Series, str]:
    """The column as int64 or float64 where it is numeric, else as text, and a note ("" if nothing needs saying).

    >>> typed(pa.chunked_array([["00123", "10115"]]), "plz", Marks(".", ""))[1]
    "Column 'plz' stays text: some values start with a zero, as codes do."
    """
    present = column.drop_null() if column.null_count else column
    if len(present) == 0:
        return pd.Series(np.full(len(column), np.nan)), f"Column {name!r} is empty."
    if not _all(pc.match_substring_regex(_trimmed(present[:200]), _NUMBER_LIKE)):
        return _text(column), ""
    plain, values = _parsed(present, marks)
    why = _doubt(present, marks) if values is None else _code(plain, values)
    if why:
        return _text(column), f"{stays_text(name)}{why}."
    return (_text(column) if values is None else _filled(values, column)), ""


def stays_text(name: str) -> str:
    """How the note begins that says why a column of what may be numbers was read as text."""
    return f"Column {name!r} stays text: "


def are_numbers(cells: pd.Series, marks: Marks) -> np.ndarray:
    """Which cells (n,) of a column of text are numbers under these marks, infinities included; missing ones are not.

    >>> are_numbers(pd.Series(["1,5", "NA", "inf"]), Marks(",", ""))
    array([ True, False,  True])
    """
    arrow = pa.array(cells.astype("str").array)
    return _are_numbers(arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow]), marks)


def as_number(text: str, marks: Marks) -> bool:
    """Whether one cell's text is a number under these marks, infinities included.

    >>> as_number("1.234,5", Marks(",", ".")), as_number("1.234,5", Marks(".", ",")), as_number("NA", Marks(".", ""))
    (True, False, False)
    """
    return bool(_are_numbers(pa.chunked_array([[text]], pa.string()), marks)[0])


def _are_numbers(cells: pa.ChunkedArray, marks: Marks) -> np.ndarray:
    number = pc.match_substring_regex(_plain(cells, marks), rf"{_NUMBER['.']}|{_INFINITE}")
    return pc.fill_null(number, False).to_numpy()


def _decimal(samples: Sequence[pa.ChunkedArray], separator: str) -> tuple[str, tuple[str, ...]]:
    evidence = {mark: sum(_shows(sample, mark) for sample in samples) for mark in DECIMALS}
    if evidence[","] and evidence["."]:
        best = "." if separator == "," or evidence["."] >= evidence[","] else ","
        name = "the point" if best == "." else "the comma"
        return best, (f"Some numbers have a decimal point and some a decimal comma; {name} was taken.",)
    if evidence[","]:
        return ",", ("Numbers were read with a decimal comma.",)
    doubtful = [sample for sample in samples if _may_group(sample, ".")]
    if doubtful and not evidence["."] and separator in (";", "\t"):
        example = _first(doubtful[0], _GROUPED["."])
        return ".", (
            f"Numbers such as {example} were read with a decimal point; choose a thousands mark if they are whole.",
        )
    return ".", ()


def _shows(sample: pa.ChunkedArray, mark: str) -> bool:
    """Whether all cells are numbers with this decimal mark, and one can be read in no other way.

    ``0,5`` shows a decimal comma and so does ``1.234.567``, while ``1,234`` shows nothing.
    """
    cells, other = _trimmed(sample), _OTHER[mark]
    grouped = rf"({'|'.join(_GROUPED[group] for group in (other, ' ', chr(39)))})({_ESCAPED[mark]}[0-9]+)?$"
    fits = pc.or_(pc.match_substring_regex(cells, _NUMBER[mark]), pc.match_substring_regex(cells, grouped))
    if len(cells) == 0 or not _all(fits):
        return False
    used = pc.and_not(pc.match_substring(cells, mark), pc.match_substring_regex(cells, f"{_GROUPED[mark]}$"))
    return bool(pc.any(used).as_py()) or _any(cells, _TWICE[other])


def _thousands(samples: Sequence[pa.ChunkedArray], decimal: str) -> str:
    """A space or an apostrophe is never a decimal mark; point or comma groups beside the other one, or twice."""
    escaped = _ESCAPED[decimal]
    for mark in (" ", "'", _OTHER[decimal]):
        whole = rf"({_GROUPED[mark]}|^[+-]?[0-9]{{1,3}})({escaped}[0-9]+)?$"
        sure = rf"{_GROUPED[mark]}{escaped}[0-9]+$|{_TWICE[mark]}" if mark in _OTHER else _GROUPED[mark]
        if any(_fits(sample, whole) and _any(_trimmed(sample), sure) for sample in samples):
            return mark
    return ""


def _may_group(cells: pa.ChunkedArray, mark: str) -> bool:
    """Whether all cells are whole numbers if ``mark`` groups thousands, and one holds it."""
    return _fits(cells, rf"{_GROUPED[mark]}$|^[+-]?[0-9]{{1,3}}$") and _any(_trimmed(cells), _GROUPED[mark])


def _fits(cells: pa.ChunkedArray, pattern: str) -> bool:
    return len(cells) > 0 and _all(pc.match_substring_regex(_trimmed(cells), pattern))


def _first(cells: pa.ChunkedArray, pattern: str) -> str:
    cells = _trimmed(cells)
    return cells.filter(pc.match_substring_regex(cells, pattern))[0].as_py()


def _trimmed(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without spaces around; a typographic minus, apostrophe or space inside as the plain one."""
    cells = pc.utf8_trim_whitespace(cells)
    if _all(pc.string_is_ascii(cells)):
        return cells
    for typographic, plain in (("\u2212", "-"), ("\u2019", "'")):
        cells = pc.replace_substring(cells, typographic, plain)
    return pc.replace_substring_regex(cells, "[\u00a0\u2007\u2009\u202f]", " ")


def _plain(cells: pa.ChunkedArray, marks: Marks) -> pa.ChunkedArray:
    """Cells as a programmer writes numbers: grouping marks out, a point for the decimal mark."""
    cells = _trimmed(cells)
    if marks.thousands:
        whole = pc.match_substring_regex(cells, rf"{_GROUPED[marks.thousands]}({_ESCAPED[marks.decimal]}[0-9]*)?$")
        cells = pc.if_else(whole, pc.replace_substring(cells, marks.thousands, ""), cells)
    if marks.decimal == ",":
        points = pc.match_substring(cells, ".")
        cells = pc.replace_substring(cells, ",", ".")
        if pc.any(points).as_py():  # a cell with a point is then no number: made unreadable, its point never moved
            cells = pc.if_else(points, "x", cells)
    if pc.any(pc.starts_with(cells, "+")).as_py():
        cells = pc.replace_substring_regex(cells, r"^\+([0-9.iI])", r"\1")
    return cells


def _sample(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Evenly spread cells that are not missing."""
    present = column.drop_null() if column.null_count else column
    if len(present) <= _LOOKED_AT:
        return present
    return present.take(pa.array(np.linspace(0, len(present) - 1, _LOOKED_AT).astype(np.int64)))


def _parsed(present: pa.ChunkedArray, marks: Marks) -> tuple[pa.ChunkedArray, np.ndarray | None]:
    """The cells as a programmer writes them, and as numbers, or None if any is none.

    Most files are written so already, and are read without a change to their text.
    """
    values = _cast(present, pa.int64())
    if values is None and marks.decimal == ".":
        values = _cast(present, pa.float64())
    if values is not None:
        return present, values
    plain = _plain(present, marks)
    values = _cast(plain, pa.int64())
    return plain, _cast(plain, pa.float64()) if values is None else values


def _cast(cells: pa.ChunkedArray, kind: pa.DataType) -> np.ndarray | None:
    """The cells as numbers, or None if any is none; the word nan is no number."""
    try:
        values = pc.cast(cells, kind).to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if np.isnan(values).any() else values


def _doubt(present: pa.ChunkedArray, marks: Marks) -> str:
    """Why cells that are no numbers under the file's marks may be numbers under others."""
    other = _OTHER[marks.decimal]
    if not _may_group(present, other):
        return ""
    example = _first(present, _GROUPED[other])
    whole, part = example.replace(other, ""), example.replace(other, ".")
    name = "a decimal comma" if other == "," else "a decimal point"
    also = f", {name} if it means {part}" if example.count(other) == 1 else ""
    return f"choose a thousands mark if {example} means {whole}{also}"


def _code(plain: pa.ChunkedArray, values: np.ndarray) -> str:
    """Why cells that can be read as numbers are not meant as such."""
    if _starts_with_zero(plain):
        return "some values start with a zero, as codes do"
    large = (values >= 10**_DIGITS) | (values <= -(10**_DIGITS))
    if large.any() and _any(plain.filter(pa.array(large)), "^[+-]?[0-9]+$"):
        return f"some values have more than {_DIGITS} digits, as codes do"
    return ""


def _starts_with_zero(plain: pa.ChunkedArray) -> bool:
    """Whether a zero is followed by a digit, or by the x of a hexadecimal number."""
    digits = pc.ascii_ltrim(plain, characters="+-")
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


def _all(mask: pa.ChunkedArray) -> bool:
    return bool(pc.all(mask).as_py())


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
