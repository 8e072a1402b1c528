"""The navigation, and a guard for visitors who come in by the window.

The framework finds pages/ by itself and, until some session has called `st.navigation`, runs a page opened by address
without app.py: the first visitor after a start who follows a link to a page would see a bare one. So each page
asks `ensure` first.
"""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.catalog import PAPERS

__all__ = ["ensure", "navigation"]

_ENTERED = "laurel-entered"


def navigation() -> StreamlitPage:
    """The page that the address asks for, out of home and the papers that are built.

    The browser tab's icon is set first: the framework would otherwise take the page's, and fetch it from another host.
    """
    st.set_page_config(page_title="Laurel", page_icon="pages/shared/icon.svg", layout="wide")
    st.session_state[_ENTERED] = True
    home = st.Page("pages/home.py", title="All eleven papers", icon=":material/home:", default=True)
    papers = [
        st.Page(f"pages/{paper.key}.py", title=paper.short, icon=paper.icon, url_path=paper.key)
        for paper in PAPERS
        if paper.built
    ]
    return st.navigation({"Laurel": [home], "Papers": papers})


def ensure() -> None:
    """Start again through app.py if this run did not come through it."""
    if _ENTERED not in st.session_state:
        navigation()
        st.rerun()
