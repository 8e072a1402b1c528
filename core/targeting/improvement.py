"""Two ways to make the prediction of a real register better by Dr in R2, with everything else as it is.

The paper shrinks residuals, Yhat + d (Y - Yhat) with d = 1 - sqrt(1 - Dr SST / SSE) (arXiv 2501.19334, section 4). That
raises 1 - SSE / SST by Dr, but hands everyone a share of their own truth: the ranking improves by more than R2 does, in
a skewed register by much more, and a forecast that knew nothing would rank perfectly after any step.

The calibrated lever (not in the paper) adds information as a better model would have: with k = Dr / (1 - R2),

    Yhat' = Yhat + k e + sqrt(k (1 - k)) sd(e) xi,   e = Y - Yhat,   xi ~ N(0, 1),

has squared correlation R2 + Dr with the outcome if Yhat is calibrated, since its error stays as large as it should be.
Small registers are drawn several times, and all draws are ranked together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.targeting.levers import ROUNDING, residual_shrinkage

__all__ = ["LEVERS", "Forecast", "forecast", "improved"]

LEVERS = {
    "calibrated": "A better model: adds what raises R2 by the step, and no more",
    "residuals": "The paper's: moves each forecast towards the truth",
}
_ENOUGH = 300_000  # rows over which noise averages out by itself
_MOST_DRAWS = 100


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """A score as a forecast of ``target`` (n,): ``value`` (n,) in the target's units, and three measures of fit.

    ``r2`` is 1 - SSE / SST of ``value``, ``correlation2`` the squared correlation, ``rescaled`` whether the score had
    to be put on the target's scale by a straight line.
    """

    target: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    r2: float
    correlation2: float
    rescaled: bool


def forecast(target: np.ndarray, score: np.ndarray, weight: np.ndarray) -> Forecast:
    """A score as a forecast; rows of weight 0 count nothing.

    A score that as it stands explains nothing (a rank, a risk class, points) is put on the target's scale by the
    straight line of least squares, which changes no order. InputError if target or score is constant, or if they run
    in opposite directions.
    """
    known = weight > 0
    y, s, w = target[known], score[known], weight[known]
    if np.ptp(y) == 0 or np.ptp(s) == 0:
        what = "outcome" if np.ptp(y) == 0 else "score"
        raise InputError(f"the {what} is the same for everybody", remedy="Nobody can be told apart by it.")
    mean_y, mean_s = np.average(y, weights=w), np.average(s, weights=w)
    covariance = np.average((y - mean_y) * (s - mean_s), weights=w)
    variance_y, variance_s = np.average((y - mean_y) ** 2, weights=w), np.average((s - mean_s) ** 2, weights=w)
    r2 = 1 - np.average((y - s) ** 2, weights=w) / variance_y
    correlation2 = float(covariance**2 / (variance_y * variance_s))
    rescaled = bool(r2 <= 0)
    if rescaled and covariance <= 0:
        raise InputError(
            "the score falls where the outcome rises", remedy="Say which direction of the score is bad, or turn it."
        )
    value = mean_y + covariance / variance_s * (score - mean_s) if rescaled else np.asarray(score, dtype=float)
    return Forecast(
        target=target,
        value=value,
        weight=weight,
        r2=correlation2 if rescaled else float(r2),
        correlation2=correlation2,
        rescaled=rescaled,
    )


def improved(given: Forecast, step: float, lever: str, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Better forecasts (n,), to be ranked together: one for residuals, several draws for the calibrated lever.

    Rows of weight 0 keep theirs. InputError if R2 cannot rise by ``step``.
    """
    error = np.where(given.weight > 0, given.target - given.value, 0.0)
    if lever == "residuals":
        yield given.value + residual_shrinkage(given.r2, step) * error
        return
    if given.r2 + step > 1 + ROUNDING:
        raise InputError(f"R2 cannot rise by {step:g} from {given.r2:g}", remedy="Choose a smaller step.")
    k = min(step / (1 - given.r2), 1.0)  # a step to 1 may come out above it by rounding
    spread = np.sqrt(k * (1 - k) * np.average(error**2, weights=given.weight))
    informed = given.value + k * error
    for draw in range(int(np.clip(_ENOUGH // error.size, 1, _MOST_DRAWS))):
        if draw % 2 == 0:  # draws come in pairs of opposite noise, whose errors nearly cancel
            noise = spread * rng.standard_normal(error.size)
        yield informed + (noise if draw % 2 == 0 else -noise)
