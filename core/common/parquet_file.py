"""Parquet files: measured by what they say before they are read, and by what they hold before it unfolds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from core.common.errors import InputError
from core.common.reading import Limits, Reading, ReadOptions, check_size, check_unpacked, missing_notes, unique_names

__all__ = ["frame_of_parquet", "read_parquet"]

_EXACT = 2**53  # whole numbers below this one are all float64
_CELL = 8  # bytes that a number takes

T = TypeVar("T")


def read_parquet(data: bytes, options: ReadOptions, limits: Limits) -> tuple[pd.DataFrame, Reading]:
    """A Parquet file: numbers as float64 or int64, truth values, dates and text as they are."""
    source = _whole(lambda: _opened(data))
    _check(source, limits)
    table = _whole(source.read)
    check_unpacked(sum(_whole(lambda column=column: _unfolded(column)) for column in table.columns), limits)
    names, notes = unique_names(table.column_names)
    frame = frame_of_parquet(table, names, options.missing)
    missing = tuple(int(n) for n in frame.isna().sum())
    empty = (f"Column {name!r} is empty." for name, n in zip(names, missing, strict=True) if n == len(frame))
    said = (*notes, *empty, *missing_notes(names, missing))
    return frame, Reading(format="Parquet", rows=len(frame), columns=names, missing=missing, notes=said)


def frame_of_parquet(table: pa.Table, names: tuple[str, ...], missing: tuple[str, ...] = ()) -> pd.DataFrame:
    """The columns as a frame with these names; InputError if one turns out to be damaged."""
    series = [_whole(lambda column=column: _series(column, missing)) for column in table.columns]
    frame = pd.DataFrame(dict(enumerate(series)), copy=False)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _whole(read: Callable[[], T]) -> T:
    """What ``read`` gives; InputError if the file turns out to be damaged."""
    try:
        return read()
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("the Parquet file is damaged", remedy="Write it again.") from None


def _opened(data: bytes) -> parquet.ParquetFile:
    """The file, its texts to be read as places in a dictionary where they are stored so."""
    schema = parquet.read_schema(pa.BufferReader(data))
    texts = [field.name for field in schema if _is_text(field.type)]
    return parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts)


def _check(source: parquet.ParquetFile, limits: Limits) -> None:
    meta, schema = source.metadata, source.schema_arrow
    stored = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
    check_unpacked(max(stored, _CELL * meta.num_rows * len(schema)), limits)
    check_size(meta.num_rows, len(schema), limits)
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InputError("this column holds lists or records", column=field.name, remedy="Give one value a cell.")
        if _is_bytes(field.type):
            raise InputError("this column holds bytes", column=field.name, remedy="Give numbers or text.")


def _unfolded(column: pa.ChunkedArray) -> int:
    """The bytes that the words of a dictionary fill as text: a few can stand for very many."""
    if not (pa.types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return 0
    lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(pc.cast(length, pa.int64())).as_py() or 0 for length in lengths)


def _series(column: pa.ChunkedArray, words: tuple[str, ...]) -> pd.Series:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if _is_text(kind):
        return pd.Series(_without(column, pa.array(sorted(set(words)), kind)).to_pandas(), dtype="str")
    if pa.types.is_null(kind):
        return pd.Series(np.full(len(column), np.nan))
    if pa.types.is_integer(kind):
        return _whole_numbers(_without(column, _values(words, kind)))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
        return pd.Series(_without(column, _values(words, column.type)).to_pandas())
    if pa.types.is_boolean(kind) and column.null_count:
        column = column.cast(pa.int8()).cast(pa.float64())
    return pd.Series(column.to_pandas())


def _whole_numbers(column: pa.ChunkedArray) -> pd.Series:
    """As int64, or float64 where some are missing; numbers that neither holds exactly are codes, and text."""
    span = pc.min_max(column)
    least, most = span["min"].as_py() or 0, span["max"].as_py() or 0
    if most >= 2**63 or (column.null_count and max(-least, most) >= _EXACT):
        return pd.Series(column.cast(pa.string()).to_pandas(), dtype="str")
    return pd.Series(column.cast(pa.float64() if column.null_count else pa.int64()).to_pandas())


def _without(column: pa.ChunkedArray, missing: pa.Array) -> pa.ChunkedArray:
    """The column, its cells that stand for missing ones left empty."""
    if len(missing) == 0:
        return column
    found = pc.is_in(column, value_set=missing)
    return pc.if_else(found, pa.scalar(None, column.type), column) if pc.any(found).as_py() else column


def _values(words: tuple[str, ...], kind: pa.DataType) -> pa.Array:
    """Those of the words that are numbers of this kind."""
    values = []
    for word in words:
        try:
            values.append(pa.scalar(word).cast(kind).as_py())
        except pa.ArrowInvalid:
            continue
    return pa.array(values, kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(is_kind(kind) for is_kind in kinds)
