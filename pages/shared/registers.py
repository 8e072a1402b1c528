"""Registers too large to upload: files in a folder that whoever runs the server names in LAUREL_REGISTERS.

Only names that the folder itself lists are opened; rows are read when columns have been chosen, and only those.
"""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from core.common.errors import InputError
from core.common.lazy import LazyTable, open_lazily
from core.common.text import count, markdown

__all__ = ["FOLDER", "large_register"]

FOLDER = "LAUREL_REGISTERS"
_KINDS = (".parquet", ".csv")


def large_register(name: str) -> LazyTable | None:
    """The register of this server that the visitor chose, or None; nothing is drawn where there is no folder."""
    folder = os.environ.get(FOLDER)
    files = _files(Path(folder)) if folder else {}
    if not files:
        return None
    chosen = st.selectbox(
        "A register on this server", ["(upload a file)", *files], key=f"{name}-register", persist_state="page"
    )
    if chosen not in files:
        return None
    try:
        table = open_lazily(files[chosen])
    except InputError as error:
        st.error(markdown(str(error)), icon=":material/error:")
        return None
    rows = table.sample.reading.rows
    st.caption((f"{count(rows, 'row')}. " if rows else "") + "Only the columns that you choose are read.")
    return table


def _files(folder: Path) -> dict[str, Path]:
    """Its files by name; links that lead out of the folder are left out."""
    if not folder.is_dir():
        return {}
    inside = (path for path in sorted(folder.iterdir()) if path.suffix in _KINDS and path.is_file())
    return {path.name: path for path in inside if path.resolve().parent == folder.resolve()}
