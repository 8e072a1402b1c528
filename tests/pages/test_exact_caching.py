"""Two registers with different sums never share one answer, though the framework's own cache would mix them up."""

import numpy as np
import pandas as pd
import streamlit as st

from core.common.memo import Memo
from core.common.tables import read_table

ROWS = 60_000


def register(cell: int) -> pd.DataFrame:
    frame = pd.DataFrame({"x": np.zeros(ROWS, int)})
    frame.loc[cell, "x"] = 1_000_000
    return frame


@st.cache_data
def framework_sum(frame: pd.DataFrame) -> int:
    return int(frame["x"].sum())


def test_the_framework_mixes_up_registers_that_differ_where_it_does_not_look():
    """Why `Memo` is there. If this fails, the framework has mended its hash."""
    empty = pd.DataFrame({"x": np.zeros(ROWS, int)})
    assert framework_sum(empty) == 0
    answers = [framework_sum(register(cell)) for cell in range(40)]
    assert 0 in answers


def test_fingerprints_of_the_bytes_tell_them_apart():
    memo = Memo(most=100)
    files = [register(cell).to_csv(index=False).encode() for cell in range(40)]
    files.append(pd.DataFrame({"x": np.zeros(ROWS, int)}).to_csv(index=False).encode())
    tables = [read_table(data, "register.csv") for data in files]
    assert len({table.fingerprint for table in tables}) == len(tables)
    sums = [memo.get(("sum", table.fingerprint), table.numbers("x").sum) for table in tables]
    assert sums == [1_000_000.0] * 40 + [0.0]
