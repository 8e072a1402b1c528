"""An exact memory for quick results: what was computed for the same settings and the same data is given again.

The framework's own cache hashes a sample of a large table, so two tables may share one answer. Here data enter a key
only by the fingerprint of their bytes, and a key that holds a table or an array is refused.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Generic, TypeVar

__all__ = ["BoundedCache", "Memo", "exact_key", "footprint"]

Value = TypeVar("Value")
_MISSING: Any = object()


class BoundedCache(Generic[Value]):
    """At most ``most`` values of at most ``most_bytes`` together; the least recently used goes first.

    The newest value stays even if it alone is too large, so that whoever waited for it gets it. Not thread-safe:
    its owner holds a lock.
    """

    def __init__(self, most: int, most_bytes: int | None = None) -> None:
        if most < 1:
            raise ValueError(f"most is {most}; a cache holds at least one value")
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The value of ``key``, which thereby is the most recently used; ``default`` if there is none."""
        if key not in self._kept:
            return default
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Hashable, value: Value, size: int = 0) -> None:
        """Keep ``value``, of ``size`` bytes, and let go of what no longer fits."""
        self.drop(key)
        self._kept[key] = (value, size)
        self._bytes += size
        while len(self._kept) > 1 and self._is_over():
            self.drop(next(iter(self._kept)))

    def drop(self, key: Hashable) -> None:
        """Forget the value of ``key``, if there is one."""
        _, size = self._kept.pop(key, (None, 0))
        self._bytes -= size

    def _is_over(self) -> bool:
        return len(self._kept) > self._most or (self._most_bytes is not None and self._bytes > self._most_bytes)


class Memo:
    """The most recently used ``most`` results, of about ``most_bytes`` together if that is given.

    Every method may be called from any thread. Values are shared between callers and must not be changed.

    >>> memo = Memo(most=2)
    >>> memo.get(("square", 3), lambda: 9), memo.get(("square", 3), lambda: 0), memo.get(("square", 3.0), lambda: 9.0)
    (9, 9, 9.0)
    """

    def __init__(self, most: int, most_bytes: int | None = None) -> None:
        self._weighs = most_bytes is not None
        self._lock = threading.Lock()
        self._values: BoundedCache[Any] = BoundedCache(most, most_bytes)
        self._turns: dict[Hashable, _Turn] = {}

    def get(self, key: tuple, compute: Callable[[], Value]) -> Value:
        """The value of ``key``, computed once even if several threads ask at a time.

        An error is not kept: whoever waited for that value then computes it anew. TypeError for a key that
        `exact_key` refuses.
        """
        exact = exact_key(key)
        value = self._find(exact)
        if value is not _MISSING:
            return value
        with self._turn(exact):
            value = self._find(exact)
            return self._keep(exact, compute()) if value is _MISSING else value

    def _find(self, exact: Hashable) -> Any:
        with self._lock:
            return self._values.get(exact, _MISSING)

    def _keep(self, exact: Hashable, value: Value) -> Value:
        size = footprint(value) if self._weighs else 0
        with self._lock:
            self._values.put(exact, value, size)
        return value

    @contextmanager
    def _turn(self, exact: Hashable) -> Iterator[None]:
        """Only one caller of a key at a time; the lock goes with the last of them, also after an error."""
        with self._lock:
            turn = self._turns.setdefault(exact, _Turn())
            turn.callers += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.callers -= 1
                if not turn.callers:
                    del self._turns[exact]


def exact_key(key: Any) -> Hashable:
    """The key with the type of every part, so that 1, 1.0 and True differ, as do 0.0 and -0.0; NaN equals itself.

    A key is made of text, bytes, numbers, enum members, None, functions of a module, and of tuples and frozen
    dataclasses of these. TypeError for anything else: a table or an array enters a key by the fingerprint of its
    bytes, a closure would be another one at each call. Classes count by identity, so a class defined in a script that
    is executed anew each time never matches: settings belong in an imported module.

    >>> exact_key(1) == exact_key(True)
    False
    >>> exact_key(("tune", [1, 2]))
    Traceback (most recent call last):
    TypeError: list cannot be part of a key; use text, numbers, frozen settings, and a fingerprint for data
    """
    if isinstance(key, tuple):
        return (type(key), *map(exact_key, key))
    if isinstance(key, float):
        return (type(key), key.hex())
    if isinstance(key, str | int | bytes | Enum) or key is None or _is_of_a_module(key):
        return (type(key), key)
    if _is_frozen(key):
        return (type(key), *(exact_key(getattr(key, field.name)) for field in dataclasses.fields(key)))
    raise TypeError(
        f"{type(key).__name__} cannot be part of a key; use text, numbers, frozen settings, and a fingerprint for data"
    )


def footprint(value: Any) -> int:
    """About how many bytes ``value`` holds: arrays and tables by their content, containers by their parts.

    A part that occurs twice counts once. Takes time linear in the number of Python objects.
    """
    total, seen, rest = 0, set(), [value]
    while rest:
        part = rest.pop()
        if id(part) not in seen and not isinstance(part, type) and not callable(part):
            seen.add(id(part))
            size, parts = _weigh(part)
            total += size
            rest.extend(parts)
    return total


class _Turn:
    def __init__(self) -> None:
        self.lock, self.callers = threading.RLock(), 0


def _is_of_a_module(key: Any) -> bool:
    return inspect.isfunction(key) and "<" not in key.__qualname__  # neither <lambda> nor <locals>


def _is_frozen(key: Any) -> bool:
    parameters = getattr(type(key), "__dataclass_params__", None)
    return parameters is not None and parameters.frozen


def _weigh(part: Any) -> tuple[int, Collection[Any]]:
    """Bytes of a part itself, and the parts in it that are still to be weighed."""
    if hasattr(part, "memory_usage"):  # a table or a column
        usage = part.memory_usage(deep=True)
        return int(usage if isinstance(usage, int) else usage.sum()), ()
    if hasattr(part, "nbytes"):
        return int(part.nbytes), ()
    if isinstance(part, str | bytes | bytearray):
        return sys.getsizeof(part), ()
    if isinstance(part, Mapping):
        return sys.getsizeof(part), [*part.keys(), *part.values()]
    if isinstance(part, list | tuple | set | frozenset):
        return sys.getsizeof(part), part
    return sys.getsizeof(part), list(getattr(part, "__dict__", {}).values())
