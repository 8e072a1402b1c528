"""The Reproduce tab: the paper's figures beside ours, measured beforehand, and a run on this machine."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.common.comparison import Figure, Measurement, as_frame
from core.common.export import to_csv
from core.common.text import markdown
from core.reproduce import MEASURED, headline
from pages.shared.running import run_and_watch

__all__ = ["SEEDS", "draw"]

SEEDS = tuple(str(seed) for seed in range(10_000))


def draw(key: str, *, intro: str) -> None:
    """Draw the stored measurement of the paper ``key`` and offer to measure again here."""
    st.markdown(intro)
    stored = Measurement.from_json((MEASURED / f"{key}.json").read_text(encoding="utf-8"))
    st.caption(
        f"Measured beforehand on {stored.date} in {stored.seconds:g} seconds with `{stored.command}`: "
        f"{stored.repetitions:,} trials, seed {stored.seed}."
    )
    _table(stored.figures, f"{key}-measured")
    st.header("Measure it here", anchor=False)
    seed = st.number_input(
        "Seed", 0, 9999, 1, key="run_seed", bind="query-params", help="Another seed gives other random trials."
    )
    run_and_watch(
        f"{key}-run",
        (key, "headline", int(seed)),
        lambda: headline(key, seed=int(seed)),
        draw=lambda figures, finished: _table(figures, f"{key}-run-{'all' if finished else 'part'}", save=finished),
        start_label="Run all experiments",
        estimate=f"about {stored.seconds:.0f} seconds",
    )


def _table(figures: Sequence[Figure], name: str, *, save: bool = True) -> None:
    """The figures and their remarks, numbered; a table that still grows cannot be saved (its file would be gone)."""
    frame = as_frame(figures)
    remarks = list(dict.fromkeys(figure.note for figure in figures if figure.note))
    shown = frame.drop(columns="Remark").map(markdown)
    shown["Figure"] += [f" ({remarks.index(figure.note) + 1})" if figure.note else "" for figure in figures]
    st.table(shown.set_index("Figure"))
    st.caption("\n".join(f"{place}. {markdown(remark)}" for place, remark in enumerate(remarks, 1)))
    if save:
        st.download_button(
            "Table (CSV)", to_csv(frame), file_name=f"{name}.csv", mime="text/csv", key=f"{name}-csv", on_click="ignore"
        )
