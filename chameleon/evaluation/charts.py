"""The picture of a run's plans: how many questions call each module, and which module follows which."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.chart_style import FONT, INK, ROW, colours_of, fit, percent
from chameleon.evaluation.stats import PlanStats
from chameleon.evaluation.transition_graph import TransitionGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS = 4.62  # inches: where the bars end and the graph begins
_GRAPH = 7.3
_HEAD, _FOOT = 0.62, 0.3
_MOST_PIXELS = 30_000
_TRACK = "#eef0f3"
_SETTINGS = {
    "font.family": FONT,
    "font.size": 9.5,
    "text.usetex": False,
    "svg.hashsalt": "chameleon",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Drawing:
    """What is drawn of one run: its name, its counts, and a published module use (percent) beside them."""

    name: str
    stats: PlanStats
    published: Mapping[str, float] = field(default_factory=dict)
    published_by: str = ""


def draw(drawings: Sequence[Drawing], file: str | Path) -> None:
    """Draw runs below each other into an SVG or PNG file, as its ending says.

    The same runs give the same bytes. Raises `InputError` for another ending and for a file that cannot be
    written, `MissingPackage` without matplotlib.
    """
    path, kind = Path(file), kind_of(file)
    matplotlib = _matplotlib()
    metadata = {"Date": None} if kind == "svg" else {}
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # A name may be in a script that the font lacks: it is drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = figure_of(drawings)
        sharpness = min(200, _MOST_PIXELS / max(figure.get_size_inches()))
        try:
            figure.savefig(path, format=kind, dpi=sharpness, metadata=metadata)
        except OSError as problem:
            raise InputError(
                f"the graph cannot be written: {problem.strerror or problem}", where=str(path)
            ) from problem


def kind_of(file: str | Path) -> str:
    """ "svg" or "png", as the file's ending says. Raises `InputError` for another ending."""
    kind = Path(file).suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise InputError(
            "a graph is drawn as SVG or PNG", where=str(file), hint="End the name in .svg or .png."
        )
    return kind


def figure_of(drawings: Sequence[Drawing]) -> Figure:
    """The figure: for each run the bars of module use (left) and the graph of transitions (right)."""
    matplotlib = _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        colours = colours_of(drawing.stats for drawing in drawings)
        graphs = [TransitionGraph(drawing.stats, colours) for drawing in drawings]
        width = _BARS + max([_GRAPH, *(graph.least_width for graph in graphs)])
        heights = [ROW * len(graph.nodes) + _HEAD + _FOOT for graph in graphs]
        figure = Figure(figsize=(width, sum(heights)), facecolor="white")
        FigureCanvasAgg(figure)
        top = sum(heights)
        for drawing, graph, height in zip(drawings, graphs, heights, strict=True):
            _draw_run(figure, drawing, graph, top)
            top -= height
        return figure


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingPackage(
            "drawing a graph needs the package matplotlib", hint="pip install 'matplotlib>=3.8'"
        ) from None
    return matplotlib


def _draw_run(figure: Figure, drawing: Drawing, graph: TransitionGraph, top: float) -> None:
    """Bars and graph share their rows, so that a module is found at one height in both."""
    width, total = figure.get_size_inches()
    stats = drawing.stats
    counts = f"problems: {stats.n:,}, different programs: {len(stats.programs):,}"
    figure.text(
        *(0.14 / width, (top - 0.32) / total),
        f"{fit(drawing.name, 6.5, 12.5)}   {counts}",
        fontsize=12.5,
        color=INK,
        va="center",
        parse_math=False,
    )
    figure.text(
        *(1 - 0.14 / width, (top - 0.32) / total),
        "Arrows: what follows a module, and how often",
        fontsize=10,
        color=INK,
        ha="right",
        va="center",
    )
    height = ROW * len(graph.nodes)
    bottom = (top - _HEAD - height) / total
    bars = figure.add_axes((1.98 / width, bottom, 2.58 / width, height / total))
    transitions = figure.add_axes((_BARS / width, bottom, 1 - _BARS / width, height / total))
    for axes in (bars, transitions):
        axes.set_ylim(len(graph.nodes) - 0.5, -0.5)
        axes.set_axis_off()
    _draw_bars(bars, drawing, graph.colours)
    graph.draw(transitions, width - _BARS)


def _draw_bars(axes: Axes, drawing: Drawing, colours: Mapping[str, str]) -> None:
    stats = drawing.stats
    axes.set_xlim(0, 1.32)
    axes.text(0, 0, "Share of questions that call it", va="center", fontsize=10, color=INK)
    for row, name in enumerate(stats.in_order, 1):
        share = stats.share(name)
        axes.text(-0.03, row, fit(name, 1.72, 9.5), ha="right", va="center", color=INK, parse_math=False)
        axes.barh(row, 1, height=0.46, color=_TRACK)
        axes.barh(row, share, height=0.46, color=colours[name])
        axes.text(1.03, row, percent(share), va="center", color=INK)
        if name in drawing.published:
            axes.plot(
                [drawing.published[name] / 100] * 2, [row - 0.36, row + 0.36], color=INK, lw=2, clip_on=False
            )
    if drawing.published:
        row = len(stats.in_order) + 1
        axes.plot([0.015] * 2, [row - 0.36, row + 0.1], color=INK, lw=2)
        legend = f"published: {fit(drawing.published_by, 1.8, 9.5)}"
        axes.text(0.05, row - 0.12, legend, va="center", color=INK, parse_math=False)
