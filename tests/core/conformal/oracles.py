"""The distribution of L+ by roads that share nothing with the library: recursion, splines, inversion, definition.

L+ = sum_i U_i w_i with U ~ Dirichlet(1, ..., 1) and w = (l_1, ..., l_n, B). De Boor's recursion takes convex
combinations only, so that in floats each tail keeps its relative accuracy, and in fractions it is the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from scipy import integrate, optimize
from scipy.interpolate import BSpline

__all__ = [
    "b_spline",
    "exact_cdf",
    "exact_pdf",
    "float_cdf",
    "float_pdf",
    "float_quantile",
    "float_sf",
    "inverted_cdf",
    "weights_at_the_bound",
]


def exact_cdf(losses: Iterable, bound, x) -> Fraction:
    """Pr(L+ <= x) in rational arithmetic; floats are taken at their binary value."""
    below, above, x = _split(losses, bound, x)
    row = [Fraction(0)] * (len(above) + 1)  # Pr(L+ <= x) of no value below and the first j above
    for low in below:
        new = [Fraction(1)]
        for j, high in enumerate(above, start=1):
            new.append(((high - x) * row[j] + (x - low) * new[j - 1]) / (high - low))
        row = new
    return row[-1]


def exact_pdf(losses: Iterable, bound, x) -> Fraction:
    """The density at x, right-continuous, in rational arithmetic.

    It is n (F without the largest value - F without the smallest) / (B - l_(1)), F the distribution function.
    """
    ascending = sorted([*map(Fraction, losses), Fraction(bound)])
    n, width = len(ascending) - 1, ascending[-1] - ascending[0]
    if n == 1:
        return Fraction(int(ascending[0] <= Fraction(x) < ascending[1])) / width
    without_largest = exact_cdf(ascending[:-2], ascending[-2], x)
    without_smallest = exact_cdf(ascending[1:-1], ascending[-1], x)
    return n * (without_largest - without_smallest) / width


def float_cdf(losses: Sequence[float] | np.ndarray, bound: float, x: float) -> float:
    """Pr(L+ <= x) by the recursion in floats, with its relative accuracy in the lower tail."""
    return _tail(losses, bound, x, of_below=1.0, of_above=0.0)


def float_sf(losses: Sequence[float] | np.ndarray, bound: float, x: float) -> float:
    """Pr(L+ > x) by the recursion in floats, with its relative accuracy in the upper tail."""
    return _tail(losses, bound, x, of_below=0.0, of_above=1.0)


def float_pdf(losses: Sequence[float] | np.ndarray, bound: float, x: float) -> float:
    """The density by the recursion in floats, right-continuous, with its relative accuracy in both tails."""
    below, above = _sides(losses, bound, x)
    if below.size == 0 or above.size == 0:
        return 0.0
    corner = 1 / (above[0] - below[0])  # of the spline of degree 0, on the gap that holds x
    return (below.size + above.size - 1) * _diagonals(below, above, x, of_below=0.0, of_above=0.0, corner=corner)


def float_quantile(losses: Sequence[float] | np.ndarray, bound: float, p: float) -> float:
    """The p-quantile by bracketing the recursion."""
    low = float(min(np.min(losses), bound))
    return float(optimize.brentq(lambda x: float_cdf(losses, bound, x) - p, low, bound, xtol=1e-15, rtol=1e-14))


def b_spline(losses: Sequence[float] | np.ndarray, bound: float) -> Callable[[np.ndarray], np.ndarray]:
    """scipy's density: n / (B - l_(1)) times the B-spline of degree n - 1 with the losses and the bound as knots."""
    knots = np.sort(np.append(losses, bound))
    spline = BSpline.basis_element(knots, extrapolate=False)
    return lambda x: np.nan_to_num(spline(x)) * (knots.size - 1) / (knots[-1] - knots[0])


def inverted_cdf(c: np.ndarray) -> float:
    """Pr(sum_j c_j E_j <= 0), E_j i.i.d. Exp(1), by Gil-Pelaez' formula and scipy's adaptive integration."""
    c = np.asarray(c, dtype=float)
    scale = 1 / np.sqrt((c**2).sum())

    def integrand(s: float) -> float:
        s *= scale
        return float(np.exp(-0.5 * np.log1p((s * c) ** 2).sum()) * np.sin(np.arctan(s * c).sum()) / s) * scale

    pieces = [(0.0, 4.0), (4.0, 40.0), (40.0, 4e3), (4e3, np.inf)]
    total = sum(integrate.quad(integrand, *piece, limit=400, epsabs=1e-13)[0] for piece in pieces)
    return 0.5 - total / np.pi


def weights_at_the_bound(
    losses: np.ndarray, weights: np.ndarray, test_weight: float, bound: float, x: float
) -> np.ndarray:
    """What `inverted_cdf` needs under covariate shift: w_j (l_j - x), and w_0 (B - x) at the end."""
    return np.append(np.asarray(weights) * (np.asarray(losses) - x), test_weight * (bound - x))


def _split(losses: Iterable, bound, x) -> tuple[list[Fraction], list[Fraction], Fraction]:
    x = Fraction(x)
    ascending = sorted([*map(Fraction, losses), Fraction(bound)])
    return [w for w in ascending if w <= x][::-1], [w for w in ascending if w > x], x


def _sides(losses: Sequence[float] | np.ndarray, bound: float, x: float) -> tuple[np.ndarray, np.ndarray]:
    """The values up to x, descending, and those above it, ascending."""
    ascending = np.sort(np.append(losses, bound))
    return ascending[ascending <= x][::-1], ascending[ascending > x]


def _tail(losses: Sequence[float] | np.ndarray, bound: float, x: float, *, of_below: float, of_above: float) -> float:
    below, above = _sides(losses, bound, x)
    if below.size == 0 or above.size == 0:
        return of_below if above.size == 0 else of_above
    return _diagonals(below, above, x, of_below=of_below, of_above=of_above)


def _diagonals(
    below: np.ndarray, above: np.ndarray, x: float, *, of_below: float, of_above: float, corner: float | None = None
) -> float:
    """T(i, j) of the i values next below x and the j next above, one diagonal i + j after the other.

    T(i, 0) = of_below, T(0, j) = of_above, T(1, 1) = corner if given, and else
    T(i, j) = ((high_j - x) T(i - 1, j) + (x - low_i) T(i, j - 1)) / (high_j - low_i).
    """
    table = np.full(below.size + 1, np.nan)
    for total in range(2, below.size + above.size + 1):
        first, last = max(1, total - above.size), min(below.size, total - 1)
        i = np.arange(first, last + 1)
        low, high = below[i - 1], above[total - i - 1]
        nearer, farther = table[i - 1], table[i]  # T(i - 1, j) and T(i, j - 1), of the diagonal before
        if first == 1:
            nearer[0] = of_above
        if last == total - 1:
            farther[-1] = of_below
        table[i] = ((high - x) * nearer + (x - low) * farther) / (high - low)
        if total == 2 and corner is not None:
            table[1] = corner
    return float(table[below.size])
