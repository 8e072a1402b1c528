"""Jobs: shared, cancelled by the last viewer only, bounded, never stuck; no test waits for a fixed time."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pandas as pd
import pytest

from core.common.errors import InputError
from core.common.jobs import ACTIVE, JobRegistry, State, exact_key
from core.common.memo import Memo
from core.common.progress import Snapshot


class Stepper:
    """A run that takes its next step when told, and tells when it ended."""

    def __init__(self, total=3, error=None):
        self.total, self.error = total, error
        self.go, self.closed, self.starts = threading.Semaphore(0), threading.Event(), 0

    def __call__(self):
        self.starts += 1
        try:
            for step in range(1, self.total + 1):
                assert self.go.acquire(timeout=10)
                if self.error:
                    raise self.error
                yield Snapshot(step=step, total=self.total, result=step * 10)
        finally:
            self.closed.set()

    def let(self, steps):
        for _ in range(steps):
            self.go.release()


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def registry(clock):
    made = JobRegistry(workers=1, most_waiting=2, most_kept=2, idle_seconds=30, clock=lambda: clock[0])
    yield made
    made.close()


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def state(registry, job):
    return registry.view(job, "test").state


def test_a_run_shows_its_steps_and_keeps_its_result(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    run.let(1)
    until(lambda: registry.view(job, "a").step == 1)
    assert registry.view(job, "a").result == 10
    run.let(2)
    until(lambda: state(registry, job) is State.DONE)
    view = registry.view(job, "a")
    assert (view.step, view.total, view.result) == (3, 3, 30)
    assert registry.find("k") is job
    assert registry.submit("k", run, "b") is job
    assert run.starts == 1


def test_the_same_key_joins_and_one_viewers_cancel_leaves_it_running(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    assert registry.submit("k", run, "b") is job
    assert registry.view(job, "a").viewers == 2
    assert not registry.cancel(job, "a")
    run.let(1)
    until(lambda: registry.view(job, "b").step == 1)
    assert registry.cancel(job, "b")
    run.let(2)
    until(run.closed.is_set)
    until(lambda: job.state is State.CANCELLED)
    assert registry.find("k") is None
    assert registry.submit("k", run, "a") is not job
    run.let(3)


def test_a_job_that_nobody_looks_at_ends(registry, clock):
    run = Stepper()
    job = registry.submit("k", run, "a")
    run.let(1)
    until(lambda: registry.view(job, "a").step == 1)
    clock[0] += 31
    run.let(1)
    until(lambda: job.state is State.CANCELLED)
    assert run.closed.is_set()


def test_a_waiting_job_that_nobody_looks_at_never_starts(registry, clock):
    first, second = Stepper(), Stepper()
    running = registry.submit("1", first, "a")
    waiting = registry.submit("2", second, "a")
    assert registry.view(waiting, "a").ahead == 1
    clock[0] += 31
    registry.view(running, "a")
    first.let(3)
    until(lambda: waiting.state is State.CANCELLED)
    assert second.starts == 0


def test_a_viewer_whose_tab_is_closed_stops_counting(registry, clock):
    run = Stepper()
    job = registry.submit("k", run, "a")
    registry.view(job, "b")
    clock[0] += 6
    assert registry.view(job, "a").viewers == 1
    run.let(3)


def test_the_queue_is_bounded(registry):
    runs = [Stepper() for _ in range(4)]
    job = registry.submit("0", runs[0], "a")
    until(lambda: state(registry, job) is State.RUNNING)
    for place in (1, 2):
        registry.submit(str(place), runs[place], "a")
    with pytest.raises(InputError, match="2 runs waiting"):
        registry.submit("3", runs[3], "a")
    for run in runs:
        run.let(3)


def test_finished_results_are_bounded_and_the_least_used_goes_first(registry):
    jobs = {}
    for key in "abc":
        run = Stepper(total=1)
        run.let(1)
        jobs[key] = registry.submit(key, run, "v")
        until(lambda key=key: state(registry, jobs[key]) is State.DONE)
        if key == "b":
            registry.find("a")
    assert registry.find("b") is None
    assert registry.find("a") is jobs["a"]
    assert registry.find("c") is jobs["c"]


@pytest.mark.parametrize(
    ("error", "words"), [(InputError("row 3 is bad"), "Row 3 is bad."), (ZeroDivisionError("secret"), "on our side")]
)
def test_a_failure_is_told_and_not_kept(registry, error, words):
    run = Stepper(error=error)
    job = registry.submit("k", run, "a")
    run.let(1)
    until(lambda: state(registry, job) is State.FAILED)
    assert words in registry.view(job, "a").error
    assert "secret" not in registry.view(job, "a").error
    assert registry.find("k") is None
    again = registry.submit("k", run, "a")
    assert again is not job
    run.let(1)
    until(lambda: state(registry, again) is State.FAILED)
    assert run.starts == 2


@dataclass(frozen=True)
class Asked:
    n: float


def test_keys_tell_types_apart():
    keys = [1, 1.0, True, "1", (1,), Asked(1), Asked(1.0), None, b"1"]
    assert len({exact_key(key) for key in keys}) == len(keys)
    for bad in ([1], {"a": 1}, pd.DataFrame({"a": [1]}), object()):
        with pytest.raises(TypeError):
            exact_key(("name", bad))


def test_many_threads_neither_hang_nor_compute_twice():
    registry = JobRegistry(workers=2, most_waiting=1000, idle_seconds=60)
    running, doubled, lock = set(), [], threading.Lock()

    def make(key):
        def run():
            with lock:
                doubled.extend([key] if key in running else [])
                running.add(key)
            try:
                for step in range(1, 4):
                    yield Snapshot(step=step, total=3, result=key)
            finally:
                with lock:
                    running.discard(key)

        return run

    def visitor(number):
        draw = random.Random(number)
        for _ in range(60):
            key = draw.randrange(8)
            job = registry.submit(key, make(key), str(number))
            view = registry.view(job, str(number))
            assert view.result in (None, key)
            if draw.random() < 0.3:
                registry.cancel(job, str(number))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(visitor, range(8)))
    for key in range(8):
        job = registry.submit(key, make(key), "last")
        until(lambda job=job: registry.view(job, "last").state not in ACTIVE)
    registry.close()
    assert not doubled


def test_a_memo_computes_once_for_callers_at_the_same_time():
    memo, calls, gate = Memo(most=4), [], threading.Event()

    def compute():
        calls.append(1)
        gate.wait(5)
        return 7

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(memo.get, ("k", Asked(1)), compute) for _ in range(4)]
        gate.set()
        assert [future.result() for future in found] == [7] * 4
    assert len(calls) == 1


def test_a_memo_forgets_the_oldest_and_keeps_no_error():
    memo = Memo(most=1)
    with pytest.raises(ZeroDivisionError):
        memo.get(("a",), lambda: 1 / 0)
    assert memo.get(("a",), lambda: 1) == 1
    memo.get(("b",), lambda: 2)
    assert memo.get(("a",), lambda: 3) == 3
