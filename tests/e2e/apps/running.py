"""A page with nothing but runs, and a ledger of what the server really computed."""

import time
from collections import Counter

import streamlit as st

from core.common.errors import InputError
from core.common.progress import Snapshot
from pages.shared.running import run_and_watch

OUTCOMES = ("finishes", "refuses", "breaks")


@st.cache_resource
def ledger() -> Counter:
    return Counter()


def squares(seed: int, total: int, pace: float, outcome: str):
    counted, mine = ledger(), f"run {seed}"
    counted[f"{mine} begun"] += 1
    try:
        for step in range(1, total + 1):
            time.sleep(pace)
            if outcome != "finishes" and step == 3:
                raise InputError("row 3 is *bad*") if outcome == "refuses" else ZeroDivisionError("secret")
            yield Snapshot(step=step, total=total, result=[n * n for n in range(1, step + 1)])
        counted[f"{mine} finished"] += 1
    finally:
        counted[f"{mine} closed"] += 1


def draw(seed: int, result: list[int], finished: bool) -> None:
    ledger()[f"run {seed} drawn"] += 1
    st.text(f"{'All' if finished else 'Part'}: last square {result[-1]}")


def show_ledger() -> None:
    st.text("; ".join(f"{what}: {times}" for what, times in sorted(ledger().items())))


st.set_page_config(page_title="Runs")
st.title("Runs", anchor=False)
seed = st.number_input("Seed", 0, 999, 1, key="seed", bind="query-params", on_change="ignore")
total = st.number_input("Steps", 1, 10_000, 20, key="total", bind="query-params")
pace = st.number_input("Seconds a step", 0.0, 1.0, 0.1, key="pace", bind="query-params")
outcome = st.selectbox("Outcome", OUTCOMES, key="outcome", bind="query-params")
result = run_and_watch(
    "squares",
    ("squares", seed, total, pace, outcome),
    lambda: squares(seed, total, pace, outcome),
    draw=lambda newest, finished: draw(seed, newest, finished),
    start_label="Run it",
    estimate="about 2 s",
)
if result is not None:
    st.text(f"Returned {len(result)} squares")
st.fragment(show_ledger, run_every=0.5)()
