from core.common.comparison import Figure, Measurement, as_frame, as_text

FIGURES = (
    Figure(what="failure rate", paper="21.20% (Table 1)", ours=0.2112, low=0.20, high=0.22, exact=0.21116, unit="%"),
    Figure(what="mean", ours=7.878123, note="The paper uses one fixed pool."),
)
MEASUREMENT = Measurement(
    paper="demo", command="python -m x", date="2026-01-01", seconds=1.5, repetitions=10, seed=0, figures=FIGURES
)


def test_json_round_trip():
    assert Measurement.from_json(MEASUREMENT.to_json()) == MEASUREMENT


def test_the_table_marks_what_the_paper_does_not_print():
    frame = as_frame(FIGURES)
    assert list(frame["Paper"]) == ["21.20% (Table 1)", "not printed"]
    assert list(frame["Ours"]) == ["21.12%", "7.878"]
    assert list(frame["95% interval"]) == ["20.00% to 22.00%", ""]


def test_the_text_says_how_it_was_made_and_why_it_differs():
    text = as_text(MEASUREMENT)
    assert "10 trials, seed 0" in text
    assert "python -m x" in text
    assert "* mean: The paper uses one fixed pool." in text
