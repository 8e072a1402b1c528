"""Pr(L+ <= x) for many calibration sets at once, for simulations of thousands of trials."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.common.errors import InputError
from core.conformal.atoms import check_bound
from core.conformal.contour import Atoms, distribution

__all__ = ["batch_cdf", "batch_cdf_grouped"]


def batch_cdf(values: ArrayLike, bound: float, x: float) -> np.ndarray:
    """Pr(L+ <= x) for many loss vectors of the same length at once: ``values`` (m, n), in any order, gives (m,).

    Raises InputError, naming the first row, for a loss outside 0 to ``bound``.

    >>> batch_cdf([[0.0, 0.0], [0.1, 0.5]], bound=1.0, x=0.6).round(4)
    array([0.84  , 0.6444])
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError("the losses are not a table", remedy="Give one row a sample, with at least one loss.")
    check_bound(bound)
    _check_rows((values >= 0) & (values <= bound), f"a loss lies outside 0 to {bound:g}")
    atoms = np.column_stack((np.sort(values, axis=1), np.full(len(values), float(bound))))
    return _cdf(Atoms(values=atoms, counts=np.ones(atoms.shape)), x)


def batch_cdf_grouped(values: ArrayLike, counts: ArrayLike, bound: ArrayLike, x: float) -> np.ndarray:
    """Pr(L+ <= x) for many samples over the same values: ``values`` (k,), ``counts`` (m, k) with zeros, gives (m,).

    ``bound`` is one number, or one a sample (m,). Raises InputError for values that do not ascend, and, naming the
    first row, for counts that are not whole, samples without a loss, and losses above their bound.

    >>> batch_cdf_grouped([0.0, 0.5], [[2, 0], [9, 1]], bound=1.0, x=0.6).round(4)
    array([0.84  , 0.9998])
    """
    values, counts = np.asarray(values, dtype=float), np.asarray(counts, dtype=float)
    if counts.ndim != 2 or values.shape != counts.shape[1:]:
        raise InputError("the counts do not fit the values", remedy="Give one row a sample, with a count a value.")
    if not (values >= 0).all() or not (np.diff(values) > 0).all():
        raise InputError("the values do not ascend from 0 or more")
    _check_rows((counts >= 0) & (counts == np.floor(counts)) & np.isfinite(counts), "a count is not a whole number")
    _check_rows(counts.sum(axis=1, keepdims=True) > 0, "there is no loss")
    bounds = np.broadcast_to(np.asarray(bound, dtype=float), len(counts))
    for each in np.unique(bounds):
        check_bound(each)
    _check_rows((counts == 0) | (values <= bounds[:, None]), "a loss is above its bound")
    return _cdf(_with_bounds(values, counts, bounds), x)


def _with_bounds(values: np.ndarray, counts: np.ndarray, bounds: np.ndarray) -> Atoms:
    """The bound counted once more in each row; where all rows have the same, it is joined with losses that equal it."""
    m = len(counts)
    if m and (bounds == bounds[0]).all() and values[-1] == bounds[0]:
        return Atoms(values=values, counts=counts + (np.arange(values.size) == values.size - 1))
    rows = np.column_stack((np.broadcast_to(values, counts.shape), bounds))
    return Atoms(values=rows, counts=np.column_stack((counts, np.ones(m))))


def _cdf(atoms: Atoms, x: float) -> np.ndarray:
    """Pr(L+ <= x) of each row of atoms, of which ``counts`` has two dimensions."""
    if np.isnan(x):
        raise InputError("a risk of nan was asked for")
    present = atoms.counts > 0
    low = np.where(present, atoms.values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(present, atoms.values, -np.inf).max(axis=1, initial=-np.inf)
    result = (high <= x).astype(float)
    inside = np.flatnonzero((low < x) & (x < high))
    values = atoms.values if atoms.values.ndim == 1 else atoms.values[inside]
    result[inside] = distribution(Atoms(values=values, counts=atoms.counts[inside]), np.full(inside.size, float(x))).cdf
    return result


def _check_rows(good: np.ndarray, what: str) -> None:
    bad = np.flatnonzero(~good.all(axis=1))
    if bad.size:
        raise InputError(what, row=int(bad[0]) + 1)
