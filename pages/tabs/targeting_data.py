"""Your data, for targeting: a register, what its columns mean, and what is known of it; one page of report to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pandas as pd
import streamlit as st

from core.common.errors import InputError
from core.common.export import template_csv
from core.common.tables import Table
from core.common.text import markdown, number
from core.common.view import View
from core.targeting.crossfit import MODELS
from core.targeting.examples import EXAMPLES, PRESETS
from core.targeting.people import DEFINITIONS, People, Roles, people
from core.targeting.report import register_report
from core.targeting.study import Study, StudySettings, study
from core.targeting.views.register_curve import register_curve_view
from core.targeting.views.register_groups import register_groups_view
from core.targeting.views.register_steps import register_steps_view
from core.targeting.views.register_theory import register_theory_view
from pages.shared import links
from pages.shared.explore import one_of
from pages.shared.registers import large_register
from pages.shared.remember import remembered
from pages.shared.settings_form import settings_form
from pages.shared.uploads import upload
from pages.shared.view import show

__all__ = ["PICTURES", "draw"]

NONE = "(none)"
TEMPLATE = {"outcome": [412.0, 35.5], "score": [0.61, 0.18], "group": ["north", "south"], "weight": [1.0, 1.0]}
PICTURES: dict[str, tuple[Callable[..., View], str]] = {
    "Who is reached?": (register_curve_view, "your-curve"),
    "Places or prediction?": (register_steps_view, "your-steps"),
    "Theory beside it": (register_theory_view, "your-theory"),
    "Group by group": (register_groups_view, "your-groups"),
}


def draw() -> None:
    """Bring a register, say what its columns mean, see four answers, take a report home."""
    hint = "A row a person: an outcome, and a score or features for a model."
    table = large_register("targeting") or upload(
        "targeting", examples=EXAMPLES, template=template_csv(TEMPLATE), hint=hint
    )
    if table is None:
        return
    controls, picture = st.columns([1, 3], gap="large")
    with controls:
        roles = _roles(table)
        settings = settings_form(StudySettings)
    with picture:
        try:
            _answers(table.select(roles.columns()), roles, settings)
        except InputError as error:
            st.error(markdown(str(error)), icon=":material/error:")


def _answers(table: Table, roles: Roles, settings: StudySettings) -> None:
    found = remembered(("people", roles, table.fingerprint), lambda: people(table, roles))
    chosen = _chosen(found)
    made = remembered(
        ("study", roles, settings, chosen, table.fingerprint), lambda: study(found, settings, chosen=chosen)
    )
    view, file_name = PICTURES[one_of(PICTURES, "picture")]
    code = _lines(table, roles, settings, chosen)
    show(lambda: view(made, code=code), file_name)
    _report(table, roles, made, code)


def _chosen(found: People) -> str:
    names = list(found.scores)
    if len(names) == 1:
        return names[0]
    return st.selectbox("Score that is studied", names, key="studied", persist_state="page")


def _report(table: Table, roles: Roles, made: Study, code: str) -> None:
    def page() -> bytes:
        return (
            register_report(made, roles, code=code, source=table, link=link, made=date.today().isoformat())
            .to_html()
            .encode()
        )

    link = links.full_link((StudySettings,), ("tab",))
    st.download_button(
        "One-page report (web page, prints on A4)",
        page,
        file_name="targeting-report.html",
        mime="text/html",
        key="report",
        on_click="ignore",
        icon=":material/description:",
    )


def _roles(table) -> Roles:
    """What the columns mean, asked one by one; a register whose columns are known starts with the right ones."""
    preset = next((known for known in PRESETS if set(known.columns()) <= set(table.columns)), None)
    ask = _Asked(table, preset)
    outcome = ask.one("Outcome", "outcome")
    definition = ask.word("Who is worst-off?", "definition", tuple(DEFINITIONS), DEFINITIONS.get)
    roles = Roles(outcome=outcome, definition=definition)
    if definition != "label":
        low = ask.yes("Low outcomes are bad", "low_is_worst")
        roles = replace(roles, low_is_worst=low, cut=ask.cut(definition))
        _worst(table, outcome, low)
    scores = ask.several("Scores in the file", "scores", without=(outcome,))
    features = ask.several("Or features for a model", "features", without=(outcome, *scores))
    if scores:
        roles = replace(roles, scores=scores, low_score_is_worst=ask.yes("Low scores are bad", "low_score_is_worst"))
    if features:
        roles = replace(roles, features=features, models=ask.models())
    with st.expander("Weights, running spells, groups"):
        return replace(
            roles,
            weights=ask.perhaps("Weights", "weights"),
            running=None if definition == "label" else ask.perhaps("Still running (1 or yes)", "running"),
            group=ask.perhaps("Groups", "group"),
        )


def _worst(table, outcome: str, low: bool) -> None:
    """The worst outcomes, so that a wrong direction is seen at once."""
    values = table.frame[outcome]
    if pd.api.types.is_numeric_dtype(values):
        worst = (values.nsmallest if low else values.nlargest)(5)
        st.caption(f"Worst outcomes by this: {', '.join(number(value, 4) for value in worst)}.")


class _Asked:
    """Widgets for the meaning of columns, keyed by the file, so that another file starts anew."""

    def __init__(self, table, preset: Roles | None) -> None:
        self._names, self._key, self._preset = list(table.columns), table.fingerprint, preset

    def one(self, label: str, role: str) -> str:
        usual = getattr(self._preset, role, None)
        index = self._names.index(usual) if usual in self._names else 0
        return st.selectbox(label, self._names, index=index, key=self._of(role))

    def perhaps(self, label: str, role: str) -> str | None:
        names = [NONE, *self._names]
        usual = getattr(self._preset, role, None)
        index = names.index(usual) if usual in names else 0
        name = st.selectbox(f"{label} (optional)", names, index=index, key=self._of(role))
        return None if name == NONE else name

    def several(self, label: str, role: str, *, without: tuple[str, ...]) -> tuple[str, ...]:
        names = [name for name in self._names if name not in without]
        usual = [name for name in getattr(self._preset, role, ()) if name in names]
        return tuple(st.multiselect(label, names, default=usual, key=self._of(role)))

    def models(self) -> tuple[str, ...]:
        usual = getattr(self._preset, "models", None) or ("linear",)
        return tuple(
            st.multiselect(
                "Models",
                list(MODELS),
                default=list(usual),
                format_func=MODELS.get,
                key=self._of("models"),
                help="Each person is scored by a model that was fitted on others.",
            )
        )

    def yes(self, label: str, role: str) -> bool:
        return st.toggle(label, value=bool(getattr(self._preset, role, False)), key=self._of(role))

    def word(self, label: str, role: str, options: tuple[str, ...], words: Callable[[str], str]) -> str:
        usual = getattr(self._preset, role, options[0])
        return st.selectbox(label, options, index=options.index(usual), format_func=words, key=self._of(role))

    def cut(self, definition: str) -> float:
        usual = self._preset.cut if self._preset and self._preset.definition == definition else None
        if definition == "share":
            share = st.number_input(
                "Share that is worst-off, %", 0.01, 99.0, 100 * (usual or 0.15), 1.0, key=self._of("share")
            )
            return share / 100
        label = "Threshold: this outcome or worse"
        return st.number_input(label, value=usual if usual is not None else 0.0, key=self._of("threshold"))

    def _of(self, role: str) -> str:
        return f"role-{role}-{self._key}"


def _lines(table: Table, roles: Roles, settings: StudySettings, chosen: str) -> str:
    given = [f"{name}={value!r}" for name, value in vars(roles).items() if value != getattr(_USUAL, name)]
    steps = [f"{name}={value!r}" for name, value in vars(settings).items() if value != getattr(_SETTINGS, name)]
    return f"""from core.common.tables import ReadOptions, read_path
from core.targeting.people import Roles, people
from core.targeting.study import StudySettings, study

table = {table.code()}
register = people(table, Roles({", ".join(given)}))
found = study(register, StudySettings({", ".join(steps)}), chosen={chosen!r})"""


_USUAL, _SETTINGS = Roles(outcome=""), StudySettings()
