"""The conformal page as a visitor uses it: open, change, upload, export, reload in mid computation, bad links."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import chart

EXAMPLES = Path(__file__).parents[2] / "data" / "conformal"


def answer(page: Page, name: str):
    return page.locator(f".st-key-answer-{name}")


def test_a_moved_slider_changes_the_answer_and_the_link(page: Page, laurel: str):
    page.goto(f"{laurel}/conformal?n_cal=60")
    chart(page, "posterior")
    expect(answer(page, "posterior")).to_contain_text("After 60 cases")
    page.get_by_role("slider", name="Calibration cases").press("ArrowRight")
    expect(answer(page, "posterior")).to_contain_text("After 61 cases")
    expect(page).to_have_url(re.compile("n_cal=61"))
    page.reload()
    expect(answer(page, "posterior")).to_contain_text("After 61 cases")


@pytest.mark.parametrize(
    "view", ["Why a bound?", "How often does a rule fail?", "How many cases are enough?", "Which setting?"]
)
def test_every_view_opens(page: Page, laurel: str, view: str):
    page.goto(f"{laurel}/conformal")
    page.get_by_role("radio", name=view).or_(page.get_by_role("button", name=view)).first.click()
    expect(page.locator("[class*=st-key-answer-]").first).to_be_visible()
    chart(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_link_with_bad_values_is_answered_in_words(page: Page, laurel: str):
    page.goto(f"{laurel}/conformal?n_cal=abc&alpha=7&bogus=1&tab=Nowhere&kind=33'<script>")
    warning = page.get_by_text("This link asked for something that could not be used")
    expect(warning).to_be_visible()
    for words in ("n_cal=abc", "alpha=7", "bogus", "tab=Nowhere", "kind="):
        expect(page.get_by_role("listitem").filter(has_text=words).first).to_be_visible()
    expect(answer(page, "posterior")).to_contain_text("After 40 cases")
    page.get_by_role("button", name="Got it").click()
    expect(warning).to_be_hidden()


def test_an_upload_goes_from_file_to_certificate_and_predictions(page: Page, laurel: str, tmp_path: Path):
    page.goto(f"{laurel}/conformal?tab=Your+data")
    chart(page, "your-intervals")
    rows = "\n".join(f"{i},0;{i + (i % 10) / 10:.1f}".replace(".", ",") for i in range(1, 101))
    european = tmp_path / "meine Daten.csv"
    european.write_bytes(f"y;pred\n{rows}\n".encode("cp1252"))
    page.locator("input[type=file]").first.set_input_files(european)
    expect(page.get_by_text("meine Daten.csv").first).to_be_visible()
    expect(answer(page, "your-intervals")).to_contain_text("Set the half-width of the interval to 0.9")
    page.get_by_text("How the file was read").first.click()
    expect(page.get_by_text("Numbers were read with a decimal comma").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Certificate (JSON)").click()
    certificate = json.loads(Path(download.value.path()).read_text())
    assert certificate["n"] == 100
    assert certificate["lambda_hat"] == pytest.approx(0.9)
    new_rows = tmp_path / "new.csv"
    new_rows.write_text("pred\n5.0\n")
    page.locator("input[type=file]").nth(1).set_input_files(new_rows)
    with page.expect_download() as download:
        page.get_by_role("button", name="All predictions (CSV)").click()
    assert Path(download.value.path()).read_text("utf-8-sig") == "pred,low,high\n5.0,4.1,5.9\n"


def test_a_bad_file_is_refused_with_row_and_remedy(page: Page, laurel: str, tmp_path: Path):
    page.goto(f"{laurel}/conformal?tab=Your+data&task=Losses")
    chart(page, "your-losses")
    for text, words in (
        ("loss\n0.5\n1.7\n", "row 2"),
        ("loss\n0.5\nNA\n", "words that mean missing"),
        ("a,b\n1,2\n3\n", "line 3 of the file has 1 field, the header has 2"),
        ("loss\n", "header but no rows"),
    ):
        bad = tmp_path / "bad.csv"
        bad.write_text(text)
        page.locator("input[type=file]").first.set_input_files(bad)
        expect(page.get_by_test_id("stAlert").filter(has_text=re.compile(words, re.IGNORECASE)).first).to_be_visible()
        page.get_by_role("button", name="Remove this file").click()
        expect(page.get_by_text("digits_losses.csv").first).to_be_visible()


def test_an_uploaded_file_survives_a_visit_elsewhere_until_it_is_removed(page: Page, laurel: str, tmp_path: Path):
    page.goto(f"{laurel}/conformal?tab=Your+data&task=Losses")
    chart(page, "your-losses")
    mine = tmp_path / "mine.csv"
    mine.write_text("loss\n" + "0\n" * 50)
    page.locator("input[type=file]").first.set_input_files(mine)
    expect(answer(page, "your-losses")).to_contain_text("After 50 cases")
    page.get_by_role("link", name="All eleven papers").click()
    page.get_by_role("link", name="Conformal prediction", exact=True).first.click()
    expect(answer(page, "your-losses")).to_contain_text("After 50 cases")
    page.get_by_role("button", name="Remove this file").click()
    expect(answer(page, "your-losses")).not_to_contain_text("After 50 cases")


def test_numbers_and_pictures_can_be_saved(page: Page, laurel: str):
    page.goto(f"{laurel}/conformal")
    chart(page, "posterior")
    page.get_by_text("Numbers and downloads").click()
    for name, words in (("Numbers (CSV)", "risk,density"), ("Picture (web page)", "plotly")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert words in Path(download.value.path()).read_text("utf-8-sig")[:20_000_000]


def test_a_run_outlives_a_reload_and_serves_a_second_visitor(page: Page, new_page: Callable[..., Page], laurel: str):
    link = f"{laurel}/conformal?tab=Reproduce&run_seed=77"
    page.goto(link)
    page.get_by_role("button", name="Run all experiments").click()
    expect(page.get_by_text(re.compile(r"Step [\d,]+ of")).first).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(r"Step [\d,]+ of")).first).to_be_visible()
    second = new_page()
    second.goto(link)
    expect(second.get_by_text("Shared with 1 other viewer").first).to_be_visible(timeout=20_000)
    second.get_by_role("button", name="Cancel").click()
    expect(second.get_by_text("it goes on for the others")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Measured on this server")).to_be_visible(timeout=300_000)


def test_a_lone_viewers_cancel_ends_the_run(page: Page, laurel: str):
    page.goto(f"{laurel}/conformal?tab=Reproduce&run_seed=78")
    page.get_by_role("button", name="Run all experiments").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The run was cancelled.")).to_be_visible()
    expect(page.get_by_role("button", name="Run all experiments")).to_be_visible()


def test_the_first_visitor_after_a_start_may_come_by_a_link(page: Page, serve):
    """The framework's own discovery of pages must not get in first, nor fetch an icon from another host."""
    page.goto(f"{serve(Path(__file__).parents[2] / 'app.py')}/conformal?n_cal=12")
    chart(page, "posterior")
    expect(answer(page, "posterior")).to_contain_text("After 12 cases")
    expect(page.get_by_role("link", name="All eleven papers")).to_be_visible()
