"""Registers drawn at random: the paper's Gaussian model, and one with the shape of its German data.

The German register may not leave its research data centre. What the paper says of it fixes the second generator: spells
are Weibull, 15% last longer than a year and 5% are cut at two years.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from core.common.errors import InputError

__all__ = ["CAP", "gaussian_register", "german_like_register"]

CAP = 730.5  # days
_SHAPE, _SCALE = 0.659749, 138.380364  # Pr(> 365.25) = .15 and Pr(> 730.5) = .05
_NODES = 80


def gaussian_register(n: int, r2: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Welfare (n,), low is worst, and its conditional mean (n,): jointly normal, welfare of variance 1 (section 3).

    >>> y, forecast = gaussian_register(100_000, 0.25, np.random.default_rng(0))
    >>> round(float(np.var(forecast)), 2)
    0.25
    """
    _check(n, r2, "R2")
    forecast = np.sqrt(r2) * rng.standard_normal(n)
    return forecast + np.sqrt(1 - r2) * rng.standard_normal(n), forecast


def german_like_register(n: int, rho2: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Spells in days (n,), cut at two years, high is worst, and their conditional mean given a signal (n,).

    The signal has the squared correlation ``rho2`` with the normal score of the uncut spell.
    """
    _check(n, rho2, "rho2")
    z, u = rng.standard_normal((2, n))
    signal = np.sqrt(rho2) * z + np.sqrt(1 - rho2) * u
    return _days(z), _expected_days(signal, rho2)


def _days(z: np.ndarray) -> np.ndarray:
    """The Weibull quantile of a normal score, cut at two years."""
    return np.minimum(_SCALE * (-stats.norm.logsf(z)) ** (1 / _SHAPE), CAP)


def _expected_days(signal: np.ndarray, rho2: float) -> np.ndarray:
    """E[days | signal], the score being N(rho signal, 1 - rho2): Gauss and Legendre up to the cut, and the cap."""
    rho, spread = np.sqrt(rho2), np.sqrt(1 - rho2)
    cut = stats.norm.isf(np.exp(-((CAP / _SCALE) ** _SHAPE)))
    grid = np.linspace(-9, 9, 721)
    if spread == 0:
        return _days(signal)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    low = np.minimum(rho * grid - 9 * spread, cut)
    half = (np.minimum(cut, rho * grid + 9 * spread) - low) / 2
    z = low[:, None] + half[:, None] * (nodes + 1)
    density = stats.norm.pdf(z, rho * grid[:, None], spread)
    below = half * ((_days(z) * density) @ weights)
    expected = below + CAP * stats.norm.sf(cut, rho * grid, spread)
    return np.interp(signal, grid, expected)


def _check(n: int, share: float, name: str) -> None:
    if n < 1:
        raise InputError(f"a register of {n} people was asked for", remedy="Ask for at least one.")
    if not 0 <= share <= 1:
        raise InputError(f"{name} is {share:g}", remedy="It runs from 0 to 1.")
