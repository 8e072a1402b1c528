"""Two ways to spend the next euro: more places (access) or a better prediction, and the ratio of what they gain.

The prediction-access ratio (arXiv 2501.19334, section 3) has the access step in its numerator:

    PAR = [V(alpha + Da, beta, R2) - V(alpha, beta, R2)] / [V(alpha, beta, R2 + Dr) - V(alpha, beta, R2)],

so access is worth more than prediction as long as it costs less than PAR times as much. The empirical part of the paper
improves a prediction by shrinking its residuals; that raises 1 - SSE / SST by Dr but the squared correlation by more,
and so credits prediction too much: `r2_after_shrinking` says by how much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from core.common.errors import InputError
from core.targeting.gaussian import value

__all__ = [
    "ROUNDING",
    "access_is_better",
    "even_r2",
    "local_ratio",
    "r2_after_shrinking",
    "ratio",
    "ratio_by_shrinking",
    "residual_shrinkage",
    "small_capacity_bound",
]

ROUNDING = 1e-12  # sums of shares may exceed 1 by so much


def ratio(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike, access_step: float, prediction_step: float) -> np.ndarray:
    """PAR for finite steps Da and Dr; infinite where the prediction step gains nothing, nan where neither gains.

    InputError if a step leaves the range of shares: no step is cut short in silence.
    """
    return _ratio_to(alpha, beta, r2, access_step, _stepped(r2, prediction_step, "R2"))


def local_ratio(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """PAR for steps that go to zero together: 2 rho Phi((b - rho a) / sqrt(1 - R2)) / phi2(a, b; rho).

    In logarithms, since both gains may underflow; alpha, beta and R2 inside (0, 1).
    """
    a, b, r2 = special.ndtri(np.asarray(alpha)), special.ndtri(np.asarray(beta)), np.asarray(r2, dtype=float)
    rho, left = np.sqrt(r2), 1 - r2
    log_density = -(a * a + b * b - 2 * rho * a * b) / (2 * left)
    with np.errstate(divide="ignore", over="ignore"):
        size = np.log(4 * np.pi) + np.log(r2 * left) / 2
        return np.exp(size + special.log_ndtr((b - rho * a) / np.sqrt(left)) - log_density)


def access_is_better(par: ArrayLike, access_cost: float, prediction_cost: float) -> np.ndarray:
    """Whether the access step is the better buy: its cost is below PAR times the prediction step's (section 3)."""
    if not (access_cost > 0 and prediction_cost > 0):
        raise InputError("a cost is not positive", remedy="Give what each step costs, in the same currency.")
    return np.asarray(par) > access_cost / prediction_cost


def even_r2(
    alpha: float, beta: float, access_step: float, prediction_step: float, par: float = 1.0
) -> tuple[float, ...]:
    """The R2 at which PAR equals ``par``, ascending: none, one, or the first and the last mile."""
    grid = np.linspace(0.0, 1 - prediction_step, 2001)
    gap = ratio(alpha, beta, grid, access_step, prediction_step) - par
    places = np.flatnonzero(np.sign(gap[1:]) * np.sign(gap[:-1]) < 0)

    def at(r2: float) -> float:
        return float(ratio(alpha, beta, r2, access_step, prediction_step)) - par

    return tuple(float(optimize.brentq(at, grid[place], grid[place + 1], xtol=1e-13)) for place in places)


def residual_shrinkage(r2: float, step: float) -> float:
    """delta = 1 - sqrt(1 - Dr SST / SSE): how far residuals shrink for 1 - SSE / SST to rise by ``step`` (section 4).

    InputError if R2 would rise above 1.
    """
    if r2 + step > 1 + ROUNDING:
        raise InputError(f"R2 cannot rise by {step:g} from {r2:g}", remedy="Choose a smaller step.")
    return float(1 - np.sqrt(max(1 - step / (1 - r2), 0.0)))


def r2_after_shrinking(r2: ArrayLike, shrinkage: ArrayLike) -> np.ndarray:
    """The squared correlation after shrinking: (R2 + d (1 - R2))^2 / (R2 + d^2 (1 - R2)). Not in the paper.

    >>> float(r2_after_shrinking(0.15, residual_shrinkage(0.15, 0.1)).round(5))  # not 0.25
    0.26532
    """
    r2, shrinkage = np.asarray(r2, dtype=float), np.asarray(shrinkage, dtype=float)
    return (r2 + shrinkage * (1 - r2)) ** 2 / (r2 + shrinkage**2 * (1 - r2))


def ratio_by_shrinking(alpha: ArrayLike, beta: ArrayLike, r2: float, access_step: float, step: float) -> np.ndarray:
    """PAR where the prediction step shrinks residuals, as the paper's empirical part does."""
    after = float(r2_after_shrinking(r2, residual_shrinkage(r2, step)))
    return _ratio_to(alpha, beta, r2, access_step, np.asarray(min(after, 1.0)))


def small_capacity_bound(alpha: ArrayLike, r2: ArrayLike) -> np.ndarray:
    """Theorem 3.1's bound on PAR for equal steps, its o(1) taken as 0: PAR grows as alpha falls.

    sqrt(R2 (1 - R2)) (5.1 alpha Phi^-1(1 - alpha))^(-1 / (1 - R2)).
    """
    alpha, r2 = np.asarray(alpha, dtype=float), np.asarray(r2, dtype=float)
    return np.sqrt(r2 * (1 - r2)) * (5.1 * alpha * -special.ndtri(alpha)) ** (-1 / (1 - r2))


def _ratio_to(alpha: ArrayLike, beta: ArrayLike, r2: ArrayLike, access_step: float, r2_after: np.ndarray) -> np.ndarray:
    now = value(alpha, beta, r2)
    access = value(_stepped(alpha, access_step, "alpha"), beta, r2) - now
    prediction = value(alpha, beta, r2_after) - now
    with np.errstate(divide="ignore", invalid="ignore"):
        return access / prediction


def _stepped(share: ArrayLike, step: float, name: str) -> np.ndarray:
    after = np.asarray(share, dtype=float) + step
    if step <= 0 or (after > 1 + ROUNDING).any():
        raise InputError(f"{name} cannot rise by {step:g}", remedy="Choose a positive step that stays below 1.")
    return np.minimum(after, 1.0)
