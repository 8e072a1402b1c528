"""One way to bring data: upload a file or take the bundled example, see how it was read, change that, remove it.

The framework forgets an uploaded file when its page is left, so bytes and name are kept in this session under a key
of our own, until the visitor removes them or the session ends. Nothing is kept beyond the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st

from core.common.errors import InputError
from core.common.examples import Example
from core.common.tables import ReadOptions, Table, read_table
from core.common.text import count, markdown

__all__ = ["upload"]

LIMIT_MB = 200
TYPES = ("csv", "tsv", "txt", "gz", "parquet", "xlsx")
_DETECT = "detect"
_SEPARATORS = {_DETECT: None, "comma ,": ",", "semicolon ;": ";", "tab": "\t", "bar |": "|"}
_DECIMALS = {_DETECT: None, "point .": ".", "comma ,": ","}
_THOUSANDS = {_DETECT: None, "none": "", "comma ,": ",", "point .": ".", "space": " ", "apostrophe '": "'"}
_ENCODINGS = {_DETECT: None, "UTF-8": "utf-8", "Windows / Latin-1": "cp1252", "UTF-16": "utf-16"}


@dataclass(frozen=True)
class _Held:
    """What this session holds of one upload."""

    data: bytes
    name: str


def upload(
    name: str,
    *,
    examples: Sequence[Example],
    template: bytes,
    hint: str,
    start: bool = True,
    new_rows: bool = False,
) -> Table | None:
    """The visitor's table, the bundled example if ``start`` and nothing was uploaded, or None; errors are shown.

    ``name`` is unique on the page; ``hint`` says in one sentence what the file should hold; ``template`` is a CSV to
    fill in; ``new_rows`` offers the examples' rows without truth.
    """
    files = {example.title: example.new_rows if new_rows else example.path for example in examples}
    helps = {example.title: "" if new_rows else example.sentence for example in examples}
    held = _held(name)
    chosen = st.file_uploader(
        f"{hint} CSV, TSV, Excel or Parquet, up to {LIMIT_MB} MB.",
        type=TYPES,
        max_upload_size=LIMIT_MB,
        key=f"{name}-file-{_generation(name)}",
    )
    if chosen is not None:
        st.session_state[f"{name}-held"] = held = _Held(chosen.getvalue(), chosen.name)
    _doors(name, files, helps, template)
    held = _held(name) or (_bundled(examples[0].path) if start else None)
    return None if held is None else _read(name, held)


def _held(name: str) -> _Held | None:
    return st.session_state.get(f"{name}-held")


def _generation(name: str) -> int:
    """Counts removals: a new key is the only way to empty the framework's uploader."""
    return st.session_state.get(f"{name}-generation", 0)


@lru_cache(maxsize=16)
def _bundled(path: Path) -> _Held:
    return _Held(path.read_bytes(), path.name)


def _doors(name: str, files: Mapping[str, Path], helps: Mapping[str, str], template: bytes) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        for title, path in files.items():
            st.button(
                f"Example: {title}",
                key=f"{name}-example-{path.stem}",
                help=helps[title] or None,
                on_click=_hold,
                args=(name, path),
            )
        st.download_button(
            "Template to fill in", template, file_name=f"{name}-template.csv", key=f"{name}-template", on_click="ignore"
        )
        if _held(name) is not None:
            st.button(
                "Remove this file", key=f"{name}-remove", on_click=_remove, args=(name,), icon=":material/delete:"
            )


def _hold(name: str, path: Path) -> None:
    _remove(name)
    st.session_state[f"{name}-held"] = _bundled(path)


def _remove(name: str) -> None:
    for key in (f"{name}-held", f"{name}-table"):
        st.session_state.pop(key, None)
    st.session_state[f"{name}-generation"] = _generation(name) + 1


def _read(name: str, held: _Held) -> Table | None:
    st.markdown(
        f"Using **{markdown(held.name)}** ({len(held.data) / 1e6:.2f} MB). The link holds settings, not your file."
    )
    with st.expander("How the file was read", icon=":material/table_view:"):
        options = _options(name)
        try:
            table = _parsed(name, held, options)
        except InputError as error:
            table, problem = None, str(error)
        else:
            problem = ""
            _preview(table)
    if problem:
        st.error(markdown(problem), icon=":material/error:")
    return table


def _parsed(name: str, held: _Held, options: ReadOptions) -> Table:
    """Read once a session for the same bytes and options: a rerun must not parse 200 MB again."""
    kept = st.session_state.get(f"{name}-table")
    if kept is not None and kept[0] is held and kept[1] == options:
        return kept[2]
    table = read_table(held.data, held.name, options)
    st.session_state[f"{name}-table"] = (held, options, table)
    return table


def _options(name: str) -> ReadOptions:
    first, second, third, fourth = st.columns(4)
    separator = first.selectbox("Columns are parted by", _SEPARATORS, key=f"{name}-separator", persist_state="page")
    decimal = second.selectbox("Decimal mark", _DECIMALS, key=f"{name}-decimal", persist_state="page")
    thousands = third.selectbox("Thousands mark", _THOUSANDS, key=f"{name}-thousands", persist_state="page")
    encoding = fourth.selectbox("Encoding", _ENCODINGS, key=f"{name}-encoding", persist_state="page")
    header = st.toggle(
        "The first line holds the columns' names", value=True, key=f"{name}-header", persist_state="page"
    )
    sheet = st.text_input("Excel sheet", key=f"{name}-sheet", help="Empty: the first one.", persist_state="page")
    missing = st.text_input(
        "Words that mean missing, parted by commas",
        key=f"{name}-missing",
        help="An empty cell always does. Add for instance: NA, n/a, -999",
        persist_state="page",
    )
    return ReadOptions(
        separator=_SEPARATORS[separator],
        decimal=_DECIMALS[decimal],
        thousands=_THOUSANDS[thousands],
        encoding=_ENCODINGS[encoding],
        header=header,
        sheet=sheet.strip() or None,
        missing=("", *(word.strip() for word in missing.split(",") if word.strip())),
    )


def _preview(table: Table) -> None:
    reading = table.reading
    st.markdown(f"Read as {reading.format}: {count(reading.rows, 'row')}, {count(len(reading.columns), 'column')}.")
    for note in reading.notes:
        st.caption(markdown(note))
    st.dataframe(table.frame.head(100), height=240)
