"""Jobs: shared, cancelled by the last viewer only, bounded, never stuck; no test waits for a fixed time."""

import gc
import logging
import random
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from core.common.errors import InputError
from core.common.jobs import ACTIVE, JobRegistry, State
from core.common.progress import Snapshot

OVER = (State.DONE, State.FAILED, State.CANCELLED)


class Stepper:
    """A run that takes its next step when told, and tells when it was closed."""

    def __init__(self, total=3, error=None):
        self.total, self.error = total, error
        self.go, self.began, self.closed, self.starts = threading.Semaphore(0), threading.Event(), threading.Event(), 0

    def __call__(self):
        self.starts += 1
        self.began.set()
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
def away():
    """Viewers whose connection is gone."""
    return set()


@pytest.fixture
def registry(clock, away):
    made = JobRegistry(
        workers=1,
        most_waiting=2,
        most_kept=2,
        idle_seconds=30,
        is_connected=lambda viewer: viewer not in away,
        clock=lambda: clock[0],
    )
    yield made
    made.close()


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def run_to_end(registry, key, run, viewer="v"):
    job = registry.submit(key, run, viewer)
    run.let(run.total)
    until(lambda: job.state in OVER)
    return job


def test_a_run_shows_its_steps_and_keeps_its_result(registry, clock):
    run = Stepper()
    job = registry.submit("k", run, "a")
    assert run.began.wait(10)
    before = registry.view(job, "a")
    assert (before.state, before.step, before.total, before.result) == (State.RUNNING, 0, 0, None)
    run.let(1)
    until(lambda: registry.view(job, "a").step == 1)
    assert registry.view(job, "a").result == 10
    clock[0] += 5
    run.let(2)
    until(lambda: job.state is State.DONE)
    clock[0] += 100
    view = registry.view(job, "a")
    assert (view.step, view.total, view.result, view.seconds) == (3, 3, 30, 5)
    assert registry.find("k") is job
    assert registry.submit("k", run, "b") is job
    assert run.starts == 1
    with pytest.raises(FrozenInstanceError):
        view.step = 4


def test_keys_are_told_apart_by_type(registry):
    job = run_to_end(registry, ("k", 1), Stepper())
    assert registry.find(("k", 1)) is job
    assert registry.find(("k", 1.0)) is None
    assert registry.find(("k", True)) is None
    with pytest.raises(TypeError):
        registry.submit(("k", np.arange(3)), Stepper(), "a")


