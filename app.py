"""The entry: navigation over pages/, nothing else."""

import streamlit as st

from pages.shared import entrance

st.logo("pages/shared/logo.svg", size="large")
entrance.navigation().run()
