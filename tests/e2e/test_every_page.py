"""What holds for every page: it fits a phone, passes the accessibility check, and grows for a room."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from core.catalog import PAPERS
from tests.e2e.conftest import chart
from tests.pages.conftest import TABS

BUILT = [paper for paper in PAPERS if paper.built]
KEYS = [paper.key for paper in BUILT]
# The menu's list, its items, and the upload box are drawn by the framework; nothing of ours is in them.
FRAMEWORKS_OWN = ("list", "listitem", "presentation-role-conflict")


def test_the_home_page_leads_to_every_paper(page: Page, laurel: str):
    page.goto(laurel)
    expect(page.get_by_role("heading", name="Laurel", exact=True)).to_be_visible()
    expect(page.get_by_text("Not built yet")).to_have_count(len(PAPERS) - len(BUILT))
    for paper in BUILT:
        page.goto(laurel)
        page.get_by_role("link", name=f"Open {paper.short}").click()
        expect(page.get_by_role("heading", name=paper.question)).to_be_visible()
        chart(page)


@pytest.mark.parametrize("path", ["", *(f"{key}?{urlencode({'tab': tab})}" for key in KEYS for tab in TABS)])
def test_pages_fit_a_phone_and_pass_the_accessibility_check(new_page: Callable[..., Page], laurel: str, path: str):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{laurel}/{path}")
    expect(page.get_by_role("heading").first).to_be_visible(timeout=20_000)
    page.wait_for_timeout(1500)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    found = {each["id"]: each for each in Axe().run(page).response["violations"] if each["id"] not in FRAMEWORKS_OWN}
    assert not found, {name: [node["html"][:200] for node in each["nodes"][:3]] for name, each in found.items()}


@pytest.mark.parametrize("key", KEYS)
def test_presenter_mode_is_a_link(page: Page, laurel: str, key: str):
    page.goto(f"{laurel}/{key}?present=true")
    chart(page)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    size = page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)")
    assert size > 20
    ticks = page.locator(".js-plotly-plot .xtick text").first
    assert float(ticks.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 20
