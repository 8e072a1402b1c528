"""How a text table is written: what parts its columns, and where its header ends."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import clevercsv

from core.common.errors import InputError

__all__ = ["Header", "find_separator", "split_header"]

_CANDIDATES = (",", ";", "\t", "|")
_SAMPLE, _LINES = 1 << 16, 60


@dataclass(frozen=True)
class Header:
    """The first record's fields, and the byte at which the next record starts."""

    fields: tuple[str, ...]
    end: int


def find_separator(data: bytes) -> tuple[str, int]:
    """The character that parts columns ("" if there is one column), and the byte where the table starts.

    A first line ``sep=;``, as spreadsheets write it, decides. A header of one field means one column, even if its
    values hold decimal commas.
    """
    start = len(data) - len(data.lstrip(b"\r\n"))
    sample = data[start : start + _SAMPLE].decode("utf-8", errors="ignore")
    lines = sample.splitlines(keepends=True)
    if not lines or not sample.strip():
        raise InputError("the file is empty", remedy="Upload a file with a header line and at least one row.")
    if lines[0].lower().startswith("sep=") and len(lines[0].strip("\r\n")) == 5:
        return lines[0][4], start + len(lines[0].encode("utf-8"))
    return _guess("".join(lines[:_LINES]), lines[0]), start


def split_header(data: bytes, start: int, separator: str) -> Header:
    """The fields of the record at ``start``; a quoted field may hold separators and line ends."""
    end = _record_end(data, start)
    text = data[start:end].decode("utf-8", errors="replace").strip("\r\n")
    if not separator:
        return Header((text.strip().strip('"'),), end)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return Header(tuple(rows[0]) if rows else ("",), end)


def _guess(sample: str, first: str) -> str:
    present = [mark for mark in _CANDIDATES if mark in first]
    if len(present) < 2:
        return present[0] if present else ""
    widths = {mark: _widths(sample, mark) for mark in present}
    even = [mark for mark in present if len(set(widths[mark])) == 1]
    if len(even) == 1:
        return even[0]
    try:
        found = clevercsv.Detector().detect(sample, delimiters=present)
    except (clevercsv.Error, ValueError, IndexError):
        found = None
    if found is not None and found.delimiter in present:
        return found.delimiter
    return max(present, key=lambda mark: first.count(mark))


def _widths(sample: str, mark: str) -> list[int]:
    try:
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=mark))
    except csv.Error:
        return [0, 1]
    return [len(row) for row in rows[: max(1, len(rows) - 1)] if row]


def _record_end(data: bytes, start: int) -> int:
    """The byte after the line end that closes the record at ``start``, line ends inside quotes left aside."""
    place, quoted = start, False
    while place < len(data):
        byte = data[place : place + 1]
        if byte == b'"':
            quoted = not quoted
        elif byte in (b"\n", b"\r") and not quoted:
            return place + (2 if data[place : place + 2] == b"\r\n" else 1)
        place += 1
        if place - start > 16 * _SAMPLE:
            raise InputError("the header line does not end", remedy="Check the quotation marks in the first line.")
    return len(data)
