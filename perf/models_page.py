"""Write the page of `small_models.py`: a table per set of problems, a chart of right, wrong, declined."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from chameleon.evaluation.compare import difference, half_width

PLAIN = "plain question"
TITLES = {
    "tabmwp": "TabMWP, dev1k: mathematical problems over small tables",
    "wikitq": "WikiTableQuestions, dev",
    "everyday": "Everyday questions over real tables, dev",
    "tabfact": "TabFact, dev",
    "finqa": "FinQA, dev",
}
PARTS = (("right", "r", "#2e7d32"), ("declined or failed", "dfe", "#c8c8c8"), ("wrong", "w", "#c62828"))
HEAD = (
    "| method | n | right | wrong | declined | failed | right − plain | calls | tokens in, out | s | code |"
)
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def write_page(folder: Path, cells: Sequence[Any]) -> None:
    """Write the tables to models.md, between its marks or as the whole file, and draw models.svg."""
    tables = [_table(name, title, cells) for name, title in TITLES.items() if _of(name, cells)]
    days, digests = sorted({cell.day for cell in cells}), sorted({cell.digest for cell in cells})
    told = f"Measured from {days[0]} to {days[-1]} with the file of sha256 `{'`, `'.join(digests)}`."
    figures = "\n\n".join([told, *tables])
    page = folder / "models.md"
    before, mark, rest = page.read_text("utf-8").partition(BEGIN) if page.is_file() else ("", "", "")
    after = rest.partition(END)[2] if mark else "\n"
    page.write_text(f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}", "utf-8")
    (folder / "models.svg").write_text(_picture(cells), "utf-8")


def _of(name: str, cells: Sequence[Any]) -> list[Any]:
    return [cell for cell in cells if cell.data == name and cell.verdicts]


def _table(name: str, title: str, cells: Sequence[Any]) -> str:
    """Return a table in Markdown: shares with half of their 90% intervals, and costs per problem."""
    mine = _of(name, cells)
    plain = next((cell.verdicts for cell in mine if cell.method == PLAIN), "")
    lines = [f"## {title}", "", HEAD, f"|---{'|---:' * (HEAD.count('|') - 2)}|"]
    for cell in mine:
        n, right = len(cell.verdicts), cell.verdicts.count("r")
        wrong, declined = cell.verdicts.count("w"), cell.verdicts.count("d")
        told = [cell.method if " " in cell.method else f"`{cell.method}`", n]
        told += [
            f"{100 * right / n:.0f}% ± {100 * half_width(right / n, n):.0f}",
            f"{100 * wrong / n:.0f}%",
        ]
        told += [f"{100 * declined / n:.0f}%", f"{100 * (n - right - wrong - declined) / n:.0f}%"]
        told += ["" if cell.method == PLAIN else _less(cell.verdicts, plain)]
        told += [f"{sum(cell.calls) / n:.1f}", f"{sum(cell.read) / n:,.0f} + {sum(cell.written) / n:,.0f}"]
        told += [f"{sorted(cell.seconds)[n // 2]:.0f}", cell.commit]
        lines.append(f"| {' | '.join(map(str, told))} |")
    return "\n".join(lines)


def _less(verdicts: str, plain: str) -> str:
    """Return the paired difference from the plain question, in points, over the problems of both."""
    ours, theirs = ({str(n): each == "r" for n, each in enumerate(some)} for some in (verdicts, plain))
    less, half = difference(ours, theirs)
    return "" if less is None or half is None else f"{100 * less:+.0f} ± {100 * half:.0f}"


def _picture(cells: Sequence[Any]) -> str:
    """Return a bar chart of the results of each method on tables, with its number of problems."""
    shown, parts, top = [cell for name in list(TITLES)[:3] for cell in _of(name, cells)], list[str](), 46
    for n, (label, _, color) in enumerate(PARTS):
        parts.append(f'<rect x="{190 + 150 * n}" y="12" width="12" height="12" fill="{color}"/>')
        parts.append(f'<text x="{208 + 150 * n}" y="22">{label}</text>')
    for place, cell in enumerate(shown):
        if not place or shown[place - 1].data != cell.data:
            parts.append(f'<text x="10" y="{top + 14}" font-weight="bold">{escape(TITLES[cell.data])}</text>')
            top += 24
        name = escape(f"{cell.method}, {len(cell.verdicts)}")
        parts.append(f'<text x="180" y="{top + 12}" text-anchor="end">{name}</text>')
        begin = 190.0
        for _, letters, color in PARTS:
            count, ink = sum(map(cell.verdicts.count, letters)), "#333" if "d" in letters else "#fff"
            width = 480 * count / len(cell.verdicts)
            parts.append(f'<rect x="{begin:.1f}" y="{top}" width="{width:.1f}" height="16" fill="{color}"/>')
            if width > 24:
                share = f"{100 * count / len(cell.verdicts):.0f}%"
                parts.append(
                    f'<text x="{begin + 4:.1f}" y="{top + 12}" fill="{ink}" font-size="11">{share}</text>'
                )
            begin += width
        top += 21
    size = f'viewBox="0 0 690 {top + 10}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    head += "<title>What methods came to, with one small model</title>"
    head += f'<rect width="690" height="{top + 10}" fill="#fff"/>'
    return "\n".join([head, *parts, "</svg>\n"])
