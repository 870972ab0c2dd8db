"""What the parts of a chart have in common: colours, figures, and names that fit their room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chameleon.evaluation.stats import PlanStats
from chameleon.table.formats import ELLIPSIS
from chameleon.table.terminal import harmless

FONT = "DejaVu Sans"
INK = "#1f2430"
ROW = 0.56
"""Inches from one module to the next, in the bars as in the graph."""

# One colour for each module that arrows leave, so that an arc can be followed through a crossing.
_COLOURS = (
    *("#0b6e99", "#c2571a", "#3d7f31", "#8a4fa3", "#a8324a", "#7a6a14", "#2f5fb3", "#17806d"),
    *("#b0467f", "#5b6675", "#94591f", "#4d5a1f"),
)


def colours_of(runs: Iterable[PlanStats]) -> Mapping[str, str]:
    """A colour for each module, the same in every run of a picture."""
    names = dict.fromkeys(name for stats in runs for name in stats.in_order)
    return {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}


def percent(share: float) -> str:
    """ "72 %", "0.4 %", "<0.1 %": no more digits than an arrow has room for."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if percent < 9.95 or 99.5 <= percent < 100 else f"{percent:.0f} %"


def fit(name: str, inches: float, points: float) -> str:
    """A name cut to the room that it has; names are data, of any length."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=points)

    def wide(text: str) -> bool:
        return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] > 72 * inches

    name = harmless(name[:200])
    if not wide(name):
        return name
    while wide(name + ELLIPSIS):
        name = name[:-1]
    return name + ELLIPSIS
