"""Draws a View: the answer, the picture, its numbers and downloads, and the code that gives the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.common.errors import InputError
from core.common.export import to_csv
from core.common.template import enlarge
from core.common.text import markdown
from core.common.view import View
from pages.shared import presenter

__all__ = ["show"]


def show(make: Callable[[], View], name: str) -> None:
    """Draw the view that ``make`` makes, or in words why it cannot be made.

    ``name`` is unique on the page and names the files that a visitor saves.
    """
    try:
        view = make()
    except InputError as error:
        st.error(markdown(str(error)), icon=":material/error:")
        return
    with st.container(key=f"answer-{name}"):
        st.markdown(view.answer)
    figure = enlarge(view.figure, presenter.FACTOR) if presenter.is_on() else view.figure
    st.plotly_chart(figure, key=f"{name}-figure", alt=view.alt, config=_menu(name))
    if view.summary is not None:
        st.table(view.summary.set_index(view.summary.columns[0]))
    for note in view.notes:
        st.caption(note)
    _numbers(view, name)
    with st.expander("Show the code", icon=":material/code:"):
        st.code(view.code, language="python")


def _numbers(view: View, name: str) -> None:
    with st.expander("Numbers and downloads", icon=":material/download:"):
        st.dataframe(view.table, key=f"{name}-table", hide_index=True, alt=view.alt)
        with st.container(horizontal=True):
            _download("Numbers (CSV)", partial(to_csv, view.table), f"{name}.csv", "text/csv")
            spreadsheet = partial(to_csv, view.table, decimal=",", separator=";")
            _download("Numbers (CSV, decimal comma)", spreadsheet, f"{name}-decimal-comma.csv", "text/csv")
            page = partial(view.figure.to_html, include_plotlyjs=True)
            _download("Picture (web page)", page, f"{name}.html", "text/html")
        st.caption("The camera in the picture's own menu saves it as SVG.")


def _download(label: str, make: partial, file_name: str, mime: str) -> None:
    st.download_button(label, make, file_name=file_name, mime=mime, key=f"save-{file_name}", on_click="ignore")


def _menu(name: str) -> dict:
    return {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": name, "scale": 2}}
