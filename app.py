"""The entry: navigation over pages/, nothing else."""

import streamlit as st

from core.catalog import PAPERS

st.set_page_config(page_title="Laurel", page_icon=":material/eco:", layout="wide")
st.logo("pages/shared/logo.svg", size="large")
home = st.Page("pages/home.py", title="All eleven papers", icon=":material/home:", default=True)
papers = [
    st.Page(f"pages/{paper.key}.py", title=paper.short, icon=paper.icon, url_path=paper.key)
    for paper in PAPERS
    if paper.built
]
st.navigation({"Laurel": [home], "Papers": papers}).run()
