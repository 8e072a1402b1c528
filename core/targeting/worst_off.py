"""Who is worst-off in a register, also where some outcomes are missing or some spells are still running.

The worst-off are the share beta with the worst outcome, ties included, or all beyond a threshold, or all with a label
(arXiv 2501.19334, sections 3 and 4). Whoever's outcome is unknown is neither worst-off nor not: such rows count
nothing, and the known rows that stand for them count more (inverse probability weights):

- a missing outcome is represented by the known ones in the same tenth of the score;
- a spell that was still running when the record ended is known to be worst-off once it is as long as the threshold,
  and unknown before. Known rows weigh 1 / G, with G the Kaplan-Meier estimate of the chance that a record has not
  ended yet; their weighted share of worst-off is then exactly the Kaplan-Meier estimate of long spells.

Counting running spells as ended, as is often done, understates how many are worst-off; `bounds` shows how far off any
assumption can be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.common.errors import InputError
from core.common.text import count, percent

__all__ = ["WorstOff", "by_label", "by_share", "by_threshold", "repeated", "standing_for_missing"]

_TENTHS = 10


@dataclass(frozen=True, kw_only=True)
class WorstOff:
    """Which rows (n,) are worst-off, and how much each counts.

    ``flag`` (n,) is False where unknown, and ``weight`` (n,) is 0 there. ``beta`` is the realised share of worst-off,
    ``bounds`` the smallest and largest share that the unknown rows allow, ``threshold`` the least bad outcome among the
    worst-off (nan for labels).
    """

    flag: np.ndarray
    weight: np.ndarray
    beta: float
    bounds: tuple[float, float]
    threshold: float
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> np.ndarray:
        """Rows (n,) of which it is known whether they are worst-off."""
        return self.weight > 0


def by_share(
    outcome: np.ndarray,
    beta: float,
    *,
    low_is_worst: bool,
    weights: np.ndarray | None = None,
    running: np.ndarray | None = None,
    score: np.ndarray | None = None,
) -> WorstOff:
    """The worst-off are the share ``beta`` with the worst outcome (n,), ties included, nan where it is missing.

    ``running`` (n,) marks spells that had not ended; ``score`` (n,) is used for missing outcomes only. InputError if
    the share is less than one person, for an infinite outcome, and for weights that are not positive.

    >>> by_share(np.array([1.0, 2, 3, 4, 5]), 0.4, low_is_worst=True).flag
    array([ True,  True, False, False, False])
    """
    if not 0 < beta < 1:
        raise InputError(f"the share beta is {beta:g}", remedy="It has to lie between 0 and 1.")
    weights, bad = _checked(outcome, weights, low_is_worst, running)
    known = ~np.isnan(bad)
    standing = standing_for_missing(known, weights, score)
    if running is None:
        threshold = _share_threshold(bad[known], standing[known], beta)
    else:
        threshold = _km_threshold(bad[known], running[known], standing[known], beta)
    return _flagged(bad, threshold, low_is_worst, weights, standing, running)


def by_threshold(
    outcome: np.ndarray,
    threshold: float,
    *,
    low_is_worst: bool,
    weights: np.ndarray | None = None,
    running: np.ndarray | None = None,
    score: np.ndarray | None = None,
) -> WorstOff:
    """The worst-off are all whose outcome (n,) is ``threshold`` or worse; otherwise as `by_share`.

    >>> weeks = np.array([2.0, 9, 30, 40])
    >>> by_threshold(weeks, 26, low_is_worst=False, running=np.array([True, False, False, True])).weight.round(4)
    array([0.    , 1.3333, 1.3333, 1.3333])
    """
    weights, bad = _checked(outcome, weights, low_is_worst, running)
    standing = standing_for_missing(~np.isnan(bad), weights, score)
    return _flagged(bad, threshold if low_is_worst else -threshold, low_is_worst, weights, standing, running)


def by_label(label: np.ndarray, *, weights: np.ndarray | None = None, score: np.ndarray | None = None) -> WorstOff:
    """The worst-off are the rows whose label (n,) is 1; nan where it is missing. InputError for anything but 0 or 1.

    >>> by_label(np.array([0.0, 1, np.nan, 1])).beta
    0.6666666666666666
    """
    label = np.asarray(label, dtype=float)
    odd = np.flatnonzero(~(np.isnan(label) | (label == 0) | (label == 1)))
    if odd.size:
        raise InputError(f"the label is {label[odd[0]]:g}", row=int(odd[0]) + 1, remedy="It has to be 0 or 1.")
    weights, bad = _checked(label, weights, False, None)
    standing = standing_for_missing(~np.isnan(bad), weights, score)
    made = _flagged(bad, -1.0, False, weights, standing, None)
    return replace(made, threshold=float("nan"))


def repeated(worst_off: WorstOff, times: int) -> WorstOff:
    """The same rows ``times`` over, one copy after the other."""
    if times == 1:
        return worst_off
    return replace(worst_off, flag=np.tile(worst_off.flag, times), weight=np.tile(worst_off.weight, times))


def standing_for_missing(known: np.ndarray, weights: np.ndarray, score: np.ndarray | None) -> np.ndarray:
    """Weights (n,), 0 for unknown rows, that let the known rows of each tenth of the score stand for all of it.

    Without a score the known rows stand for all rows alike. A tenth without a known row is joined with the next.
    """
    if known.all():
        return weights
    if not known.any():
        raise InputError("no row has an outcome", remedy="At least some outcomes have to be known.")
    cell = np.zeros(known.size, dtype=int) if score is None else _tenths(score, known)
    everyone = np.bincount(cell, weights)
    represented = np.bincount(cell, weights * known, minlength=everyone.size)
    return np.where(known, weights * (everyone / np.where(represented > 0, represented, 1))[cell], 0.0)


def _tenths(score: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Places by tenths of the known rows' scores: each tenth holds a known row, since its edges are known scores."""
    edges = np.unique(np.quantile(score[known], np.linspace(0, 1, _TENTHS + 1)[1:-1], method="inverted_cdf"))
    cell = np.searchsorted(edges, score, side="left")
    return np.minimum(cell, cell[known].max())


