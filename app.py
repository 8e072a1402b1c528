"""The entry: navigation over pages/, nothing else."""

import streamlit as st

from pages.shared import entrance

st.set_page_config(page_title="Laurel", page_icon="pages/shared/icon.svg", layout="wide")
st.logo("pages/shared/logo.svg", size="large")
entrance.navigation().run()
