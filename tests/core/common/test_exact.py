from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.common.exact import as_fraction


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000))
def test_a_typed_decimal_is_kept_exactly(value: Decimal):
    assert as_fraction(str(value)) == as_fraction(value) == Fraction(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_what_its_shortest_spelling_says(value):
    assert as_fraction(value) == Fraction(repr(value))
    assert float(as_fraction(value)) == value


@pytest.mark.parametrize("bad", ["", "abc", "1,5", float("nan"), float("inf"), "-inf", "1/2"])
def test_what_is_no_finite_number_is_refused(bad):
    with pytest.raises(InputError, match="not a finite number"):
        as_fraction(bad)
