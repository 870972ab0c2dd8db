"""The graph of transitions: which module follows which, from START to END, without overlapping labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chameleon.evaluation.chart_style import INK, ROW, fit, percent
from chameleon.evaluation.stats import END, START, PlanStats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ARROWS = 32

Point = tuple[float, float]


class TransitionGraph:
    """Modules in a column from START to END; arcs to the right lead on, arcs to the left lead back.

    An arc from row i to row j carries its label where it is furthest out: at the height (i + j) / 2 and at a
    distance that only depends on |i - j|. Two labels at one height therefore differ in distance by two
    steps, and any others by half a row: labels cannot overlap, whatever the transitions are.
    """

    _HALF_BOX = 0.82  # half the width of a module's box; inches, like all below
    _FIRST, _LABEL = 0.12, 0.5
    _LEAST_UNIT, _MOST_UNIT = 0.26, 0.62
    _BACK = 1.1  # steps that arcs to the left reach further, so that a module's loop to itself is seen

    def __init__(self, stats: PlanStats, colours: Mapping[str, str]) -> None:
        self.colours = colours
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
            axes.text(width - 0.14, len(self.nodes) - 0.5, note, ha="right", color=INK, fontsize=9)

    def _node(self, name: str) -> None:
        from matplotlib.patches import FancyBboxPatch

        row, end = self.row[name], self.row[name] in (0, len(self.nodes) - 1)
        box = FancyBboxPatch(
            (self.centre - self._HALF_BOX, row - 0.21),
            *(2 * self._HALF_BOX, 0.42),
            boxstyle="round,pad=0,rounding_size=0.08",
            mutation_aspect=1 / ROW,
            facecolor=INK if end else "white",
            edgecolor=INK if end else self.colours[name],
            linewidth=1.6,
            zorder=6,
        )
        self.axes.add_patch(box)
        self.axes.text(
            *(self.centre, row),
            fit(name, 2 * self._HALF_BOX - 0.12, 9),
            ha="center",
            va="center",
            color="white" if end else INK,
            fontsize=9,
            zorder=7,
            parse_math=False,
        )

    def _arrow(self, probability: float, count: int, before: str, after: str, *, rank: int) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path as Curve

        start, end = self.row[before], self.row[after]
        vertices, label = self._route(start, end)
        codes = [Curve.MOVETO, *([Curve.LINETO] if len(vertices) == 2 else [Curve.CURVE4] * 3)]
        colour = INK if before == START else self.colours[before]
        head = "head_length=5,head_width=2.6" if probability < 0.3 else "head_length=7,head_width=4"
        arrow = FancyArrowPatch(
            path=Curve(vertices, codes),
            arrowstyle=f"-|>,{head}",
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
            percent(probability),
            ha="left" if end - start == 1 else "center",
            va="center",
            color=colour,
            fontsize=9,
            zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.9},
        )

    def _route(self, start: int, end: int) -> tuple[list[Point], Point]:
        """The points of an arrow between two rows (two of a line, four of an arc), and where its label is."""
        span = end - start
        middle = (start + end) / 2
        if span == 1:
            return [(self.centre, start + 0.21), (self.centre, end - 0.23)], (self.centre + 0.14, middle)
        side = 1 if span > 1 else -1
        edge = self.centre + side * self._HALF_BOX
        reach = self._FIRST + self.unit * (abs(span) + (0 if side > 0 else self._BACK))
        far = edge + side * reach * 4 / 3  # a cubic comes 3/4 as far as its two inner points
        out, into = (0.1, -0.1) if span > 0 else (-0.1, 0.1)
        arc = [(edge, start + out), (far, start + out), (far, end + into), (edge, end + into)]
        return arc, (edge + side * reach, middle)
