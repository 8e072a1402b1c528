"""Conformal prediction as Bayesian quadrature."""

import streamlit as st

from core.conformal.views.calibration_sets import CalibrationSetsSettings, calibration_sets_view
from core.conformal.views.planning import PlanningSettings, planning_view
from core.conformal.views.posterior import PosteriorSettings, posterior_view
from core.conformal.views.staircase import StaircaseSettings, staircase_view
from pages.shared import frame
from pages.shared.settings_form import settings_form
from pages.shared.view import show

VIEWS = {
    "How sure are we?": (PosteriorSettings, posterior_view, "posterior"),
    "Why a bound?": (StaircaseSettings, staircase_view, "staircase"),
    "How often does a rule fail?": (CalibrationSetsSettings, calibration_sets_view, "calibration-sets"),
    "How many cases are enough?": (PlanningSettings, planning_view, "planning"),
}


def explore() -> None:
    """One question at a time: its settings on the left, the answer and its picture on the right."""
    chosen = st.segmented_control(
        "What to see",
        VIEWS,
        default=next(iter(VIEWS)),
        required=True,
        key="view",
        bind="query-params",
        label_visibility="collapsed",
    )
    settings, view, name = VIEWS[chosen]
    controls, picture = st.columns([1, 3], gap="large")
    with controls:
        asked = settings_form(settings)
    with picture:
        show(lambda: view(asked), name)


frame.draw(
    "conformal",
    frame.Tabs(
        explore=explore,
        your_data=lambda: st.write("y"),
        reproduce=lambda: st.write("r"),
        method=lambda: st.write("m"),
    ),
    settings=tuple(settings for settings, _, _ in VIEWS.values()),
    words={"view": tuple(VIEWS)},
)
