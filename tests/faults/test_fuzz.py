"""A few inputs of each target of `python -m tests.faults.fuzz`, the same each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.fuzz import Target, fuzz
from tests.faults.fuzz_targets import TARGETS

CASES = {"modules": 15, "yaml": 15, "table_files": 40, "table_texts": 60}
OTHERS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_a_finding(name: str, tmp_path: Path) -> None:
    report = fuzz(name, TARGETS[name](), tmp_path, range(CASES.get(name, OTHERS)), seconds=60)
    assert report.tried == CASES.get(name, OTHERS)
    assert not report.kinds, f"{report}\n{list(report.first.values())}"


def test_a_finding_is_told_once_and_saved(tmp_path: Path) -> None:
    def read(number: int) -> None:
        if number % 2:
            raise KeyError("odd")
        raise ValueError("even")

    target = Target(lambda random: random.getrandbits(8), read, (ValueError,))
    report = fuzz("odd", target, tmp_path, range(20), seconds=60)
    [(kind, count)] = report.kinds.items()
    number, told = report.first[kind]
    assert kind.startswith("KeyError at ") and 0 < count < 20 and "odd" in told
    assert [path.name for path in tmp_path.iterdir()] == [f"odd.{number}"]
    again = fuzz("odd", target, tmp_path, range(number, number + 1), seconds=60)
    assert again.kinds == {kind: 1}


def test_what_takes_too_long_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.fuzz.MOST_SECONDS", 0.1)

    def never(given: int) -> None:
        while True:
            pass

    report = fuzz("slow", Target(lambda random: 1, never), tmp_path, range(1), seconds=60)
    assert [kind.partition(" ")[0] for kind in report.kinds] == ["TooSlow"]
