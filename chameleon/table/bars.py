r"""Tables drawn with bars: `a | b` lines as in prompts, and Markdown tables.

A bar inside a cell is written `\|`, as GitHub's Markdown does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BAR = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r"\s*:?-{3,}:?\s*")
_TIGHT_RULE = re.compile(r"\|(?::?-+:?\|)+")


def lines_of(text: str) -> list[str]:
    """The lines of a text, whichever of the three line ends it uses; `splitlines` knows eight more."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def has_bar(line: str) -> bool:
    return _BAR.search(line) is not None


def bars_in(line: str) -> int:
    """How many bars separate cells in this line; escaped ones do not."""
    return len(_BAR.findall(line))


def is_rule(line: str) -> bool:
    """Whether this is the line of dashes under a Markdown header."""
    line = line.strip()
    if _TIGHT_RULE.fullmatch(line):
        return True
    inner = line.removeprefix("|").removesuffix("|")
    return has_bar(line) and all(_RULE_CELL.fullmatch(cell) for cell in _BAR.split(inner))


def _ends_with_bar(line: str) -> bool:
    return line.endswith("|") and not line.endswith(r"\|")


def escape_bars(cell: str) -> str:
    return cell.replace("|", r"\|")


def join_bars(cells: Sequence[str]) -> str:
    """One row as a line; a single cell gets bars at both ends, else no bar would tell it from prose."""
    line = " | ".join(escape_bars(cell) for cell in cells)
    return f"| {line} |" if len(cells) == 1 else line


def split_rows(lines: Sequence[str]) -> list[list[str]]:
    """The cells of each line of one table, without its outer bars and without its rule.

    Whether bars at the ends are a frame or mark empty cells is decided for all lines together: they are a
    frame where every line has them. Under a rule, whose width is known, each line decides for itself.
    """
    if len(lines) > 1 and is_rule(lines[1]):
        width = len(_BAR.split(lines[1].strip().removeprefix("|").removesuffix("|")))
        return [_split_to(line, width) for index, line in enumerate(lines) if index != 1]
    left = all(line.startswith("|") for line in lines)
    # A space after the last bar is an empty last cell, unless bars at the left show that there is a frame.
    right = all(_ends_with_bar(line.rstrip() if left else line) for line in lines)
    return [_split(line, left=left, right=right) for line in lines]


def _split_to(line: str, width: int) -> list[str]:
    line = line.strip()
    left, right = line.startswith("|"), _ends_with_bar(line)
    tries = [_split(line, left=left, right=right)]
    if left or right:
        tries += [_split(line, left=left, right=False), _split(line, left=False, right=right)]
        tries.append(_split(line, left=False, right=False))
    return next((cells for cells in tries if len(cells) == width), tries[0])


def _split(line: str, *, left: bool, right: bool) -> list[str]:
    cells = [cell.strip().replace(r"\|", "|") for cell in _BAR.split(line)]
    return cells[1 if left else 0 : -1 if right and len(cells) > 1 else None]


def bar_blocks(lines: Iterable[str]) -> list[tuple[int, list[str]]]:
    """Runs of neighbouring lines with bars, each with the number (from 1) of its first line."""
    blocks: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(lines, 1):
        bar = has_bar(line)
        if bar and inside:
            blocks[-1][1].append(line)
        elif bar:
            blocks.append((number, [line]))
        inside = bar
    return blocks
