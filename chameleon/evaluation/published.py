"""The published results of a benchmark, which lie as data in `benchmarks/published/NAME.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a published table: percentages by column, and where they were printed."""

    system: str
    source: str
    n: int | None
    percent: Mapping[str, float]
    correct: int | None = None
    module_use: Mapping[str, float] = field(default_factory=dict)


@cache
def published_rows(name: str) -> tuple[Published, ...]:
    """The published rows of a benchmark; none where there is no file of them."""
    data = _data(name)
    return tuple(
        Published(
            system=row["system"],
            source=row["source"],
            n=row.get("n"),
            # Systems that were not broken down have the first columns only.
            percent=dict(zip(data["columns"], row["percent"], strict=False)),
            correct=row.get("correct"),
            module_use=row.get("module_use", {}),
        )
        for row in data.get("rows", ())
    )


def published_transitions(name: str) -> Mapping[str, Mapping[str, int]]:
    """How often a module followed another in published plans; START is the beginning. Empty if unknown."""
    transitions: Mapping[str, Mapping[str, int]] = _data(name).get("transitions", {})
    return transitions


@cache
def _data(name: str) -> dict[str, Any]:
    import yaml

    file = resources.files("chameleon.benchmarks").joinpath("published", f"{name}.yaml")
    if not file.is_file():
        return {}
    data: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return data
