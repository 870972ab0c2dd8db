"""The outline of a text: Markdown headings, numbered lines, paragraphs and tables of bars."""

from __future__ import annotations

import re

from chameleon.errors import InputError
from chameleon.papers.outline import Outline
from chameleon.table import read_table_text

_MARKED = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def text_outline(text: str) -> Outline:
    """The outline of a Markdown or plain text; what no rule knows is a paragraph."""
    outline, held, fenced = Outline(), list[str](), False

    def flush() -> None:
        if held and all(line.lstrip().startswith("|") for line in held) and len(held) > 1:
            try:
                outline.table(read_table_text("\n".join(held), format="markdown"))
            except InputError:
                outline.paragraph("\n".join(held))
        elif held:
            outline.paragraph("\n".join(held))
        held.clear()

    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced:
            held.append(line)
        elif marked := _MARKED.fullmatch(line):
            flush()
            outline.heading(len(marked[1]), marked[2])
        elif not line.strip():
            flush()
        else:
            if held and held[-1].lstrip().startswith("|") != line.lstrip().startswith("|"):
                flush()
            held.append(line.rstrip())
    flush()
    return outline
