"""The targeting page as a policymaker uses it: settings, a register from upload to report, a register on the server."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import ROOT, chart, settled

EXAMPLES = ROOT / "data" / "targeting"
PAGES_OF_A_PDF = re.compile(rb"/Type\s*/Page[^s]")


def answer(page: Page, name: str):
    return page.locator(f".st-key-answer-{name}")


def choose(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()


def pick(page: Page, label: str, option: str) -> None:
    """Choose from a list, which a click may open or, while another is closing, only focus."""
    settled(page)
    entry = page.get_by_role("option", name=option, exact=True).first
    for _ in range(5):
        page.get_by_role("combobox", name=label).first.click()
        page.wait_for_timeout(500)
        if entry.is_visible():
            break
    entry.click()
    settled(page)
    page.keyboard.press("Escape")  # a list of several choices stays open over the page


@pytest.mark.parametrize(
    ("view", "name"),
    [
        ("Places or prediction?", "priorities"),
        ("First and last mile", "miles"),
        ("How many places?", "capacity"),
        ("Who is screened?", "screened"),
        ("Two levers", "levers"),
    ],
)
def test_every_view_opens(page: Page, laurel: str, view: str, name: str):
    page.goto(f"{laurel}/targeting")
    chart(page, "reach")
    choose(page, view)
    expect(answer(page, name)).to_be_visible()
    chart(page, name)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_moved_slider_changes_the_answer_and_the_link(page: Page, laurel: str):
    page.goto(f"{laurel}/targeting?alpha=0.2")
    chart(page, "reach")
    expect(answer(page, "reach")).to_contain_text("Screening 20%")
    page.get_by_role("slider", name=re.compile("^Capacity")).press("ArrowRight")
    expect(answer(page, "reach")).to_contain_text("Screening 20.5%")
    expect(page).to_have_url(re.compile("alpha=0.205"))


def test_steps_that_lead_too_far_are_refused_beside_the_widgets(page: Page, laurel: str):
    page.goto(f"{laurel}/targeting?r2=0.99&prediction_step=0.3")
    expect(page.get_by_text("R² would rise above 1")).to_be_visible()
    expect(page.get_by_role("slider", name="Step in R²")).to_be_visible()


def test_real_spells_go_from_upload_to_report(page: Page, new_page: Callable[..., Page], laurel: str, tmp_path: Path):
    mine = tmp_path / "my spells.csv"
    renamed = pd.read_csv(EXAMPLES / "unemployment.csv").rename(columns={"spell": "weeks out", "censor4": "ongoing"})
    renamed.to_csv(mine, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    page.goto(f"{laurel}/targeting?tab=Your+data")
    chart(page, "your-curve")
    page.locator("input[type=file]").first.set_input_files(mine)
    expect(page.get_by_text("my spells.csv").first).to_be_visible()
    pick(page, "Outcome", "weeks out")
    pick(page, "Who is worst-off?", "beyond a threshold")
    threshold = page.get_by_role("spinbutton", name="Threshold")
    threshold.fill("13")
    threshold.press("Enter")
    for name in ("age", "ui", "reprate", "disrate", "logwage", "tenure"):
        pick(page, "Or features for a model", name)
    page.get_by_text("Weights, running spells, groups").click()
    pick(page, "Still running", "ongoing")
    pick(page, "Groups", "ui")
    expect(answer(page, "your-curve")).to_contain_text("Screening 10% (334 people) by linear model reaches 17.1%")
    expect(page.get_by_text("of 968 it is unknown whether they became long")).to_be_visible()
    for picture, name, words in (
        ("Places or prediction?", "your-steps", "At your prices capacity wins"),
        ("Theory beside it", "your-theory", "the theory puts the ratio of gains"),
        ("Group by group", "your-groups", "of the worst-off of group"),
    ):
        choose(page, picture)
        expect(answer(page, name)).to_contain_text(words)
        chart(page, name)
    with page.expect_download() as download:
        page.get_by_role("button", name="One-page report").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    _check_report(saved, new_page)


def _check_report(saved: Path, new_page: Callable[..., Page]) -> None:
    """The file draws without a network, says what was asked, fits a phone, and prints on one sheet."""
    report = new_page(viewport={"width": 390, "height": 844}, offline=True)
    report.goto(saved.as_uri())
    expect(report.get_by_role("heading", name="Should the next euro")).to_be_visible()
    expect(report.locator("#picture")).to_be_visible()
    assert report.locator("#picture").evaluate("e => e.naturalWidth > 300 && e.src.startsWith('data:image/svg')")
    for words in ("At your prices capacity wins", "my spells.csv, 3,343 rows", "of 968 it is unknown", "Made on"):
        expect(report.get_by_text(words).first).to_be_visible()
    assert report.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert not Axe().run(report).response["violations"]
    report.set_viewport_size({"width": 1000, "height": 800})
    assert len(PAGES_OF_A_PDF.findall(report.pdf(format="A4"))) == 1


def test_a_bad_register_is_refused_with_column_row_and_remedy(page: Page, laurel: str, tmp_path: Path):
    page.goto(f"{laurel}/targeting?tab=Your+data")
    chart(page, "your-curve")
    rows = "".join(f"{i},{i % 7}\n" for i in range(100))
    for text, words in (
        (f"outcome,score\n1,x\n{rows}", r"'score', row 1: 'x' is not a number"),
        (f"outcome,score\n{rows}5,\n", r"'score', row 101: the value is missing"),
        ("outcome,score\n", "header but no rows"),
    ):
        bad = tmp_path / "bad.csv"
        bad.write_text(text)
        page.locator("input[type=file]").first.set_input_files(bad)
        if "header" not in words:
            pick(page, "Scores in the file", "score")
        expect(page.get_by_test_id("stAlert").filter(has_text=re.compile(words)).first).to_be_visible()
        page.get_by_role("button", name="Remove this file").click()
        expect(page.get_by_text("unemployment.csv").first).to_be_visible()


def test_a_register_on_the_server_is_read_by_columns(page: Page, serve, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("registers")
    rng = np.random.default_rng(0)
    days = rng.exponential(100, 300_000).round(1)
    frame = pd.DataFrame({"length": days, "guess": days + rng.normal(0, 150, days.size), "place": "x"})
    frame.to_parquet(folder / "everybody.parquet", index=False)
    page.goto(f"{serve(ROOT / 'app.py', LAUREL_REGISTERS=str(folder))}/targeting?tab=Your+data")
    chart(page, "your-curve")
    pick(page, "A register on this server", "everybody.parquet")
    expect(page.get_by_text("300,000 rows. Only the columns that you choose are read.")).to_be_visible()
    pick(page, "Outcome", "length")
    pick(page, "Scores in the file", "guess")
    expect(answer(page, "your-curve")).to_contain_text("Screening 10% (30,000 people) by guess reaches")
