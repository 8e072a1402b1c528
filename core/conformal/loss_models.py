"""Populations of losses whose true risk is known, so that a picture can show the truth beside what is inferred.

Losses lie in [0, 1]. A sample is drawn through the quantile function, so the first n of a longer sample with the
same seed are the sample of size n: points arrive, they are not replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["LOSS_MODELS", "LossModel", "draw"]

_PARTS = 4


@dataclass(frozen=True, kw_only=True)
class LossModel:
    """A kind of loss: what it is in words, and its quantile function K(t; mean) = inf{l : F(l) >= t}."""

    title: str
    sentence: str
    quantile: Callable[[np.ndarray, float], np.ndarray]


def draw(model: LossModel, mean: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` independent losses (n,) with expectation ``mean`` in [0, 1].

    >>> draw(LOSS_MODELS["misses"], 0.5, 4, np.random.default_rng(0))
    array([1., 0., 0., 0.])
    """
    return model.quantile(rng.random(n), mean)


def _misses(t: np.ndarray, mean: float) -> np.ndarray:
    return (t > 1 - mean).astype(float)


def _graded(t: np.ndarray, mean: float) -> np.ndarray:
    return stats.binom.ppf(t, _PARTS, mean).clip(0) / _PARTS  # scipy gives -1 at t = 0


def _smooth(t: np.ndarray, mean: float) -> np.ndarray:
    """Beta(1, (1 - mean) / mean): quantile 1 - (1 - t)^(mean / (1 - mean))."""
    if mean in (0.0, 1.0):
        return np.full_like(t, mean)
    return -np.expm1(np.log1p(-np.minimum(t, 1 - 1e-16)) * mean / (1 - mean))


LOSS_MODELS: dict[str, LossModel] = {
    "misses": LossModel(
        title="misses", sentence="Each case is either right (loss 0) or wrong (loss 1).", quantile=_misses
    ),
    "shares": LossModel(
        title="shares",
        sentence="Each case has four parts to find; its loss is the share that was missed.",
        quantile=_graded,
    ),
    "amounts": LossModel(
        title="amounts", sentence="Each case loses an amount between 0 and 1, mostly small.", quantile=_smooth
    ),
}
