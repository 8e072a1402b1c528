"""What the tests compare with: textbook formulas in plain loops, written without a look at the library."""

from __future__ import annotations

import numpy as np


def kaplan_meier_reaching(duration: np.ndarray, running: np.ndarray, at: float) -> float:
    """The product-limit estimate of Pr(T >= at): over event times below ``at``, 1 - deaths / at risk."""
    survival = 1.0
    for time in sorted(set(duration[~running])):
        if time >= at:
            break
        deaths = np.sum((duration == time) & ~running)
        survival *= 1 - deaths / np.sum(duration >= time)
    return survival


def reached(flag: np.ndarray, score: np.ndarray, places: float, weight: np.ndarray | None = None) -> float:
    """V with low scores screened first, ties sharing the places that are left; ``places`` in weighted people."""
    weight = np.ones(flag.size) if weight is None else weight
    found = 0.0
    for value in sorted(set(score)):
        tied = score == value
        share = min(1.0, places / weight[tied].sum()) if weight[tied].sum() else 1.0
        found += share * (weight * flag)[tied].sum()
        places -= share * weight[tied].sum()
    return found / (weight * flag).sum()


def run(code: str) -> dict:
    """The dict that shown lines of code end with."""
    names: dict = {}
    exec(compile(code, "shown code", "exec"), names)
    return names["numbers"]
