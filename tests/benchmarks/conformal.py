"""Conformal prediction beside MAPIE, TorchCP, crepes and a Monte Carlo: same input, one process, medians.

`make bench` installs the peers in an environment of their own and writes tests/benchmarks/conformal.md.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from beside import HERE, Row, compare, page, short_time

from core.conformal.multilabel import miss_path, miss_table, positives
from core.conformal.quadrature import RiskPosterior
from core.conformal.ranks import kth_smallest, split_conformal_rank
from core.conformal.risk_control import choose
from core.conformal.rules import rule

RUNS = 5


def scores_rows() -> list[Row]:
    """The split conformal threshold at 90% for a million scores."""
    import torch
    from crepes import ConformalRegressor
    from mapie.regression import SplitConformalRegressor

    scores = np.random.default_rng(0).exponential(size=1_000_000)
    tensor = torch.from_numpy(scores)
    torchcp = _torchcp_quantile()
    zero = np.zeros((scores.size, 1))

    class Constant:
        """A fitted model that forecasts zero, which MAPIE asks for."""

        def fit(self, x, y):
            return self

        def predict(self, x):
            return np.zeros(len(x))

        def __sklearn_is_fitted__(self):
            return True

    def ours() -> float:
        return kth_smallest(scores, split_conformal_rank(scores.size, "0.1"))

    def crepes() -> float:
        low, high = ConformalRegressor().fit(scores).predict_int(np.zeros(1), confidence=0.9)[0]
        return (high - low) / 2

    def mapie() -> float:
        model = SplitConformalRegressor(Constant(), confidence_level=0.9, prefit=True).conformalize(zero, scores)
        return float(model.predict_interval(np.zeros((1, 1)))[1][0, 1, 0])

    task = "threshold of 1,000,000 scores, 90%"
    return [
        compare(task, "TorchCP 1.2.1", ours, lambda: float(torchcp(tensor, 0.1))),
        compare(task, "crepes 0.9.1", ours, crepes),
        compare(task, "MAPIE 1.6.0", ours, mapie),
    ]


def posterior_rows() -> list[Row]:
    """The 95% bound of the risk: exact beside the definition's Monte Carlo with 100,000 draws."""
    rows = []
    for n in (1_000, 10_000):
        losses = np.random.default_rng(0).beta(1, 9, n)

        def drawn(losses: np.ndarray = losses) -> float:
            return float(np.quantile(_definition(losses, 100_000, np.random.default_rng(1)), 0.95))

        def exact(losses: np.ndarray = losses) -> float:
            return RiskPosterior.from_losses(losses).quantile(0.95)

        rows.append(compare(f"95% bound, {n:,} losses", "NumPy, 100,000 Dirichlet draws", exact, drawn, runs=3))
    return rows


def multilabel_rows() -> list[Row]:
    """The threshold that keeps 90% recall, 5,000 rows of 20 labels, on MAPIE's grid and exact."""
    from mapie.risk_control import MultiLabelClassificationController

    rng = np.random.default_rng(0)
    labels = rng.random((5_000, 20)) < 0.15
    labels[np.arange(5_000), rng.integers(0, 20, 5_000)] = True
    scores = np.clip(0.35 * labels + 0.65 * rng.random((5_000, 20)), 0, 1)
    grid = np.arange(0, 1, 0.01)

    def controller(method: str, **given: Any) -> float:
        made = MultiLabelClassificationController(
            predict_function=lambda x: scores[x[:, 0]], risk="recall", method=method, target_level=0.9, **given
        )
        made.calibrate(np.arange(5_000)[:, None], labels.astype(int))
        return float(np.ravel(made.best_predict_param)[0])

    def on_grid(key: str) -> float:
        path = miss_table(positives(scores, labels), grid, inclusive=False).path()
        return choose(path, rule(key), 0.1, 0.9).lambda_hat

    task = "recall 90%, 5,000 x 20 labels"
    return [
        compare(f"{task}, grid, CRC", "MAPIE 1.6.0", lambda: on_grid("crc"), lambda: controller("crc"), runs=3),
        compare(
            f"{task}, grid, RCPS (WSR)",
            "MAPIE 1.6.0",
            lambda: on_grid("wsr"),
            lambda: controller("rcps", rcps_bound="wsr", confidence_level=0.9),
            runs=3,
        ),
        compare(
            f"{task}, exact BQ against MAPIE's CRC",
            "MAPIE 1.6.0",
            lambda: choose(miss_path(positives(scores, labels)), rule("bq"), 0.1, 0.9).lambda_hat,
            lambda: controller("crc"),
            runs=3,
        ),
    ]


def own_lines() -> list[str]:
    """What has no peer: the exact bound at sizes that Monte Carlo cannot hold, with memory."""
    lines = ["| losses | seconds, median of 5 | peak memory beyond the input |", "| --- | --- | --- |"]
    for n in (100_000, 1_000_000, 10_000_000):
        losses = np.random.default_rng(0).beta(1, 9, n)
        seconds = []
        for _ in range(RUNS):
            start = time.perf_counter()
            RiskPosterior.from_losses(losses).quantile(0.95)
            seconds.append(time.perf_counter() - start)
        tracemalloc.start()
        RiskPosterior.from_losses(losses).quantile(0.95)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        lines.append(f"| {n:,} | {short_time(statistics.median(seconds))} | {peak / losses.nbytes:.2f} x the input |")
    return lines


def main() -> None:
    """Run all and write the table."""
    warnings.simplefilter("ignore")
    rows = [*scores_rows(), *posterior_rows(), *multilabel_rows()]
    notes = [
        "",
        "Where the answers differ: crepes indexes the scores by a float rank and takes one order statistic too many "
        "for some sizes; MAPIE computes WSR over two halves of the rows apart; draws have their own error.",
        "",
        "## The exact 95% bound of the risk, without a peer",
        "",
    ]
    text = page("Conformal prediction beside its peers", rows, [*notes, *own_lines()])
    (HERE / "conformal.md").write_text(text, encoding="utf-8")
    print(text)


def _definition(losses: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """A NumPy transcription of the definition, in chunks so that it fits in memory."""
    values, found = np.append(losses, 1.0), []
    for _ in range(0, draws, 1_000):
        weights = rng.dirichlet(np.ones(values.size), size=1_000)
        found.append(weights @ values)
    return np.concatenate(found)


def _torchcp_quantile() -> Callable:
    """TorchCP's quantile function from its own file: its package cannot be imported without all its dependencies."""
    package = importlib.util.find_spec("torchcp").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("torchcp_common", Path(package) / "utils" / "common.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.calculate_conformal_value


if __name__ == "__main__":
    main()
