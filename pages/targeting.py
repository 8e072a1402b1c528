"""The value of prediction in identifying the worst-off."""

from core.targeting.equations import CLAIMS, EQUATIONS
from core.targeting.study import StudySettings
from core.targeting.views.capacity import CapacitySettings, capacity_view
from core.targeting.views.levers import LeversSettings, levers_view
from core.targeting.views.miles import MilesSettings, miles_view
from core.targeting.views.priorities import PrioritiesSettings, priorities_view
from core.targeting.views.reach import ReachSettings, reach_view
from core.targeting.views.screened import ScreenedSettings, screened_view
from pages.shared import explore, frame, method, reproduce
from pages.tabs import targeting_data

INTRO = (
    "The paper's figures beside ours. Its German register may not leave the research data centre: figures that need it "
    "are shown as the paper's alone. The theory is computed exactly and simulated as a check, and the empirical method "
    "is run on a public register of US unemployment spells."
)
VIEWS = {
    "Who is reached?": (ReachSettings, reach_view, "reach"),
    "Places or prediction?": (PrioritiesSettings, priorities_view, "priorities"),
    "First and last mile": (MilesSettings, miles_view, "miles"),
    "How many places?": (CapacitySettings, capacity_view, "capacity"),
    "Who is screened?": (ScreenedSettings, screened_view, "screened"),
    "Two levers": (LeversSettings, levers_view, "levers"),
}


frame.draw(
    "targeting",
    frame.Tabs(
        explore=lambda: explore.draw(VIEWS),
        your_data=targeting_data.draw,
        reproduce=lambda: reproduce.draw("targeting", intro=INTRO),
        method=lambda: method.draw(EQUATIONS, CLAIMS),
    ),
    settings=(*explore.settings_of(VIEWS), StudySettings),
    words={"view": tuple(VIEWS), "picture": tuple(targeting_data.PICTURES), "run_seed": reproduce.SEEDS},
)
