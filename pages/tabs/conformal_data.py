"""Your data, for conformal prediction: six kinds of file, each to a choice, a certificate and predictions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import streamlit as st

from core.common.errors import InputError
from core.common.export import template_csv, to_csv
from core.common.tables import Table
from core.common.text import markdown
from core.conformal import calibrations
from core.conformal.examples import EXAMPLES
from core.conformal.predictions import PREDICT
from core.conformal.risk_control import Choice
from core.conformal.views.losses import LossSettings, groups_view, losses_view
from core.conformal.views.tuning import TargetSettings, Tuning, certify, tune, tuning_view
from pages.shared.remember import remembered
from pages.shared.settings_form import settings_form
from pages.shared.uploads import upload
from pages.shared.view import show

__all__ = ["TASKS", "draw"]

NONE = "(none)"
TASKS = {
    "Intervals": (
        "intervals",
        "Outcome y, forecast pred, and if you have it a scale sigma.",
        {"y": [10.5, 12.0], "pred": [11.0, 11.5]},
    ),
    "Scores": ("scores", "One column of scores, large where the model fits badly.", {"score": [0.12, 0.84]}),
    "Classes": (
        "classes",
        "Columns prob_<class> and the true class y.",
        {"prob_no": [0.9, 0.2], "prob_yes": [0.1, 0.8], "y": ["no", "yes"]},
    ),
    "Label sets": (
        "labels",
        "Pairs of columns score_<label> and label_<label> (0 or 1).",
        {"score_cat": [0.9, 0.2], "label_cat": [1, 0], "score_dog": [0.4, 0.7], "label_dog": [0, 1]},
    ),
    "Loss curves": (
        "curves",
        "A row a case, a column a lambda (its name is the number), losses in the cells.",
        {"id": [1, 2], "0.1": [1.0, 0.5], "0.2": [0.5, 0.0]},
    ),
    "Losses": ("losses", "One column of losses at the setting you use now.", {"loss": [0.0, 0.25]}),
}


def draw() -> None:
    """Choose the kind of file, upload it, see every rule's choice, and take home certificate and predictions."""
    chosen = st.segmented_control(
        "What does your file hold?",
        TASKS,
        default="Intervals",
        required=True,
        key="task",
        bind="query-params",
        wrap=True,
    )
    task, hint, columns = TASKS[chosen]
    examples = [example for example in EXAMPLES if example.task == task]
    table = upload(f"conformal-{task}", examples=examples, template=template_csv(columns), hint=hint)
    if table is None:
        return
    controls, picture = st.columns([1, 3], gap="large")
    try:
        (_losses if task == "losses" else _tuned)(task, table, controls, picture)
    except InputError as error:
        picture.error(markdown(str(error)), icon=":material/error:")


def _losses(_task: str, table: Table, controls, picture) -> None:
    with controls:
        column = _column(table, "Column of losses", "loss")
        group = _column(table, "Group (optional)", "group", optional=True)
        settings = settings_form(LossSettings)
    with picture:
        key = ("losses", column, settings, table.fingerprint)
        show(lambda: remembered(key, lambda: losses_view(table, column, settings)), "your-losses")
        if group is not None:
            key = ("groups", column, group, settings, table.fingerprint)
            show(lambda: remembered(key, lambda: groups_view(table, column, group, settings)), "your-groups")


def _tuned(task: str, table: Table, controls, picture) -> None:
    with controls:
        make, code = _ASKED[task](table)
        target = settings_form(TargetSettings)
    with picture:
        tuning = remembered(("tune", code, target, table.fingerprint), lambda: tune(make(), target))
        show(lambda: tuning_view(tuning, code=_lines(table, code)), f"your-{task}")
        choice = _take_home(task, table, tuning)
        if choice.lambda_hat is not None and task in PREDICT:
            _predictions(task, choice.lambda_hat)


