"""Widgets for a settings dataclass, each bound to the link."""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st

from core.common.settings import Setting, Settings, table_of

__all__ = ["settings_form"]

Kind = TypeVar("Kind", bound=Settings)
_FEW = 4


def settings_form(cls: type[Kind], *, ask: tuple[str, ...] | None = None, **fixed: Any) -> Kind:
    """Draw one widget for each field of ``cls`` (or those named in ``ask``) and return the settings they stand at.

    A field's name is its widget's key and its name in the link, so two forms on one page may share a field only if
    it means the same in both. ``fixed`` fields are not asked for.
    """
    table = table_of(cls)
    asked = ask if ask is not None else tuple(name for name in table if name not in fixed)
    return cls(**fixed, **{name: _widget(name, table[name]) for name in asked})


def _widget(name: str, setting: Setting) -> Any:
    common = {"label": setting.label, "help": setting.help, "key": name, "bind": "query-params"}
    if setting.kind is bool:
        return st.toggle(value=setting.default, **common)
    if setting.options:
        return _choice(setting, common)
    bounds = {"min_value": setting.low, "max_value": setting.high, "value": setting.default, "step": setting.step}
    if setting.typed:
        return st.number_input(**bounds, **common, **_format(setting))
    return st.slider(**bounds, **common, **_format(setting))


def _choice(setting: Setting, common: dict[str, Any]) -> str:
    if len(setting.options) <= _FEW:
        return st.segmented_control(
            options=setting.options, default=setting.default, required=True, wrap=True, **common
        )
    return st.selectbox(options=setting.options, index=setting.options.index(setting.default), **common)


def _format(setting: Setting) -> dict[str, str]:
    if setting.kind is int:
        return {}
    text = f"{setting.step:.10f}".rstrip("0")
    return {"format": f"%.{len(text.split('.')[1])}f"}
