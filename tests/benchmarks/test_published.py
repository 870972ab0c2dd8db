"""The published results are whole, and agree with the sums and differences that the papers state."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import yaml

from chameleon.benchmarks.scorers.finqa_rule import OfficialRule
from chameleon.evaluation.benchmark import Published
from chameleon.evaluation.compare import Z_90, half_width
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.system_table import SystemRow

FOLDER = Path(__file__).parents[2] / "benchmarks/published"
FILES: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FOLDER.glob("*.yaml")
}
# Rows, and the values in them: shares and half-widths.
COUNTS = {
    "scienceqa": (22, 198), "tabmwp": (21, 183), "tabfact": (22, 22), "wikitq": (25, 31), "fetaqa": (4, 16),
    "finqa": (17, 68), "sara": (21, 42),
}  # fmt: skip
LAST = {"answer_generator": 100}  # of every plan
ENDS = {"scienceqa": {"solution_generator": 100, **LAST}, "tabmwp": LAST}


def rows_of(name: str) -> dict[str, Published]:
    return {row.system: row for row in find_benchmark(name).published}


@pytest.mark.parametrize("name", COUNTS)
def test_rows_are_whole_and_differ_by_what_the_papers_state(name: str) -> None:
    benchmark, rows = find_benchmark(name), rows_of(name)
    assert len(rows) == len(benchmark.published) == COUNTS[name][0] and COUNTS.keys() == FILES.keys()
    assert sum(len(row.percent) + len(row.half_widths) for row in rows.values()) == COUNTS[name][1]
    for row in rows.values():
        assert set(row.percent) <= {"ALL", *benchmark.columns, *benchmark.figures} and ", " in row.source
        if row.correct and row.n:
            assert row.percent["ALL"] == pytest.approx(100 * row.correct / row.n, abs=0.01)
    for points, system, other, *column in FILES[name].get("stated", ()):
        one, two = (rows[each].percent[(column or FILES[name]["columns"])[0]] for each in (system, other))
        assert round(one - two, len(str(points).partition(".")[2])) == points, (system, other)


@pytest.mark.parametrize(("name", "figure"), [("scienceqa", "figure 4"), ("tabmwp", "figure 5")])
def test_shares_of_modules_round_to_the_figure_and_add_up_to_a_plans_length(name: str, figure: str) -> None:
    for system, printed in FILES[name]["figures"][figure].items():
        row = rows_of(name)[system]
        assert {module: round(row.module_use[module]) for module in printed} == printed
        length = sum((ENDS[name] | dict(row.module_use)).values()) / 100
        assert length == pytest.approx(row.mean_length, abs=0.011), system  # 3.04 of rounded shares for 3.03


def test_chains_of_operations_add_up() -> None:
    for name in ("tabfact", "wikitq"):
        without = FILES[name]["figures"]["table 5"]
        assert without["all"][0] == rows_of(name)["Chain-of-Table (PaLM 2)"].percent["ALL"]
        assert all(round(left - without["all"][0], 2) == lost for left, lost in without.values())
    figures = FILES["wikitq"]["figures"]
    lengths, by_length = figures["table 2"], figures["figure 3"]
    ours = by_length["Chain-of-Table"]
    for other in ("Chain-of-Thought", "Dater"):
        behind = [round(theirs - own, 1) for theirs, own in zip(by_length[other], ours, strict=True)]
        assert behind == by_length[f"{other} behind"]
    mean = sum(n * share for n, share in zip(lengths, ours, strict=True)) / sum(lengths)
    assert (sum(lengths), sum(FILES["tabfact"]["figures"]["table 2"])) == (4309, 2023)
    assert mean == pytest.approx(67.31, abs=0.03)
    samples = {name: dict(each) for name, each in figures["table 4"].items()}
    assert all(each.pop("all") == sum(each.values()) for each in samples.values())


def test_intervals_are_wilson_s_by_way_of_asking_and_wald_s_else() -> None:
    for row in rows_of("sara").values():
        n, share = row.n or 0, row.percent["entailment"] / 100
        wald = Z_90 * sqrt(share * (1 - share) / n)
        half, places = (half_width(share, n), 1) if row.source.endswith("4") else (wald, 2)
        assert round(100 * half, places) == row.half_widths["entailment"], row.system
    benchmark = find_benchmark("sara")
    assert SystemRow.published(benchmark.published[-1], benchmark).cells["entailment"] == "77.50±10.86"
    assert SystemRow.published(benchmark.published[-1], benchmark).to_json()["percent"]["entailment"] == 77.5
    for row in rows_of("finqa").values():
        kinds = {"execution": 0.0} | {kind: row.percent[f"{kind} accuracy"] for kind in ("program", "answer")}
        sums = {kind: share / 100 * (row.n or 0) for kind, share in kinds.items()}
        found = OfficialRule().overall(sums, row.n or 0)
        assert {name: round(found[name], 2) for name in row.percent} == row.percent, row.system
