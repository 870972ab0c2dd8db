"""Charts of a page, as SVG without scripts: bars by system, and which name follows which."""

from collections.abc import Mapping
from html import escape

from chameleon.evaluation.exhibits import ARROW, Exhibit, Series, written
from chameleon.evaluation.page_views import brief
from chameleon.evaluation.stats import END

_MAX_LABELS, _MAX_NODES = 50, 16
_LINE, _BEGIN, _MAX_BAR = 18, 46, 40  # pixels of a line; percent where bars begin, and of the longest bar
_NODE, _NAME, _STEP = 36, 150, 23  # pixels between names, of a name, and from an arc to the next name


class Drawing(list[str]):
    """The elements of a chart."""

    def write(self, text: str, x: object, y: int, kind: str = "plain") -> None:
        self.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(brief(text, 40))}</text>')

    def write_cut(self, width: str, text: str, x: object, y: int, kind: str = "plain") -> None:
        """Write a text of which only a `width`, such as "45%", is visible."""
        self.append(f'<svg y="{y - 13}" width="{width}" height="{_LINE}">')  # 13: down to the baseline
        self.write(text, x, 13, kind)
        self.append("</svg>")

    def whole(self, title: str, size: str) -> str:
        head = f"<title>{escape(brief(title, 200))}</title><desc>A table of this page has the numbers.</desc>"
        return f'<svg class="chart" role="img" {size}>{head}{"".join(self)}</svg>'


def bars(exhibit: Exhibit) -> str:
    """Draw a bar for each number, below its label; with only one label, human results become lines."""
    labels, drawing, y = exhibit.labels[:_MAX_LABELS], Drawing(), 0
    largest = max((value for each in exhibit.systems for value in each.values.values()), default=0)
    scale = _MAX_BAR / max(largest, 100 if largest > 1 else 1)  # some grades are at most 1
    people = [each for each in exhibit.systems if len(labels) == 1 and each.system.startswith("Human")]
    for label in labels:
        y += _LINE + 6
        drawing.write(label, 0, y - 4, "group")
        for series in exhibit.systems:
            if series not in people and (value := series.values.get(label)) is not None:
                kind = "published" if series.published else "ours"
                size = f'x="{_BEGIN}%" width="{scale * value:.2f}%" y="{y + 3}" height="12"'
                drawing.write_cut(f"{_BEGIN - 1}%", series.system, 0, y + 13)
                drawing.append(f'<rect class="{kind}" {size}></rect>')
                drawing.write(written(value), f"{_BEGIN + scale * value + 1:.2f}%", y + 13)
                y += _LINE
    for system, _, values in people:
        x = f"{_BEGIN + scale * values[labels[0]]:.2f}%"
        drawing.insert(0, f'<line x1="{x}" x2="{x}" y1="20" y2="{y}"></line>')
        drawing.write(f"{system} {written(values[labels[0]])}", x, 16, "share")
    return drawing.whole(exhibit.title, f'width="100%" height="{y + 4}"')


def graph(series: Series) -> str:
    """Draw names in a column and an arc for each share of at least one percent, dashed if it leads back."""
    arcs = {label.partition(ARROW)[::2]: share for label, share in series.values.items() if share >= 1}
    places = {name: _NODE * row + 20 for row, name in enumerate(_in_order(arcs))}
    drawing, width, height = Drawing(), _NAME, _NODE * len(places) + 8
    for (before, after), share in arcs.items():
        if before in places and after in places:
            first, last = places[before], places[after] - (8 if after == before else 0)
            down = last > first
            reach = round(_STEP * (abs(last - first) / _NODE + (0 if down else 0.5)))
            far = _NAME + 4 * reach // 3  # a cubic curve comes three quarters of the way
            path = f"M{_NAME} {first}C{far} {first} {far} {last} {_NAME} {last}"
            width, kind = max(width, _NAME + reach + 30), "down" if down else "back"
            drawing.append(f'<path class="{kind}" d="{path}" stroke-width="{1 + share / 25:.1f}"></path>')
            if share >= 3:  # not enough room for all numbers
                text, y = f"{share:.0f}%", (first + last) // 2 + (4 if down else -6)
                drawing.write(text if down else f"↑ {text}", _NAME + reach, y, "share")
    for name, y in places.items():
        drawing.write_cut(str(_NAME - 10), brief(name, 22), "100%", y + 4, "name")
        drawing.append(f'<circle cx="{_NAME}" cy="{y}" r="4"></circle>')
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return drawing.whole(f"What follows what: {series.system}", size)


def _in_order(arcs: Mapping[tuple[str, str], float]) -> list[str]:
    """Order names so that few arcs lead back: next is the name that the rest lead to least; END is last."""
    names = [*dict.fromkeys(name for pair in arcs for name in pair)][:_MAX_NODES]
    order = list[str]()
    while names:
        into = {name: sum(arcs.get((each, name), 0) for each in names if each != name) for name in names}
        order.append(min(names, key=lambda name: (name == END, into[name])))
        names.remove(order[-1])
    return order
