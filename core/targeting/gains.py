"""What one more step of capacity and one better prediction gain on a real register, with intervals and prices.

PAR is the share of the worst-off that the access step finds on top, over the share that the prediction step finds
(arXiv 2501.19334, section 3); all intervals come from the same resamples of people, so that the ratio's is right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.common.errors import InputError
from core.targeting.improvement import Forecast, improved
from core.targeting.register import TargetingCurve, ranked
from core.targeting.resampling import Estimate, Resampled, Resampler, estimate
from core.targeting.worst_off import WorstOff, repeated

__all__ = ["Curve", "Gains", "Prices", "Steps", "after_lever", "curve", "gain_ratio", "gains"]

_ROUNDING = 1e-12
_EXACT = 1_000_000  # up to so many rows each better forecast is sorted; beyond, read off 500 bins


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Where a register stands and the two steps that are compared; the prediction step is in R2."""

    alpha: float
    access: float
    prediction: float

    def __post_init__(self) -> None:
        if self.alpha + self.access > 1:
            raise InputError(
                f"capacity cannot rise from {self.alpha:g} by {self.access:g}", remedy="Choose a smaller step."
            )


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What each step costs, in one currency: per place a year, and for the whole prediction step."""

    place: float
    prediction: float
    people: float

    def access(self, step: float) -> float:
        """The price of ``step`` more capacity, as a share of all people."""
        return self.place * step * self.people


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A score's targeting curve at ``alpha`` (k,): ``reached`` and its band, each (k,), and all its resamples.

    Of a score as it is given, ``whole`` is the curve at all capacities, ``area`` that under the ROC curve, and
    ``bins`` (n,) where each row lies; all three are left out for a better forecast.
    """

    alpha: np.ndarray
    reached: np.ndarray
    low: np.ndarray
    high: np.ndarray
    resampled: Resampled
    whole: TargetingCurve | None = None
    area: float = np.nan
    bins: np.ndarray | None = None

    def at(self, alpha: float) -> float:
        """V at one capacity."""
        return float(np.interp(alpha, self.alpha, self.reached))


@dataclass(frozen=True, kw_only=True)
class Gains:
    """``reached`` now, what each step adds to it, their ``ratio`` (PAR), and how likely access is the better buy.

    ``ratio`` is nan where neither step gains. ``chance`` is the share of resamples in which the access step finds more
    worst-off people for its price.
    """

    reached: Estimate
    access: Estimate
    prediction: Estimate
    ratio: Estimate
    chance: float


def curve(
    worst_off: WorstOff, score: np.ndarray, resampler: Resampler, alpha: np.ndarray, *, low_is_worst: bool, level: float
) -> Curve:
    """The targeting curve of a score (n,) at capacities ``alpha`` (k,) with its band."""
    exact = ranked(worst_off, score, low_is_worst=low_is_worst)
    bins = resampler.bins(score, low_is_worst=low_is_worst)
    banded = _banded(alpha, exact.at(alpha), resampler.resample(bins), level)
    return replace(banded, whole=exact.thinned(), area=exact.area(), bins=bins)


def after_lever(
    worst_off: WorstOff,
    given: Forecast,
    step: float,
    lever: str,
    resampler: Resampler,
    alpha: np.ndarray,
    *,
    low_is_worst: bool,
    level: float,
    rng: np.random.Generator,
) -> Curve:
    """The targeting curve once the forecast is better by ``step`` in R2, over all of the lever's draws together."""
    scores = list(improved(given, step, lever, rng))
    score = np.concatenate(scores)
    resampled = resampler.curves(score, low_is_worst=low_is_worst)
    if score.size > _EXACT:
        return _banded(alpha, resampled.original(alpha), resampled, level)
    exact = ranked(repeated(worst_off, len(scores)), score, low_is_worst=low_is_worst)
    return _banded(alpha, exact.at(alpha), resampled, level)


def gains(now: Curve, better: Curve, steps: Steps, prices: Prices, level: float) -> Gains:
    """Both steps' gains at the register's capacity, from the curves now and after the prediction step."""
    alpha, further = steps.alpha, steps.alpha + steps.access
    here, more = now.resampled.at([alpha, further]).T
    access_draws, prediction_draws = more - here, better.resampled.at([alpha])[:, 0] - here
    reached = now.at(alpha)
    access, prediction = now.at(further) - reached, better.at(alpha) - reached
    rate = prices.access(steps.access) / prices.prediction
    return Gains(
        reached=estimate(reached, here, level),
        access=estimate(access, access_draws, level),
        prediction=estimate(prediction, prediction_draws, level),
        ratio=estimate(gain_ratio(access, prediction), gain_ratio(access_draws, prediction_draws), level),
        chance=float(np.mean(access_draws > rate * prediction_draws)),
    )


def gain_ratio(access: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """PAR: infinite where the prediction step gains nothing, nan where neither gains; rounding is no gain."""
    access, prediction = (np.where(np.asarray(gain) > _ROUNDING, gain, 0.0) for gain in (access, prediction))
    with np.errstate(divide="ignore", invalid="ignore"):
        return access / prediction


def _banded(alpha: np.ndarray, reached: np.ndarray, resampled: Resampled, level: float) -> Curve:
    low, high = np.nanquantile(resampled.at(alpha), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Curve(alpha=alpha, reached=reached, low=low, high=high, resampled=resampled)
