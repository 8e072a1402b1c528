"""The paper's equations, each pointing at the function that computes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Equation"]


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
