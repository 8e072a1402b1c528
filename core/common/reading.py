"""How to read an upload, up to which size, and what came of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.common.errors import InputError
from core.common.text import count

__all__ = ["Limits", "ReadOptions", "Reading", "check_size", "check_unpacked", "missing_notes", "unique_names"]

_SAID = 5


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What the visitor says of the file; None means: find out. ``thousands`` may be "" for none."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ("",)
    sheet: str | None = None
    header: bool = True


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest file that is read: bytes as uploaded, bytes when unpacked, rows and columns."""

    max_bytes: int = 200_000_000
    max_unpacked_bytes: int = 1_000_000_000
    max_rows: int = 20_000_000
    max_columns: int = 2_000


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file was read, for the visitor to check; ``notes`` are sentences about what was guessed or changed."""

    format: str
    rows: int
    columns: tuple[str, ...]
    missing: tuple[int, ...]
    encoding: str = ""
    separator: str = ""
    decimal: str = "."
    thousands: str = ""
    notes: tuple[str, ...] = ()


def check_size(rows: int, columns: int, limits: Limits) -> None:
    """Raise InputError for a table without rows or beyond the limits."""
    if columns > limits.max_columns:
        raise InputError(f"the table has {count(columns, 'column')}", remedy=f"{limits.max_columns:,} are read.")
    if rows > limits.max_rows:
        raise InputError(f"the table has {count(rows, 'row')}", remedy=f"{limits.max_rows:,} are read.")
    if rows == 0:
        raise InputError("the file has a header but no rows", remedy="Add at least one row below the header.")


def check_unpacked(size: int, limits: Limits) -> None:
    """Raise InputError for a file that takes more bytes in memory than the limit."""
    if size > limits.max_unpacked_bytes:
        remedy = f"{limits.max_unpacked_bytes / 1e6:,.0f} MB are read; split it, or leave out columns."
        raise InputError(f"the file unpacks to {size / 1e6:,.0f} MB", remedy=remedy)


def missing_notes(names: Sequence[str], missing: Sequence[int]) -> tuple[str, ...]:
    """How many cells are missing, for the first few columns where some are, and in how many others."""
    short = [(name, n) for name, n in zip(names, missing, strict=True) if n]
    notes = [f"Column {name!r} has {count(n, 'missing cell')}." for name, n in short[:_SAID]]
    if len(short) > _SAID:
        notes.append(f"{count(len(short) - _SAID, 'other column')} with missing cells.")
    return tuple(notes)


def unique_names(fields: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Column names without spaces around, in one Unicode form, none empty and none twice; with notes on changes."""
    taken: dict[str, int] = {}  # a name, and its copies so far: a thousand equal names cost no search
    notes: list[str] = []
    for place, raw in enumerate(fields, start=1):
        name = unicodedata.normalize("NFC", " ".join(str(raw).split()))
        if not name:
            name = f"column {place}"
            notes.append(f"Column {place} has no name and is called {name!r}.")
        unique = name
        while unique in taken:
            taken[name] += 1
            unique = f"{name} ({taken[name]})"
        if unique != name:
            notes.append(f"The name {name!r} comes twice; column {place} is called {unique!r}.")
        taken[unique] = 1
    return tuple(taken), _first(notes)


def _first(notes: Sequence[str]) -> tuple[str, ...]:
    more = (f"{count(len(notes) - _SAID, 'other column')} without a name of its own.",) if len(notes) > _SAID else ()
    return (*notes[:_SAID], *more)
