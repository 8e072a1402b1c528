"""What each setting of a knob lambda would have cost each calibration case, from the safest setting to the riskiest.

A path lists the settings at which any loss can change, and gives the losses (n,) at each in the order of the rows. It
is monotone if no case ever loses more at a safer setting. Paths come from a table over a grid of lambdas, from scores
with the loss 1{score > lambda}, or from label sets (`multilabel`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.common.errors import InputError
from core.common.text import count, number
from core.conformal.atoms import check_bound
from core.conformal.quadrature import RiskPosterior

__all__ = ["LossPath", "LossTable", "loss_table", "path_of_scores"]

_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class LossPath:
    """Settings ``lambdas`` (m,), safest first, and ``losses``: place in that list -> losses (n,) in [0, bound].

    ``failures``, where losses are 0 or 1, counts them at a place without making the losses.
    """

    lambdas: np.ndarray
    losses: Callable[[int], np.ndarray]
    n: int
    bound: float
    monotone: bool
    failures: Callable[[int], int] | None = None

    def posterior(self, place: int) -> RiskPosterior:
        """The distribution of the risk bound at a place."""
        if self.failures is not None:
            return RiskPosterior.from_failures(self.failures(place), self.n, self.bound)
        return RiskPosterior.from_losses(self.losses(place), self.bound)


@dataclass(frozen=True, kw_only=True)
class LossTable:
    """Losses (n, m) over an ascending grid ``lambdas`` (m,); ``falling``: a larger lambda is the safer one.

    Made by `loss_table`, which checks it.
    """

    losses: np.ndarray
    lambdas: np.ndarray
    bound: float
    falling: bool

    @property
    def rising_rows(self) -> np.ndarray:
        """Rows (k,), from 0, whose loss is larger at some safer setting, beyond rounding."""
        ordered = self.losses if self.falling else self.losses[:, ::-1]
        return np.flatnonzero((np.diff(ordered, axis=1) > _TOLERANCE * self.bound).any(axis=1))

    def envelope(self) -> LossTable:
        """Each loss raised to the largest at any safer setting: monotone, and never below the loss itself."""
        safest_first = self.losses[:, ::-1] if self.falling else self.losses
        raised = np.maximum.accumulate(safest_first, axis=1)
        losses = raised[:, ::-1] if self.falling else raised
        return LossTable(losses=losses, lambdas=self.lambdas, bound=self.bound, falling=self.falling)

    def path(self) -> LossPath:
        """The table as a path, safest setting first."""
        order = np.arange(self.lambdas.size)[:: -1 if self.falling else 1]
        return LossPath(
            lambdas=self.lambdas[order],
            losses=lambda place: self.losses[:, order[place]],
            n=self.losses.shape[0],
            bound=self.bound,
            monotone=self.rising_rows.size == 0,
        )


def loss_table(
    losses: np.ndarray, lambdas: np.ndarray, *, bound: float, falling: bool, names: Sequence[str] | None = None
) -> LossTable:
    """A checked table of losses (n, m); columns are put in the order of their lambda.

    InputError names the row and the column (``names`` (m,), by default its lambda) of the first bad loss.
    """
    losses, lambdas = np.asarray(losses, dtype=float), np.asarray(lambdas, dtype=float)
    check_bound(bound)
    if losses.ndim != 2 or losses.shape[0] == 0 or losses.shape[1] != lambdas.size or lambdas.size == 0:
        raise InputError("the losses do not fit the lambdas", remedy="Give a row a case and a column a lambda.")
    names = [number(value) for value in lambdas] if names is None else names
    order = np.argsort(lambdas, kind="stable")
    losses, lambdas, names = losses[:, order], lambdas[order], [names[place] for place in order]
    if not np.isfinite(lambdas).all() or (np.diff(lambdas) == 0).any():
        raise InputError(
            "two columns have the same lambda, or one has none", remedy="Each column needs its own lambda."
        )
    _check_range(losses, bound, names)
    return LossTable(losses=losses, lambdas=lambdas, bound=float(bound), falling=falling)


def path_of_scores(scores: np.ndarray) -> LossPath:
    """The loss 1{score > lambda} at every value that a score takes; the largest score is the safest setting."""
    scores = np.asarray(scores, dtype=float)
    missing = np.flatnonzero(np.isnan(scores))
    if scores.size == 0 or missing.size:
        row = int(missing[0]) + 1 if missing.size else None
        raise InputError("a score is missing", row=row, remedy="Every row needs a score.")
    lambdas = np.unique(scores)[::-1]
    ascending = np.sort(scores)
    return LossPath(
        lambdas=lambdas,
        losses=lambda place: (scores > lambdas[place]).astype(float),
        n=scores.size,
        bound=1.0,
        monotone=True,
        failures=lambda place: int(scores.size - np.searchsorted(ascending, lambdas[place], side="right")),
    )


def _check_range(losses: np.ndarray, bound: float, names: Sequence[str]) -> None:
    bad = np.argwhere(~((losses >= 0) & (losses <= bound)))
    if not bad.size:
        return
    row, column = (int(place) for place in bad[0])
    value = losses[row, column]
    what = f"the loss {value:g} is outside 0 to {bound:g}" if np.isfinite(value) else f"the loss is {value}"
    more = f"; so are {count(len(bad) - 1, 'other')}" if len(bad) > 1 else ""
    raise InputError(
        what + more,
        column=names[column],
        row=row + 1,
        remedy="Correct it, or give the largest loss that can occur as B.",
    )
