from hypothesis import given
from hypothesis import strategies as st

from core.common.search import first_that_holds


@given(st.integers(0, 500), st.integers(0, 300), st.integers(0, 300))
def test_the_first_is_found_or_none(threshold, start, width):
    most = start + width
    asked = []

    def holds(n):
        asked.append(n)
        return n >= threshold

    expected = next((n for n in range(start, most + 1) if n >= threshold), None)
    assert first_that_holds(holds, start, most) == expected
    assert all(start <= n <= most for n in asked)
    assert len(asked) <= 2 * (width + 2).bit_length() + 2
