"""What holds of every page: home shows all papers, each tab of each built paper opens, bad links are told."""

import pytest

from core.catalog import PAPERS
from tests.pages.conftest import TABS, opened, text

BUILT = [paper.key for paper in PAPERS if paper.built]


def test_home_shows_all_eleven_and_says_which_are_not_built():
    shown = text(opened("home"))
    for paper in PAPERS:
        assert paper.title in shown
    assert shown.count("Not built yet") == sum(not paper.built for paper in PAPERS)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("key", BUILT)
def test_every_tab_opens(key, tab):
    app = opened(key, tab=tab)
    assert len(app.title) == 1
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("key", BUILT)
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"alpha": "7"}, "alpha=7"),
        ({"alpha": "NaN"}, "alpha=NaN"),
        ({"alpha": "1e999"}, "alpha=1e999"),
        ({"bogus": "1"}, "no such setting"),
        ({"alpa": "0.2"}, "did you mean alpha"),
        ({"view": "33'<script>"}, "has to be one of"),
        ({"tab": "Nowhere"}, "tab=Nowhere"),
        ({"run_seed": "-1"}, "run_seed=-1"),
    ],
)
def test_a_bad_link_is_told(key, link, words):
    app = opened(key, **link)
    assert words in text(app)
    assert app.get("plotly_chart")


@pytest.mark.parametrize("key", BUILT)
def test_presenter_mode_draws(key):
    assert opened(key, present="true").get("plotly_chart")
