"""Files that leave: tables as CSV that open right in spreadsheets and run nothing there, Parquet, JSON without nan."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["template_csv", "to_csv", "to_json", "to_parquet"]

_RUNS = tuple("=+-@\t\r\n＝＋－＠")  # a cell that starts so is a formula to a spreadsheet, the wide signs too


def to_csv(frame: pd.DataFrame, *, decimal: str = ".", separator: str = ",") -> bytes:
    """The table in UTF-8 with a byte-order mark, numbers in full, text that could run as a formula marked as text.

    >>> to_csv(pd.DataFrame({"who": ["=1+1"], "x": [0.1]})).decode("utf-8-sig")
    "who,x\\n'=1+1,0.1\\n"
    """
    safe = pd.DataFrame({place: _safe(frame.iloc[:, place]) for place in range(frame.shape[1])})
    safe.columns = [_guarded(str(name)) for name in frame.columns]
    # The writer quotes a carriage return only if lines end in one; unquoted, what follows would begin a row.
    ending = "\r\n" if _holds_return(safe) else "\n"
    text = safe.to_csv(index=False, decimal=decimal, sep=separator, lineterminator=ending)
    return text.encode("utf-8-sig")


def to_parquet(frame: pd.DataFrame) -> bytes:
    """The table with its types, for large ones: smaller and faster to read than CSV, and never opened as formulas.

    >>> pd.read_parquet(io.BytesIO(to_parquet(pd.DataFrame({"x": [0.1, None]}))))["x"].tolist()
    [0.1, nan]
    """
    file = io.BytesIO()
    frame.set_axis([str(name) for name in frame.columns], axis=1).to_parquet(file, index=False)
    return file.getvalue()


def to_json(value: Any) -> bytes:
    """JSON in UTF-8: numpy and pandas values as plain ones, what is not finite as null."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8")


def template_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """A table to fill in: the columns' names and a few example rows."""
    return to_csv(pd.DataFrame(dict(columns)))


def _safe(column: pd.Series) -> pd.Series:
    if _is_plain(column):
        return column
    return column.map(lambda cell: _guarded(cell) if isinstance(cell, str) else cell)


def _holds_return(frame: pd.DataFrame) -> bool:
    texts = (frame.iloc[:, place] for place in range(frame.shape[1]))
    cells = (text.map(lambda cell: isinstance(cell, str) and "\r" in cell) for text in texts if not _is_plain(text))
    return any("\r" in name for name in frame.columns) or any(bool(returns.any()) for returns in cells)


def _is_plain(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)


def _guarded(text: str) -> str:
    return f"'{text}" if text.startswith(_RUNS) else text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping | pd.DataFrame):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return np.where(np.isfinite(value), value, None).tolist()
    if isinstance(value, np.ndarray | pd.Series | pd.Index | list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.datetime64 | np.timedelta64):  # in nanoseconds its item() is a bare number
        value = pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NaT or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value
