"""Runs as visitors watch them: reload, a second visitor, cancel, errors, a closed tab, a server that ends."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import served

SCRIPT = Path(__file__).parent / "apps" / "running.py"
SEEDS = iter(range(100, 1000))
STEP = re.compile(r"Step [\d,]+ of [\d,]+")


@pytest.fixture
def runs(serve: Callable[..., str]) -> str:
    return serve(SCRIPT)


def opened(page: Page, address: str, **settings: object) -> int:
    """Open the page with a seed of its own (so that no two tests share a run), and give the seed."""
    seed = settings.pop("seed", None) or next(SEEDS)
    page.goto(f"{address}/?" + "&".join(f"{key}={value}" for key, value in {"seed": seed, **settings}.items()))
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    return seed


def start(page: Page) -> None:
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text(STEP)).to_be_visible()


def step(page: Page) -> int:
    return int(re.search(r"Step ([\d,]+) of", page.get_by_text(STEP).inner_text())[1].replace(",", ""))


def expect_in_ledger(page: Page, what: str) -> None:
    expect(page.get_by_text(re.compile(rf"{what}(;|$)"))).to_be_visible()


def test_a_run_shows_progress_and_parts_and_then_stops_asking(page: Page, runs: str):
    seed = opened(page, runs, total=15, pace=0.2)
    start(page)
    expect(page.get_by_text("Part: last square")).to_be_visible()
    expect(page.get_by_text("All: last square 225")).to_be_visible()
    expect(page.get_by_text("Returned 15 squares")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect_in_ledger(page, f"run {seed} finished: 1")
    drawn = page.get_by_text(re.compile(rf"run {seed} drawn: \d+"))
    page.wait_for_timeout(1000)  # the ledger has caught up
    before = drawn.inner_text()
    page.wait_for_timeout(1500)  # three polls, if there were any
    assert drawn.inner_text() == before


def test_a_run_goes_on_over_a_reload_which_leaves_no_ghost_among_its_viewers(page: Page, runs: str):
    seed = opened(page, runs, total=5000)
    start(page)
    before = step(page)
    page.reload()
    expect(page.get_by_text(STEP)).to_be_visible()
    assert step(page) > before
    expect(page.get_by_text("Shared with")).to_have_count(0)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The run was cancelled.")).to_be_visible()
    expect_in_ledger(page, f"run {seed} closed: 1")
    expect_in_ledger(page, f"run {seed} begun: 1")


def test_two_visitors_share_a_run_and_one_of_them_cannot_end_it(page: Page, new_page: Callable[..., Page], runs: str):
    seed = opened(page, runs, total=5000)
    start(page)
    second = new_page()
    opened(second, runs, total=5000, seed=seed)
    expect(second.get_by_text(STEP)).to_be_visible()
    expect(page.get_by_text("Shared with 1 other viewer")).to_be_visible()
    second.get_by_role("button", name="Cancel").click()
    expect(second.get_by_text("it goes on for the others")).to_be_visible()
    expect(second.get_by_role("button", name="Run it")).to_be_visible()
    expect(page.get_by_text("Shared with")).to_have_count(0)
    before = step(page)
    expect(page.get_by_text(STEP)).not_to_contain_text(f"Step {before:,} of")
    second.get_by_role("button", name="Run it").click()
    expect(second.get_by_text(STEP)).to_be_visible()
    expect_in_ledger(page, f"run {seed} begun: 1")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("it goes on for the others")).to_be_visible()
    second.get_by_role("button", name="Cancel").click()
    expect(second.get_by_text("The run was cancelled.")).to_be_visible()
    expect_in_ledger(page, f"run {seed} closed: 1")
    expect(page.get_by_text(f"run {seed} finished")).to_have_count(0)


def test_a_finished_run_is_there_at_once_for_whoever_has_the_link(page: Page, new_page: Callable[..., Page], runs: str):
    seed = opened(page, runs, total=5)
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("All: last square 25")).to_be_visible()
    page.reload()
    expect(page.get_by_text("All: last square 25")).to_be_visible()
    second = new_page()
    opened(second, runs, total=5, seed=seed)
    expect(second.get_by_text("All: last square 25")).to_be_visible()
    expect_in_ledger(second, f"run {seed} begun: 1")


def test_the_queue_is_shown(page: Page, new_page: Callable[..., Page], runs: str):
    first, second = opened(page, runs, total=5000), new_page()
    start(page)
    opened(second, runs, total=5)
    second.get_by_role("button", name="Run it").click()
    expect(second.get_by_text("Waiting: 1 run before yours")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(second.get_by_text("All: last square 25")).to_be_visible()
    expect_in_ledger(second, f"run {first} closed: 1")


@pytest.mark.parametrize(
    ("outcome", "words"), [("refuses", "Row 3 is *bad*."), ("breaks", "The run failed for a reason on our side")]
)
def test_an_error_is_shown_and_waits_for_a_click(page: Page, runs: str, outcome: str, words: str):
    seed = opened(page, runs, outcome=outcome)
    page.get_by_role("button", name="Run it").click()
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_contain_text(words)
    page.reload()
    expect(alert).to_contain_text(words)
    expect_in_ledger(page, f"run {seed} begun: 1")
    page.get_by_role("button", name="Run again").click()
    expect_in_ledger(page, f"run {seed} begun: 2")
    expect(alert).to_contain_text(words)


def test_a_closed_tab_ends_its_run(page: Page, new_page: Callable[..., Page], serve: Callable[..., str]):
    address = serve(SCRIPT, LAUREL_IDLE_SECONDS="4")
    visitor = new_page()
    seed = opened(visitor, address, total=5000)
    start(visitor)
    opened(page, address)
    expect_in_ledger(page, f"run {seed} begun: 1")
    visitor.close()
    expect_in_ledger(page, f"run {seed} closed: 1")
    expect(page.get_by_text(f"run {seed} finished")).to_have_count(0)


def test_a_server_that_is_told_to_end_does_not_wait_for_its_runs(page: Page, tmp_path: Path):
    with served(SCRIPT, tmp_path / "log.txt") as address:
        opened(page, address, total=5000)
        start(page)
        page.goto("about:blank")
        told = time.monotonic()
    assert time.monotonic() - told < 8
