"""Large files of this machine: what columns there are is read at once, the columns themselves only when asked for.

A register of ten million people has many columns and a question needs three. Parquet stores columns apart; of a CSV
file all bytes are looked at, but only the chosen columns are kept, and numbers are never held as text.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from core.common.csv_text import frame_of
from core.common.decoding import decode
from core.common.dialect import NO_SEPARATOR, find_separator, split_header
from core.common.errors import InputError
from core.common.parquet_file import frame_of_parquet
from core.common.reading import Limits, Reading, ReadOptions, check_size, missing_notes, unique_names
from core.common.tables import Table

__all__ = ["LARGE", "LazyTable", "open_lazily"]

LARGE = Limits(max_bytes=100_000_000_000, max_unpacked_bytes=8_000_000_000, max_rows=200_000_000, max_columns=2_000)
_SAMPLE = 1 << 22
_BLOCK = 1 << 24


@dataclass(frozen=True, kw_only=True)
class LazyTable:
    """A file whose columns are known and whose rows are not yet read.

    ``sample`` is a table of its first rows, for a preview; ``select`` reads columns.
    """

    path: Path
    columns: tuple[str, ...]
    sample: Table
    limits: Limits

    @property
    def frame(self) -> pd.DataFrame:
        """The first rows, for a preview."""
        return self.sample.frame

    @property
    def fingerprint(self) -> str:
        """Of the whole file."""
        return self._fingerprint(self.columns)

    def select(self, columns: Sequence[str]) -> Table:
        """These columns of all rows, as a table like any other; InputError for absent ones and for bad cells."""
        self.sample.require(*columns)
        chosen = tuple(dict.fromkeys(columns))
        is_parquet = self.sample.reading.format == "Parquet"
        frame = (_parquet_columns if is_parquet else _csv_columns)(self, chosen)
        check_size(len(frame), len(chosen), self.limits)
        missing = tuple(int(n) for n in frame.isna().sum())
        reading = Reading(
            **{
                **self.sample.reading.__dict__,
                "rows": len(frame),
                "columns": chosen,
                "missing": missing,
                "notes": missing_notes(chosen, missing),
            }
        )
        return Table(frame=frame, name=str(self.path), fingerprint=self._fingerprint(chosen), reading=reading)

    def _fingerprint(self, columns: tuple[str, ...]) -> str:
        """Of the file's place, size and time: a large file is not read twice only to know it again."""
        status = self.path.stat()
        parts = (str(self.path.resolve()), status.st_size, status.st_mtime_ns, columns)
        return hashlib.blake2b(repr(parts).encode(), digest_size=20).hexdigest()


