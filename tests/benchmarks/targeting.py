"""Registers beside pandas and scikit-learn: same input, one process, medians; and ten million rows from a file.

`make bench` writes tests/benchmarks/targeting.md. The peer is what an analyst would write: sort a frame, cumulate,
draw rows with replacement with scikit-learn, and do it again for each resample.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from beside import HERE, compare, page, short_time
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from scipy.special import ndtri
from scipy.stats import multivariate_normal
from sklearn.metrics import roc_auc_score
from sklearn.utils import resample

from core.common.lazy import open_lazily
from core.targeting.gaussian import value
from core.targeting.people import Roles, people
from core.targeting.register import register as curve
from core.targeting.resampling import Resampler
from core.targeting.study import StudySettings, study
from core.targeting.worst_off import by_share

_ALPHA, _BETA = 0.1, 0.15


def register(n: int) -> pd.DataFrame:
    """Skewed outcomes and a forecast of them."""
    rng = np.random.default_rng(0)
    days = rng.gamma(0.66, 200, n).clip(0, 730).round(1)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "days": days,
            "forecast": (0.15 * days + rng.normal(100, 70, n)).round(4),
            "region": rng.choice(np.array(["north", "south", "east", "west"]), n),
        }
    )


def recall(frame: pd.DataFrame, threshold: float) -> float:
    """V with pandas: sort, take the share alpha, count."""
    ranked = frame.sort_values("forecast", ascending=False)
    worst = ranked["days"] >= threshold
    return float(worst.iloc[: int(_ALPHA * len(ranked))].sum() / worst.sum())


def rows() -> list:
    """Bands on registers of two sizes, one curve, and the theory's map."""
    made = []
    for n, draws in ((20_000, 400), (1_000_000, 20)):
        frame = register(n)
        threshold = frame["days"].quantile(1 - _BETA)

        def peer(frame: pd.DataFrame = frame, threshold: float = threshold, draws: int = draws) -> str:
            found = [recall(resample(frame, random_state=draw), threshold) for draw in range(draws)]
            return "{:.4f} to {:.4f}".format(*np.quantile(found, [0.05, 0.95]))

        def ours(frame: pd.DataFrame = frame) -> str:
            worst_off = by_share(frame["days"].to_numpy(), _BETA, low_is_worst=False)
            resampler = Resampler(worst_off, draws=400, rng=np.random.default_rng(0))
            curves = resampler.curves(frame["forecast"].to_numpy(), low_is_worst=False)
            return "{:.4f} to {:.4f}".format(*np.quantile(curves.at([_ALPHA]), [0.05, 0.95]))

        task = f"90% interval of V, {n:,} people: ours 400 resamples and the whole curve, peer {draws} and one capacity"
        made.append(compare(task, "pandas, scikit-learn", ours, peer, runs=1 if n > 100_000 else 3))
    return [*made, _area_row(), _map_row()]


def _area_row():
    frame = register(1_000_000)
    outcome, score = frame["days"].to_numpy(), frame["forecast"].to_numpy()

    def ours() -> float:
        return curve(outcome, score, beta=_BETA, low_is_worst=False).area()

    worst = outcome >= by_share(outcome, _BETA, low_is_worst=False).threshold
    task = "area under the ROC curve, 1,000,000 people (ours with the whole targeting curve)"
    return compare(task, "scikit-learn 1.9.1", ours, lambda: float(roc_auc_score(worst, score)))


def _map_row():
    alpha, r2 = np.meshgrid(np.linspace(0.01, 0.5, 20), np.linspace(0.01, 0.95, 20))

    def peer() -> float:
        b = _quantile(0.2)
        cells = [
            multivariate_normal([0, 0], [[1, np.sqrt(r)], [np.sqrt(r), 1]]).cdf([_quantile(a), b]) / 0.2
            for a, r in zip(alpha.ravel(), r2.ravel(), strict=True)
        ]
        return float(np.sum(cells))

    return compare("V on a map of 20 x 20", "SciPy 1.17.1", lambda: float(value(alpha, 0.2, r2).sum()), peer, runs=3)


def _quantile(share: float) -> float:
    return float(ndtri(share))


def from_a_file(kind: str, folder: Path) -> str:
    """Ten million rows, in a process of its own: seconds and memory from the file to curves with bands."""
    path = folder / f"register.{kind}"
    table = pa.Table.from_pandas(register(10_000_000), preserve_index=False)
    parquet.write_table(table, path) if kind == "parquet" else arrow_csv.write_csv(table, path)
    del table
    found = subprocess.run(
        [sys.executable, __file__, "measure", str(path)], check=True, capture_output=True, text=True
    ).stdout
    return f"| {kind}, {path.stat().st_size / 1e6:,.0f} MB | {found.strip()} |"


def measure(path: str) -> None:
    """Read, curve with band, both levers; print seconds of each and the peak of memory."""
    start = time.perf_counter()
    roles = Roles(outcome="days", cut=_BETA, scores=("forecast",))
    made = people(open_lazily(path).select(roles.columns()), roles)
    found = study(made, StudySettings(alpha=_ALPHA))
    curves = time.perf_counter() - start
    reached = found.gains["calibrated"].reached
    levers = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    answer = f"{reached.value:.4f} ({reached.low:.4f} to {reached.high:.4f})"
    print(f"{short_time(curves)} | {short_time(levers)} | {peak:.2f} GB | {answer}")


def main() -> None:
    """Run all and write the page."""
    lines = [
        "",
        "The peer's intervals differ by the chance of its draws; with 20 resamples they are rough.",
        "",
        "## Ten million rows from a file",
        "",
        "| file | to curves with bands | and both levers, PAR with intervals | peak memory | V at 10% |",
        "| --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        lines += [from_a_file(kind, Path(folder)) for kind in ("parquet", "csv")]
    text = page("Targeting beside pandas and scikit-learn", rows(), lines)
    (HERE / "targeting.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    measure(sys.argv[2]) if sys.argv[1:2] == ["measure"] else main()
