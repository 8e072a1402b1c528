"""Words: numbers for sentences, and a visitor's own text made safe for Markdown and for Plotly."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

__all__ = ["count", "markdown", "number", "percent", "plotly", "short", "whole"]

_MARKDOWN = re.compile(r"([\\`*_~$\[\]():#<>|!{}+&^=-])")
_LIST = re.compile(r"^([0-9]{1,9})\.")  # "1. May" would begin a numbered list


def markdown(text: str) -> str:
    """``text`` so that Streamlit's Markdown shows it letter by letter: no LaTeX, colours, icons, links or HTML.

    >>> markdown("a_b $x$ :red[no]")
    'a\\\\_b \\\\$x\\\\$ \\\\:red\\\\[no\\\\]'
    """
    return _LIST.sub(r"\1\\.", _MARKDOWN.sub(r"\\\1", " ".join(str(text).split())))


def plotly(text: str) -> str:
    """``text`` so that Plotly, which reads a little HTML, shows it letter by letter."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(text: str, length: int = 30, taken: Collection[str] = ()) -> str:
    """``text`` cut to ``length`` letters, different from every label in ``taken``.

    >>> short("a rather long name of a column", 12), short("abc", 12, taken=["abc"])
    ('a rather lo…', 'abc (2)')
    """
    cut = text if len(text) <= length else text[: length - 1] + "…"
    label, copy = cut, 2
    while label in taken:
        label, copy = f"{cut} ({copy})", copy + 1
    return label


def number(value: float, digits: int = 3) -> str:
    """``value`` with so many significant digits, for a sentence: no exponents in ordinary ranges, commas from 10,000.

    >>> number(0.25), number(0.123456), number(1234567.0), number(5), number(float("nan"))
    ('0.25', '0.123', '1,234,567', '5', 'not available')
    """
    if math.isnan(value):
        return "not available"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -5 <= size < 15:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - size)}f}"
    text = text.replace(",", "") if len(text.lstrip("-").partition(".")[0]) == len("9,999") else text
    return text.rstrip("0").rstrip(".") if "." in text else text


def whole(value: float) -> str:
    """A number of people or things that may be an average: whole from 10 up.

    >>> whole(89.1), whole(4.25), whole(12345.6)
    ('89', '4.2', '12,346')
    """
    return number(round(value), 15) if 10 <= abs(value) < math.inf else number(value, 2)


def percent(share: float, digits: int = 1) -> str:
    """A share as per cent, without rounding to certainty: 0.99999 is "over 99.9%", never "100%".

    >>> percent(0.95), percent(0.7643), percent(0.99999), percent(1.0), percent(0.0001)
    ('95%', '76.4%', 'over 99.9%', '100%', 'under 0.1%')
    """
    if math.isnan(share):
        return "not available"
    step = 10.0**-digits
    value = round(share * 100, digits) + 0.0  # no minus before a zero
    if value >= 100 and share < 1:
        return f"over {100 - step:.{digits}f}%"
    if value <= 0 < share:
        return f"under {step:.{digits}f}%"
    return f"{value:.{digits}f}".removesuffix("." + "0" * digits) + "%"


def count(n: int, noun: str, plural: str = "") -> str:
    """A number of things: ``count(1, "row")`` is "1 row".

    >>> count(1, "row"), count(12345, "row"), count(2, "class", "classes")
    ('1 row', '12,345 rows', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
