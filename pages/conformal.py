"""Conformal prediction as Bayesian quadrature."""

import streamlit as st

from pages.shared import frame

frame.draw(
    "conformal",
    frame.Tabs(
        explore=lambda: st.write("e"),
        your_data=lambda: st.write("y"),
        reproduce=lambda: st.write("r"),
        method=lambda: st.write("m"),
    ),
    settings=(),
)
