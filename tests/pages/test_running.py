"""The panel that watches a run, under the framework's own test driver: start, result, errors, another's run."""

import threading
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.common.jobs import JobRegistry, State
from core.common.progress import Snapshot
from pages.shared import running

SCRIPT = Path(__file__).parents[1] / "e2e" / "apps" / "running.py"
SEEDS = iter(range(100, 1000))


@pytest.fixture
def registry(monkeypatch):
    """A registry of this test's own, instead of the server's."""
    made = JobRegistry(workers=1, most_waiting=1)
    monkeypatch.setattr(running, "registry", lambda: made)
    yield made
    made.close()


def opened(**settings) -> AppTest:
    app = AppTest.from_file(str(SCRIPT), default_timeout=30)
    values = {"pace": 0.0, "seed": next(SEEDS), **settings}
    for key, value in values.items():
        app.query_params[key] = str(value)
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    return app


def key_of(app: AppTest) -> tuple:
    numbers = {each.key: each.value for each in app.number_input}
    return ("squares", numbers["seed"], numbers["total"], numbers["pace"], app.selectbox(key="outcome").value)


def started(app: AppTest) -> AppTest:
    app.button(key="squares-start").click()
    return run(app)


def ended(app: AppTest, registry: JobRegistry) -> AppTest:
    """The page after its run has come to an end."""
    end = time.monotonic() + 20
    while (job := registry.find(key_of(app))) is None or job.state in (State.QUEUED, State.RUNNING):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return run(app)


def texts(app: AppTest) -> list[str]:
    return [element.value for element in app.text]


class Gate:
    """A run that waits to be let go, to keep the worker busy or a job alive."""

    def __init__(self):
        self.open = threading.Event()

    def __call__(self):
        yield Snapshot(step=0, total=2, result=[0])
        assert self.open.wait(20)
        yield Snapshot(step=1, total=2, result=[0, 1])
        yield Snapshot(step=2, total=2, result=[0, 1, 4])


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open.set()


def test_nothing_runs_before_it_is_asked_for(registry):
    app = opened()
    assert app.button(key="squares-start").label == "Run it"
    assert any("about 2 s" in caption.value for caption in app.caption)
    assert registry.find(key_of(app)) is None
    assert not any("square" in text for text in texts(app))


def test_a_run_is_started_finished_drawn_and_returned(registry):
    app = ended(started(opened()), registry)
    assert "All: last square 400" in texts(app)
    assert "Returned 20 squares" in texts(app)
    assert not app.button, "neither Run nor Cancel is left"
    assert any("Measured on this server" in caption.value for caption in app.caption)


def test_a_finished_run_is_there_for_the_next_visitor_without_a_click(registry):
    seed = next(SEEDS)
    ended(started(opened(seed=seed)), registry)
    later = opened(seed=seed)
    assert "All: last square 400" in texts(later)
    assert f"run {seed} begun: 1" in texts(later)[-1]


def test_other_settings_are_another_run(registry):
    app = ended(started(opened()), registry)
    app.number_input(key="total").set_value(21)
    run(app)
    assert app.button(key="squares-start").label == "Run it"


def test_pressing_run_takes_the_settings_that_stand_on_the_page(registry):
    """The seed's widget reruns nothing: the button was drawn for the old seed when it is pressed."""
    app = opened()
    seed = next(SEEDS)
    app.number_input(key="seed").set_value(seed)
    app = ended(started(app), registry)
    assert f"run {seed} begun: 1" in texts(app)[-1]
    assert "All: last square 400" in texts(app)


@pytest.mark.parametrize(
    ("outcome", "words"), [("refuses", r"Row 3 is \*bad\*"), ("breaks", "failed for a reason on our side")]
)
def test_an_error_is_shown_stays_and_is_not_retried(registry, outcome, words):
    seed = next(SEEDS)
    app = ended(started(opened(seed=seed, outcome=outcome)), registry)
    for visit in (app, run(app), opened(seed=seed, outcome=outcome)):
        assert len(visit.error) == 1
        assert words in visit.error[0].value
        assert "secret" not in visit.error[0].value
        assert visit.button(key="squares-start").label == "Run again"
        assert f"run {seed} begun: 1" in texts(visit)[-1]
    again = ended(started(app), registry)
    assert f"run {seed} begun: 2" in texts(again)[-1]
    assert len(again.error) == 1


def test_anothers_run_is_joined_without_a_click_and_its_part_is_drawn(registry, gate):
    app = opened()
    job = registry.submit(key_of(app), gate, "another")
    end = time.monotonic() + 20
    while registry.view(job, "another").result is None:
        assert time.monotonic() < end
    run(app)
    assert "Part: last square 0" in texts(app)
    assert any("Shared with 1 other viewer" in caption.value for caption in app.caption)
    assert app.button(key="squares-cancel").label == "Cancel"


def test_cancel_leaves_a_shared_run_to_the_others(registry, gate):
    app = opened()
    job = registry.submit(key_of(app), gate, "another")
    run(app)
    app.button(key="squares-cancel").click()
    run(app)
    assert "goes on for the others" in app.warning[0].value
    assert app.button(key="squares-start")
    assert job.state in (State.QUEUED, State.RUNNING)
    assert "goes on for the others" in run(app).warning[0].value, "the words stay"
    gate.open.set()
    assert "All: last square 4" in texts(ended(app, registry))


def test_cancel_alone_ends_the_run(registry, gate):
    app = opened()
    job = registry.submit(key_of(app), gate, "another")
    run(app)
    registry.leave(job, "another")
    app.button(key="squares-cancel").click()
    run(app)
    assert "was cancelled" in app.warning[0].value
    gate.open.set()
    end = time.monotonic() + 20
    while job.state is not State.CANCELLED:
        assert time.monotonic() < end
    assert app.button(key="squares-start")


def test_the_place_in_the_queue_is_shown_and_a_full_queue_is_said(registry, gate):
    registry.submit("busy", gate, "another")
    app = started(opened())
    assert any("1 run before yours" in str(element.proto) for element in app.get("progress"))
    late = started(opened())
    assert "The server is busy: 1 run waiting. Try again in a minute." in late.warning[0].value.replace("\\", "")
    assert late.button(key="squares-start")


def test_starting_anew_with_other_settings_gives_up_the_run_before(registry, gate):
    registry.submit("busy", gate, "another")
    app = started(opened())
    first = registry.find(key_of(app))
    app.number_input(key="total").set_value(30)
    app = started(run(app))
    assert first.state is State.CANCELLED
    assert registry.find(key_of(app)).state is State.QUEUED
