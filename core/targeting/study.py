"""One study of a register: targeting curves of every score, and what the two steps gain with one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.common.errors import InputError
from core.common.settings import Settings, whole
from core.targeting import asked
from core.targeting.gains import Curve, Gains, Prices, Steps, after_lever, curve, gains
from core.targeting.groups import Group, by_group
from core.targeting.improvement import LEVERS, Forecast, forecast
from core.targeting.people import People, Score
from core.targeting.privacy import check_enough
from core.targeting.resampling import Estimate, Resampler, estimate

__all__ = ["Study", "StudySettings", "study"]

LEVEL = 0.9
_DRAWS = 400
_GRID = np.linspace(0, 1, 101)


@dataclass(frozen=True, kw_only=True)
class StudySettings(Settings):
    """What is asked of a register."""

    alpha: float = asked.alpha()
    access_step: float = asked.access_step()
    prediction_step: float = asked.prediction_step()
    place_cost: float = asked.place_cost()
    prediction_cost: float = asked.prediction_cost()
    smallest: int = whole(
        5, low=1, high=1000, label="Smallest count shown", help="Counts of fewer people are not shown.", typed=True
    )

    @property
    def steps(self) -> Steps:
        """The two steps from the capacity."""
        return Steps(alpha=self.alpha, access=self.access_step, prediction=self.prediction_step)

    def prices(self, people: float) -> Prices:
        """What the steps cost for so many people."""
        return Prices(place=self.place_cost, prediction=self.prediction_cost, people=people)


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is known of a register under these settings; ``curves`` of all scores, the rest of the score ``chosen``.

    Parts that take time are computed when they are first asked for, from the same resamples.
    """

    people: People
    settings: StudySettings
    chosen: str
    curves: Mapping[str, Curve]
    resampler: Resampler
    seed: int

    @property
    def now(self) -> Curve:
        """The chosen score's curve."""
        return self.curves[self.chosen]

    @property
    def score(self) -> Score:
        """The chosen score."""
        return self.people.scores[self.chosen]

    @property
    def worst_people(self) -> float:
        """How many people are worst-off, in weighted people."""
        return self.people.worst_off.beta * self.total_people

    @property
    def total_people(self) -> float:
        """How many people the register stands for."""
        return float(self.people.worst_off.weight.sum())

    @cached_property
    def forecast(self) -> Forecast:
        """The chosen score as a forecast of the target."""
        sign = 1.0 if self.score.low_is_worst == self.people.low_target_is_worst else -1.0
        return forecast(self.people.target, sign * self.score.value, self.people.worst_off.weight)

    @property
    def theory_r2(self) -> float | None:
        """The squared correlation with which the Gaussian model is set beside the score; None if it tells nothing."""
        try:
            return self.forecast.correlation2
        except InputError:
            return None

    @cached_property
    def better(self) -> Mapping[str, Curve]:
        """The curve after the step in prediction, by lever."""
        return {lever: self._better(lever) for lever in LEVERS}

    @cached_property
    def gains(self) -> Mapping[str, Gains]:
        """What both steps gain, by lever."""
        prices = self.settings.prices(self.total_people)
        return {
            lever: gains(self.now, better, self.settings.steps, prices, LEVEL) for lever, better in self.better.items()
        }

    def needed_capacity(self, target: float, level: float = LEVEL) -> Estimate:
        """The capacity at which the chosen score reaches the share ``target`` of the worst-off."""
        exact = self.now.whole.needed_capacity(target)
        return estimate(exact, self.now.resampled.needed_capacity(target), level)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Recall and burden by group; InputError if the register has none."""
        if self.people.group is None:
            raise InputError("there are no groups", remedy="Choose a column of groups.")
        return by_group(
            self.people.worst_off,
            self.score.value,
            self.people.group,
            self.people.groups,
            self.settings.alpha,
            self.resampler,
            self.now.bins,
            low_is_worst=self.score.low_is_worst,
            level=LEVEL,
            smallest=self.settings.smallest,
        )

    def _better(self, lever: str) -> Curve:
        return after_lever(
            self.people.worst_off,
            self.forecast,
            self.settings.prediction_step,
            lever,
            self.resampler,
            self.now.alpha,
            low_is_worst=self.people.low_target_is_worst,
            level=LEVEL,
            rng=np.random.default_rng([self.seed, 1]),
        )


def study(people: People, settings: StudySettings, *, chosen: str | None = None, seed: int = 0) -> Study:
    """Study a register; InputError if the worst-off are too few to be shown.

    ``chosen`` is the score with which the steps are compared, the first if None.
    """
    flag, known = people.worst_off.flag, people.worst_off.known
    check_enough(int(flag.sum()), int((known & ~flag).sum()), settings.smallest)
    resampler = Resampler(people.worst_off, draws=_DRAWS, rng=np.random.default_rng([seed, 0]))
    steps = settings.steps
    alpha = np.unique(np.concatenate((_GRID, [steps.alpha, steps.alpha + steps.access])))
    curves = {
        name: curve(people.worst_off, score.value, resampler, alpha, low_is_worst=score.low_is_worst, level=LEVEL)
        for name, score in people.scores.items()
    }
    return Study(
        people=people,
        settings=settings,
        chosen=next(iter(curves)) if chosen is None else chosen,
        curves=curves,
        resampler=resampler,
        seed=seed,
    )
