"""How the numbers of a file are written: the decimal mark, and the mark that groups thousands.

Both are chosen once a file, from what all columns show; what shows nothing is never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "DECIMALS",
    "THOUSANDS",
    "Marks",
    "are_numbers",
    "as_number",
    "choose_marks",
    "doubt",
    "may_be_numbers",
    "plain",
    "trimmed",
]

DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'")

_LOOKED_AT = 20_000
_ESCAPED = {".": r"\.", ",": ",", " ": " ", "'": "'"}
_OTHER = {".": ",", ",": "."}
_SWAP = bytes.maketrans(b".,", b",.")
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
    samples = [sample for column in columns if may_be_numbers(sample := _sample(column))]
    notes: tuple[str, ...] = ()
    if decimal is None and thousands in _OTHER:
        decimal = _OTHER[thousands]
    if decimal is None:
        decimal, notes = _decimal(samples, separator)
    if thousands is None:
        thousands = _thousands(samples, decimal)
    return Marks(decimal, "" if thousands == decimal else thousands), notes


def are_numbers(cells: pd.Series, marks: Marks) -> np.ndarray:
    """Which cells (n,) of a column of text are numbers under these marks, infinities included; missing ones are not.

    >>> are_numbers(pd.Series(["1,5", "NA", "inf"]), Marks(",", ""))
    array([ True, False,  True])
    """
    arrow = pa.array(cells.astype("str").array)
    chunked = arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])
    return _are_numbers(chunked.cast(pa.string()), marks)


def as_number(text: str, marks: Marks) -> bool:
    """Whether one cell's text is a number under these marks, infinities included.

    >>> as_number("1.234,5", Marks(",", ".")), as_number("1.234,5", Marks(".", ",")), as_number("NA", Marks(".", ""))
    (True, False, False)
    """
    return bool(_are_numbers(pa.chunked_array([[text]], pa.string()), marks)[0])


def may_be_numbers(cells: pa.ChunkedArray) -> bool:
    """Whether trimmed cells are made of digits and marks alone, or infinite: what no marks make a number is not."""
    return len(cells) > 0 and _all(pc.match_substring_regex(cells, _NUMBER_LIKE))


def plain(cells: pa.ChunkedArray, marks: Marks) -> pa.ChunkedArray:
    """Cells as a programmer writes numbers: grouping marks out, a point for the decimal mark."""
    cells = trimmed(cells)
    if marks.thousands:
        whole = pc.match_substring_regex(cells, rf"{_GROUPED[marks.thousands]}({_ESCAPED[marks.decimal]}[0-9]*)?$")
        cells = pc.if_else(whole, pc.replace_substring(cells, marks.thousands, ""), cells)
    if marks.decimal == ",":
        cells = pa.chunked_array([_swapped(chunk) for chunk in cells.chunks], cells.type)
    if pc.any(pc.starts_with(cells, "+")).as_py():
        cells = pc.replace_substring_regex(cells, r"^\+([0-9.iI])", r"\1")
    return cells


def doubt(present: pa.ChunkedArray, marks: Marks) -> str:
    """Why cells that are no numbers under the file's marks may be numbers under others."""
    cells, other = trimmed(present), _OTHER[marks.decimal]
    if not _may_group(cells, other):
        return ""
    example = _first(cells, _GROUPED[other])
    whole, part = example.replace(other, ""), example.replace(other, ".")
    name = "a decimal comma" if other == "," else "a decimal point"
    also = f", {name} if it means {part}" if example.count(other) == 1 else ""
    return f"choose a thousands mark if {example} means {whole}{also}"


def trimmed(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without spaces around; a typographic minus, apostrophe or space inside as the plain one."""
    if _all(pc.string_is_ascii(cells)):
        return pc.ascii_trim_whitespace(cells)
    cells = pc.utf8_trim_whitespace(cells)
    for typographic, usual in (("\u2212", "-"), ("\u2019", "'")):
        cells = pc.replace_substring(cells, typographic, usual)
    return pc.replace_substring_regex(cells, "[\u00a0\u2007\u2009\u202f]", " ")


def _are_numbers(cells: pa.ChunkedArray, marks: Marks) -> np.ndarray:
    number = pc.match_substring_regex(plain(cells, marks), rf"{_NUMBER['.']}|{_INFINITE}")
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


def _shows(cells: pa.ChunkedArray, mark: str) -> bool:
    """Whether all cells are numbers with this decimal mark, and one can be read in no other way.

    ``0,5`` shows a decimal comma and so does ``1.234.567``, while ``1,234`` shows nothing.
    """
    other = _OTHER[mark]
    grouped = rf"({'|'.join(_GROUPED[group] for group in (other, ' ', chr(39)))})({_ESCAPED[mark]}[0-9]+)?$"
    fits = pc.or_(pc.match_substring_regex(cells, _NUMBER[mark]), pc.match_substring_regex(cells, grouped))
    if not _all(fits):
        return False
    used = pc.and_not(pc.match_substring(cells, mark), pc.match_substring_regex(cells, f"{_GROUPED[mark]}$"))
    return bool(pc.any(used).as_py()) or _any(cells, _TWICE[other])


def _thousands(samples: Sequence[pa.ChunkedArray], decimal: str) -> str:
    """A space or an apostrophe is never a decimal mark; point or comma groups beside the other one, or twice."""
    escaped = _ESCAPED[decimal]
    for mark in (" ", "'", _OTHER[decimal]):
        whole = rf"({_GROUPED[mark]}|^[+-]?[0-9]{{1,3}})({escaped}[0-9]+)?$"
        sure = rf"{_GROUPED[mark]}{escaped}[0-9]+$|{_TWICE[mark]}" if mark in _OTHER else _GROUPED[mark]
        if any(_fits(sample, whole) and _any(sample, sure) for sample in samples):
            return mark
    return ""


def _may_group(cells: pa.ChunkedArray, mark: str) -> bool:
    """Whether all cells are whole numbers if ``mark`` groups thousands, and one holds it."""
    return _fits(cells, rf"{_GROUPED[mark]}$|^[+-]?[0-9]{{1,3}}$") and _any(cells, _GROUPED[mark])


def _fits(cells: pa.ChunkedArray, pattern: str) -> bool:
    return _all(pc.match_substring_regex(cells, pattern))


def _first(cells: pa.ChunkedArray, pattern: str) -> str:
    return cells.filter(pc.match_substring_regex(cells, pattern))[0].as_py()


def _swapped(cells: pa.StringArray) -> pa.StringArray:
    """Commas as points and points as commas: a point where commas are decimal makes no number, and is never moved."""
    valid, offsets, text = cells.buffers()
    if text is None:
        return cells
    swapped = pa.py_buffer(text.to_pybytes().translate(_SWAP))
    return pa.StringArray.from_buffers(len(cells), offsets, swapped, valid, offset=cells.offset)


def _sample(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Evenly spread cells that are not missing, trimmed."""
    present = column.drop_null() if column.null_count else column
    if len(present) > _LOOKED_AT:
        present = present.take(pa.array(np.linspace(0, len(present) - 1, _LOOKED_AT).astype(np.int64)))
    return trimmed(present)


def _all(mask: pa.ChunkedArray) -> bool:
    return bool(pc.all(mask).as_py())


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
