"""Numbers that a person typed, kept exactly as typed.

``0.1`` in binary is a little more than one tenth, and ``ceil((n + 1) * (1 - 0.1))`` then misses the right rank for
some n. Ranks are therefore computed from fractions.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from core.common.errors import InputError

__all__ = ["Exact", "as_fraction"]

Exact = Fraction | Decimal | int | float | str


def as_fraction(value: Exact) -> Fraction:
    """The number as its shortest decimal spelling says: ``as_fraction(0.1) == Fraction(1, 10)``.

    Raises InputError for text that is no number, and for nan and the infinities.

    >>> as_fraction(0.1), as_fraction("0.05"), as_fraction(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 20), Fraction(1, 3))
    """
    if isinstance(value, Fraction | int):
        return Fraction(value)
    try:
        return Fraction(Decimal(str(value).strip()))
    except (InvalidOperation, ValueError, OverflowError):
        raise InputError(f"{value!r} is not a finite number", remedy="Write it as a decimal such as 0.1.") from None
