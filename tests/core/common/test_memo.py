"""The memory for quick results: exact keys, computed once, bounded, and safe where the framework's own cache is not."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some

from core.common.memo import BoundedCache, Memo, exact_key, footprint
from core.common.tables import read_table

ROWS = 1_000_000


@dataclass(frozen=True)
class Asked:
    n: float


@dataclass(frozen=True)
class AlsoAsked:
    n: float


@dataclass
class Loose:
    n: float


class Level(IntEnum):
    ONE = 1


def a_function():
    return 1


def test_keys_tell_types_apart():
    keys = [1, 1.0, True, "1", (1,), Asked(1), Asked(1.0), AlsoAsked(1), None, b"1", Level.ONE, np.float64(1), ()]
    keys += [0.0, -0.0, float("nan"), float("inf"), a_function, test_keys_tell_types_apart, ((1,),)]
    assert len({exact_key(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "bad",
    [
        pd.DataFrame({"a": [1]}),
        pd.Series([1]),
        np.arange(3),
        np.array(1.0),
        np.random.default_rng(1),
        [1],
        {"a": 1},
        {1},
        object(),
        Loose(1),
        Asked(np.arange(3)),
        lambda: 1,
        (lambda: lambda: 2)(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_key_is_refused_wherever_it_stands(bad):
    for key in (bad, ("name", bad), ("name", ("deep", bad))):
        with pytest.raises(TypeError, match="cannot be part of a key"):
            exact_key(key)
    with pytest.raises(TypeError):
        Memo(most=1).get(("name", bad), lambda: 1)


PARTS = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-2, 2)
    | some.floats()
    | some.text(max_size=2)
    | some.binary(max_size=1),
    lambda parts: some.lists(parts, max_size=3).map(tuple),
    max_leaves=5,
)


@given(PARTS, PARTS)
def test_keys_are_equal_exactly_when_written_alike(one, other):
    assert exact_key(one) == exact_key(one)
    assert (exact_key(one) == exact_key(other)) == (repr(one) == repr(other))


def test_strings_cannot_run_into_each_other():
    assert exact_key(("doc1", "acme")) != exact_key(("doc1str:orgstr:acme",))
    assert exact_key(("a", ("b", "c"))) != exact_key((("a", "b"), "c"))


def register(cell: int | None) -> pd.DataFrame:
    values = np.zeros(ROWS, np.int8)
    if cell is not None:
        values[cell] = 1
    return pd.DataFrame({"x": values})


@st.cache_data
def framework_sum(frame: pd.DataFrame) -> int:
    return int(frame["x"].sum())


def test_registers_that_differ_in_one_cell_get_their_own_answers():
    """The framework looks at 10,000 of a million rows: it gives one answer for both. We give two."""
    frames = {cell: register(cell) for cell in (None, 17, 500_003)}
    assert [framework_sum(frame) for frame in frames.values()] == [0, 0, 0], "the framework has mended its hash"
    memo = Memo(most=10)
    tables = [read_table(frame.to_csv(index=False).encode(), "register.csv") for frame in frames.values()]
    sums = [memo.get((a_function, Asked(1), table.fingerprint), table.numbers("x").sum) for table in tables]
    assert sums == [0.0, 1.0, 1.0]
    assert len({table.fingerprint for table in tables}) == 3


def test_callers_at_the_same_time_share_one_computation():
    memo, calls, inside, gate = Memo(most=4), [], threading.Event(), threading.Event()

    def compute():
        calls.append(1)
        inside.set()
        assert gate.wait(10)
        return 7

    with ThreadPoolExecutor(5) as pool:
        found = [pool.submit(memo.get, ("k", Asked(1)), compute) for _ in range(4)]
        assert inside.wait(10)
        other = pool.submit(memo.get, ("other",), lambda: 8)
        assert other.result(10) == 8, "another key had to wait"
        gate.set()
        assert [future.result(10) for future in found] == [7] * 4
    assert len(calls) == 1


def test_an_error_is_not_kept_and_its_waiters_try_again():
    memo, inside, gate = Memo(most=2), threading.Event(), threading.Event()

    def fails():
        inside.set()
        assert gate.wait(10)
        raise ZeroDivisionError

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo.get, ("k",), fails)
        assert inside.wait(10)
        second = pool.submit(memo.get, ("k",), lambda: 5)
        gate.set()
        assert second.result(10) == 5
        with pytest.raises(ZeroDivisionError):
            first.result(10)
    assert not memo._turns, "locks of keys that failed pile up"


def test_none_is_a_value_like_any_other():
    memo = Memo(most=1)
    assert memo.get(("k",), lambda: None) is None
    assert memo.get(("k",), lambda: 1) is None


def test_the_least_recently_used_goes_first():
    memo = Memo(most=2)
    for key in "aba":
        memo.get((key,), lambda key=key: key)
    memo.get(("c",), lambda: "c")
    assert memo.get(("a",), lambda: "new") == "a"
    assert memo.get(("b",), lambda: "new") == "new"


def test_bytes_are_bounded_but_the_newest_always_stays():
    memo = Memo(most=100, most_bytes=10_000)
    for key in range(5):
        memo.get((key,), lambda: np.zeros(4_000, np.int8))
    assert [memo.get((key,), lambda: None) is None for key in (4, 3, 2)] == [False, False, True]
    huge = memo.get(("huge",), lambda: np.zeros(10**6))
    assert memo.get(("huge",), lambda: None) is huge


@given(
    some.lists(some.tuples(some.sampled_from("abcdef"), some.integers(0, 50))),
    some.integers(1, 4),
    some.integers(1, 100),
)
def test_the_cache_never_holds_more_than_it_may(puts, most, most_bytes):
    cache, sizes = BoundedCache(most, most_bytes), {}
    for key, size in puts:
        sizes.pop(key, None)
        sizes[key] = size
        cache.put(key, size, size)
        while len(sizes) > 1 and (len(sizes) > most or sum(sizes.values()) > most_bytes):
            del sizes[next(iter(sizes))]
        assert len(cache) == len(sizes)
        assert cache.get(key) == size
    assert {key for key in "abcdef" if cache.get(key) is not None} == set(sizes)


def test_a_cache_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        BoundedCache(0)


def test_the_footprint_counts_content_once():
    array = np.zeros(100_000)
    frame = pd.DataFrame({"a": array, "b": array + 1})
    assert 800_000 <= footprint(Loose(array)) < 805_000
    assert footprint((array, [array], {"x": array})) < 805_000
    assert 1_600_000 <= footprint({"frame": frame}) < 1_610_000
    assert footprint("x" * 1000) >= 1000
    ring = []
    ring.append(ring)
    assert footprint(ring) < 1000


def test_many_threads_get_the_right_values():
    memo = Memo(most=3, most_bytes=200)

    def ask(number):
        draw = np.random.default_rng(number)
        return all(memo.get((int(key),), lambda key=key: int(key) ** 2) == key**2 for key in draw.integers(0, 9, 300))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))
    assert not memo._turns
