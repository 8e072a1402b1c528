"""How a text table is written: what parts its columns, and where its header ends."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import clevercsv

from core.common.errors import InputError

__all__ = ["NO_SEPARATOR", "Header", "find_separator", "split_header"]

NO_SEPARATOR = "\x1f"  # parts nothing: a control character that no table holds

_CANDIDATES = (",", ";", "\t", "|")
_SAMPLE, _LINES, _LONGEST_HEADER = 1 << 16, 60, 1 << 20
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
_BLANK = re.compile(rb"(?:[ \t]*(?:\r\n|\r|\n))*")


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
    if not data.strip():
        raise InputError("the file is empty", remedy="Upload a file with a header line and at least one row.")
    start = _BLANK.match(data).end()
    line = _LINE.match(data, start).group()
    told = re.fullmatch(rb"sep=([\x00-\x7f])[\r\n]*", line, re.IGNORECASE)
    if told:
        return told[1].decode("ascii"), start + len(line)
    header = _sampled(line)
    if line[:1] == b'"':  # its first name may hold line ends
        header = _sampled(data[start : start + _SAMPLE])
    sample = _sampled(data[start : start + _SAMPLE])
    return _guess(sample, header), start


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


def _sampled(data: bytes) -> str:
    return data.decode("utf-8", errors="ignore")
