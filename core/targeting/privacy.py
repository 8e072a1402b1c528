"""Small cells: counts of so few people that a figure might tell something about one of them are not shown."""

from __future__ import annotations

import numpy as np

from core.common.errors import InputError

__all__ = ["check_enough", "small", "without_small"]


def small(n: float, smallest: int) -> bool:
    """Whether a count is above 0 and below the smallest that is shown.

    >>> small(0, 5), small(3, 5), small(5, 5)
    (False, True, False)
    """
    return bool(0 < n < smallest)


def without_small(shares: np.ndarray, people: float, smallest: int) -> np.ndarray:
    """Shares (k,) of ``people``, nan where the people that they stand for, or all others, are too few to be shown.

    >>> without_small(np.array([0.0, 0.02, 0.5, 0.98]), people=100, smallest=5)
    array([0. , nan, 0.5, nan])
    """
    shares = np.asarray(shares, dtype=float)
    counts = np.round(shares * people, 9)
    hide = ((counts > 0) & (counts < smallest)) | ((counts < people) & (people - counts < smallest))
    return np.where(hide, np.nan, shares)


def check_enough(worst: int, others: int, smallest: int) -> None:
    """InputError if the worst-off, or all others, are fewer than the smallest count that is shown."""
    if min(worst, others) < smallest:
        who = "worst-off people" if worst < others else "people who are not worst-off"
        raise InputError(
            f"there are fewer than {smallest} {who}",
            remedy="Counts that small are not shown: bring more rows, or choose another share.",
        )
