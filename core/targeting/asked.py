"""The settings that several pictures of the page share, so that a name in the link means the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from core.common.errors import InputError
from core.common.settings import Settings, decimal, whole
from core.targeting.levers import ROUNDING

__all__ = [
    "Priced",
    "access_step",
    "alpha",
    "beta",
    "check_steps",
    "people",
    "place_cost",
    "prediction_cost",
    "prediction_step",
    "r2",
    "target",
]


class Stepped(Protocol):
    """Settings with a place to stand on and two steps from there."""

    alpha: float
    r2: float
    access_step: float
    prediction_step: float


def check_steps(settings: Stepped) -> None:
    """InputError if a step leads above 100%: no step is cut short in silence."""
    if settings.alpha + settings.access_step > 1 + ROUNDING:
        raise InputError("capacity would rise above 100%", remedy="Choose a smaller step or capacity.")
    if settings.r2 + settings.prediction_step > 1 + ROUNDING:
        raise InputError("R² would rise above 1", remedy="Choose a smaller step or R².")


def alpha() -> Any:
    """Capacity."""
    return decimal(
        0.1, low=0.005, high=0.95, step=0.005, label="Capacity", help="Share of people that can be screened: alpha."
    )


def beta() -> Any:
    """The share of the worst-off."""
    return decimal(
        0.15, low=0.01, high=0.5, step=0.01, label="Share that is worst-off", help="Whom one wants to reach: beta."
    )


def r2() -> Any:
    """How well the prediction explains welfare."""
    return decimal(
        0.15, low=0.0, high=0.99, step=0.01, label="Prediction: R²", help="0 knows nothing, 1 knows all. Often 0.1-0.3."
    )


def access_step() -> Any:
    """How much more capacity is bought."""
    return decimal(0.05, low=0.001, high=0.3, step=0.001, label="Step in capacity", help="Further share screened.")


def prediction_step() -> Any:
    """How much better the prediction becomes."""
    return decimal(0.05, low=0.001, high=0.3, step=0.001, label="Step in R²", help="How much R² would rise.")


def people() -> Any:
    """How many people there are."""
    return whole(100_000, low=100, high=1_000_000_000, label="People", help="In the register, a year.", typed=True)


def place_cost() -> Any:
    """The price of screening one more person."""
    return decimal(
        500.0, low=0.01, high=1e9, step=10.0, label="Cost of one place", help="Per further person screened.", typed=True
    )


def prediction_cost() -> Any:
    """The price of the step in R2."""
    return decimal(
        1_000_000.0,
        low=0.01,
        high=1e12,
        step=1000.0,
        label="Cost of the step in R²",
        help="Data, models, staff, in the same currency.",
        typed=True,
    )


def target() -> Any:
    """The share of the worst-off that is to be reached."""
    return decimal(0.75, low=0.05, high=0.99, step=0.01, label="Share to be reached", help="Of the worst-off.")


@dataclass(frozen=True, kw_only=True)
class Priced(Settings):
    """Where an agency stands, the two steps that it can buy, and what they cost."""

    alpha: float = alpha()
    beta: float = beta()
    r2: float = r2()
    access_step: float = access_step()
    prediction_step: float = prediction_step()
    people: int = people()
    place_cost: float = place_cost()
    prediction_cost: float = prediction_cost()

    @property
    def access_cost(self) -> float:
        """The price of the step in capacity."""
        return self.place_cost * self.access_step * self.people

    @property
    def price_ratio(self) -> float:
        """The price of the step in capacity over the other's."""
        return self.access_cost / self.prediction_cost
