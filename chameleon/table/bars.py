r"""Tables drawn with bars: `a | b` lines, as in prompts, and Markdown tables.

Bars inside a cell are written `\|`, as in GitHub's Markdown.
"""

import re
from collections.abc import Sequence

_BAR = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r"\s*:?-{3,}:?\s*")
_TIGHT_RULE = re.compile(r"\|(?::?-+:?\|)+")  # |-|:-:|
_LAST_BAR = re.compile(r"(?<!\\)\|\Z")


def lines_of(text: str) -> list[str]:
    """Split a text at the three common line ends; `splitlines` knows eight more."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def has_bar(line: str) -> bool:
    """Return whether a bar separates cells in this line."""
    return _BAR.search(line) is not None


def bars_in(line: str) -> int:
    """Count the bars that separate cells in this line, not escaped ones."""
    return len(_BAR.findall(line))


def is_rule(line: str) -> bool:
    """Return whether this is the line of dashes under a Markdown header."""
    line = line.strip()
    if _TIGHT_RULE.fullmatch(line):
        return True
    inner = line.removeprefix("|").removesuffix("|")
    return has_bar(line) and all(_RULE_CELL.fullmatch(cell) for cell in _BAR.split(inner))


def escape_bars(cell: str) -> str:
    """Escape the bars inside a cell."""
    return cell.replace("|", r"\|")


def join_bars(cells: Sequence[str]) -> str:
    """Join a row into a line; a single cell gets bars at both ends, because it would look like prose."""
    line = " | ".join(escape_bars(cell) for cell in cells)
    return f"| {line} |" if len(cells) == 1 else line


def split_rows(lines: Sequence[str]) -> list[list[str]]:
    """Split each line of a table into cells, without its outer bars and its rule.

    Bars at the ends are either a frame or mark empty cells. All lines decide together: bars are a frame if
    every line has them. Under a rule, which shows the width, each line decides for itself.
    """
    if len(lines) > 1 and is_rule(lines[1]):
        width = len(_BAR.split(lines[1].strip().removeprefix("|").removesuffix("|")))
        return [_split_to(line.strip(), width) for index, line in enumerate(lines) if index != 1]
    left = all(line.startswith("|") for line in lines)
    # A space after the last bar is an empty last cell, unless bars at the left show a frame.
    right = all(_LAST_BAR.search(line.rstrip() if left else line) for line in lines)
    return [_split(line, left=left, right=right) for line in lines]


def _split_to(line: str, width: int) -> list[str]:
    """Split a line into `width` cells if possible, or else treat all its outer bars as a frame."""
    left, right = line.startswith("|"), _LAST_BAR.search(line) is not None
    frames = ((left, right), (left, False), (False, right), (False, False))
    tries = [_split(line, left=at_left, right=at_right) for at_left, at_right in frames]
    return next((cells for cells in tries if len(cells) == width), tries[0])


def _split(line: str, *, left: bool, right: bool) -> list[str]:
    cells = [cell.strip().replace(r"\|", "|") for cell in _BAR.split(line)]
    return cells[1 if left else 0 : -1 if right and len(cells) > 1 else None]
