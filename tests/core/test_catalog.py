from pathlib import Path

from core.catalog import PAPERS, paper

ROOT = Path(__file__).parents[2]


def test_there_are_eleven_papers_each_with_its_own_key_and_number():
    assert len(PAPERS) == 11
    assert len({entry.key for entry in PAPERS}) == len({entry.arxiv for entry in PAPERS}) == 11
    assert all(paper(entry.key) is entry for entry in PAPERS)


def test_what_is_called_built_has_a_page_a_package_and_an_experiment():
    for entry in (entry for entry in PAPERS if entry.built):
        assert (ROOT / "pages" / f"{entry.key}.py").is_file()
        assert (ROOT / "core" / entry.key / "experiments.py").is_file()
        assert (ROOT / "data" / "reproductions" / f"{entry.key}.json").is_file()


def test_every_question_is_a_question():
    assert all(entry.question.endswith("?") and len(entry.question) < 90 for entry in PAPERS)
