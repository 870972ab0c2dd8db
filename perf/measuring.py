"""How the scripts of this folder measure, and how they print what they found."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True)
class Figure:
    """One quantity, measured several times."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def shown(self, digits: int = 1) -> str:
        """The median, with the least and the most that were seen."""
        least, most = min(self.values), max(self.values)
        return f"{self.median:,.{digits}f} ({least:,.{digits}f}–{most:,.{digits}f})"


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a plain table; the first column is text, the others are figures."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    print(f"\n{title}\n{'=' * len(title)}")
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells))


def surroundings(*packages: str) -> str:
    """What the figures depend on: Python, the machine and its load, the versions of what is compared."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    machine = (
        f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load} (1, 5, 15 minutes)"
    )
    return f"{machine}; {versions}" if versions else machine
