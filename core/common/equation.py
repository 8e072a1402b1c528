"""The paper's equations, each pointing at the function that computes it, and what is claimed of a method."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Claim", "Equation"]


@dataclass(frozen=True, kw_only=True)
class Equation:
    """One equation: what it says in words, in the paper's symbols, and the function that computes it."""

    title: str
    latex: str
    words: str
    computed_by: Callable[..., Any]

    @property
    def where(self) -> str:
        """The function's full name, as one would import it."""
        return f"{self.computed_by.__module__}.{self.computed_by.__qualname__}"

    @property
    def source(self) -> str:
        """The function's own lines."""
        return inspect.getsource(self.computed_by)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement about a method: ``status`` is "theorem", "conjecture" or "fact" (checked here), with its source."""

    sentence: str
    status: str
    source: str
