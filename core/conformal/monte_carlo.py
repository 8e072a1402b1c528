"""Random draws of L+: the check beside the exact distribution, and a slip of the published code.

The published code of arXiv 2502.13228 draws U ~ Dirichlet(1, ..., 1) with n + 1 weights, and then multiplies the
bound B by the *first* weight, which already multiplies the first loss, and leaves the last one out:
sum_{i<=n} U_i l_i + U_1 B in place of sum_{i<=n} U_i l_(i) + U_{n+1} B. The mean is right; the spread is not, and it
depends on which row comes first. It is kept here, by that name, because the paper's printed figures carry it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.common.errors import InputError
from core.conformal.atoms import checked, grouped
from core.conformal.quadrature import RiskPosterior

__all__ = ["Estimate", "draws", "draws_as_published", "estimate_cdf", "posterior_as_published"]

_CHUNK = 1 << 22  # random numbers held at a time


@dataclass(frozen=True)
class Estimate:
    """A mean over draws and its standard error."""

    value: float
    standard_error: float


def draws(losses: ArrayLike, bound: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` independent draws of L+ (count,), straight from its definition.

    >>> draws([0.2], 1.0, 3, np.random.default_rng(0)).round(3)
    array([0.68 , 0.282, 0.798])
    """
    return _weighted_sums(np.append(checked(np.asarray(losses), bound), bound), count, rng)


def draws_as_published(losses: ArrayLike, bound: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` draws (count,) as the published code weighs them; depends on which loss is first."""
    return _weighted_sums(_as_published(losses, bound), count, rng)


def posterior_as_published(losses: ArrayLike, bound: float = 1.0) -> RiskPosterior:
    """The exact distribution of what the published code draws; its support may exceed the bound."""
    values, counts = np.unique(_as_published(losses, bound), return_counts=True)
    counts = counts - (values == values[-1])  # `grouped` counts the largest value, in place of a bound, once more
    kept = counts > 0
    atoms = grouped(values[kept], counts[kept], float(values[-1]))
    return RiskPosterior(n=int(atoms.counts.sum()) - 1, bound=float(values[-1]), atoms=atoms)


def estimate_cdf(losses: ArrayLike, bound: float, x: float, count: int, rng: np.random.Generator) -> Estimate:
    """Pr(L+ <= x) from ``count`` draws, with its binomial standard error."""
    share = float((draws(losses, bound, count, rng) <= x).mean())
    return Estimate(share, float(np.sqrt(max(share * (1 - share), 1 / count) / count)))


def _as_published(losses: ArrayLike, bound: float) -> np.ndarray:
    checked(np.asarray(losses), bound)
    values = np.append(np.asarray(losses, dtype=float), 0.0)
    values[0] += bound
    return values


def _weighted_sums(values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    if count < 1:
        raise InputError(f"{count} draws were asked for", remedy="At least one is needed.")
    rows = max(1, _CHUNK // values.size)
    sums = np.empty(count)
    for start in range(0, count, rows):
        weights = rng.standard_exponential((min(rows, count - start), values.size))
        sums[start : start + rows] = weights @ values / weights.sum(axis=1)
    return sums
