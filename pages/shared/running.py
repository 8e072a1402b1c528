"""A run that takes longer than a second: start, progress, partial picture, cancel; it survives a reload.

The registry is one for the whole server, with one worker unless the person who runs the server says otherwise: NumPy
and torch use both cores of a small machine already, and a second run at a time would only make both late.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.common.errors import InputError
from core.common.jobs import ACTIVE, Job, JobRegistry, JobView, State
from core.common.memo import exact_key
from core.common.progress import Snapshot
from core.common.text import count, markdown

__all__ = ["run_and_watch"]

Draw = Callable[[Any, bool], None]
_POLL_SECONDS = 0.4
_KEPT_BYTES = 200_000_000


@dataclass(frozen=True)
class _Left:
    """A visitor who is not watching a run although there may be one, and why."""

    key: tuple
    words: str


def run_and_watch(
    name: str,
    key: tuple,
    make: Callable[[], Iterator[Snapshot[Any]]],
    *,
    draw: Draw,
    start_label: str = "Run",
    estimate: str = "",
) -> Any | None:
    """Draw the run of ``key``: its finished result, its progress, or a button that starts it; give the finished result.

    ``name`` is unique on the page, and every widget's key begins with it. ``key`` is made of text, numbers and frozen
    settings of an imported module; data enter it by their fingerprint. ``draw`` gets the newest result and whether it
    is the last one; it may draw widgets but no fragment. It draws no download button before the last one: what such a
    button offers is replaced at the next look, sooner than the browser asks for it. Starting a run ends the one that
    the visitor started here before, unless somebody else watches that.
    """
    job = _present(name, key)
    view = registry().view(job, _viewer()) if job else None
    if view is None or view.state in (State.FAILED, State.CANCELLED):
        _door(name, key, make, start_label, estimate, view.error if view else "")
        return None
    if view.state in ACTIVE:
        st.session_state[f"{name}-watched"] = key
        st.fragment(_watch, run_every=_POLL_SECONDS)(name, key, job, draw)
        return None
    st.caption(f"Measured on this server in {view.seconds:.1f} s. Whoever asks for the same gets it at once.")
    draw(view.result, True)
    return view.result


@st.cache_resource(show_spinner=False)
def registry() -> JobRegistry:
    """The server's jobs; its limits come from LAUREL_WORKERS, LAUREL_WAITING and LAUREL_IDLE_SECONDS.

    A hidden tab asks once a minute only, so a shorter time than that ends the runs of people who look elsewhere.
    """
    return JobRegistry(
        workers=int(os.environ.get("LAUREL_WORKERS", 1)),
        most_waiting=int(os.environ.get("LAUREL_WAITING", 8)),
        idle_seconds=float(os.environ.get("LAUREL_IDLE_SECONDS", 90)),
        most_bytes=_KEPT_BYTES,
        is_connected=_is_connected,
    )


def _present(name: str, key: tuple) -> Job | None:
    """The job that is there already, also after a reload, unless this visitor has just left it."""
    job = registry().find(key)
    if job is not None and job.state in ACTIVE and _left(name, key) is not None:
        return None
    return job


def _door(
    name: str, key: tuple, make: Callable[[], Iterator[Snapshot[Any]]], label: str, estimate: str, error: str
) -> None:
    # Not a callback: it would start the settings of the last rerun, not those that stand on the page.
    if st.button("Run again" if error else label, key=f"{name}-start", type="primary"):
        _start(name, key, make)
        st.rerun()
    if estimate:
        st.caption(f"Takes {estimate} on this server.")
    left = _left(name, key)
    if error:
        st.error(markdown(error), icon=":material/error:")
    elif left is not None:
        st.warning(markdown(left.words), icon=":material/info:")


def _start(name: str, key: tuple, make: Callable[[], Iterator[Snapshot[Any]]]) -> None:
    _give_up_another(name, key)
    st.session_state.pop(f"{name}-left", None)
    try:
        registry().submit(key, make, _viewer())
    except InputError as error:
        st.session_state[f"{name}-left"] = _Left(key, str(error))


def _give_up_another(name: str, key: tuple) -> None:
    watched = st.session_state.pop(f"{name}-watched", None)
    if watched is not None and exact_key(watched) != exact_key(key):
        job = registry().find(watched)
        if job is not None:
            registry().cancel(job, _viewer())


def _watch(name: str, key: tuple, job: Job, draw: Draw) -> None:
    if _left(name, key) is not None:
        st.rerun()
    view = registry().view(job, _viewer())
    if view.state is State.CANCELLED:
        st.session_state[f"{name}-left"] = _Left(key, view.error or "The run was cancelled.")
    if view.state not in ACTIVE:
        st.rerun()
    st.progress(_share(view), text=_progress_text(view))
    if view.viewers > 1:
        others = count(view.viewers - 1, "other viewer")
        st.caption(f"Shared with {others}: cancelling leaves it running for them.")
    st.button("Cancel", key=f"{name}-cancel", on_click=_cancel, args=(name, key, job))
    if view.result is not None:
        draw(view.result, False)


def _share(view: JobView) -> float:
    return min(1.0, max(0.0, view.step / view.total)) if view.total else 0.0


def _progress_text(view: JobView) -> str:
    if view.state is State.QUEUED:
        return f"Waiting: {count(view.ahead, 'run')} before yours" if view.ahead else "Starting"
    return f"Step {view.step:,} of {view.total:,}, {view.seconds:.0f} s" if view.total else "Starting"


def _cancel(name: str, key: tuple, job: Job) -> None:
    ends = registry().cancel(job, _viewer())
    words = "The run was cancelled." if ends else "You left the run; it goes on for the others who watch it."
    st.session_state[f"{name}-left"] = _Left(key, words)


def _left(name: str, key: tuple) -> _Left | None:
    left = st.session_state.get(f"{name}-left")
    return left if left is not None and exact_key(left.key) == exact_key(key) else None


def _viewer() -> str:
    context = get_script_run_ctx()
    return context.session_id if context else ""


def _is_connected(viewer: str) -> bool:
    """Whether that session's browser is still there; a reload is another session, and the old one is not."""
    return not runtime.exists() or runtime.get_instance().is_active_session(viewer)
