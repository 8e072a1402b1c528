"""The one-page report: parsed as a browser would, with every visitor's text hostile."""

from html.parser import HTMLParser

import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.report import Report, from_markdown
from core.common.text import markdown

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'"


class Page(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self._open):
            self.words.append(data)


def report(word: str = "plain", link: str = "http://127.0.0.1:8501/targeting?a=1&b=2") -> Report:
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], name=word))
    figure.update_layout(title=word)
    return Report(
        question=word,
        answers=(f"**{markdown(word)}** is it.", markdown(word)),
        figure=figure,
        alt=word,
        table=pd.DataFrame({word: ["a", word], "n": [1, 2]}),
        assumptions=(word,),
        settings={word: word},
        source=word,
        link=link,
        paper=word,
        made="2026-12-04",
    )


def test_hostile_text_stays_text():
    page = Page(report(EVIL).to_html())
    assert sum(tag == "script" for tag, _ in page.tags) == 2  # the library and the call that draws
    assert [attributes.get("src") for tag, attributes in page.tags if tag == "img"] == [None]
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "".join(page.words).count(EVIL) == 12  # wherever it was given, letter by letter
    assert next(attributes["alt"] for tag, attributes in page.tags if tag == "img") == EVIL


def test_nothing_is_fetched_from_elsewhere():
    page = Page(report().to_html())
    assert not any(attributes.get("src") or tag == "link" for tag, attributes in page.tags)
    assert [attributes["href"] for tag, attributes in page.tags if tag == "a"] == [
        "http://127.0.0.1:8501/targeting?a=1&b=2"
    ]


@pytest.mark.parametrize("link", ["javascript:alert(1)", "", "data:text/html,x"])
def test_only_a_web_address_is_a_link(link):
    page = Page(report(link=link).to_html())
    assert not [tag for tag, _ in page.tags if tag == "a"]


def test_headings_tables_and_language_are_there_for_a_screen_reader():
    page = Page(report().to_html())
    tags = [tag for tag, _ in page.tags]
    assert (tags.count("h1"), tags.count("main"), tags.count("table")) == (1, 1, 1)
    assert ("html", {"lang": "en"}) in page.tags
    assert [attributes["scope"] for tag, attributes in page.tags if tag == "th"] == ["col", "col", "row", "row"]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40))
def test_what_was_made_safe_for_markdown_comes_back_letter_by_letter(text):
    shown = "".join(Page(f"<p>{from_markdown(markdown(text))}</p>").words)
    assert shown == " ".join(text.split())


@given(st.text("ab*\\_<&", max_size=12))
def test_bold_is_bold_whatever_it_holds(text):
    made = from_markdown(f"x **{markdown(text)}y** z")
    assert made.startswith("x <strong>")
    assert made.endswith("y</strong> z")
