"""The Gaussian theory of screening: how many of the worst-off a predictor finds at a given capacity.

Welfare Y and its prediction are jointly normal with squared correlation R2 = rho^2 (arXiv 2501.19334, section 3). The
worst-off are the share beta with the lowest welfare, and the share alpha with the lowest prediction is screened. With
a = Phi^-1(alpha) and b = Phi^-1(beta), the share of the worst-off that is screened is

    V(alpha, beta, R2) = Phi2(a, b; sqrt(R2)) / beta.

All functions broadcast over arrays of alpha, beta and R2, each in [0, 1]; beta above 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from core.common.errors import InputError

__all__ = [
    "area_under_curve",
    "gain_from_access",
    "gain_from_prediction",
    "needed_capacity",
    "r2_of_area",
    "screened_share",
    "value",
]


def value(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """V(alpha, beta, R2): the share of the worst-off that is screened. Exact through Owen's T function.

    >>> value(0.5, 0.5, 0.25).round(12)  # 1/2 + asin(1/2) / pi
    np.float64(0.666666666667)
    """
    alpha, beta, r2 = _shares(alpha, beta, r2)
    both = _both_below(special.ndtri(alpha), special.ndtri(beta), np.sqrt(r2))
    both = np.where(alpha >= 1, beta, np.where(alpha <= 0, 0.0, np.where(beta >= 1, alpha, both)))
    both = np.where(r2 >= 1, np.minimum(alpha, beta), np.where(r2 <= 0, alpha * beta, both))
    return np.clip(both, 0.0, np.minimum(alpha, beta))[()] / beta


def gain_from_access(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """dV / dalpha = Phi((b - rho a) / sqrt(1 - R2)) / beta, for alpha and R2 inside (0, 1)."""
    alpha, beta, r2 = _shares(alpha, beta, r2)
    a, b = special.ndtri(alpha), special.ndtri(beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        return special.ndtr((b - np.sqrt(r2) * a) / np.sqrt(1 - r2))[()] / beta


def gain_from_prediction(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """dV / dR2 = phi2(a, b; rho) / (2 beta rho), for alpha inside (0, 1); infinite at R2 = 0."""
    alpha, beta, r2 = _shares(alpha, beta, r2)
    a, b, rho = special.ndtri(alpha), special.ndtri(beta), np.sqrt(r2)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = -(a * a + b * b - 2 * rho * a * b) / (2 * (1 - r2))
        return (np.exp(exponent) / (4 * np.pi * beta * np.sqrt(r2 * (1 - r2))))[()]


def needed_capacity(target: float, beta: float, r2: float) -> float:
    """The smallest alpha with V(alpha, beta, R2) >= ``target``; the overhead is this less beta (section 3).

    >>> round(needed_capacity(0.75, 0.15, 0.15), 8)
    0.5123552
    """
    if not 0 <= target <= 1:
        raise InputError(f"the share {target:g} of the worst-off cannot be reached", remedy="Ask for 0 to 1.")
    if target in (0.0, 1.0):
        return beta if target == 1.0 and r2 == 1 else target
    return float(optimize.brentq(lambda alpha: value(alpha, beta, r2) - target, 0.0, 1.0, xtol=1e-14, rtol=1e-14))


def screened_share(z: ArrayLike, alpha: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """The probability of being screened at standardised welfare z: Phi((a - rho z) / sqrt(1 - R2)), for R2 below 1."""
    alpha, _, r2 = _shares(alpha, 0.5, r2)
    z = np.asarray(z, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return special.ndtr((special.ndtri(alpha) - np.sqrt(r2) * z) / np.sqrt(1 - r2))[()]


def area_under_curve(beta: float, r2: float) -> float:
    """The area under the ROC curve of the prediction as a score for being worst-off, by quadrature over alpha.

    (int_0^1 V dalpha - beta / 2) / (1 - beta); the integral is taken in a = Phi^-1(alpha), where V is smooth.
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)
    a = 9 * nodes
    density = np.exp(-a * a / 2) / np.sqrt(2 * np.pi)
    area = float((9 * weights * density * value(special.ndtr(a), beta, r2)).sum())
    return (area - beta / 2) / (1 - beta)


def r2_of_area(beta: float, area: float) -> float:
    """The R2 at which the Gaussian model has this area under the ROC curve; 0 for an area of a half or less.

    >>> round(r2_of_area(0.15, 0.69953966), 6)
    0.15
    """
    if area <= 0.5 or np.isnan(area):
        return 0.0
    return float(optimize.brentq(lambda r2: area_under_curve(beta, r2) - min(area, 1 - 1e-9), 0.0, 1.0, xtol=1e-10))


def _both_below(a: np.ndarray, b: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Phi2(a, b; rho) = (Phi(a) + Phi(b)) / 2 - T(a, .) - T(b, .) - [a and b on different sides of 0] / 2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt((1 - rho) * (1 + rho))
        first = np.where(a == 0, _limit(b), (b - rho * a) / (a * root))
        second = np.where(b == 0, _limit(a), (a - rho * b) / (b * root))
        apart = (a * b < 0) | ((a * b == 0) & (a + b < 0))
        mean = (special.ndtr(a) + special.ndtr(b)) / 2
        general = mean - special.owens_t(a, first) - special.owens_t(b, second) - 0.5 * apart
    return np.where((a == 0) & (b == 0), 0.25 + np.arcsin(rho) / (2 * np.pi), general)


def _limit(other: np.ndarray) -> np.ndarray:
    """The second argument of Owen's T as its first goes to 0 from above: an infinity of the other's sign."""
    return np.copysign(np.inf, other)


def _shares(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = []
    for name, share in (("alpha", alpha), ("beta", beta), ("R2", r2)):
        share = np.asarray(share, dtype=float)
        if not ((share >= 0) & (share <= 1)).all() or (name == "beta" and not (share > 0).all()):
            raise InputError(f"{name} is outside its range", remedy="Shares run from 0 to 1, and beta is above 0.")
        found.append(share)
    return tuple(np.broadcast_arrays(*found))
