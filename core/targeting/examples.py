"""Bundled registers, and what their columns mean; data/README.md says where each comes from.

`python -m core.targeting.examples` makes the synthetic one again, byte for byte with the pinned packages.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.common.examples import DATA, Example
from core.targeting.people import Roles
from core.targeting.populations import german_like_register

__all__ = ["EXAMPLES", "FEATURES", "FOLDER", "PRESETS", "write"]

FOLDER = DATA / "targeting"
FEATURES = ("age", "ui", "reprate", "disrate", "logwage", "tenure")
_PEOPLE, _RHO2, _SEED = 20_000, 0.15, 20_250_713

EXAMPLES: tuple[Example, ...] = (
    Example(
        key="unemployment",
        title="Real: US unemployment spells, 1986-92",
        path=FOLDER / "unemployment.csv",
        sentence="3,343 people who lost their jobs: how long they were out of work in two-week periods (spell), "
        "whether they still were at the interview (censor4 = 1), and six facts known at the start. No score: a model "
        "makes one.",
    ),
    Example(
        key="german_like",
        title="Synthetic: shaped like the German register",
        path=FOLDER / "german_like.csv",
        sentence="20,000 synthetic spells in days, capped at two years, 15% longer than a year as in the paper's data, "
        "with a forecast (squared correlation of ranks as the paper's model) and a region drawn at random.",
    ),
)

PRESETS: tuple[Roles, ...] = (
    Roles(
        outcome="spell",
        definition="threshold",
        cut=13.0,
        features=FEATURES,
        models=("linear",),
        running="censor4",
        group="ui",
    ),
    Roles(outcome="days", cut=0.15, scores=("forecast",), group="region"),
    Roles(outcome="outcome", cut=0.15, scores=("score",), group="group"),
)


def write() -> None:
    """Make the synthetic register again."""
    rng = np.random.default_rng(_SEED)
    days, forecast = german_like_register(_PEOPLE, _RHO2, rng)
    region = rng.choice(["Coast", "Hills", "Plain", "Valley"], _PEOPLE, p=[0.4, 0.3, 0.2, 0.1])
    table = pd.DataFrame({"days": days.round(1), "forecast": forecast.round(2), "region": region})
    (FOLDER / "german_like.csv").write_bytes(table.to_csv(index=False, lineterminator="\n").encode())


if __name__ == "__main__":
    write()
