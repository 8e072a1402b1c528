"""A calibration sample as few weighted values, without loss of accuracy however large it is.

Equal losses count together. A large sample of all different losses is cut, sorted, into narrow blocks, each kept as
two values whose counts give it the same number, mean, variance and skewness. The outermost losses stay single and
blocks grow with their rank from the nearer end, because the tails are where losses lie far apart. One sort, one pass,
about the size of the input in memory.
"""

from __future__ import annotations

import numpy as np

from core.common.errors import InputError
from core.conformal.contour import Atoms

__all__ = ["checked", "grouped", "summarise"]

_DISTINCT = 2048  # up to so many different values are kept as they are
_BLOCKS = 512  # no block holds more than this part of the sample
_SINGLE = 64  # ranks at each end that stay single; beyond, a block holds rank / 64
_WIDE = 1e-3  # a block wider than this many standard errors times n is taken apart
_CHUNK = 1 << 18


def checked(losses: np.ndarray, bound: float) -> np.ndarray:
    """The losses (n,) in float64, ascending, as a copy.

    Raises InputError, naming the first row, for a missing, infinite or negative loss and for one above ``bound``.
    """
    values = np.asarray(losses, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise InputError("there is no loss", remedy="At least one calibration loss is needed.")
    check_bound(bound)
    values = np.sort(values)  # nan sorts to the end
    if not (values[0] >= 0 and values[-1] <= bound):
        _refuse(np.asarray(losses, dtype=float), bound)
    return values


def check_bound(bound: float) -> None:
    """Raise InputError unless the bound B is positive and finite."""
    if not (np.isfinite(bound) and bound > 0):
        raise InputError(f"the largest possible loss is {bound}", remedy="It has to be a positive, finite number.")


def summarise(losses: np.ndarray, bound: float) -> Atoms:
    """Ascending losses (n,) and the bound as atoms, grouped where they are equal and blocked where they are many."""
    starts = _starts(losses)
    if starts.size <= _DISTINCT:
        return grouped(losses[starts], np.diff(starts, append=losses.size), bound)
    values, counts = _pairs(losses, _edges(losses))
    return Atoms(values=np.append(values, bound), counts=np.append(counts, 1.0))


def grouped(values: np.ndarray, counts: np.ndarray, bound: float) -> Atoms:
    """Distinct ascending values (g,) with their counts (g,) or (rows, g), and the bound counted once more."""
    counts = np.asarray(counts, dtype=float)
    if values[-1] == bound:
        return Atoms(values=values, counts=counts + (np.arange(values.size) == values.size - 1))
    one = np.ones((*counts.shape[:-1], 1))
    return Atoms(values=np.append(values, bound), counts=np.concatenate((counts, one), axis=-1))


def _refuse(losses: np.ndarray, bound: float) -> None:
    row = int(np.flatnonzero(~((losses >= 0) & (losses <= bound)))[0])
    value = losses[row]
    if not np.isfinite(value):
        raise InputError(f"the loss is {value}", row=row + 1, remedy="Every loss has to be a finite number.")
    if value < 0:
        raise InputError(f"the loss {value:g} is negative", row=row + 1, remedy="Losses run from 0 to the bound.")
    raise InputError(
        f"the loss {value:g} is above the largest possible loss {bound:g}",
        row=row + 1,
        remedy="Raise the bound B to the largest loss that can occur, not only the largest seen.",
    )


def _starts(ascending: np.ndarray) -> np.ndarray:
    """Where a new value starts, (groups,); stops counting, at more than ``_DISTINCT``, once that is known."""
    found = [np.zeros(1, int)]
    total = 1
    for start in range(1, ascending.size, _CHUNK):
        part = ascending[start - 1 : start + _CHUNK]
        found.append(np.flatnonzero(part[1:] != part[:-1]) + start)
        total += found[-1].size
        if total > _DISTINCT:
            break
    return np.concatenate(found)


def _edges(ascending: np.ndarray) -> np.ndarray:
    """Where blocks start, (blocks,): narrow at both ends, even between; a block too wide is taken apart."""
    n = ascending.size
    ranks, edge, cap = [], 0, max(1, n // _BLOCKS)
    while edge < n // 2:
        ranks.append(edge)
        edge += min(cap, max(1, edge // _SINGLE))
    half = np.array(ranks)
    edges = np.unique(np.concatenate((half, n - half[1:])))
    stops = np.append(edges[1:], n)
    widths = ascending[stops - 1] - ascending[edges]
    error = np.std(ascending[:: max(1, n // _CHUNK)]) * np.sqrt(n)
    wide = np.flatnonzero((widths > _WIDE * error) & (stops - edges > 1))
    apart = [np.arange(edges[block], stops[block]) for block in wide]
    return np.unique(np.concatenate([edges, *apart]))


def _pairs(ascending: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two values with their counts for each block of more than two different losses, all ascending.

    Gauss's rule of two nodes: with the block's standard deviation d and half its skewness t, the values are
    mean + d (t -+ sqrt(t^2 + 1)), and count, mean, variance and skewness are the block's.
    """
    sizes = np.diff(edges, append=ascending.size)
    mean, second, third = _moments(ascending, edges)
    spread = second > 0
    d = np.sqrt(second / sizes)
    t = np.divide(third / sizes, 2 * second * d / sizes, out=np.zeros_like(d), where=spread)
    root = np.sqrt(t**2 + 1)
    values = np.column_stack((mean + d * (t - root), mean + d * (t + root)))
    counts = np.column_stack((sizes * (1 + t / root) / 2, sizes * (1 - t / root) / 2))
    values[~spread], counts[~spread, 0], counts[~spread, 1] = mean[~spread, None], sizes[~spread], 0
    kept = counts.ravel() > 0
    return values.ravel()[kept], counts.ravel()[kept]


def _moments(ascending: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean of each block, and the sums of squares and cubes about it, (3, blocks)."""
    sizes, moments, first = np.diff(edges, append=ascending.size), np.empty((3, edges.size)), 0
    while first < edges.size:  # part by part, so that a large sample is not copied as a whole
        last = max(first + 1, int(np.searchsorted(edges, edges[first] + _CHUNK)))
        end = edges[last] if last < edges.size else ascending.size
        part, local, size = ascending[edges[first] : end], edges[first:last] - edges[first], sizes[first:last]
        lowest = part[local]  # measured from there, equal losses have no spread at all
        apart = part - np.repeat(lowest, size)
        mean = np.add.reduceat(apart, local) / size
        apart -= np.repeat(mean, size)
        square = apart * apart
        moments[:, first:last] = lowest + mean, np.add.reduceat(square, local), np.add.reduceat(square * apart, local)
        first = last
    return moments