def open_lazily(path: str | Path, limits: Limits = LARGE) -> LazyTable:
    """A Parquet file, or a CSV file in UTF-8, of this machine; InputError if it is neither or has no rows.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     _ = file.write(b"id;weeks\\n1;2,5\\n2;7,0\\n"), file.flush()
    ...     open_lazily(file.name).select(["weeks"]).numbers("weeks")
    array([2.5, 7. ])
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path.name!r}")
    if path.stat().st_size == 0:
        raise InputError("the file is empty", remedy="It has to hold a header line and at least one row.")
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    sample = _parquet_sample(path) if start[:4] == b"PAR1" else _csv_sample(path, start)
    return LazyTable(path=path, columns=sample.reading.columns, sample=sample, limits=limits)


def _parquet_sample(path: Path) -> Table:
    try:
        source = parquet.ParquetFile(path)
        first = next(source.iter_batches(batch_size=1000), None)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None
    if first is None:
        raise InputError("the file has no rows", remedy="It has to hold at least one.")
    names, notes = unique_names(first.schema.names)
    frame = frame_of_parquet(pa.Table.from_batches([first]), names)
    reading = Reading(
        format="Parquet", rows=source.metadata.num_rows, columns=names, missing=(0,) * len(names), notes=notes
    )
    return Table(frame=frame, name=str(path), fingerprint="", reading=reading)


def _parquet_columns(table: LazyTable, columns: tuple[str, ...]) -> pd.DataFrame:
    source = parquet.ParquetFile(table.path, memory_map=True)
    stored = source.schema_arrow.names
    asked = [stored[table.columns.index(column)] for column in columns]
    return frame_of_parquet(source.read(columns=asked).select(asked), columns)


def _csv_sample(path: Path, start: bytes) -> Table:
    whole = start[: start.rfind(b"\n") + 1] if len(start) == _SAMPLE else start
    decoded = decode(whole, None)
    separator, begins = find_separator(decoded.data)
    header = split_header(decoded.data, begins, separator)
    names, notes = unique_names(header.fields)
    rows = arrow_csv.read_csv(
        pa.BufferReader(decoded.data[header.end :] or b"\n"), **_reading(len(names), separator, None)
    )
    check_size(rows.num_rows, len(names), LARGE)
    frame, marks, typing = frame_of(rows, names, separator, ReadOptions())
    reading = Reading(
        format="CSV",
        rows=0,
        columns=names,
        missing=(0,) * len(names),
        encoding=decoded.encoding,
        separator=separator,
        decimal=marks.decimal,
        thousands=marks.thousands,
        notes=(*notes, *typing),
    )
    return Table(frame=frame.head(1000), name=str(path), fingerprint="", reading=reading)


def _csv_columns(table: LazyTable, columns: tuple[str, ...]) -> pd.DataFrame:
    reading = table.sample.reading
    if reading.encoding != "UTF-8":
        raise InputError(f"the file is {reading.encoding}", remedy="Save it as UTF-8, or as Parquet.")
    places = [table.columns.index(column) for column in columns]
    numeric = [pd.api.types.is_numeric_dtype(table.sample.frame[column]) for column in columns]
    types = {
        str(place): pa.float64() if is_number else pa.string() for place, is_number in zip(places, numeric, strict=True)
    }
    if reading.thousands and any(numeric):
        raise InputError("numbers have a thousands mark", remedy="Write them without, or save the file as Parquet.")
    with table.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begins = find_separator(data[:_SAMPLE])[1]
        end = split_header(data[:_SAMPLE], begins, reading.separator).end
        file.seek(end)
        try:
            cells = arrow_csv.read_csv(
                file, **_reading(len(table.columns), reading.separator, types, decimal=reading.decimal)
            )
        except pa.ArrowInvalid as error:
            raise _bad_cell(str(error), table.columns) from None
    frame = pd.DataFrame({place: _series(cells.column(str(column))) for place, column in enumerate(places)}, copy=False)
    frame.columns = pd.Index(columns, dtype=object)
    return frame


def _reading(width: int, separator: str, types: dict[str, pa.DataType] | None, decimal: str = ".") -> dict:
    names = [str(place) for place in range(width)]
    return {
        "read_options": arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK),
        "parse_options": arrow_csv.ParseOptions(delimiter=separator or NO_SEPARATOR, ignore_empty_lines=width > 1),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=list(types) if types else None,
            column_types=types or {name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=bool(types),
            decimal_point=decimal,
        ),
    }


def _series(column: pa.ChunkedArray) -> pd.Series:
    if pa.types.is_floating(column.type):
        return pd.Series(np.asarray(column.to_numpy(), dtype=float))
    return pd.Series(column.to_pandas(), dtype="str")


def _bad_cell(message: str, names: tuple[str, ...]) -> InputError:
    """What Arrow says of a cell or a row, with the column's own name."""
    column, said = None, message
    if message.startswith("In CSV column #"):
        place, said = message.removeprefix("In CSV column #").split(": ", 1)
        column = names[int(place)] if int(place) < len(names) else None
    return InputError(
        f"the file cannot be read to its end ({said[:160].strip()})",
        column=column,
        remedy="The first rows decided what each column holds; correct this cell, or save the file as Parquet.",
    )
