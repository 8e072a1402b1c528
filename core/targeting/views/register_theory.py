"""Your register beside the Gaussian theory: where they disagree, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.common.template import BLUE, GREEN, GREY, ORANGE, finish, translucent
from core.common.text import number
from core.common.view import View
from core.targeting.gains import gain_ratio
from core.targeting.gaussian import r2_of_area, value
from core.targeting.improvement import LEVERS
from core.targeting.resampling import estimate
from core.targeting.study import LEVEL, Study

__all__ = ["ratios", "register_theory_view"]

_TOP = 6.0
_COLOURS = {"calibrated": BLUE, "residuals": ORANGE}
_NAMES = {"calibrated": "register, a better model", "residuals": "register, the paper's lever"}


def ratios(study: Study, lever: str) -> pd.DataFrame:
    """PAR on the register at every capacity with room for the step: columns alpha, ratio, low, high.

    Left out where the prediction step moves fewer people than may be shown.
    """
    step, alpha = study.settings.access_step, study.now.alpha
    inside = alpha[(alpha > 0) & (alpha + step < 1) & (alpha <= 0.6)]
    more = np.interp(inside + step, study.now.alpha, study.now.reached)
    now, better = (np.interp(inside, study.now.alpha, curve.reached) for curve in (study.now, study.better[lever]))
    draws = study.now.resampled.at(inside)
    access = study.now.resampled.at(inside + step) - draws
    prediction = study.better[lever].resampled.at(inside) - draws
    points, spread = gain_ratio(more - now, better - now), gain_ratio(access, prediction)
    rows = [estimate(point, column, LEVEL) for point, column in zip(points, spread.T, strict=True)]
    found = pd.DataFrame(
        {"alpha": inside, "ratio": points, "low": [r.low for r in rows], "high": [r.high for r in rows]}
    )
    enough = np.maximum(now, 0) * study.worst_people >= study.settings.smallest
    return found[enough].reset_index(drop=True)


def register_theory_view(study: Study, *, code: str) -> View:
    """PAR by capacity: the register with both levers, with bands, beside the Gaussian model of the same R2.

    ``code`` makes ``found``, the study.
    """
    beta = study.people.worst_off.beta
    by_area = r2_of_area(beta, study.now.area)
    found = {lever: ratios(study, lever) for lever in LEVERS}
    theory = _theory(study, found["calibrated"]["alpha"].to_numpy())
    table = pd.concat([frame.assign(lever=lever) for lever, frame in found.items()]).merge(
        pd.DataFrame({"alpha": found["calibrated"]["alpha"], "gaussian": theory}), on="alpha", how="left"
    )
    gains, settings = study.gains, study.settings
    gaussian = float(_theory(study, np.array([settings.alpha]))[0])
    return View(
        answer=f"At your capacity the theory puts the ratio of gains (access over prediction) at "
        f"**{number(gaussian)}**; the register says **{number(gains['calibrated'].ratio.value)}** with a better model "
        f"and {number(gains['residuals'].ratio.value)} with the paper's lever. {_why(study, by_area)}",
        figure=_figure(found, theory, study.settings.alpha),
        alt="Ratio of the access step's gain to the prediction step's gain, by capacity: register and theory.",
        table=table,
        code=f"""from core.targeting.gains import gain_ratio
from core.targeting.gaussian import r2_of_area
from core.targeting.levers import ratio
{code}
alpha, beta, r2 = {settings.alpha!r}, found.people.worst_off.beta, found.forecast.correlation2
numbers = {{
    "r2": found.forecast.r2,
    "correlation2": r2,
    "r2_by_area": r2_of_area(beta, found.now.area),
    "gaussian": float(ratio(alpha, beta, r2, {settings.access_step!r}, min({settings.prediction_step!r}, 1 - r2))),
}}
""",
        numbers={
            "r2": study.forecast.r2,
            "correlation2": study.forecast.correlation2,
            "r2_by_area": by_area,
            "gaussian": gaussian,
        },
        notes=(
            f"Three measures of one prediction: R² {number(study.forecast.r2)}, squared correlation "
            f"{number(study.forecast.correlation2)}, and the R² at which the Gaussian model would rank the worst-off "
            f"as well as this score does: {number(by_area)} (area under the ROC curve {number(study.now.area)}).",
            "The theory takes outcome and prediction to be jointly normal. Real outcomes are skewed, capped or "
            "few-valued, and a score may rank the worst-off better or worse than its R² suggests.",
            f"Ratios above {_TOP:.0f} are drawn at the edge; the table holds them.",
        ),
    )


def _theory(study: Study, alpha: np.ndarray) -> np.ndarray:
    r2, beta = study.forecast.correlation2, study.people.worst_off.beta
    settings = study.settings
    now = value(alpha, beta, r2)
    access = value(np.minimum(alpha + settings.access_step, 1.0), beta, r2) - now
    with np.errstate(divide="ignore", invalid="ignore"):
        return access / (value(alpha, beta, min(r2 + settings.prediction_step, 1.0)) - now)


def _why(study: Study, by_area: float) -> str:
    r2 = study.forecast.correlation2
    ranks = "about as well as"
    if by_area > 1.15 * r2:
        ranks = "better than"
    elif by_area < 0.85 * r2:
        ranks = "less well than"
    leak = ""
    if study.gains["residuals"].ratio.value < 0.8 * study.gains["calibrated"].ratio.value:
        leak = (
            " The paper's lever hands the longest outcomes most of their own truth, so it credits prediction too much."
        )
    return f"This score ranks the worst-off {ranks} its R² suggests.{leak}"


def _figure(found: dict[str, pd.DataFrame], theory: np.ndarray, here: float) -> go.Figure:
    figure = go.Figure()
    for lever, frame in found.items():
        low, high = (frame[side].clip(upper=_TOP).fillna(_TOP) for side in ("low", "high"))
        figure.add_scatter(
            x=np.concatenate((frame["alpha"], frame["alpha"][::-1])),
            y=np.concatenate((high, low[::-1])),
            fill="toself",
            fillcolor=translucent(_COLOURS[lever], 0.2),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
        )
        line = {"color": _COLOURS[lever], "width": 2.5}
        y = frame["ratio"].clip(upper=_TOP)
        figure.add_scatter(x=frame["alpha"], y=y, mode="lines", line=line, name=_NAMES[lever])
    alpha = found["calibrated"]["alpha"]
    line = {"color": GREEN, "dash": "dot", "width": 2}
    figure.add_scatter(x=alpha, y=np.minimum(theory, _TOP), mode="lines", line=line, name="Gaussian theory")
    figure.add_scatter(x=[0, 0.6], y=[1, 1], mode="lines", line={"color": GREY, "width": 1}, name="both gain the same")
    dotted = {"color": GREY, "dash": "dash", "width": 1}
    figure.add_scatter(x=[here, here], y=[0, _TOP], mode="lines", line=dotted, name="your capacity")
    finish(figure, x="capacity: share screened", y="gain of access / gain of prediction")
    return figure.update_xaxes(range=[0, 0.6], tickformat=".0%").update_yaxes(range=[0, _TOP])
