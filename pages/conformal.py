"""Conformal prediction as Bayesian quadrature."""

from core.conformal.equations import CLAIMS, EQUATIONS
from core.conformal.views.calibration_sets import CalibrationSetsSettings, calibration_sets_view
from core.conformal.views.losses import LossSettings
from core.conformal.views.planning import PlanningSettings, planning_view
from core.conformal.views.posterior import PosteriorSettings, posterior_view
from core.conformal.views.setting import SettingSettings, setting_view
from core.conformal.views.staircase import StaircaseSettings, staircase_view
from core.conformal.views.tuning import TargetSettings
from pages.shared import explore, frame, method, reproduce
from pages.tabs import conformal_data

INTRO = (
    "The paper's three experiments: how often each rule leaves a risk above the limit, over 10,000 calibration sets. "
    "BQ is the paper's rule, computed exactly; *as published* carries the slip of the published code that the paper's "
    "figures carry too (see Method)."
)
VIEWS = {
    "How sure are we?": (PosteriorSettings, posterior_view, "posterior"),
    "Why a bound?": (StaircaseSettings, staircase_view, "staircase"),
    "Which setting?": (SettingSettings, setting_view, "setting"),
    "How often does a rule fail?": (CalibrationSetsSettings, calibration_sets_view, "calibration-sets"),
    "How many cases are enough?": (PlanningSettings, planning_view, "planning"),
}


frame.draw(
    "conformal",
    frame.Tabs(
        explore=lambda: explore.draw(VIEWS),
        your_data=conformal_data.draw,
        reproduce=lambda: reproduce.draw("conformal", intro=INTRO),
        method=lambda: method.draw(EQUATIONS, CLAIMS),
    ),
    settings=(*explore.settings_of(VIEWS), TargetSettings, LossSettings),
    words={"view": tuple(VIEWS), "task": tuple(conformal_data.TASKS), "run_seed": reproduce.SEEDS},
)
