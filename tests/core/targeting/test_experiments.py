"""The reproduction: what it yields on the way, which figures it holds, and that the equations name what exists."""

import importlib
from itertools import islice

import pytest

from core.common.comparison import Measurement
from core.reproduce import MEASURED
from core.targeting.equations import CLAIMS, EQUATIONS
from core.targeting.experiments import headline


@pytest.fixture(scope="module")
def stored():
    return Measurement.from_json((MEASURED / "targeting.json").read_text(encoding="utf-8"))


def test_first_snapshots_hold_the_simulated_figures_and_are_the_seeds_own():
    first, second = islice(headline(3), 2)
    assert (first.step, second.step) == (20, 40)
    assert [figure.what for figure in first.result] == [figure.what for figure in second.result]
    assert next(headline(3)).result == first.result
    assert next(headline(4)).result != first.result
    for figure in second.result:
        assert figure.low <= figure.ours <= figure.high


def test_what_needs_the_german_register_is_the_papers_alone(stored):
    german = [figure for figure in stored.figures if figure.what.startswith("German register")]
    assert len(german) == 5
    assert all(figure.ours is None and figure.paper and "research data centre" in figure.note for figure in german)


@pytest.mark.parametrize(
    ("words", "expected", "within"),
    [
        ("Overhead of capacity to reach 75% of the worst-off 5%", 0.3828, 0.003),
        ("Overhead of capacity to reach 75% of the worst-off 30%", 0.2746, 0.001),
        ("Residual variance", 30.72, 0.05),  # the paper's own figure
        ("R2 = 0.15", 2.3236, 0.03),
        ("R2 = 0.9", 0.8071, 0.01),
        ("beta = 0.05", 0.0504, 0.001),
        ("proposition 3.3 (i)", 1.9857, 0.002),
        ("proposition 3.3 (ii)", 1.2126, 0.001),
        ("Local PAR at alpha = .01", 156.38, 0.1),
        ("R2 of a cross-fitted linear model", 0.1214, 0.001),
    ],
)
def test_stored_figures_are_the_sheets(stored, words, expected, within):
    figure = next(figure for figure in stored.figures if words in figure.what)
    assert figure.ours == pytest.approx(expected, abs=within)


def test_every_equation_points_at_a_function_that_is_there():
    for entry in EQUATIONS:
        module, _, name = entry.where.rpartition(".")
        assert getattr(importlib.import_module(module), name) is entry.computed_by
        assert module.startswith("core.targeting.")
    assert {claim.status for claim in CLAIMS} <= {"theorem", "conjecture", "fact"}
