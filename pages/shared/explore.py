"""The Explore tab: one question at a time, its settings on the left, the answer and its picture on the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.common.settings import Settings
from core.common.view import View
from pages.shared.settings_form import settings_form
from pages.shared.view import show

__all__ = ["Views", "draw", "one_of", "settings_of"]

Views = Mapping[str, tuple[type[Settings], Callable[[Any], View], str]]


def draw(views: Views) -> None:
    """Draw the question that is chosen of ``views``: its words, its settings, what makes its view, and its name."""
    settings, view, name = views[one_of(views, "view")]
    controls, picture = st.columns([1, 3], gap="large")
    with controls:
        asked = settings_form(settings)
    with picture:
        show(lambda: view(asked), name)


def one_of(words: Mapping[str, Any], key: str) -> str:
    """A row of buttons, one of which is always on; the choice is in the link as ``key``."""
    return st.segmented_control(
        "What to see",
        words,
        default=next(iter(words)),
        required=True,
        key=key,
        bind="query-params",
        wrap=True,
        label_visibility="collapsed",
    )


def settings_of(views: Views) -> tuple[type[Settings], ...]:
    """The settings of all questions, for the link."""
    return tuple(settings for settings, _, _ in views.values())
