"""Finding where a condition starts to hold among whole numbers."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["first_that_holds"]


def first_that_holds(holds: Callable[[int], bool], start: int, most: int) -> int | None:
    """The smallest n from ``start`` to ``most`` for which a condition holds that, once true, stays true; None if none.

    By doubling the distance from ``start``, then halving: about 2 log2(n) evaluations.

    >>> first_that_holds(lambda n: n * n >= 50, 1, 100), first_that_holds(lambda n: n > 9, 0, 5)
    (8, None)
    """
    if holds(start):
        return start
    low, step = start, 1
    while not holds(min(start + step, most)):
        if start + step >= most:
            return None
        low, step = start + step, 2 * step
    high = min(start + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
