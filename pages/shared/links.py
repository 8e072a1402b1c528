"""What a link asked for: bad and unknown parameters get a visible warning, never a traceback or silence.

The framework drops a bad value without a word when it draws the widget. So the raw text is read before the first
widget of a run, and what was wrong with it is kept until the visitor has seen it off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from urllib.parse import urlencode

import streamlit as st

from core.common.settings import Settings, from_link, table_of
from core.common.text import markdown

__all__ = ["full_link", "show_problems", "take_note"]

FRAME_KEYS = ("tab", "present")


def take_note(page: str, settings: Sequence[type[Settings]], words: Mapping[str, Sequence[str]]) -> None:
    """Read the link's raw parameters, before any widget is drawn, and remember what is wrong with them.

    ``words`` are parameters beside the settings' (tab, view), each with the values that it may take.
    """
    raw = {key: st.query_params.get_all(key) for key in st.query_params}
    problems = [problem for cls in settings for problem in from_link(cls, raw)[1]]
    problems += _bad_words(raw, words) + _unknown(raw, settings, words)
    known = st.session_state.setdefault(_place(page), [])
    known.extend(problem for problem in dict.fromkeys(problems) if problem not in known)


def show_problems(page: str) -> None:
    """Draw the remembered warnings with a button that puts them away."""
    problems = st.session_state.get(_place(page), [])
    if not problems:
        return
    lines = "\n".join(f"- {markdown(problem)}" for problem in problems)
    st.warning(f"This link asked for something that could not be used:\n{lines}", icon=":material/link_off:")
    st.button("Got it", key=f"{page}-link-seen", on_click=_put_away, args=(page,))


def full_link(settings: Sequence[type[Settings]], words: Sequence[str]) -> str:
    """This page's address with every setting spelled out as it stands, defaults included.

    A setting whose widget was not drawn yet stands at what the link says, or at its default.
    """
    stands = {}
    for cls in settings:
        for name, setting in table_of(cls).items():
            stands.setdefault(name, st.session_state.get(name, st.query_params.get(name, setting.default)))
    chosen = {word: value for word in words if (value := st.session_state.get(word, st.query_params.get(word)))}
    parameters = {
        key: str(value).lower() if isinstance(value, bool) else value for key, value in (chosen | stands).items()
    }
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(parameters)}"


def _bad_words(raw: Mapping[str, Sequence[str]], words: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{key}={texts[-1]}: has to be one of: {', '.join(words[key])}"
        for key, texts in raw.items()
        if key in words and (len(texts) > 1 or texts[-1] not in words[key])
    ]


def _unknown(
    raw: Mapping[str, Sequence[str]], settings: Sequence[type[Settings]], words: Mapping[str, Sequence[str]]
) -> list[str]:
    known = [*words, *(name for cls in settings for name in table_of(cls))]
    return [f"{key}: this page has no such setting{_guess(key, known)}" for key in raw if key not in known]


def _guess(key: str, known: Sequence[str]) -> str:
    near = get_close_matches(key, known, n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _place(page: str) -> str:
    return f"{page}-link-problems"


def _put_away(page: str) -> None:
    st.session_state[_place(page)] = []
    for key in [key for key in st.query_params if key not in FRAME_KEYS]:
        if key not in st.session_state:
            del st.query_params[key]