def _lines(table: Table, code: str) -> str:
    return f"""from core.common.tables import ReadOptions, read_path
from core.conformal import calibrations

table = {table.code()}
calibration = calibrations.{code}"""


def _column(table: Table, label: str, usual: str, *, optional: bool = False) -> str | None:
    names = list(table.reading.columns)
    options = [NONE, *names] if optional else names
    start = options.index(usual) if usual in options else 0
    name = st.selectbox(label, options, index=start, key=f"column-{label}-{table.fingerprint}", format_func=str)
    return None if name == NONE else name


def _ask_scores(table: Table) -> tuple[Callable, str]:
    score = _column(table, "Column of scores", "score")
    return lambda: calibrations.from_scores(table, score), f"from_scores(table, {score!r})"


def _ask_intervals(table: Table) -> tuple[Callable, str]:
    y, pred = _column(table, "Outcome", "y"), _column(table, "Forecast", "pred")
    sigma = _column(table, "Scale (optional)", "sigma", optional=True)
    return lambda: calibrations.from_intervals(
        table, y, pred, sigma
    ), f"from_intervals(table, {y!r}, {pred!r}, {sigma!r})"


def _ask_classes(table: Table) -> tuple[Callable, str]:
    y = _column(table, "True class", "y")
    return lambda: calibrations.from_classes(table, y), f"from_classes(table, {y!r})"


def _ask_labels(table: Table) -> tuple[Callable, str]:
    zero = st.toggle(
        "Rows without a true label count as loss 0", key="count_empty", help="Otherwise they are set aside."
    )
    return lambda: calibrations.from_labels(table, count_empty=zero), f"from_labels(table, count_empty={zero})"


def _ask_curves(table: Table) -> tuple[Callable, str]:
    bound = st.number_input("Largest loss that can occur (B)", 1e-6, 1e12, 1.0, key="curve_bound")
    falling = st.toggle("A larger lambda is safer", value=True, key="falling")
    envelope = st.toggle("Use the envelope", key="envelope", help="Raises each loss to its largest at a safer setting.")
    given = {"bound": bound, "falling": falling, "envelope": envelope}
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return lambda: calibrations.from_curves(table, **given), f"from_curves(table, {words})"


def _take_home(task: str, table: Table, tuning: Tuning) -> Choice:
    by_title = {choice.rule.title: choice for choice in tuning.choices}
    title = st.selectbox("Take home the choice of", by_title, index=1, key=f"rule-{task}")
    choice = by_title[title]
    st.download_button(
        "Certificate (JSON)",
        lambda: certify(tuning, choice, table.fingerprint, date.today()).to_json(),
        file_name="certificate.json",
        mime="application/json",
        key=f"certificate-{task}",
        on_click="ignore",
    )
    return choice


def _predictions(task: str, lambda_hat: float) -> None:
    st.header("Predictions for new rows", anchor=False)
    examples = [example for example in EXAMPLES if example.task == task and example.new_rows is not None]
    table = upload(
        f"new-{task}",
        examples=examples,
        template=template_csv({name: cells for name, cells in TASKS_BY_KEY[task].items() if name != "y"}),
        hint="The same columns as above, without the truth.",
        start=False,
        new_rows=True,
    )
    if table is not None:
        try:
            frame = PREDICT[task](table, lambda_hat)
        except InputError as error:
            st.error(markdown(str(error)), icon=":material/error:")
            return
        st.dataframe(frame.head(200), hide_index=True, key=f"predictions-{task}")
        st.download_button(
            "All predictions (CSV)", to_csv(frame), file_name="predictions.csv", key=f"save-{task}", on_click="ignore"
        )


TASKS_BY_KEY = {task: columns for task, _, columns in TASKS.values()}
_ASKED = {
    "scores": _ask_scores,
    "intervals": _ask_intervals,
    "classes": _ask_classes,
    "labels": _ask_labels,
    "curves": _ask_curves,
}
