"""Results from a visitor's data, computed once for the same settings and file, and gone with the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.common.memo import Memo

__all__ = ["remembered"]

Value = TypeVar("Value")
_MOST, _MOST_BYTES = 16, 400_000_000


def remembered(key: tuple, compute: Callable[[], Value]) -> Value:
    """The value of ``key`` (names, settings, and the file's fingerprint), computed if this session has not yet."""
    memo = st.session_state.setdefault("laurel-memo", Memo(most=_MOST, most_bytes=_MOST_BYTES))
    with st.spinner("Computing", show_time=True):
        return memo.get(key, compute)
