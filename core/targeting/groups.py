"""Who is reached in which group: recall of the worst-off and burden of being screened, with intervals.

Everybody is screened by the same cut. Recall is the share of a group's worst-off that is screened; burden is the share
of the group that is screened, and of its people who are not worst-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.targeting.privacy import small
from core.targeting.register import same_score
from core.targeting.resampling import Estimate, Resampler, estimate
from core.targeting.worst_off import WorstOff

__all__ = ["MOST_GROUPS", "Group", "by_group", "screened"]

MOST_GROUPS = 30


@dataclass(frozen=True, kw_only=True)
class Group:
    """One group: rows and worst-off among them as people, recall, and both burdens.

    ``hidden`` says that some count behind it is too small to be shown; its figures are then nan.
    """

    name: str
    people: float
    worst: float
    recall: Estimate
    screened: Estimate
    burden: Estimate
    hidden: bool = False


def screened(worst_off: WorstOff, score: np.ndarray, alpha: float, *, low_is_worst: bool) -> np.ndarray:
    """The chance (n,) of each row to be screened at capacity ``alpha``: 1, 0, or a share where scores tie."""
    order = np.argsort(score if low_is_worst else -score)
    starts = same_score(score[order])
    people = np.add.reduceat(worst_off.weight[order], starts)
    before = np.cumsum(people) - people
    places = alpha * people.sum() - before
    share = np.divide(places, people, out=(places > 0).astype(float), where=people > 0).clip(0, 1)
    chance = np.empty(score.size)
    chance[order] = np.repeat(share, np.diff(starts, append=score.size))
    return chance


def by_group(
    worst_off: WorstOff,
    score: np.ndarray,
    group: np.ndarray,
    names: Sequence[str],
    alpha: float,
    resampler: Resampler,
    bins: np.ndarray,
    *,
    low_is_worst: bool,
    level: float,
    smallest: int,
) -> tuple[Group, ...]:
    """Each group's figures at capacity ``alpha``; ``group`` (n,) holds places among ``names``.

    ``bins`` (n,) are the score's, from the resampler.

    Groups in which a count of people, worst-off people or reached ones is above 0 and below ``smallest`` are hidden,
    and where that is a single group the next smallest with it, or it could be had by taking the others from the total.
    """
    if len(names) > MOST_GROUPS:
        raise InputError(
            f"there are {len(names):,} groups", remedy=f"Choose a column with at most {MOST_GROUPS} different values."
        )
    chance = screened(worst_off, score, alpha, low_is_worst=low_is_worst)
    cut = resampler.resample(bins).places(alpha)
    found = [
        _group(name, group == place, worst_off, chance, bins, cut, resampler, level, smallest)
        for place, name in enumerate(names)
    ]
    return _covered(found)


def _group(
    name: str,
    member: np.ndarray,
    worst_off: WorstOff,
    chance: np.ndarray,
    bins: np.ndarray,
    cut: np.ndarray,
    resampler: Resampler,
    level: float,
    smallest: int,
) -> Group:
    flag, weight = worst_off.flag, worst_off.weight
    kinds = (member & flag, member & worst_off.known & ~flag)
    totals = [resampler.totals(bins, among) for among in kinds]
    weighed = [(float(weight[among] @ chance[among]), float(weight[among].sum())) for among in kinds]
    figures = [
        _figure(weighed[0], totals[0], cut, level),
        _figure((weighed[0][0] + weighed[1][0], weighed[0][1] + weighed[1][1]), totals[0] + totals[1], cut, level),
        _figure(weighed[1], totals[1], cut, level),
    ]
    worst, others = (int(among.sum()) for among in kinds)
    counts = (worst, others, chance[kinds[0]].sum(), chance[kinds[1]].sum())
    return Group(
        name=name,
        people=float(worst + others),
        worst=float(worst),
        recall=figures[0],
        screened=figures[1],
        burden=figures[2],
        hidden=any(small(n, smallest) for n in counts),
    )


def _figure(weighed: tuple[float, float], totals: np.ndarray, cut: np.ndarray, level: float) -> Estimate:
    """The share screened of a weight, given as (screened, all), with the interval from the resamples' ``totals``."""
    value = weighed[0] / weighed[1] if weighed[1] > 0 else np.nan
    return estimate(value, _share_before(totals, cut), level)


def _share_before(totals: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """The share of the weight (draws + 1, bins) that lies before the cut (draws + 1,) of each resample, (draws,)."""
    cumulated = np.pad(np.cumsum(totals, axis=1), ((0, 0), (1, 0)))
    places = np.arange(cumulated.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [np.interp(at, places, row) / row[-1] for at, row in zip(cut, cumulated, strict=True)]
    return np.array(shares)[1:]


def _covered(groups: list[Group]) -> tuple[Group, ...]:
    hidden = [group.hidden for group in groups]
    if sum(hidden) == 1 and len(groups) > 1:
        others = [place for place, is_hidden in enumerate(hidden) if not is_hidden]
        hidden[min(others, key=lambda place: groups[place].people)] = True
    return tuple(_blank(group) if hide else group for group, hide in zip(groups, hidden, strict=True))


def _blank(group: Group) -> Group:
    nothing = Estimate(value=np.nan, low=np.nan, high=np.nan)
    return Group(
        name=group.name, people=np.nan, worst=np.nan, recall=nothing, screened=nothing, burden=nothing, hidden=True
    )
