"""A small exact memory for quick results: what was computed for the same settings and the same data is given again.

The framework's own cache hashes a sample of a large table, so two tables may share one answer. Here data enter a key
only by the fingerprint of their bytes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from core.common.jobs import exact_key

__all__ = ["Memo"]

Value = TypeVar("Value")


class Memo:
    """The newest ``most`` results. Values are shared between callers and must not be changed.

    >>> memo = Memo(most=2)
    >>> memo.get(("square", 3), lambda: 9), memo.get(("square", 3), lambda: 0), memo.get(("square", 3.0), lambda: 9.0)
    (9, 9, 9.0)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._busy: dict[Hashable, threading.Lock] = {}

    def get(self, key: tuple, compute: Callable[[], Value]) -> Value:
        """The value of ``key``, computed once even if several threads ask at a time; an error is not kept."""
        exact = exact_key(key)
        with self._lock:
            if exact in self._values:
                self._values.move_to_end(exact)
                return self._values[exact]
            busy = self._busy.setdefault(exact, threading.Lock())
        with busy:
            with self._lock:
                if exact in self._values:
                    return self._values[exact]
            value = compute()
            with self._lock:
                self._values[exact] = value
                self._busy.pop(exact, None)
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return value
