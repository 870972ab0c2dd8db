"""Measure, and print the results as Markdown for a page; shared by the scripts in this folder."""

import gc
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil

_LOAD_BEFORE = os.getloadavg()[0]


@dataclass(frozen=True)
class Figure:
    """One quantity, measured several times."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, other: "Figure") -> "Figure":
        """Return the ratios to another quantity measured in the same rounds."""
        return Figure([mine / theirs for mine, theirs in zip(self.values, other.values, strict=True)])

    def shown(self, digits: int = 1) -> str:
        """Return the median, with the minimum and the maximum."""
        least, most = min(self.values), max(self.values)
        return f"{self.median:,.{digits}f} ({least:,.{digits}f}–{most:,.{digits}f})"


@dataclass(frozen=True)
class UnitCost:
    """The cost of one unit of work, in µs: wall time and processor time."""

    wall: Figure
    cpu: Figure


def costs(variants: Mapping[str, Callable[[int], None]], rounds: int, seconds: float) -> dict[str, UnitCost]:
    """Measure all variants in each of several rounds, so that a disturbance affects all of them.

    Args:
        variants: functions by name, which do the work a given number of times. seconds: approximate time per
        variant and round.
    """
    times = {}
    for name, run in variants.items():
        run(2)
        times[name] = max(2, round(seconds * 1e6 / _spent(run, 2)[0]))
    gc.collect()
    gc.freeze()  # imports of one framework must not slow down another
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            found[name].append(_spent(run, times[name]))
    return {name: UnitCost(*map(Figure, zip(*measured, strict=True))) for name, measured in found.items()}


def _spent(run: Callable[[int], None], times: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    run(times)
    return (time.perf_counter() - wall) / times * 1e6, (time.process_time() - cpu) / times * 1e6


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown; the first column is text, the others are numbers."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    print(f"\n### {title}\n")
    for row in (header, rule, *rows):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        print(f"| {' | '.join(cells)} |")


def machine() -> str:
    """Describe the machine: processors, memory, Python."""
    cpuinfo = Path("/proc/cpuinfo")
    told = cpuinfo.read_text() if cpuinfo.is_file() else ""
    model = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    processor = model[1] if model else platform.machine()
    memory = f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    return f"{os.cpu_count()} processors ({processor}), {memory}, Python {platform.python_version()}"


def surroundings(*packages: str) -> str:
    """Describe what the figures depend on: Python, processors and load, package versions."""
    load = f"load {_LOAD_BEFORE:.2f} before and {os.getloadavg()[0]:.2f} after"
    told = f"\nPython {platform.python_version()}, {os.cpu_count()} processors, {load}"
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"{told}; {versions}." if versions else f"{told}."
