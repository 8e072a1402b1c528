"""A run that takes longer than a second: start, progress, partial picture, cancel; it survives a reload.

The registry is one for the whole server. One worker: NumPy and torch use both cores of a small machine already, and a
second run at the same time would only make both late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.common.errors import InputError
from core.common.jobs import ACTIVE, Job, JobRegistry, JobView, State
from core.common.progress import Snapshot
from core.common.text import count, markdown

__all__ = ["run_and_watch"]

_POLL_SECONDS = 0.4


@st.cache_resource
def registry() -> JobRegistry:
    """The server's jobs."""
    return JobRegistry(workers=1)


def run_and_watch(
    name: str,
    key: tuple,
    make: Callable[[], Iterator[Snapshot[Any]]],
    *,
    draw: Callable[[Any, bool], None],
    start_label: str = "Run",
    estimate: str = "",
) -> None:
    """Draw the run of ``key``: its finished result, its progress, or a button that starts it.

    ``name`` is unique on the page. ``key`` is made of text, numbers and frozen settings; data enter it by their
    fingerprint. ``draw`` gets the newest result and whether it is the last one.
    """
    job = _submitted(name, key, make) or _joined(name, key)
    if job is None:
        st.button(start_label, key=f"{name}-start", on_click=_ask, args=(name, key), type="primary")
        if estimate:
            st.caption(f"Takes {estimate} on this server.")
        _problem(name)
        return
    view = registry().view(job, _viewer())
    if view.state in ACTIVE:
        st.fragment(_watch, run_every=_POLL_SECONDS)(name, key, job, draw)
    else:
        _ended(name, view, draw)


def _submitted(name: str, key: tuple, make: Callable[[], Iterator[Snapshot[Any]]]) -> Job | None:
    """The job, if its button was pressed in the run before this one."""
    if st.session_state.pop(f"{name}-asked", None) != key:
        return None
    try:
        return registry().submit(key, make, _viewer())
    except InputError as error:
        st.session_state[f"{name}-problem"] = str(error)
        return None


def _joined(name: str, key: tuple) -> Job | None:
    """The job that is there already, also after a reload, unless this visitor has just left it."""
    job = registry().find(key)
    if job is not None and job.state in ACTIVE and st.session_state.get(f"{name}-left") == key:
        return None
    return job


def _watch(name: str, key: tuple, job: Job, draw: Callable[[Any, bool], None]) -> None:
    if st.session_state.get(f"{name}-left") == key:
        st.rerun()
    view = registry().view(job, _viewer())
    if view.state not in ACTIVE:
        if view.state is not State.DONE:
            st.session_state[f"{name}-problem"] = view.error or "The run was cancelled."
        st.rerun()
    share = min(1.0, view.step / view.total) if view.total else 0.0
    st.progress(share, text=_progress_text(view))
    if view.viewers > 1:
        st.caption(f"Shared with {count(view.viewers - 1, 'other viewer')}: cancelling leaves it running for them.")
    st.button("Cancel", key=f"{name}-cancel", on_click=_cancel, args=(name, key, job))
    if view.result is not None:
        draw(view.result, False)


def _progress_text(view: JobView) -> str:
    if view.state is State.QUEUED:
        return f"Waiting: {count(view.ahead, 'run')} before yours" if view.ahead else "Starting"
    return f"Step {view.step:,} of {view.total:,}, {view.seconds:.0f} s" if view.total else "Starting"


def _ended(name: str, view: JobView, draw: Callable[[Any, bool], None]) -> None:
    st.session_state.pop(f"{name}-problem", None)
    st.caption(f"Measured on this server in {view.seconds:.1f} s. Whoever asks for the same gets it at once.")
    draw(view.result, True)


def _problem(name: str) -> None:
    problem = st.session_state.pop(f"{name}-problem", None)
    if problem:
        st.warning(markdown(problem), icon=":material/info:")


def _ask(name: str, key: tuple) -> None:
    st.session_state[f"{name}-asked"] = key
    st.session_state.pop(f"{name}-left", None)


def _cancel(name: str, key: tuple, job: Job) -> None:
    ends = registry().cancel(job, _viewer())
    st.session_state[f"{name}-left"] = key
    st.session_state[f"{name}-problem"] = (
        "The run was cancelled." if ends else "You left the run; it goes on for the others who watch it."
    )


def _viewer() -> str:
    context = get_script_run_ctx()
    return context.session_id if context else ""
