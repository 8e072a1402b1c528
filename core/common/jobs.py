"""Long runs on a server: one job for all who ask for the same, with progress, cancel, and a bounded memory.

A job is a generator of snapshots run by a small pool. Whoever asks for the same key joins the job or gets its finished
result. A job ends early when its last viewer cancels or when nobody has looked at it for a while; only runs that
finished are kept.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from typing import Any

from core.common.errors import InputError
from core.common.progress import Snapshot
from core.common.text import count

__all__ = ["Job", "JobRegistry", "JobView", "State", "exact_key"]

_log = logging.getLogger(__name__)
Make = Callable[[], Iterator[Snapshot[Any]]]


class State(Enum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, kw_only=True)
class JobView:
    """A job at one moment: ``step`` of ``total``, the newest ``result``, how many runs are ``ahead`` of it."""

    state: State
    step: int
    total: int
    result: Any
    error: str
    ahead: int
    viewers: int
    seconds: float


class Job:
    """One run. Its fields change under the registry's lock; read them through `JobRegistry.view`."""

    def __init__(self, key: Hashable, make: Make, now: float) -> None:
        self.key, self.make = key, make
        self.state, self.error = State.QUEUED, ""
        self.snapshot: Snapshot[Any] | None = None
        self.stop = threading.Event()
        self.viewers: dict[str, float] = {}  # who, and when they last looked
        self.looked_at = self.started = now
        self.ended: float | None = None


class JobRegistry:
    """The jobs of one server process; every method may be called from any thread.

    ``workers`` runs go at a time and ``most_waiting`` wait; ``most_kept`` finished results are kept, the least recently
    used go first; a job that nobody has looked at for ``idle_seconds`` is stopped between two of its steps. A viewer
    counts as present for ``present_seconds`` after each look.
    """

    def __init__(
        self,
        *,
        workers: int = 1,
        most_waiting: int = 8,
        most_kept: int = 32,
        idle_seconds: float = 30.0,
        present_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="laurel-job")
        self._most_waiting, self._most_kept, self._idle = most_waiting, most_kept, idle_seconds
        self._present_seconds, self._clock = present_seconds, clock
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()

    def find(self, key: Hashable) -> Job | None:
        """The job of that key that waits, runs or has finished; None if there is none or it failed or was cancelled."""
        with self._lock:
            return self._alive(exact_key(key))

    def submit(self, key: Hashable, make: Make, viewer: str) -> Job:
        """Join the job of that key, or start one; after a failure or a cancel it starts anew.

        InputError if too many runs are waiting.
        """
        exact = exact_key(key)
        with self._lock:
            job = self._alive(exact)
            if job is None:
                job = self._start(exact, make)
            self._look(job, viewer)
            return job

    def view(self, job: Job, viewer: str) -> JobView:
        """The job as it stands now; looking keeps it alive."""
        with self._lock:
            self._look(job, viewer)
            snapshot = job.snapshot
            end = self._clock() if job.ended is None else job.ended
            return JobView(
                state=job.state,
                step=snapshot.step if snapshot else 0,
                total=snapshot.total if snapshot else 0,
                result=snapshot.result if snapshot else None,
                error=job.error,
                ahead=self._ahead(job),
                viewers=self._present(job),
                seconds=end - job.started,
            )

    def cancel(self, job: Job, viewer: str) -> bool:
        """Leave the job, and end it if nobody else is watching; whether it ends."""
        with self._lock:
            job.viewers.pop(viewer, None)
            if self._present(job) or job.state not in ACTIVE:
                return False
            job.stop.set()
            if job.state is State.QUEUED:
                self._end(job, State.CANCELLED)
            return True

    def close(self) -> None:
        """Stop all jobs and wait for the workers to end."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _alive(self, exact: Hashable) -> Job | None:
        job = self._jobs.get(exact)
        if job is None or job.state in (State.FAILED, State.CANCELLED) or job.stop.is_set():
            return None
        self._jobs.move_to_end(exact)
        return job

    def _start(self, exact: Hashable, make: Make) -> Job:
        waiting = sum(job.state is State.QUEUED and not job.stop.is_set() for job in self._jobs.values())
        if waiting >= self._most_waiting:
            raise InputError(f"the server is busy: {count(waiting, 'run')} waiting", remedy="Try again in a minute.")
        job = self._jobs[exact] = Job(exact, make, self._clock())
        self._jobs.move_to_end(exact)
        self._drop_oldest()
        self._pool.submit(self._run, job)
        return job

    def _drop_oldest(self) -> None:
        ended = [key for key, job in self._jobs.items() if job.state not in ACTIVE]
        for key in ended[: max(0, len(ended) - self._most_kept)]:
            del self._jobs[key]

    def _look(self, job: Job, viewer: str) -> None:
        job.looked_at = self._clock()
        if job.state in ACTIVE:
            job.viewers[viewer] = job.looked_at

    def _present(self, job: Job) -> int:
        """Viewers who looked lately: a closed tab does not say goodbye."""
        now = self._clock()
        return sum(now - looked < self._present_seconds for looked in job.viewers.values())

    def _ahead(self, job: Job) -> int:
        if job.state is not State.QUEUED:
            return 0
        active = [other for other in self._jobs.values() if other.state in ACTIVE and other is not job]
        return sum(other.started <= job.started for other in active)

    def _abandoned(self, job: Job) -> bool:
        with self._lock:
            if self._clock() - job.looked_at > self._idle:
                job.stop.set()
            return job.stop.is_set()

    def _run(self, job: Job) -> None:
        if self._abandoned(job):
            self._finish(job, State.CANCELLED)
            return
        with self._lock:
            job.state, job.started = State.RUNNING, self._clock()
        try:
            self._finish(job, self._consume(job))
        except InputError as error:
            self._finish(job, State.FAILED, str(error))
        except Exception:
            _log.exception("a job failed")
            self._finish(job, State.FAILED, "The run failed for a reason on our side; the server's log has it.")

    def _consume(self, job: Job) -> State:
        with closing(job.make()) as snapshots:
            for snapshot in snapshots:
                with self._lock:
                    job.snapshot = snapshot
                if self._abandoned(job) and snapshot.step < snapshot.total:
                    return State.CANCELLED
        return State.DONE

    def _finish(self, job: Job, state: State, error: str = "") -> None:
        with self._lock:
            job.error = error
            self._end(job, state)

    def _end(self, job: Job, state: State) -> None:
        job.state, job.ended = state, self._clock()
        job.make = _nothing  # lets go of the uploaded table that the closure holds
        job.viewers.clear()
        if state is not State.DONE:
            job.snapshot = None
        self._drop_oldest()


def exact_key(key: Any) -> Hashable:
    """The key with the type of every part, so that 1, 1.0 and True differ; TypeError for what cannot be a key."""
    if isinstance(key, tuple):
        return tuple(exact_key(part) for part in key)
    if isinstance(key, str | int | float | bool | bytes | Enum) or key is None:
        return (type(key), key)
    if getattr(type(key), "__dataclass_params__", None) is not None and type(key).__dataclass_params__.frozen:
        return (type(key), tuple(exact_key(getattr(key, name)) for name in type(key).__dataclass_fields__))
    raise TypeError(f"{type(key).__name__} cannot be part of a key; use text, numbers and frozen settings")


def _nothing() -> Iterator[Snapshot[Any]]:
    return iter(())
