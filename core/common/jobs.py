"""Long runs on a server: one job for all who ask for the same, with progress, cancel, and a bounded memory.

A job is a generator of snapshots, run by a few worker threads. Whoever asks for the same key joins the job or gets its
finished result. A job ends early when its last viewer cancels or when nobody has looked at it for a while. Only runs
that finished are kept as results; of a failed one the words are kept, until somebody starts it again.

The workers are daemon threads, so that a server that is told to stop does not first finish its runs. They leave the
threads of BLAS as they are: with one worker there is nothing to limit, and a limit would hold for the whole process,
that is for the pages' own arithmetic too.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Any

from core.common.errors import InputError
from core.common.memo import BoundedCache, exact_key, footprint
from core.common.progress import Snapshot
from core.common.text import count

__all__ = ["ACTIVE", "Job", "JobRegistry", "JobView", "State"]

_log = logging.getLogger(__name__)
_OUR_FAULT = "The run failed for a reason on our side; the server's log has it."
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
    """A job at one moment.

    ``step`` of ``total`` is done (0 of 0 before the first snapshot) and ``result`` is the newest one, shared by all
    viewers. ``error`` says why it failed or was stopped. ``ahead`` runs come before it, ``viewers`` watch it, and it
    has been waiting, running or has run for ``seconds``.
    """

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
        self.stopping = False
        self.viewers: dict[str, float] = {}  # who, and when they last looked
        self.looked_at = self.started = now
        self.ended: float | None = None


class JobRegistry:
    """The jobs of one server process; every method may be called from any thread.

    ``workers`` runs go at a time and ``most_waiting`` wait. ``most_kept`` finished results are kept, of about
    ``most_bytes`` together if that is given; the least recently used go first. A job that nobody has looked at for
    ``idle_seconds`` is stopped between two of its steps, or never begins. Whoever looked within that time counts as a
    viewer as long as ``is_connected`` says so of them; it is called under the registry's lock and must not block.

    >>> from core.common.progress import Snapshot
    >>> registry = JobRegistry()
    >>> squares = lambda: (Snapshot(step=n, total=3, result=n**2) for n in (1, 2, 3))
    >>> job = registry.submit(("squares", 3), squares, viewer="me")
    >>> while registry.view(job, "me").state in ACTIVE:
    ...     time.sleep(0.001)
    >>> registry.view(job, "me").result
    9
    """

    def __init__(
        self,
        *,
        workers: int = 1,
        most_waiting: int = 8,
        most_kept: int = 32,
        most_bytes: int | None = None,
        idle_seconds: float = 90.0,
        is_connected: Callable[[str], bool] = lambda viewer: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers, self._most_waiting, self._idle_seconds = workers, most_waiting, idle_seconds
        self._is_connected, self._clock, self._weighs = is_connected, clock, most_bytes is not None
        self._lock = threading.Lock()
        self._active: dict[Hashable, Job] = {}  # in the order of their turn
        self._done: BoundedCache[Job] = BoundedCache(most_kept, most_bytes)
        self._failed: BoundedCache[Job] = BoundedCache(most_kept)
        self._turns: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True, name="laurel-job") for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def find(self, key: Hashable) -> Job | None:
        """The job of that key that waits, runs, has finished or failed; None if there is none or it was cancelled."""
        exact = exact_key(key)
        with self._lock:
            job = self._active.get(exact)
            if job is not None:
                return None if job.stopping else job
            return self._done.get(exact) or self._failed.get(exact)

    def submit(self, key: Hashable, make: Make, viewer: str) -> Job:
        """Join the job of that key, get the finished one, or start one; after a failure or a cancel it starts anew.

        A job that was cancelled but is still in the middle of a step goes on instead. InputError if too many wait.
        """
        exact = exact_key(key)
        with self._lock:
            job = self._active.get(exact) or self._done.get(exact) or self._start(exact, make)
            job.stopping = False
            self._look(job, viewer)
            return job

    def view(self, job: Job, viewer: str) -> JobView:
        """The job as it stands now; looking keeps it alive."""
        with self._lock:
            self._look(job, viewer)
            snapshot, end = job.snapshot, self._clock() if job.ended is None else job.ended
            return JobView(
                state=job.state,
                step=snapshot.step if snapshot else 0,
                total=snapshot.total if snapshot else 0,
                result=snapshot.result if snapshot else None,
                error=job.error,
                ahead=self._ahead(job),
                viewers=self._watching(job),
                seconds=end - job.started,
            )

    def leave(self, job: Job, viewer: str) -> None:
        """Stop counting as a viewer; the job goes on until it has been idle for too long."""
        with self._lock:
            job.viewers.pop(viewer, None)

    def cancel(self, job: Job, viewer: str) -> bool:
        """Leave the job, and end it if nobody else is watching; whether it ends."""
        with self._lock:
            job.viewers.pop(viewer, None)
            if self._watching(job) or job.state not in ACTIVE:
                return False
            job.stopping = True
            if job.state is State.QUEUED:
                self._end(job, State.CANCELLED)
            return True

    def close(self) -> None:
        """Stop all jobs and wait for the workers to end; for tests and scripts, a server need not."""
        with self._lock:
            for job in self._active.values():
                job.stopping = True
        for _ in self._threads:
            self._turns.put(None)
        for thread in self._threads:
            thread.join()

    # What follows down to `_end` is called with the lock held.

    def _start(self, exact: Hashable, make: Make) -> Job:
        self._sweep()
        waiting = len(self._active) - self._workers
        if waiting >= self._most_waiting:
            raise InputError(f"the server is busy: {count(waiting, 'run')} waiting", remedy="Try again in a minute.")
        self._failed.drop(exact)
        job = self._active[exact] = Job(exact, make, self._clock())
        self._turns.put(job)
        return job

    def _sweep(self) -> None:
        """Waiting jobs that nobody wants any more must not keep others out."""
        for job in [job for job in self._active.values() if job.state is State.QUEUED and self._is_idle(job)]:
            self._end(job, State.CANCELLED, self._idle_words())

    def _look(self, job: Job, viewer: str) -> None:
        if job.state in ACTIVE:
            job.looked_at = job.viewers[viewer] = self._clock()

    def _watching(self, job: Job) -> int:
        """A closed tab does not say goodbye, and a hidden one looks once a minute only."""
        now = self._clock()
        looked = (viewer for viewer, last in job.viewers.items() if now - last <= self._idle_seconds)
        return sum(map(self._is_connected, looked))

    def _ahead(self, job: Job) -> int:
        if job.state is not State.QUEUED:
            return 0
        return sum(1 for _ in takewhile(lambda other: other is not job, self._active.values()))

    def _is_idle(self, job: Job) -> bool:
        return self._clock() - job.looked_at > self._idle_seconds

    def _idle_words(self) -> str:
        return f"The run was stopped because nobody had looked at it for {self._idle_seconds:.0f} seconds."

    def _end(self, job: Job, state: State, error: str = "", size: int = 0) -> None:
        job.state, job.error, job.ended = state, error, self._clock()
        job.make = _nothing  # lets go of the uploaded table that the closure holds
        job.viewers.clear()
        self._active.pop(job.key, None)
        if state is State.DONE:
            self._done.put(job.key, job, size)
            return
        job.snapshot = None
        if state is State.FAILED:
            self._failed.put(job.key, job)

    # What follows runs in the workers, without the lock.

    def _work(self) -> None:
        for job in iter(self._turns.get, None):
            self._run(job)
            del job  # or the last result would stay until the next run

    def _run(self, job: Job) -> None:
        make = self._begin(job)
        if make is None:
            return
        try:
            self._consume(job, make)
            size = footprint(job.snapshot) if self._weighs else 0
        except InputError as error:
            self._finish(job, State.FAILED, str(error))
        except BaseException as error:  # also SystemExit: a worker outlives whatever it runs
            # An error's own text may quote a visitor's data; where it happened does not.
            _log.error("a run failed: %s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
            self._finish(job, State.FAILED, _OUR_FAULT)
        else:
            self._finish(job, State.DONE, size=size)

    def _begin(self, job: Job) -> Make | None:
        """What to run, or None if the job was cancelled or forgotten while it waited."""
        with self._lock:
            if job.state is State.QUEUED and self._is_idle(job):
                self._end(job, State.CANCELLED, self._idle_words())
            if job.state is not State.QUEUED:
                return None
            job.state, job.started = State.RUNNING, self._clock()
            return job.make

    def _consume(self, job: Job, make: Make) -> None:
        """Run to the end, or until the job is stopped."""
        with _closed(make()) as snapshots:
            for snapshot in snapshots:
                if not self._goes_on(job, snapshot):
                    return
        if job.snapshot is None:
            raise ValueError("the run yielded no snapshot")

    def _goes_on(self, job: Job, snapshot: Snapshot[Any]) -> bool:
        """Take note of a step. A run that has reached its last one is finished rather than stopped."""
        with self._lock:
            job.snapshot = snapshot
            idle = self._is_idle(job)
            if snapshot.step >= snapshot.total or not (idle or job.stopping):
                return True
            self._end(job, State.CANCELLED, self._idle_words() if idle else "")
            return False

    def _finish(self, job: Job, state: State, error: str = "", size: int = 0) -> None:
        with self._lock:
            if job.state is State.RUNNING:
                self._end(job, state, error, size)


@contextmanager
def _closed(snapshots: Iterator[Snapshot[Any]]) -> Iterator[Iterator[Snapshot[Any]]]:
    """Close a generator at the end, so that its ``finally`` runs now; other iterators have nothing to close."""
    try:
        yield snapshots
    finally:
        getattr(snapshots, "close", lambda: None)()


def _nothing() -> Iterator[Snapshot[Any]]:
    return iter(())
