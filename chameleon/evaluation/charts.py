"""Charts of a page, in SVG that needs no script: bars by system, and which name follows which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from chameleon.evaluation.exhibits import ARROW, Exhibit, Series, written
from chameleon.evaluation.page_views import brief
from chameleon.evaluation.stats import END

_MAX_LABELS, _MAX_NODES = 50, 16
_LINE, _BEGIN, _LONGEST = 18, 42, 44  # pixels of a line; percent where bars begin, and of the longest
_NODE, _NAME, _STEP = 36, 150, 23  # pixels between names, for a name, and of an arc to the next name


def charts_of(exhibit: Exhibit) -> list[tuple[str, str]]:
    """Return the charts of an exhibit, each with what it is about: one of bars, or a graph of each system."""
    if exhibit.chart == "bars":
        return [(exhibit.title, _bars(exhibit))]
    return [(each.system, _graph(each)) for each in exhibit.systems if exhibit.chart == "graph"]


def _bars(exhibit: Exhibit) -> str:
    """Draw a bar for each number, below its label; where there is one label, people are lines across all."""
    labels, parts, y = exhibit.labels[:_MAX_LABELS], list[str](), 0
    largest = max((value for each in exhibit.systems for value in each.values.values()), default=0)
    scale = _LONGEST / max(largest, 100 if largest > 1 else 1)  # some grades are 1 at most
    people = [each for each in exhibit.systems if len(labels) == 1 and each.system.startswith("Human")]
    for label in labels:
        y += _LINE + 6
        parts.append(_text(label, 0, y - 4, "group"))
        for series in exhibit.systems:
            if series in people or (value := series.values.get(label)) is None:
                continue
            kind, name = "published" if series.published else "ours", _text(series.system, 0, 13)
            size = f'x="{_BEGIN}%" width="{scale * value:.2f}%" y="{y + 3}" height="12"'
            parts.append(f'<svg y="{y}" width="{_BEGIN - 1}%" height="{_LINE}">{name}</svg>')
            parts.append(f'<rect class="{kind}" {size}></rect>')
            parts.append(_text(written(value), f"{_BEGIN + scale * value + 1:.2f}%", y + 13))
            y += _LINE
    for system, _, values in people:
        x = f"{_BEGIN + scale * values[labels[0]]:.2f}%"
        parts.insert(0, f'<line x1="{x}" x2="{x}" y1="20" y2="{y}"></line>')
        parts.append(_text(f"{system} {written(values[labels[0]])}", x, 16, "share"))
    return _chart(exhibit.title, parts, f'width="100%" height="{y + 4}"')


def _graph(series: Series) -> str:
    """Draw names in a column and an arc for each share from one percent on; one that leads back is dashed."""
    arcs = {label.partition(ARROW)[::2]: share for label, share in series.values.items() if share >= 1}
    places = {name: _NODE * row + 20 for row, name in enumerate(_in_order(arcs))}
    parts, width = list[str](), _NAME
    for (before, after), share in arcs.items():
        if before in places and after in places:
            first, last = places[before], places[after] - (8 if after == before else 0)
            down = last > first
            reach = round(_STEP * (abs(last - first) / _NODE + (0 if down else 0.5)))
            far = _NAME + 4 * reach // 3  # a cubic curve comes three quarters of the way
            path = f"M{_NAME} {first}C{far} {first} {far} {last} {_NAME} {last}"
            width, kind = max(width, _NAME + reach + 30), "down" if down else "back"
            parts.append(f'<path class="{kind}" d="{path}" stroke-width="{1 + share / 25:.1f}"></path>')
            if share >= 3:  # there is no room for the numbers of all
                text, y = f"{share:.0f} %", (first + last) // 2 + (4 if down else -6)
                parts.append(_text(text if down else f"↑ {text}", _NAME + reach, y, "share"))
    for name, y in places.items():
        text = _text(name, "100%", 14, "name")
        parts.append(f'<svg y="{y - 10}" width="{_NAME - 10}" height="20">{text}</svg>')
        parts.append(f'<circle cx="{_NAME}" cy="{y}" r="4"></circle>')
    height, title = _NODE * len(places) + 8, f"What follows what: {series.system}"
    return _chart(title, parts, f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"')


def _in_order(arcs: Mapping[tuple[str, str], float]) -> list[str]:
    """Order names so that few arcs lead back: shares from earlier names outweigh others; the end is last."""
    left = [*dict.fromkeys(name for pair in arcs for name in pair)][:_MAX_NODES]
    found = list[str]()
    while left:
        into = dict.fromkeys(left, 0.0)
        for (before, after), share in arcs.items():
            if after in into and before != after:
                into[after] += share if before in left else -share
        found.append(min(left, key=lambda name: (name == END, into[name])))
        left.remove(found[-1])
    return found


def _text(text: str, x: object, y: int, kind: str = "plain") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(brief(text, 40))}</text>'


def _chart(title: str, parts: Sequence[str], size: str) -> str:
    told = f"<title>{escape(brief(title, 200))}</title><desc>The numbers are in a table on this page.</desc>"
    return f'<svg class="chart" role="img" {size}>{told}{"".join(parts)}</svg>'