def test_the_same_key_joins_and_one_viewers_cancel_leaves_it_running(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    assert registry.submit("k", run, "b") is job
    assert registry.view(job, "a").viewers == 2
    assert not registry.cancel(job, "a")
    run.let(1)
    until(lambda: registry.view(job, "b").step == 1)
    assert registry.view(job, "b").viewers == 1
    assert registry.cancel(job, "b")
    run.let(1)
    assert run.closed.wait(10)
    assert job.state is State.CANCELLED
    assert registry.view(job, "b").result is None
    assert registry.find("k") is None
    assert registry.submit("k", run, "a") is not job
    run.let(3)


def test_whoever_left_does_not_keep_a_run_from_being_cancelled(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    registry.view(job, "b")
    registry.leave(job, "b")
    assert registry.view(job, "a").viewers == 1
    assert registry.cancel(job, "a")
    run.let(1)
    until(lambda: job.state is State.CANCELLED)


def test_leaving_alone_ends_nothing(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    registry.leave(job, "a")
    run.let(3)
    until(lambda: job.state is State.DONE)


def test_a_cancelled_run_that_is_asked_for_within_the_same_step_goes_on(registry):
    run = Stepper()
    job = registry.submit("k", run, "a")
    assert run.began.wait(10)
    assert registry.cancel(job, "a")
    assert registry.find("k") is None
    assert registry.submit("k", run, "a") is job
    assert registry.find("k") is job
    run.let(3)
    until(lambda: job.state is State.DONE)
    assert run.starts == 1


def test_a_waiting_job_that_is_cancelled_never_starts_and_leaves_no_result(registry):
    first, second = Stepper(), Stepper()
    registry.submit("1", first, "a")
    waiting = registry.submit("2", second, "a")
    assert registry.cancel(waiting, "a")
    assert waiting.state is State.CANCELLED
    assert registry.find("2") is None
    first.let(3)
    third = run_to_end(registry, "3", Stepper())
    assert third.state is State.DONE
    assert second.starts == 0
    assert waiting.state is State.CANCELLED


def test_a_finished_run_cannot_be_cancelled(registry):
    job = run_to_end(registry, "k", Stepper())
    assert not registry.cancel(job, "v")
    assert registry.find("k") is job


def test_a_job_that_nobody_looks_at_ends(registry, clock):
    run = Stepper()
    job = registry.submit("k", run, "a")
    run.let(1)
    until(lambda: registry.view(job, "a").step == 1)
    clock[0] += 31
    run.let(1)
    assert run.closed.wait(10)
    assert job.state is State.CANCELLED
    assert "nobody had looked at it for 30 seconds" in registry.view(job, "a").error
    assert registry.find("k") is None


def test_a_look_keeps_a_job_alive(registry, clock):
    run = Stepper(total=5)
    job = registry.submit("k", run, "a")
    for step in range(1, 6):
        run.let(1)
        until(lambda step=step: registry.view(job, "a").step == step)
        clock[0] += 29
    until(lambda: job.state is State.DONE)


def test_a_waiting_job_that_nobody_looks_at_never_starts(registry, clock):
    first, second = Stepper(), Stepper()
    running = registry.submit("1", first, "a")
    waiting = registry.submit("2", second, "a")
    clock[0] += 31
    registry.view(running, "a")
    first.let(3)
    until(lambda: waiting.state is State.CANCELLED)
    assert second.starts == 0


def test_forgotten_jobs_do_not_keep_others_out(registry, clock):
    first = Stepper()
    running = registry.submit("0", first, "a")
    forgotten = [registry.submit(key, Stepper(), "gone") for key in "12"]
    clock[0] += 31
    registry.view(running, "a")
    last = Stepper()
    job = registry.submit("3", last, "b")
    assert [each.state for each in forgotten] == [State.CANCELLED] * 2
    assert registry.view(job, "b").ahead == 1
    first.let(3)
    last.let(3)
    until(lambda: job.state is State.DONE)


def test_the_one_who_waits_sees_how_many_come_before(registry, clock):
    runs = [Stepper() for _ in range(3)]
    jobs = []
    for key, run in zip("012", runs, strict=True):
        jobs.append(registry.submit(key, run, "a"))
        clock[0] += 1
    assert runs[0].began.wait(10)
    assert [registry.view(job, "a").ahead for job in jobs] == [0, 1, 2]
    runs[0].let(3)
    assert runs[1].began.wait(10)
    assert [registry.view(job, "a").ahead for job in jobs] == [0, 0, 1]
    runs[1].let(3)
    assert runs[2].began.wait(10)
    runs[2].let(3)


@pytest.mark.parametrize("why", ["left long ago", "connection gone"])
def test_a_viewer_whose_tab_is_closed_stops_counting(registry, clock, away, why):
    run = Stepper()
    job = registry.submit("k", run, "a")
    registry.view(job, "b")
    if why == "connection gone":
        away.add("b")
    else:
        clock[0] += 31
    assert registry.view(job, "a").viewers == 1
    assert registry.cancel(job, "a")
    run.let(1)


def test_the_queue_is_bounded(registry):
    runs = [Stepper() for _ in range(4)]
    jobs = [registry.submit(str(place), runs[place], "a") for place in range(3)]
    with pytest.raises(InputError, match=r"2 runs waiting. Try again in a minute"):
        registry.submit("3", runs[3], "a")
    assert registry.submit("2", runs[2], "b") is jobs[2], "joining is always possible"
    registry.cancel(jobs[1], "a")
    registry.submit("3", runs[3], "a")
    for run in runs:
        run.let(3)


def test_two_workers_run_two_at_a_time():
    registry = JobRegistry(workers=2)
    runs = [Stepper() for _ in range(3)]
    jobs = [registry.submit(place, run, "a") for place, run in enumerate(runs)]
    assert runs[0].began.wait(10)
    assert runs[1].began.wait(10)
    assert registry.view(jobs[2], "a").ahead == 2
    for run in runs:
        run.let(3)
    until(lambda: all(job.state is State.DONE for job in jobs))
    registry.close()


def test_finished_results_are_bounded_and_the_least_used_goes_first(registry):
    jobs = {}
    for key in "abc":
        jobs[key] = run_to_end(registry, key, Stepper(total=1))
        if key == "b":
            registry.find("a")
    assert registry.find("b") is None
    assert registry.find("a") is jobs["a"]
    assert registry.find("c") is jobs["c"]


def test_finished_results_are_bounded_in_bytes_and_the_newest_is_always_there():
    registry = JobRegistry(most_bytes=1_000_000)

    def make(megabytes):
        return lambda: iter([Snapshot(step=1, total=1, result=np.zeros(int(megabytes * 1e6), np.int8))])

    for key, megabytes in (("a", 0.4), ("b", 0.4), ("c", 0.4), ("huge", 3)):
        job = registry.submit(key, make(megabytes), "v")
        until(lambda job=job: job.state is State.DONE)
        if key == "c":
            assert registry.find("a") is None
            assert registry.find("b") is not None
    assert [registry.find(key) is not None for key in ("b", "c", "huge")] == [False, False, True]
    registry.close()


def test_an_ended_run_lets_go_of_its_data(registry):
    class Data:
        pass

    data = Data()
    gone = weakref.ref(data)

    def make(held=data):
        yield Snapshot(step=1, total=1, result=1)

    job = registry.submit("k", make, "a")
    until(lambda: job.state is State.DONE)
    del data, make
    until(lambda: gc.collect() is not None and gone() is None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError("row 3 is bad"), "Row 3 is bad."),
        (ZeroDivisionError("secret"), "on our side"),
        (SystemExit("secret"), "on our side"),
    ],
    ids=["input", "ours", "exit"],
)
def test_a_failure_is_told_is_not_retried_and_can_be_started_anew(registry, error, words, caplog):
    run = Stepper(error=error)
    with caplog.at_level(logging.DEBUG):
        job = run_to_end(registry, "k", run, "a")
    view = registry.view(job, "a")
    assert view.state is State.FAILED
    assert words in view.error
    assert view.result is None
    assert "secret" not in view.error + caplog.text, "an error's text may quote a visitor's data"
    assert ("ZeroDivisionError" in caplog.text) == isinstance(error, ZeroDivisionError)
    assert registry.find("k") is job
    assert run.starts == 1
    run.error = None
    again = run_to_end(registry, "k", run, "a")
    assert again is not job
    assert again.state is State.DONE
    assert registry.find("k") is again


def test_a_failure_after_some_steps_leaves_no_result(registry):
    def make():
        yield Snapshot(step=1, total=2, result=10)
        raise InputError("row 3 is bad")

    job = registry.submit("k", make, "a")
    until(lambda: job.state in OVER)
    assert (job.state, registry.view(job, "a").result) == (State.FAILED, None)


@pytest.mark.parametrize("make", [lambda: iter(()), lambda: None, lambda: 1 / 0], ids=["empty", "nothing", "raises"])
def test_what_is_no_run_fails_and_the_worker_goes_on(registry, make):
    job = registry.submit("k", make, "a")
    until(lambda: job.state in OVER)
    assert job.state is State.FAILED
    assert run_to_end(registry, "next", Stepper()).state is State.DONE


def test_an_error_while_closing_does_not_turn_a_cancel_into_a_failure(registry):
    go, closing = threading.Semaphore(0), threading.Event()

    def make():
        try:
            for step in (1, 2, 3):
                assert go.acquire(timeout=10)
                yield Snapshot(step=step, total=3, result=step)
        finally:
            closing.set()
            raise OSError

    job = registry.submit("k", make, "a")
    registry.cancel(job, "a")
    if job.state is not State.CANCELLED:
        go.release()
        assert closing.wait(10)
    assert run_to_end(registry, "next", Stepper()).state is State.DONE
    assert job.state is State.CANCELLED


def test_many_threads_neither_hang_nor_compute_twice():
    """Random visitors: what is finished is right, a key never runs twice at a time, and all come to an end."""
    registry = JobRegistry(workers=2, most_waiting=1000, most_kept=3)
    running, doubled, lock = set(), [], threading.Lock()

    def make(key):
        def run():
            with lock:
                doubled.extend([key] if key in running else [])
                running.add(key)
            for step in range(1, 4):
                if step == 3:
                    with lock:
                        running.discard(key)
                yield Snapshot(step=step, total=3, result=(key, step))

        return run

    def visitor(number):
        draw, me = random.Random(number), str(number)
        for _ in range(150):
            key = draw.randrange(8)
            job = registry.submit(key, make(key), me)
            view = registry.view(job, me)
            assert view.result in (None, (key, view.step))
            assert view.state is not State.DONE or view.step == 3
            assert view.state is not State.FAILED
            draw.choice([registry.leave, registry.view, registry.view])(job, me)
            registry.find(key)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(visitor, range(8), timeout=60))
    registry.close()
    assert not doubled


