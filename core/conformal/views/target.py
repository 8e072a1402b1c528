"""Settings that several views ask for, so that they mean the same in every link."""

from __future__ import annotations

from typing import Any

from core.common.settings import decimal, whole

__all__ = ["alpha_setting", "beta_setting", "seed_setting"]


def alpha_setting(default: float = 0.1) -> Any:
    """The limit on the risk."""
    return decimal(
        default,
        low=0.01,
        high=0.9,
        step=0.01,
        label="Limit on the risk (alpha)",
        help="The future average loss allowed.",
    )


def beta_setting() -> Any:
    """The certainty asked."""
    return decimal(
        0.95, low=0.5, high=0.999, step=0.001, label="Certainty asked (beta)", help="How sure you want to be."
    )


def seed_setting() -> Any:
    """The start of every random draw."""
    return whole(0, low=0, high=9999, label="Seed", help="Another seed is another sample.", typed=True)
