"""The Method tab: equations in the paper's symbols, the function that computes each, and what is claimed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.common.equation import Claim, Equation

__all__ = ["draw"]

_BADGES = {
    "theorem": ":green-badge[:material/verified: theorem]",
    "conjecture": ":orange-badge[:material/help: conjecture]",
    "fact": ":blue-badge[:material/info: fact]",
}


def draw(equations: Sequence[Equation], claims: Sequence[Claim]) -> None:
    """Draw the equations from top to bottom, then what is proved and what is not."""
    for equation in equations:
        st.header(equation.title, anchor=False)
        st.latex(equation.latex)
        st.markdown(equation.words)
        with st.expander(f"Computed by `{equation.where}`", icon=":material/function:"):
            st.code(equation.source, language="python")
    st.header("What is proved, and what is not", anchor=False)
    for claim in claims:
        st.markdown(f"{_BADGES[claim.status]} {claim.sentence} :gray[{claim.source}]")
