"""One page to print or to mail: the question, what was found, the picture, the numbers, assumptions and settings.

The page is a single file that needs no network: styles, the figure and the library that draws it are inside. Once drawn
the figure is a still image, so that it fits a phone and a sheet of A4 alike.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

__all__ = ["Report", "from_markdown"]

_MARKS = re.compile(r"\\(.)|\*\*(.+?)\*\*")
_WIDTH, _HEIGHT = 688, 300  # pixels: what A4 leaves between its margins
_STYLE = """
@page { size: A4; margin: 12mm 14mm; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #22302b; font: 15px/1.45 Arial, Helvetica, sans-serif; }
main { max-width: 720px; margin: 0 auto; padding: 16px; overflow-wrap: anywhere; }
h1 { font-size: 1.5em; line-height: 1.2; margin: 0 0 .5em; }
h2 { font-size: 1em; margin: 1.1em 0 .3em; }
p, ul { margin: 0 0 .5em; } ul { padding-left: 1.2em; }
img { display: block; width: 100%; height: auto; margin: .5em 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92em; overflow-wrap: normal; }
th, td { text-align: left; padding: .25em .6em .25em 0; border-bottom: 1px solid #c8d0cc; vertical-align: top; }
dl { columns: 2; column-gap: 2em; margin: 0; font-size: .88em; } dl div { break-inside: avoid; }
dt { display: inline; color: #4a5752; } dt::after { content: ": "; } dd { display: inline; margin: 0; }
footer { margin-top: 1em; font-size: .82em; color: #4a5752; } a { color: #00568a; }
@media (max-width: 500px) { dl { columns: 1; } }
@media print { body { font-size: 9.2pt; line-height: 1.35; } main { padding: 0; max-width: none; }
  img { max-height: 80mm; object-fit: contain; } }
"""
_DRAW = """
const figure = FIGURE, picture = document.getElementById("picture");
const width = Math.min(WIDTH, Math.max(320, picture.parentElement.clientWidth));
Plotly.toImage({...figure, layout: {...figure.layout, width, height: HEIGHT}}, {format: "svg", width, height: HEIGHT})
  .then(url => { picture.src = url; picture.hidden = false; document.getElementById("js-plotly-tester")?.remove(); });
"""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the page says; see `View` for ``figure`` and ``alt``.

    ``answers`` are Markdown as views write it (bold and escaped marks); all else is plain text. ``made`` is the date.
    """

    question: str
    answers: tuple[str, ...]
    figure: go.Figure
    alt: str
    table: pd.DataFrame | None
    assumptions: tuple[str, ...]
    settings: Mapping[str, str]
    source: str
    link: str
    paper: str
    made: str

    def to_html(self) -> str:
        """The page as one HTML document."""
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(self.question)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{html.escape(self.question)}</h1>
{_each("<p>", map(from_markdown, self.answers), "</p>")}
<img id="picture" alt="{html.escape(self.alt)}" width="{_WIDTH}" height="{_HEIGHT}" hidden>
<noscript><p>The picture needs scripts to be allowed: {html.escape(self.alt)}</p></noscript>
{"" if self.table is None else _table(self.table)}
<h2>What this rests on</h2>
<ul>{_each("<li>", map(html.escape, self.assumptions), "</li>")}</ul>
<h2>Settings</h2>
<dl>{_each("<div>", self._pairs(), "</div>")}</dl>
<footer>
<p>Data: {html.escape(self.source)}. Made on {html.escape(self.made)} with Laurel. {_linked(self.link)}</p>
<p>Method: {html.escape(self.paper)}</p>
</footer>
</main>
<script>{get_plotlyjs()}</script>
<script>{self._script()}</script>
</body>
</html>
"""

    def _pairs(self) -> Iterable[str]:
        return (f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in self.settings.items())

    def _script(self) -> str:
        """The call that draws the figure; no text in it can close the script, since plotly writes < as an escape."""
        sized = _DRAW.replace("WIDTH", str(_WIDTH)).replace("HEIGHT", str(_HEIGHT))
        return sized.replace("FIGURE", self.figure.to_json().replace("<", "\\u003c"))


def from_markdown(text: str) -> str:
    """A view's sentence as HTML: bold stays bold, escaped marks stand for themselves, all else is text.

    >>> from_markdown("**76%** of a\\\\_b < c")
    '<strong>76%</strong> of a_b &lt; c'
    """
    parts, end = [], 0
    for found in _MARKS.finditer(text):
        parts.append(html.escape(text[end : found.start()]))
        escaped, bold = found.groups()
        parts.append(f"<strong>{from_markdown(bold)}</strong>" if bold else html.escape(escaped))
        end = found.end()
    return "".join(parts) + html.escape(text[end:])


def _each(before: str, parts: Iterable[str], after: str) -> str:
    return "\n".join(f"{before}{part}{after}" for part in parts)


def _table(table: pd.DataFrame) -> str:
    head = _each('<th scope="col">', (html.escape(str(name)) for name in table.columns), "</th>")
    rows = (_row([str(cell) for cell in cells]) for cells in table.itertuples(index=False))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{_each("", rows, "")}</tbody></table></div>'


def _row(cells: list[str]) -> str:
    first, *others = map(html.escape, cells)
    return f'<tr><th scope="row">{first}</th>{_each("<td>", others, "</td>")}</tr>'


def _linked(link: str) -> str:
    if not link.startswith(("http://", "https://")):
        return html.escape(link)
    return f'<a href="{html.escape(link)}">The same settings, live</a>: {html.escape(link)}'
