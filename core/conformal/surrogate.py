"""A synthetic stand-in with the shape of the paper's MS-COCO experiment (arXiv 2502.13228, section 5.3).

The paper controls the false negative rate of multi-label predictions on 4,952 images of MS-COCO with 80 classes. Its
scores are not distributed in a form that can be bundled, so the experiment runs here on scores drawn at random: as many
rows and classes, frequent and rare classes, about 2.8 labels a row, and a detector that is right about as often. It
shows the same pattern of failure rates; it is not MS-COCO, and whatever shows it has to say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

__all__ = ["CLASSES", "ROWS", "SEED", "StandIn", "Sweep", "draw_stand_in", "loss_counts", "sweep"]

ROWS, CLASSES = 4952, 80
SEED = 2025  # of the one stand-in that experiments and examples use

_DRAWN = 6000  # before rows without any label are set aside
_LABELS_PER_ROW = 2.6  # among the drawn rows, on average
_BASE, _GAIN, _ROW_SD = -3.0, 4.3, 0.7  # logit of an absent label; how much a present one adds; its spread over rows


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """True labels (rows, classes) bool, each row with at least one, and scores (rows, classes) in (0, 1)."""

    labels: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Every row at every one of the descending ``thresholds`` (t,).

    A row's loss is the share of its labels left out: ``loss`` (t, rows) uint8 is its index into ``values`` (k,), which
    ascend from 0 to 1; ``size`` (t, rows) uint8 is the size of its set. ``counts`` (t, k) and ``sizes`` (t,) are the
    sums over rows: how many have each loss, and how many classes are kept in all.
    """

    thresholds: np.ndarray
    values: np.ndarray
    loss: np.ndarray
    size: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray


def draw_stand_in(rng: np.random.Generator) -> StandIn:
    """The first 4,952 labelled rows out of 6,000: score = expit(-3 + (4.3 + d_row) label + noise).

    Label k of 1..80 is present with probability proportional to 1 / (k + 1); d_row ~ N(0, 0.7^2), noise ~ N(0, 1).
    With ``default_rng(SEED)`` it is the stand-in of the experiments.

    >>> stand_in = draw_stand_in(np.random.default_rng(SEED))
    >>> stand_in.labels.shape, int(stand_in.labels.sum())
    ((4952, 80), 13867)
    """
    labels = rng.random((_DRAWN, CLASSES)) < _prevalence()
    gain = _GAIN + rng.normal(0.0, _ROW_SD, (_DRAWN, 1))
    noise = rng.normal(0.0, 1.0, (_DRAWN, CLASSES))
    scores = expit(_BASE + gain * labels + noise)
    kept = np.flatnonzero(labels.any(axis=1))[:ROWS]
    return StandIn(labels=labels[kept], scores=scores[kept])


def sweep(data: StandIn, thresholds: np.ndarray) -> Sweep:
    """Sets and losses of all rows at every threshold (t,), which have to descend; score >= threshold keeps a class.

    >>> toy = StandIn(labels=np.array([[True, True, False]]), scores=np.array([[0.9, 0.4, 0.7]]))
    >>> table = sweep(toy, np.array([0.8, 0.6, 0.4]))
    >>> table.values[table.loss].ravel(), table.size.ravel()
    (array([0.5, 0.5, 0. ]), array([1, 2, 3], dtype=uint8))
    """
    entered = np.searchsorted(-thresholds, -data.scores)  # (rows, classes): first threshold at which it is kept
    positives = data.labels.sum(axis=1, dtype=np.uint8)
    missed = positives - _kept(entered, data.labels, thresholds.size)  # (t, rows)
    most = int(positives.max())
    shares = np.arange(most + 1) / np.arange(1, most + 1)[:, None]  # missed / positives
    values, index = np.unique(shares, return_inverse=True)
    possible = values <= 1
    loss = index.astype(np.uint8)[positives - 1, missed]
    size = _kept(entered, np.ones_like(data.labels), thresholds.size)
    return Sweep(
        thresholds=thresholds,
        values=values[possible],
        loss=loss,
        size=size,
        counts=loss_counts(loss, int(possible.sum())),
        sizes=size.sum(axis=1, dtype=int),
    )


def loss_counts(loss: np.ndarray, values: int) -> np.ndarray:
    """How often each of 0..values - 1 stands in each row of ``loss`` (m, n): (m, values)."""
    offset = np.arange(len(loss))[:, None] * values
    return np.bincount((offset + loss).ravel(), minlength=len(loss) * values).reshape(-1, values)


def _kept(entered: np.ndarray, which: np.ndarray, thresholds: int) -> np.ndarray:
    """How many of the classes ``which`` (rows, classes) each row keeps at each threshold: (thresholds, rows)."""
    rows = len(which)
    row, _ = np.nonzero(which)
    cells = np.bincount(entered[which] * rows + row, minlength=(thresholds + 1) * rows)
    return cells.reshape(-1, rows)[:thresholds].astype(np.uint8).cumsum(axis=0, dtype=np.uint8)


def _prevalence() -> np.ndarray:
    weights = 1 / (np.arange(1, CLASSES + 1) + 1)
    return _LABELS_PER_ROW * weights / weights.sum()  # (classes,)
