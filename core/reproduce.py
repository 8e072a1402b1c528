"""`python -m core.reproduce [PAPER]`: the paper's headline figures beside ours, as a table and as JSON.

Each paper's `experiments.headline(seed)` yields snapshots whose last result is a tuple of figures. The measured values
are written to data/reproductions/PAPER.json, which the pages show as measured beforehand.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from core.catalog import PAPERS
from core.common.comparison import Figure, Measurement, as_text
from core.common.progress import Snapshot, with_bar

__all__ = ["MEASURED", "headline", "measure"]

MEASURED = Path(__file__).parent.parent / "data" / "reproductions"
_BUILT = tuple(paper.key for paper in PAPERS if paper.built)


def headline(key: str, *, seed: int = 0) -> Iterator[Snapshot[tuple[Figure, ...]]]:
    """The headline experiments of the paper ``key``, step by step; the last result holds all its figures."""
    return importlib.import_module(f"core.{key}.experiments").headline(seed=seed)


def measure(key: str, *, seed: int = 0) -> Measurement:
    """Run the headline experiments of the paper ``key`` and return its figures with the date and the time they took."""
    start = time.perf_counter()
    figures = with_bar(headline(key, seed=seed), key)
    return Measurement(
        paper=key,
        command=f"python -m core.reproduce {key}" + (f" --seed {seed}" if seed else ""),
        date=datetime.now(UTC).date().isoformat(),
        seconds=round(time.perf_counter() - start, 1),
        repetitions=importlib.import_module(f"core.{key}.experiments").TRIALS,
        seed=seed,
        figures=figures,
    )


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m core.reproduce", description=__doc__.splitlines()[0])
    parser.add_argument("paper", nargs="?", default="all", choices=(*_BUILT, "all"))
    parser.add_argument("--seed", type=int, default=0, help="start of every random draw (default: 0)")
    parser.add_argument("--out", type=Path, default=MEASURED, help="folder for the JSON (default: data/reproductions)")
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for key in _BUILT if chosen.paper == "all" else (chosen.paper,):
        measurement = measure(key, seed=chosen.seed)
        (chosen.out / f"{key}.json").write_text(measurement.to_json(), encoding="utf-8")
        print(as_text(measurement), end="\n\n")


if __name__ == "__main__":
    main()
