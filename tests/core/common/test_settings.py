"""Settings: what a link says becomes a value or a sentence, for every text a stranger may write."""

from dataclasses import FrozenInstanceError, dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.common.settings import Settings, choice, decimal, from_link, switch, table_of, to_code, to_link, whole


@dataclass(frozen=True, kw_only=True)
class Demo(Settings):
    n_cal: int = whole(30, low=1, high=1000, label="n", help="n")
    alpha: float = decimal(0.1, low=0.01, high=0.9, step=0.01, label="alpha", help="alpha")
    kind: str = choice("one", options=("one", "two words"), label="kind", help="kind")
    big: bool = switch(False, label="big", help="big")


demos = st.builds(
    Demo,
    n_cal=st.integers(1, 1000),
    alpha=st.floats(0.01, 0.9),
    kind=st.sampled_from(("one", "two words")),
    big=st.booleans(),
)


@given(demos)
def test_a_link_reproduces_the_settings(demo):
    raw = {key: [text] for key, text in to_link(demo).items()}
    assert from_link(Demo, raw) == (demo, ())


@given(demos)
def test_code_reproduces_the_settings(demo):
    assert eval(to_code(demo), {"Demo": Demo}) == demo


@given(st.dictionaries(st.sampled_from([field.name for field in fields(Demo)]), st.lists(st.text(), max_size=3)))
def test_any_text_gives_settings_or_a_sentence_for_each_bad_value(raw):
    settings, problems = from_link(Demo, raw)
    given_names = {name for name, texts in raw.items() if texts}
    used = {name for name in given_names if len(raw[name]) == 1 and to_link(settings)[name] == raw[name][0]}
    told = {name for name in given_names if any(problem.startswith(f"{name}") for problem in problems)}
    assert isinstance(settings, Demo)
    assert told | used | {"n_cal", "alpha"} >= given_names  # numbers may be written in several ways


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n_cal", "abc"),
        ("n_cal", "0"),
        ("n_cal", "1001"),
        ("n_cal", "1.5"),
        ("n_cal", "1_0"),
        ("n_cal", "33'<script>"),
        ("alpha", "NaN"),
        ("alpha", "inf"),
        ("alpha", "-1"),
        ("alpha", "0,5"),
        ("alpha", "0_1"),
        ("kind", "three"),
        ("kind", ""),
        ("big", "maybe"),
        ("big", "True"),
    ],
)
def test_a_bad_value_is_told_and_the_default_used(name, text):
    settings, problems = from_link(Demo, {name: [text]})
    assert settings == Demo()
    assert len(problems) == 1
    assert problems[0].startswith(f"{name}=")
    assert "used instead" in problems[0]


def test_a_repeated_value_is_told():
    settings, problems = from_link(Demo, {"n_cal": ["33", "44"]})
    assert settings == Demo()
    assert "2 times" in problems[0]


def test_parameters_of_others_are_left_alone():
    assert from_link(Demo, {"tab": ["Explore"]}) == (Demo(), ())


@pytest.mark.parametrize(
    "bad", [{"n_cal": 0}, {"n_cal": True}, {"n_cal": 2.0}, {"alpha": float("nan")}, {"kind": "x"}, {"big": 1}]
)
def test_an_instance_that_exists_is_valid(bad):
    with pytest.raises(InputError):
        Demo(**bad)


def test_settings_are_frozen_and_hashable():
    with pytest.raises(FrozenInstanceError):
        Demo().n_cal = 3
    assert hash(Demo()) == hash(Demo(n_cal=30))
    assert list(table_of(Demo)) == ["n_cal", "alpha", "kind", "big"]
