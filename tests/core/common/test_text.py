"""Words at their edges: rounding that crosses a power of ten, zeros with a sign, text that would begin a list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.common.text import count, markdown, number, percent


@pytest.mark.parametrize(
    ("value", "shown"),
    [(9999.9, "10,000"), (-9999.9, "-10,000"), (9994.0, "9994"), (99.96, "100"), (-0.0, "0"), (1e-9, "1.00e-09")],
)
def test_numbers_that_round_to_a_longer_one(value, shown):
    assert number(value) == shown


@settings(deadline=None)
@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_are_shown_whole(value):
    assert int(number(value, 15).replace(",", "")) == value
    assert ("," in number(value, 15)) == (abs(value) >= 10_000)


@settings(deadline=None)
@given(st.floats(-1, 1, exclude_max=True), st.integers(0, 4))
def test_no_share_is_minus_nothing_or_a_false_certainty(share, digits):
    text = percent(share, digits)
    assert not text.startswith("-0%")
    assert text != "100%"


@settings(deadline=None)
@given(st.integers(0, 10**9 - 1), st.text(max_size=5))
def test_markdown_never_begins_a_list(n, rest):
    assert markdown(f"{n}. {rest}").startswith(f"{n}\\.")
    assert markdown(f"v{n}.5") == f"v{n}.5"


@settings(deadline=None)
@given(st.integers(2, 10**6))
def test_many_things_are_a_plural(n):
    assert count(n, "row") == f"{n:,} rows"
    assert count(1, "class", "classes") == "1 class"
