"""Which setting? A bundled example cut to a calibration set of the visitor's size, and what every rule chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.common.errors import InputError
from core.common.settings import Settings, choice, whole
from core.common.tables import Table, read_path
from core.common.text import count
from core.common.view import View
from core.conformal.calibrations import (
    Calibration,
    from_classes,
    from_curves,
    from_intervals,
    from_labels,
    from_scores,
)
from core.conformal.examples import EXAMPLES
from core.conformal.views.target import alpha_setting, beta_setting, seed_setting
from core.conformal.views.tuning import TargetSettings, tune, tuning_view

__all__ = ["SOURCES", "SettingSettings", "cut", "setting_view"]

SOURCES = {
    "digits, half seen": ("digits_classes", lambda table: from_classes(table, "y")),
    "diabetes forecasts": ("diabetes_intervals", lambda table: from_intervals(table, "y", "pred")),
    "missed tumours": ("tumour_scores", lambda table: from_scores(table, "score")),
    "picture labels": ("stand_in_labels", from_labels),
    "digit codes": ("digits_curves", from_curves),
}
_CODE = {
    "digits, half seen": "from_classes(table, 'y')",
    "diabetes forecasts": "from_intervals(table, 'y', 'pred')",
    "missed tumours": "from_scores(table, 'score')",
    "picture labels": "from_labels(table)",
    "digit codes": "from_curves(table)",
}


@dataclass(frozen=True, kw_only=True)
class SettingSettings(Settings):
    """Which example, how much of it, and what is to be certified."""

    source: str = choice(
        "digits, half seen", options=tuple(SOURCES), label="Example", help="Real data, but for the picture labels."
    )
    n_rows: int = whole(200, low=1, high=600, label="Calibration cases", help="A random part of the example's rows.")
    alpha: float = alpha_setting()
    beta: float = beta_setting()
    seed: int = seed_setting()


def cut(table: Table, n: int, seed: int) -> Table:
    """``n`` random rows of a table, fewer if it has fewer; the order of the rows is random too."""
    rows = np.random.default_rng(seed).permutation(len(table.frame))[:n]
    return replace(table, frame=table.frame.iloc[rows].reset_index(drop=True))


def setting_view(settings: SettingSettings) -> View:
    """The risk over the knob of the chosen example, and the settings that the rules choose."""
    key, _ = SOURCES[settings.source]
    example = next(each for each in EXAMPLES if each.key == key)
    table = read_path(example.path)
    if settings.n_rows > len(table.frame):
        raise InputError(
            f"the example has {count(len(table.frame), 'row')}, {settings.n_rows} were asked for",
            remedy="Move the number of calibration cases down.",
        )
    calibration = _calibration(settings, cut(table, settings.n_rows, settings.seed))
    code = f"""from core.common.tables import read_path
from core.conformal import calibrations
from core.conformal.views.setting import cut

table = cut(read_path("data/conformal/{example.path.name}"), {settings.n_rows}, {settings.seed})
calibration = calibrations.{_CODE[settings.source]}"""
    tuning = tune(calibration, TargetSettings(alpha=settings.alpha, beta=settings.beta))
    return tuning_view(tuning, code=code, notes=(example.sentence,))


def _calibration(settings: SettingSettings, table: Table) -> Calibration:
    return SOURCES[settings.source][1](table)
