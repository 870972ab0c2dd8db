"""Docstrings are plain text with code in backticks: mark what reStructuredText would read otherwise."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(`[^`]*`)")
MADE_OTHERWISE = ("chameleon.Inventory", "chameleon.LLM", "chameleon.State")
"""Classes that a method makes, or a run gives: `Inventory.of`, `LLM.connect`, `Executor.run`."""


def mark(app: Sphinx, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Have indented paragraphs stand as code, and stars as they are."""
    marked: list[str] = []
    code = False
    for line in lines:
        after_gap = not marked or not marked[-1].strip()
        if line.startswith("    ") and after_gap and not code:
            marked += ["::", ""]
            code = True
        elif line.strip() and not line.startswith(" "):
            code = False
        marked.append(line if code else escaped(line))
    lines[:] = marked


def escaped(line: str) -> str:
    """Return a line whose stars outside of code are no emphasis."""
    parts = _CODE.split(line)
    return "".join(part if part.startswith("`") else part.replace("*", r"\*") for part in parts)


def shorten(
    app: Sphinx, what: str, name: str, of: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Leave out the long signature of a class that is made otherwise."""
    return ("", "") if name in MADE_OTHERWISE else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Add this to a build."""
    app.connect("autodoc-process-docstring", mark)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
