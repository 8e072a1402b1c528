"""Presenter mode: large type and no sidebar, asked for by a link (`?present=true`) or the switch on each page."""

from __future__ import annotations

import streamlit as st

__all__ = ["FACTOR", "is_on", "stage", "switch"]

FACTOR = 1.45
_STYLE = f"""<style>
html {{ font-size: {16 * FACTOR:g}px; }}
[data-testid="stSidebar"], [data-testid="stSidebarCollapsedControl"], [data-testid="stExpandSidebarButton"] {{
  display: none; }}
[data-testid="stMainBlockContainer"] {{ padding: 1rem 2rem; max-width: 100%; }}
[data-testid="stHeader"] {{ background: transparent; height: 0; }}
h1 {{ font-size: 1.5rem !important; padding: 0 !important; }}
</style>"""


def is_on() -> bool:
    """Whether the page is to be drawn for the back row of a room."""
    return bool(st.session_state.get("present", st.query_params.get("present") == "true"))


def stage() -> None:
    """Set the page for a room if presenter mode is on."""
    if is_on():
        st.html(_STYLE)


def switch() -> None:
    """The switch itself, bound to the link."""
    st.toggle(
        "Presenter",
        key="present",
        bind="query-params",
        help="Large type and no sidebar, for a projector. The link keeps it.",
    )