def test_many_threads_that_cancel_never_leave_a_wrong_state():
    registry = JobRegistry(workers=2, most_waiting=1000, most_kept=4)

    def make(key):
        return lambda: (Snapshot(step=step, total=4, result=(key, step)) for step in range(1, 5))

    def visitor(number):
        draw, me = random.Random(number), str(number)
        for _ in range(150):
            key = draw.randrange(5)
            job = registry.submit(key, make(key), me)
            if draw.random() < 0.6:
                registry.cancel(job, me)
            view = registry.view(job, me)
            assert view.state is not State.DONE or view.result == (key, 4)
            assert view.state is not State.CANCELLED or view.result is None
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(visitor, range(8), timeout=60))
    for key in range(5):
        job = registry.submit(key, make(key), "last")
        until(lambda job=job: registry.view(job, "last").state not in ACTIVE)
        assert registry.view(job, "last").result == (key, 4)
    registry.close()


def test_a_process_that_ends_does_not_wait_for_its_runs():
    code = """
import threading
from core.common.jobs import JobRegistry
from core.common.progress import Snapshot
began = threading.Event()
def endless():
    yield Snapshot(step=0, total=1, result=0)
    began.set()
    threading.Event().wait()
registry = JobRegistry()
registry.submit("k", endless, "a")
assert began.wait(10)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 0
