"""The house's own Plotly template: explicit colours and sizes, legible in both themes and in an export.

Colours are Okabe and Ito's, which stay apart for all common kinds of colour blindness. Black and yellow are left
out: one is lost on a dark page, the other on a white one. A page adapts background, grid and text to its theme; what
is set here is what an exported file shows.
"""

from __future__ import annotations

import plotly.graph_objects as go

__all__ = ["BLUE", "COLOURS", "GREEN", "GREY", "ORANGE", "PINK", "SKY", "VERMILION", "enlarge", "finish", "translucent"]

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
GREY = "#808890"  # about 3.5:1 on white and 5:1 on the dark page
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION)

_TEXT, _GRID, _PAPER = "#22302B", "#E3E8E5", "#FFFFFF"
_SIZE, _SMALL = 15, 14
_AXIS = {
    "gridcolor": _GRID,
    "linecolor": GREY,
    "zeroline": False,
    "automargin": True,
    "ticks": "outside",
    "tickcolor": GREY,
    "ticklen": 4,
}
_TEMPLATE = go.layout.Template(
    layout={
        "colorway": COLOURS,
        "paper_bgcolor": _PAPER,
        "plot_bgcolor": _PAPER,
        "font": {"color": _TEXT, "size": _SIZE, "family": "Source Sans, Source Sans Pro, Arial, sans-serif"},
        "colorscale": {"sequential": "Viridis", "diverging": "RdBu"},
        "hoverlabel": {"font": {"size": _SMALL}},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
)


def finish(figure: go.Figure, *, x: str, y: str, height: int = 420) -> go.Figure:
    """The figure with the house's template, axis titles (with units) and sizes; changed in place and returned.

    Sizes are set on each axis and the legend because the framework's theme overrides those of the layout.
    """
    figure.update_layout(
        template=_TEMPLATE,
        height=height,
        margin={"l": 10, "r": 24, "t": 30, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": _SMALL}},
        hovermode="closest",
        uirevision="keep",
    )
    figure.update_xaxes(title={"text": x, "font": {"size": _SIZE}}, tickfont={"size": _SMALL})
    figure.update_yaxes(title={"text": y, "font": {"size": _SIZE}}, tickfont={"size": _SMALL})
    figure.update_annotations(font={"size": _SMALL})
    return figure


def enlarge(figure: go.Figure, factor: float) -> go.Figure:
    """A copy whose text, lines and markers are ``factor`` times as large, for the back row of a room."""
    big = go.Figure(figure)
    big.update_layout(height=(figure.layout.height or 420) * min(factor, 1.3))
    big.update_layout(legend={"font": {"size": _SMALL * factor}}, hoverlabel={"font": {"size": _SMALL * factor}})
    for update in (big.update_xaxes, big.update_yaxes):
        update(title={"font": {"size": _SIZE * factor}}, tickfont={"size": _SMALL * factor})
    big.update_annotations(font={"size": _SMALL * factor})
    big.for_each_trace(lambda trace: _thicken(trace, factor))
    return big


def translucent(colour: str, opacity: float) -> str:
    """A hex colour as ``rgba(...)`` for bands and shaded areas."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


def _thicken(trace: go.Trace, factor: float) -> None:
    if isinstance(trace, go.Scatter | go.Scattergl):
        trace.line.width = (2 if trace.line.width is None else trace.line.width) * factor
        if trace.marker.size is None or isinstance(trace.marker.size, int | float):
            trace.marker.size = (6 if trace.marker.size is None else trace.marker.size) * factor
        trace.textfont.size = _SMALL * factor
