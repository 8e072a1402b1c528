"""The command line of reproductions, on a stand-in for the experiments, and what is stored of the real ones."""

import json

import pytest

from core import reproduce
from core.catalog import PAPERS
from core.common.comparison import Figure, Measurement
from core.common.progress import Snapshot


def test_the_command_prints_the_table_and_writes_the_json(tmp_path, monkeypatch, capsys):
    figures = (Figure(what="failure rate", ours=0.21, low=0.2, high=0.22, exact=0.2112, paper="21.20%", unit="%"),)
    monkeypatch.setattr(reproduce, "headline", lambda key, seed: iter([Snapshot(step=1, total=1, result=figures)]))
    reproduce.main(["conformal", "--seed", "3", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "21.20%" in shown
    assert "21.00%" in shown
    stored = Measurement.from_json((tmp_path / "conformal.json").read_text())
    assert (stored.figures, stored.seed, stored.command) == (figures, 3, "python -m core.reproduce conformal --seed 3")


def test_an_unknown_paper_is_refused():
    with pytest.raises(SystemExit):
        reproduce.main(["nothing"])


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if paper.built], ids=lambda paper: paper.key)
def test_stored_measurements_say_how_they_were_made_and_hold_their_exact_values(paper):
    text = (reproduce.MEASURED / f"{paper.key}.json").read_text(encoding="utf-8")
    stored = Measurement.from_json(text)
    assert json.loads(text)["paper"] == paper.key
    assert stored.command.startswith(f"python -m core.reproduce {paper.key}")
    assert stored.repetitions >= 1000
    known = [figure for figure in stored.figures if figure.exact is not None and figure.low is not None]
    outside = [figure.what for figure in known if not figure.low <= figure.exact <= figure.high]
    assert len(outside) <= 0.05 * len(known) + 2, outside  # they are 95% intervals
