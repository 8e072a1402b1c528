"""Pr(L+ <= x) for many calibration sets at once, for simulations of thousands of trials."""

from __future__ import annotations

import numpy as np

from core.common.errors import InputError
from core.conformal.atoms import grouped
from core.conformal.contour import Atoms, distribution

__all__ = ["batch_cdf", "batch_cdf_grouped"]


def batch_cdf(values: np.ndarray, bound: float, x: float) -> np.ndarray:
    """Pr(L+ <= x) for many loss vectors of the same length at once: ``values`` (m, n) gives (m,)."""
    values = np.asarray(values, dtype=float)
    if not ((values >= 0) & (values <= bound)).all():
        raise InputError(f"a loss lies outside 0 to {bound:g}")
    ones = np.ones((1, values.shape[1] + 1))
    ascending = np.column_stack((np.sort(values, axis=1), np.full(values.shape[0], float(bound))))
    result = (ascending[:, -1] <= x).astype(float)
    inside = (ascending[:, 0] < x) & (x < bound)
    for rows in np.array_split(np.flatnonzero(inside), max(1, inside.sum() // 4096)):
        if rows.size:
            atoms = Atoms(values=ascending[rows], counts=ones)
            result[rows] = distribution(atoms, np.full(rows.size, float(x))).cdf
    return result


def batch_cdf_grouped(values: np.ndarray, counts: np.ndarray, bound: float, x: float) -> np.ndarray:
    """Pr(L+ <= x) for many samples over the same values: ``values`` (k,), ``counts`` (m, k) with zeros, gives (m,)."""
    values, counts = np.asarray(values, dtype=float), np.asarray(counts, dtype=float)
    if not ((values >= 0) & (values <= bound)).all() or (np.diff(values) <= 0).any():
        raise InputError("the values have to ascend from 0 or more to the bound")
    atoms = grouped(values, counts, float(bound))
    smallest = atoms.values[np.argmax(atoms.counts > 0, axis=1)]
    result = np.full(counts.shape[0], float(x >= bound))
    inside = (smallest < x) & (x < bound)
    for rows in np.array_split(np.flatnonzero(inside), max(1, inside.sum() // 4096)):
        if rows.size:
            part = Atoms(values=atoms.values, counts=atoms.counts[rows])
            result[rows] = distribution(part, np.full(rows.size, float(x))).cdf
    return result