def _checked(
    outcome: np.ndarray, weights: np.ndarray | None, low_is_worst: bool, running: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,) and the outcome turned so that low is bad."""
    outcome = np.asarray(outcome, dtype=float)
    weights = np.ones(outcome.size) if weights is None else np.asarray(weights, dtype=float)
    if outcome.ndim != 1 or outcome.size == 0 or weights.shape != outcome.shape:
        raise InputError("outcomes and weights do not fit", remedy="Give each person one of each.")
    if running is not None and (low_is_worst or running.shape != outcome.shape):
        raise InputError(
            "running spells need an outcome of which high is worst, such as a duration",
            remedy="Say that high is worst, or choose no column for running spells.",
        )
    _refuse(np.isinf(outcome), "outcome", "the value is infinite", "Give a finite number.")
    _refuse(~(np.isfinite(weights) & (weights > 0)), "weight", "the weight is not positive", "Weights are above 0.")
    return weights, outcome if low_is_worst else -outcome


def _refuse(bad: np.ndarray, column: str, what: str, remedy: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        raise InputError(what, column=column, row=int(rows[0]) + 1, remedy=remedy)


def _share_threshold(bad: np.ndarray, weights: np.ndarray, beta: float) -> float:
    """The outcome of the last row that lies within the share beta as a whole, the worst first."""
    if (weights == weights[0]).all() and (people := int(beta * bad.size + 1e-9)):
        return float(np.partition(bad, people - 1)[people - 1])
    order = np.lexsort((weights, bad))  # of equal outcomes the lightest first, so that the rows' order decides nothing
    within = np.cumsum(weights[order]) <= beta * weights.sum() * (1 + 1e-12) + 1e-9
    if not within[0]:
        raise InputError(
            f"the share {percent(beta)} of the worst-off is less than one person", remedy="Choose a larger share."
        )
    return float(bad[order][np.flatnonzero(within)[-1]])


def _km_threshold(bad: np.ndarray, running: np.ndarray, weights: np.ndarray, beta: float) -> float:
    """The shortest duration that the share beta at most reaches, by Kaplan and Meier, or the longest duration."""
    times, reached = _reaching(-bad, running, weights)
    within = np.flatnonzero(reached <= beta * (1 + 1e-12))
    return -float(times[within[0]] if within.size else times[-1])


def _flagged(
    bad: np.ndarray,
    threshold: float,
    low_is_worst: bool,
    weights: np.ndarray,
    standing: np.ndarray,
    running: np.ndarray | None,
) -> WorstOff:
    known = ~np.isnan(bad)
    flag = known & (bad <= threshold)
    notes = _missing_note(known)
    if running is not None:
        unknown = running & known & ~flag
        standing = _censored(bad, flag, unknown, standing, threshold)
        notes += _running_note(unknown, running & known)
        known = known & ~unknown
    worst, everyone = float((weights * flag).sum()), float(weights.sum())
    if not flag.any() or flag[known].all():
        what = "nobody is" if not flag.any() else "everybody is"
        raise InputError(f"{what} worst-off by this definition", remedy="Choose another threshold or share.")
    return WorstOff(
        flag=flag,
        weight=standing,
        beta=float((standing * flag).sum() / standing.sum()),
        bounds=(worst / everyone, (worst + float(weights[~known].sum())) / everyone),
        threshold=threshold if low_is_worst else -threshold,
        notes=notes,
    )


def _censored(
    bad: np.ndarray, flag: np.ndarray, unknown: np.ndarray, standing: np.ndarray, threshold: float
) -> np.ndarray:
    """Inverse probability of censoring weights (n,), known rows weighted by ``standing`` before."""
    there = standing > 0
    duration = np.minimum(-bad, -threshold)
    weight = np.zeros(bad.size)
    weight[there] = standing[there] / _still_recorded(duration[there], unknown[there], standing[there])
    return np.where(unknown, 0.0, weight)


def _still_recorded(duration: np.ndarray, censored: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """G(T-), (n,): the chance that a record lasts to each duration; at equal durations ends come before cuts."""
    times, place = np.unique(duration, return_inverse=True)
    cut = np.bincount(place, weights * censored, minlength=times.size)
    ended = np.bincount(place, weights, minlength=times.size) - cut
    at_risk = np.cumsum((cut + ended)[::-1])[::-1] - ended
    chance = np.cumprod(1 - np.divide(cut, at_risk, out=np.zeros(times.size), where=at_risk > 0))
    return np.concatenate(([1.0], chance[:-1]))[place]


def _reaching(duration: np.ndarray, running: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct durations, and the Kaplan-Meier share of spells that reach each: S(t-)."""
    times, place = np.unique(duration, return_inverse=True)
    ended = np.bincount(place, weights * ~running, minlength=times.size)
    at_risk = np.cumsum(np.bincount(place, weights, minlength=times.size)[::-1])[::-1]
    return times, np.concatenate(([1.0], np.cumprod(1 - ended / at_risk)[:-1]))


def _missing_note(known: np.ndarray) -> tuple[str, ...]:
    missing = int((~known).sum())
    return (f"{count(missing, 'row')} without an outcome: known rows with similar scores stand for them.",) * bool(
        missing
    )


def _running_note(unknown: np.ndarray, running: np.ndarray) -> tuple[str, ...]:
    if not running.any():
        return ("No spell was still running.",)
    return (
        f"{count(int(running.sum()), 'spell')} had not ended; of {int(unknown.sum()):,} it is unknown whether they "
        "became long. Spells that were recorded for longer stand for them (Kaplan-Meier weights).",
    )
