"""The house's template: explicit colours in every export, and legible on both pages."""

import itertools

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit  # noqa: F401  (its import changes Plotly's default template, which must not reach an export)

from core.common.template import COLOURS, GREY, enlarge, finish, translucent


def luminance(colour: str) -> float:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def as_seen_without(cone: int, colour: str) -> np.ndarray:
    """The colour with one kind of cone missing (Machado et al. 2009, severity 1), in linear RGB."""
    matrices = (
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    )
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.array(matrices[cone]) @ channels**2.2


def test_an_export_holds_no_placeholder_colours():
    figure = finish(go.Figure(go.Scatter(y=[1, 2])), x="a", y="b")
    page = figure.to_html(include_plotlyjs=False)
    assert "#00000" not in page
    assert COLOURS[0] in page


@pytest.mark.parametrize("page", ["#FFFFFF", "#10161A"])
@pytest.mark.parametrize("colour", [*COLOURS, GREY])
def test_lines_stand_out_on_both_pages(colour, page):
    assert contrast(colour, page) >= 2.0


@pytest.mark.parametrize("cone", range(3))
def test_colours_stay_apart_for_every_kind_of_colour_blindness(cone):
    seen = [as_seen_without(cone, colour) for colour in COLOURS]
    apart = [np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)]
    assert min(apart) > 0.1


def test_text_is_at_least_fourteen_pixels_and_grows_for_a_room():
    figure = finish(go.Figure(go.Scatter(y=[1, 2])), x="a", y="b")
    big = enlarge(figure, 1.5)
    assert figure.layout.xaxis.tickfont.size >= 14
    assert big.layout.xaxis.tickfont.size == 1.5 * figure.layout.xaxis.tickfont.size
    assert big.layout.yaxis.title.font.size == 1.5 * figure.layout.yaxis.title.font.size
    assert figure.data[0].line.width is None  # the original is untouched


def test_translucent():
    assert translucent("#0072B2", 0.25) == "rgba(0, 114, 178, 0.25)"
