"""The frame that every paper's page shares: what it is about, four tabs, a link, presenter mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.catalog import Paper, paper
from core.common.settings import Settings
from pages.shared import entrance, links, presenter

__all__ = ["STYLE", "TABS", "Tabs", "draw"]

TABS = ("Explore", "Your data", "Reproduce", "Method")
STYLE = """
[class*="st-key-answer-"] p { font-size: 1.25rem; line-height: 1.45; }
[data-testid="stMainBlockContainer"] { padding-top: 3.2rem; }
h2 { font-size: 1.4rem !important; }
[data-testid="stCaptionContainer"] { color: inherit !important; opacity: 0.82; }
@media (max-width: 640px) { h1 { font-size: 1.8rem !important; } .katex { font-size: 0.9em !important; }
  .katex-display { overflow: visible !important; } }
"""


@dataclass(frozen=True, kw_only=True)
class Tabs:
    """What each tab draws. A tab's function runs only while its tab is open."""

    explore: Callable[[], None]
    your_data: Callable[[], None]
    reproduce: Callable[[], None]
    method: Callable[[], None]


def draw(
    key: str, tabs: Tabs, *, settings: Sequence[type[Settings]], words: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Draw the page of the paper ``key``.

    ``settings`` are all settings classes that the page asks for and ``words`` its other link parameters with the
    values they may take; a link is checked against both.
    """
    entrance.ensure()
    links.take_note(key, settings, {"tab": TABS, "present": ("true", "false"), **(words or {})})
    st.html(f"<style>{STYLE}</style>")
    presenter.stage()
    _head(paper(key), settings, ("tab", "present", *(words or {})))
    links.show_problems(key)
    bodies = (tabs.explore, tabs.your_data, tabs.reproduce, tabs.method)
    for tab, body in zip(st.tabs(TABS, key="tab", bind="query-params"), bodies, strict=True):
        if tab.open:
            with tab:
                body()


def _head(entry: Paper, settings: Sequence[type[Settings]], words: Sequence[str]) -> None:
    title, switches = st.columns([5, 1], vertical_alignment="top")
    title.title(entry.question, anchor=False)
    with switches:
        presenter.switch()
    if presenter.is_on():
        return
    with switches, st.popover("Link", icon=":material/link:"):
        st.caption("This page with every setting spelled out. It holds settings, not your file.")
        st.code(links.full_link(settings, words), language=None, wrap_lines=True)
    st.markdown(f":small[[{entry.title}]({entry.link}) · {entry.authors} · {entry.award}]")
