"""Home: the eleven papers, the question each instrument answers, and which stand already."""

import streamlit as st

from core.catalog import PAPERS, Paper
from pages.shared import entrance, frame, links, presenter


def card(paper: Paper) -> None:
    """One paper: its question, what its instrument shows, and the way in."""
    with st.container(border=True, height="stretch"):
        st.header(paper.question, anchor=False)
        st.markdown(paper.shows)
        st.markdown(f":small[[{paper.title}]({paper.link}) · {paper.authors} · {paper.award}]")
        if paper.built:
            st.page_link(f"pages/{paper.key}.py", label=f"Open {paper.short}", icon=paper.icon)
        else:
            st.markdown(":gray-badge[Not built yet]")


entrance.ensure()
links.take_note("home", (), {"present": ("true", "false")})
st.html(f"<style>{frame.STYLE}</style>")
presenter.stage()
st.title("Laurel", anchor=False)
st.markdown(
    "The eleven papers that won an award at ICML 2025, as instruments: watch a method move, run it on your own data, "
    "and check the paper's figures against what this code measures."
)
links.show_problems("home")
papers = sorted(PAPERS, key=lambda paper: not paper.built)  # those that stand come first
for start in range(0, len(papers), 3):
    for column, paper in zip(st.columns(3), papers[start : start + 3], strict=False):
        with column:
            card(paper)
