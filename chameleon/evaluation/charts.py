"""The picture of a run's plans: how many questions call each module, and which module follows which."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.stats import END, START, PlanStats
from chameleon.table.formats import ELLIPSIS
from chameleon.table.terminal import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARROWS = 32

_BARS = 4.62  # inches: where the bars end and the graph begins
_GRAPH = 7.3
_ROW = 0.56
_HEAD, _FOOT = 0.62, 0.3
_INK, _TRACK = "#1f2430", "#eef0f3"
# One colour for each module that arrows leave, so that an arc can be followed through a crossing.
_COLOURS = (
    *("#0b6e99", "#c2571a", "#3d7f31", "#8a4fa3", "#a8324a", "#7a6a14", "#2f5fb3", "#17806d"),
    *("#b0467f", "#5b6675", "#94591f", "#4d5a1f"),
)
_FONT = "DejaVu Sans"
_SETTINGS = {
    "font.family": _FONT,
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
    path = Path(file)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise InputError(
            "a graph is drawn as SVG or PNG", where=str(path), hint="End the name in .svg or .png."
        )
    matplotlib = _matplotlib()
    metadata = {"Date": None} if kind == "svg" else {}
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Glyph .* missing"
        )  # a name may be in any script: it is drawn as boxes
        try:
            figure_of(drawings).savefig(path, format=kind, dpi=200, metadata=metadata)
        except OSError as problem:
            raise InputError(
                f"the graph cannot be written: {problem.strerror or problem}", where=str(path)
            ) from problem


def figure_of(drawings: Sequence[Drawing]) -> Figure:
    """The figure: for each run the bars of module use (left) and the graph of transitions (right)."""
    matplotlib = _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        graphs = [_Graph(drawing.stats) for drawing in drawings]
        width = _BARS + max([_GRAPH, *(graph.least_width for graph in graphs)])
        heights = [_ROW * len(graph.nodes) + _HEAD + _FOOT for graph in graphs]
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


def _draw_run(figure: Figure, drawing: Drawing, graph: _Graph, top: float) -> None:
    """Bars and graph share their rows, so that a module is found at one height in both."""
    width, total = figure.get_size_inches()
    stats = drawing.stats
    counts = f"{stats.n:,} problems, {len(stats.programs):,} programs"
    figure.text(
        *(0.14 / width, (top - 0.32) / total),
        f"{_fit(drawing.name, 6.5, 12.5)}   {counts}",
        fontsize=12.5,
        color=_INK,
        va="center",
        parse_math=False,
    )
    figure.text(
        *(1 - 0.14 / width, (top - 0.32) / total),
        "Arrows: what follows a module, and how often",
        fontsize=10,
        color=_INK,
        ha="right",
        va="center",
    )
    height = _ROW * len(graph.nodes)
    bottom = (top - _HEAD - height) / total
    bars = figure.add_axes((1.98 / width, bottom, 2.58 / width, height / total))
    transitions = figure.add_axes((_BARS / width, bottom, 1 - _BARS / width, height / total))
    for axes in (bars, transitions):
        axes.set_ylim(len(graph.nodes) - 0.5, -0.5)
        axes.set_axis_off()
    _draw_bars(bars, drawing)
    graph.draw(transitions, width - _BARS)


def _draw_bars(axes: Axes, drawing: Drawing) -> None:
    stats = drawing.stats
    axes.set_xlim(0, 1.32)
    axes.text(0, 0, "Share of questions that call it", va="center", fontsize=10, color=_INK)
    for row, name in enumerate(stats.in_order, 1):
        share = stats.share(name)
        axes.text(-0.03, row, _fit(name, 1.72, 9.5), ha="right", va="center", color=_INK, parse_math=False)
        axes.barh(row, 1, height=0.46, color=_TRACK)
        axes.barh(row, share, height=0.46, color=_colour(stats, name))
        axes.text(1.03, row, _percent(share), va="center", color=_INK)
        if name in drawing.published:
            axes.plot(
                [drawing.published[name] / 100] * 2, [row - 0.36, row + 0.36], color=_INK, lw=2, clip_on=False
            )
    if drawing.published:
        row = len(stats.in_order) + 1
        axes.plot([0.015] * 2, [row - 0.36, row + 0.1], color=_INK, lw=2)
        legend = f"published: {_fit(drawing.published_by, 1.8, 9.5)}"
        axes.text(0.05, row - 0.12, legend, va="center", color=_INK, parse_math=False)


class _Graph:
    """Modules in a column from START to END; arcs to the right lead on, arcs to the left lead back.

    An arc from row i to row j carries its label where it is furthest out: at the height (i + j) / 2 and at a
    distance that only depends on |i - j|. Two labels at one height therefore differ in distance by two
    steps, and any others by half a row: labels cannot overlap, whatever the transitions are.
    """

    _HALF_BOX = 0.82  # half the width of a module's box; inches, like all below
    _FIRST, _LABEL = 0.12, 0.5
    _LEAST_UNIT, _MOST_UNIT = 0.26, 0.62
    _BACK = 1.1  # steps that arcs to the left reach further, so that a module's loop to itself is seen

    def __init__(self, stats: PlanStats) -> None:
        self.stats = stats
        self.nodes = (START, *stats.in_order, END)
        self.row = {name: row for row, name in enumerate(self.nodes)}
        arrows = [
            (probability, stats.transitions[before][after], before, after)
            for before, followers in stats.probabilities.items()
            for after, probability in followers.items()
        ]
        arrows.sort(key=lambda arrow: (-arrow[1], self.row[arrow[2]], self.row[arrow[3]]))
        self.arrows, self.rarest = arrows[:MOST_ARROWS], arrows[MOST_ARROWS:]
        spans = [self.row[after] - self.row[before] for _, _, before, after in self.arrows]
        self.forward = max((span for span in spans if span > 1), default=0)
        self.back = max((self._BACK - span for span in spans if span < 1), default=0)
        sides = bool(self.forward) + bool(self.back)
        self.fixed = 2 * self._HALF_BOX + 0.2 + sides * (self._FIRST + self._LABEL / 2)

    @property
    def least_width(self) -> float:
        return self.fixed + self._LEAST_UNIT * (self.forward + self.back)

    def draw(self, axes: Axes, width: float) -> None:
        self.axes = axes
        axes.set_xlim(0, width)
        steps = max(self.forward + self.back, 1)
        self.unit = min(self._MOST_UNIT, (width - self.fixed) / steps)
        slack = width - self.fixed - self.unit * steps
        left = self._FIRST + self._LABEL / 2 + self.unit * self.back if self.back else 0.0
        self.centre = 0.1 + left + self._HALF_BOX + slack / 2
        for rank, arrow in enumerate(reversed(self.arrows)):  # the frequent ones lie on top
            self._arrow(*arrow, rank=rank)
        for name in self.nodes:
            self._node(name)
        if self.rarest:
            count = sum(arrow[1] for arrow in self.rarest)
            note = f"{len(self.rarest):,} rarer transitions are not drawn ({count:,} times in all)"
            axes.text(width - 0.14, len(self.nodes) - 0.5, note, ha="right", color=_INK, fontsize=9)

    def _node(self, name: str) -> None:
        from matplotlib.patches import FancyBboxPatch

        row, end = self.row[name], self.row[name] in (0, len(self.nodes) - 1)
        box = FancyBboxPatch(
            (self.centre - self._HALF_BOX, row - 0.21),
            *(2 * self._HALF_BOX, 0.42),
            boxstyle="round,pad=0,rounding_size=0.08",
            mutation_aspect=1 / _ROW,
            facecolor=_INK if end else "white",
            edgecolor=_INK if end else _colour(self.stats, name),
            linewidth=1.6,
            zorder=6,
        )
        self.axes.add_patch(box)
        self.axes.text(
            *(self.centre, row),
            _fit(name, 2 * self._HALF_BOX - 0.12, 9),
            ha="center",
            va="center",
            color="white" if end else _INK,
            fontsize=9,
            zorder=7,
            parse_math=False,
        )

    def _arrow(self, probability: float, count: int, before: str, after: str, *, rank: int) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path as Curve

        start, end = self.row[before], self.row[after]
        span = end - start
        if span == 1:
            vertices = [(self.centre, start + 0.21), (self.centre, end - 0.23)]
            codes, label = [Curve.MOVETO, Curve.LINETO], (self.centre + 0.14, (start + end) / 2)
        else:
            side = 1 if span > 1 else -1
            edge = self.centre + side * self._HALF_BOX
            # A cubic whose inner points are 4/3 away comes 1 away from its ends in the middle.
            reach = self._FIRST + self.unit * (abs(span) + (0 if side > 0 else self._BACK))
            out, into = (0.1, -0.1) if span > 0 else (-0.1, 0.1)
            far = edge + side * reach * 4 / 3
            vertices = [(edge, start + out), (far, start + out), (far, end + into), (edge, end + into)]
            codes, label = [Curve.MOVETO, *[Curve.CURVE4] * 3], (edge + side * reach, (start + end) / 2)
        colour = _INK if before == START else _colour(self.stats, before)
        arrow = FancyArrowPatch(
            path=Curve(vertices, codes),
            arrowstyle="-|>,head_length=5,head_width=2.6"
            if probability < 0.3
            else "-|>,head_length=7,head_width=4",
            mutation_scale=1,
            linewidth=0.9 + 4.2 * probability,
            color=colour,
            alpha=0.55 + 0.45 * probability,
            zorder=2 + rank / 100,
            capstyle="butt",
            shrinkA=0,
            shrinkB=0,
        )
        self.axes.add_patch(arrow)
        self.axes.text(
            *label,
            _percent(probability),
            ha="left" if span == 1 else "center",
            va="center",
            color=colour,
            fontsize=9,
            zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.9},
        )


def _colour(stats: PlanStats, name: str) -> str:
    return _COLOURS[stats.in_order.index(name) % len(_COLOURS)]


def _percent(share: float) -> str:
    """ "72 %", "0.4 %", "<0.1 %": no more digits than an arrow has room for."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if percent < 9.95 or 99.5 <= percent < 100 else f"{percent:.0f} %"


def _fit(name: str, inches: float, points: float) -> str:
    """A name cut to the room that it has; names are data, of any length."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=_FONT, size=points)

    def wide(text: str) -> bool:
        return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] > 72 * inches

    name = harmless(name[:200])
    if not wide(name):
        return name
    while wide(name + ELLIPSIS):
        name = name[:-1]
    return name + ELLIPSIS
