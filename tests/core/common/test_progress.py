import pytest

from core.common.progress import Snapshot, last, with_bar


def counting(total):
    for step in range(1, total + 1):
        yield Snapshot(step=step, total=total, result=step * step)


@pytest.mark.parametrize("consume", [last, lambda snapshots: with_bar(snapshots, "count")])
def test_the_last_result_is_returned(consume):
    assert consume(counting(5)) == 25


def test_a_run_without_snapshots_is_an_error():
    with pytest.raises(ValueError, match="no snapshot"):
        last(iter(()))
