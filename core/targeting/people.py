"""From a table to people: who is worst-off, what scores they have, in which group, and what was assumed on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.common.tables import Table
from core.targeting.crossfit import crossfit
from core.targeting.worst_off import WorstOff, by_label, by_share, by_threshold

__all__ = ["DEFINITIONS", "People", "Roles", "Score", "people"]

DEFINITIONS = {
    "share": "the worst share",
    "threshold": "beyond a threshold",
    "label": "a 0-1 column says so",
}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What a register's columns mean.

    ``definition`` is a key of `DEFINITIONS`; ``cut`` is the share beta or the threshold. ``low_is_worst`` is of the
    outcome, ``low_score_is_worst`` of the score columns. Where ``features`` are named, cross-fitted ``models`` make
    scores beside those of ``scores``. ``running`` marks spells that had not ended.
    """

    outcome: str
    definition: str = "share"
    cut: float = 0.15
    low_is_worst: bool = False
    scores: tuple[str, ...] = ()
    low_score_is_worst: bool = False
    features: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    weights: str | None = None
    running: str | None = None
    group: str | None = None

    def columns(self) -> tuple[str, ...]:
        """All columns that are needed, each once."""
        named = (self.outcome, *self.scores, *self.features, self.weights, self.running, self.group)
        return tuple(dict.fromkeys(name for name in named if name is not None))


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score (n,) and its worst direction; ``made`` says that a model was fitted here."""

    value: np.ndarray
    low_is_worst: bool
    made: bool = False


@dataclass(frozen=True, kw_only=True)
class People:
    """A register ready for study.

    ``target`` (n,) is what better forecasts are made of: the outcome, or 1 for the worst-off where the outcome is a
    label or some spells were still running; it is 0 where unknown. ``group`` (n,) holds places among ``groups``.
    """

    worst_off: WorstOff
    target: np.ndarray
    low_target_is_worst: bool
    scores: Mapping[str, Score]
    group: np.ndarray | None
    groups: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Rows, those of unknown outcome among them."""
        return self.target.size


def people(table: Table, roles: Roles, *, seed: int = 0) -> People:
    """The people of a register; InputError names column and row of what cannot be used."""
    if not roles.scores and not (roles.features and roles.models):
        raise InputError("there is no score", remedy="Choose a column with a score, or features for a model.")
    outcome = table.numbers(roles.outcome, allow_missing=True)
    given = {name: Score(value=table.numbers(name), low_is_worst=roles.low_score_is_worst) for name in roles.scores}
    worst_off = _worst_off(table, roles, outcome, next((score.value for score in given.values()), None))
    as_label = roles.definition == "label" or roles.running is not None
    target = worst_off.flag.astype(float) if as_label else np.where(np.isnan(outcome), 0.0, outcome)
    low = roles.low_is_worst and not as_label
    made, notes = _made(table, roles, worst_off, target, low, seed)
    group, groups = table.labels(roles.group) if roles.group else (None, ())
    return People(
        worst_off=worst_off,
        target=target,
        low_target_is_worst=low,
        scores=given | made,
        group=group,
        groups=groups,
        notes=(*worst_off.notes, *notes),
    )


def _worst_off(table: Table, roles: Roles, outcome: np.ndarray, score: np.ndarray | None) -> WorstOff:
    weights = table.numbers(roles.weights) if roles.weights else None
    if roles.definition == "label":
        if roles.running:
            raise InputError("a label has no running spells", remedy="Choose a duration as outcome.")
        return by_label(outcome, weights=weights, score=score)
    make = by_share if roles.definition == "share" else by_threshold
    running = table.binary(roles.running) if roles.running else None
    return make(outcome, roles.cut, low_is_worst=roles.low_is_worst, weights=weights, running=running, score=score)


def _made(
    table: Table, roles: Roles, worst_off: WorstOff, target: np.ndarray, low: bool, seed: int
) -> tuple[dict[str, Score], tuple[str, ...]]:
    """Scores of models that never saw the row they score."""
    scores, notes = {}, []
    for model in roles.models if roles.features else ():
        fitted = crossfit(
            table.frame[list(roles.features)],
            target,
            model=model,
            seed=seed,
            known=worst_off.known,
            weights=np.where(worst_off.known, worst_off.weight, 1.0),
        )
        scores[f"{model} model"] = Score(value=fitted.score, low_is_worst=low, made=True)
        notes += fitted.notes
    return scores, tuple(dict.fromkeys(notes))
