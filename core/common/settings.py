"""Settings are a value: one frozen dataclass whose fields carry range, unit, label and a sentence.

Widgets, links, validation and the shown code all read this one table.

>>> @dataclass(frozen=True, kw_only=True)
... class Demo(Settings):
...     n_cal: int = whole(30, low=1, high=1000, label="Calibration examples", help="How many losses were observed.")
>>> to_code(Demo(n_cal=40))
'Demo(n_cal=40)'
>>> from_link(Demo, {"n_cal": ["4000"]})
(Demo(n_cal=30), ('n_cal=4000: has to lie between 1 and 1000; 30 is used instead',))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from core.common.errors import InputError

__all__ = [
    "Setting",
    "Settings",
    "choice",
    "decimal",
    "from_link",
    "parse",
    "switch",
    "table_of",
    "to_code",
    "to_link",
    "whole",
]

_KEY = "laurel"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known of one field beside its name: how to ask for it and what it may be.

    ``typed`` numbers are asked for in a box rather than on a slider: right where the range is wide.
    """

    kind: type
    default: Any
    label: str
    help: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    options: tuple[str, ...] = ()
    typed: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise InputError if the value is of another kind, no option, or out of range."""
        if self.options and value not in self.options:
            raise InputError(f"{name} is {value!r}", remedy=f"It has to be one of: {', '.join(self.options)}.")
        if self.kind in (int, float):
            self._check_number(name, value)
        elif not isinstance(value, self.kind):
            raise InputError(f"{name} is {value!r}", remedy=f"It has to be {_WORDS[self.kind]}.")

    def _check_number(self, name: str, value: Any) -> None:
        allowed = (int,) if self.kind is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed) or not math.isfinite(value):
            raise InputError(f"{name} is {value!r}", remedy=f"It has to be {_WORDS[self.kind]}.")
        if not self.low <= value <= self.high:
            raise InputError(f"{name} is {value}", remedy=f"It has to lie between {self.low} and {self.high}.")


class Settings:
    """Base of every settings dataclass: an instance that exists is a valid one."""

    def __post_init__(self) -> None:
        for name, setting in table_of(type(self)).items():
            setting.check(name, getattr(self, name))


Kind = TypeVar("Kind", bound=Settings)


def whole(default: int, *, low: int, high: int, label: str, help: str, step: int = 1, typed: bool = False) -> Any:
    """A field that holds a whole number from ``low`` to ``high``."""
    return _field(
        Setting(kind=int, default=default, low=low, high=high, step=step, label=label, help=help, typed=typed)
    )


def decimal(default: float, *, low: float, high: float, step: float, label: str, help: str, typed: bool = False) -> Any:
    """A field that holds a number from ``low`` to ``high``; ``step`` is what one key press changes."""
    return _field(
        Setting(kind=float, default=default, low=low, high=high, step=step, label=label, help=help, typed=typed)
    )


def choice(default: str, *, options: tuple[str, ...], label: str, help: str) -> Any:
    """A field that holds one of a few words; the words are what the visitor sees and what a link carries."""
    return _field(Setting(kind=str, default=default, options=options, label=label, help=help))


def switch(default: bool, *, label: str, help: str) -> Any:
    """A field that is on or off."""
    return _field(Setting(kind=bool, default=default, label=label, help=help))


def table_of(cls: type[Settings]) -> dict[str, Setting]:
    """Field name to its Setting, in the order of the class."""
    return {field.name: field.metadata[_KEY] for field in dataclasses.fields(cls)}


def parse(setting: Setting, text: str) -> Any:
    """The value that a link's text stands for; InputError if it is of another kind or out of range."""
    try:
        value = _PARSERS[setting.kind](text)
    except (ValueError, KeyError):
        raise InputError(f"{text!r} was read", remedy=f"It has to be {_WORDS[setting.kind]}.") from None
    setting.check("the value", value)
    return value


def from_link(cls: type[Kind], raw: Mapping[str, Sequence[str]]) -> tuple[Kind, tuple[str, ...]]:
    """Settings from a link's raw parameters, and one sentence for every value that could not be used.

    Parameters that are no field of ``cls`` are left to the caller, who knows the page's other settings.
    """
    values, problems = {}, []
    for name, setting in table_of(cls).items():
        for text in _only(name, raw.get(name, ()), setting, problems):
            try:
                values[name] = parse(setting, text)
            except InputError as error:
                problems.append(_unused(name, text, error.remedy, setting))
    return cls(**values), tuple(problems)


def to_link(settings: Settings) -> dict[str, str]:
    """Every field as a link's text, defaults included, so that a link keeps its meaning if a default moves."""
    return {name: _text(getattr(settings, name)) for name in table_of(type(settings))}


def to_code(settings: Settings) -> str:
    """The Python expression that makes these settings, naming only what differs from the default."""
    table = table_of(type(settings))
    given = [f"{name}={value!r}" for name in table if (value := getattr(settings, name)) != table[name].default]
    return f"{type(settings).__name__}({', '.join(given)})"


def _field(setting: Setting) -> Any:
    return dataclasses.field(default=setting.default, metadata={_KEY: setting})


def _only(name: str, texts: Sequence[str], setting: Setting, problems: list[str]) -> Sequence[str]:
    if len(texts) > 1:
        problems.append(f"{name} is given {len(texts)} times; {_text(setting.default)} is used instead")
        return ()
    return texts


def _unused(name: str, text: str, remedy: str, setting: Setting) -> str:
    shown = text if len(text) <= 40 else text[:39] + "…"
    return f"{name}={shown}: {remedy.removeprefix('It ').rstrip('.')}; {_text(setting.default)} is used instead"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _float(text: str) -> float:
    return float(text) if "_" not in text else float("nan")


def _int(text: str) -> int:
    if "_" in text:
        raise ValueError(text)
    return int(text)


_PARSERS = {int: _int, float: _float, str: str, bool: {"true": True, "false": False}.__getitem__}
_WORDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
