"""How a text table is written: what parts its columns, and where its header ends."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import clevercsv

from core.common.errors import InputError

__all__ = ["NO_SEPARATOR", "Header", "find_separator", "line_of", "split_header"]

NO_SEPARATOR = "\x1f"  # parts nothing: a control character that no table holds

_CANDIDATES = (",", ";", "\t", "|")
_SAMPLE, _LINES, _LONGEST_HEADER = 1 << 16, 60, 1 << 20
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_TOLD = re.compile(rb"sep=(?![\w\"])([\t -~])[\r\n]*", re.IGNORECASE)
_QUOTED = re.compile(r'(?<![^,;\t|\r\n])"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Header:
    """The first record's fields, and the byte at which the next record starts."""

    fields: tuple[str, ...]
    end: int


def find_separator(data: bytes) -> tuple[str, int]:
    """The character that parts columns ("" if there is one column), and the byte where the table starts.

    A first line ``sep=;``, as spreadsheets write it, decides. A header of one field means one column, even if its
    values hold decimal commas; a mark inside quotation marks parts nothing.

    >>> find_separator(b"sep=|\\na|b\\n"), find_separator(b"a;b\\n1,5;2,5\\n"), find_separator(b"x\\n0,25\\n")
    (('|', 6), (';', 0), ('', 0))
    """
    start = _first_line(data)
    line = _LINE.match(data, start).group()
    told = _TOLD.fullmatch(line)
    if told:
        return told[1].decode("ascii"), start + len(line)
    return _guess(data[start : start + _SAMPLE].decode("utf-8", errors="ignore")), start


def split_header(data: bytes, start: int, separator: str) -> Header:
    """The fields of the record at ``start``; a quoted field may hold separators and line ends.

    >>> split_header(b'"a;b";c\\r\\n1;2', 0, ";")
    Header(fields=('a;b', 'c'), end=9)
    """
    end = start

    def lines() -> Iterator[str]:
        nonlocal end
        while end < len(data) and end - start <= _LONGEST_HEADER:
            line = _LINE.match(data, end).group()
            end += len(line)
            yield line.decode("utf-8", errors="replace")

    try:
        fields = next(csv.reader(lines(), delimiter=separator or NO_SEPARATOR), [])
    except csv.Error:
        fields = None
    if fields is None or end - start > _LONGEST_HEADER:
        raise InputError("the header line does not end", remedy="Check the quotation marks in the first line.")
    return Header(tuple(fields) or ("",), end)


def line_of(data: bytes, start: int, record: int, separator: str) -> int:
    """The line, from 1 and as an editor counts, where a record begins; 0 if it cannot be told.

    Records count from 1 at ``start``; blank lines are none, unless the table has one column.

    >>> line_of(b'a,b\\n"1\\n",2\\n\\n3,4\\n', 4, 2, ",")
    5
    """
    before, begins, seen = len(_LINE_END.findall(data, 0, start)), 0, 0
    text = io.StringIO(data[start:].decode("utf-8", errors="replace"), newline="")
    reader = csv.reader(text, delimiter=separator or NO_SEPARATOR)
    try:
        for fields in reader:
            seen += bool(fields or not separator)
            if seen == record:
                return before + begins + 1
            begins = reader.line_num
    except csv.Error:
        pass
    return 0


def _first_line(data: bytes) -> int:
    """Where the first line that is not blank begins."""
    place = len(data) - len(data.lstrip())
    if place == len(data):
        raise InputError("the file is empty", remedy="Upload a file with a header line and at least one row.")
    return max(data.rfind(b"\n", 0, place), data.rfind(b"\r", 0, place)) + 1


def _guess(sample: str) -> str:
    header = re.split(r"[\r\n]", _QUOTED.sub("", sample), maxsplit=1)[0]
    present = [mark for mark in _CANDIDATES if mark in header]
    if len(present) < 2:
        return present[0] if present else ""
    sample = "".join(io.StringIO(sample, newline="").readlines()[:_LINES])
    even = [mark for mark in present if len(set(_widths(sample, mark))) == 1]
    if len(even) == 1:
        return even[0]
    try:
        found = clevercsv.Detector().detect(sample, delimiters=present)
    except (clevercsv.Error, ValueError, IndexError):
        found = None
    if found is not None and found.delimiter in present:
        return found.delimiter
    return max(present, key=header.count)


def _widths(sample: str, mark: str) -> list[int]:
    """How many fields each record has, the last one aside, as the sample may cut it."""
    try:
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=mark))
    except csv.Error:
        return [0, 1]
    return [len(row) for row in rows[: max(1, len(rows) - 1)] if row]
