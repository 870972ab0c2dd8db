"""What `chameleon stats` and `chameleon report` print, and the figures that they are made of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.cli.reporting import print_report, print_stats
from chameleon.cli.scoring import in_blocks
from chameleon.core.events import Failure, RunEnded, RunStarted
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.run import Run, read_run, told_apart
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.stats import END, START, PlanStats
from chameleon.evaluation.system_table import Comparison
from chameleon.table.formats import places
from tests.evaluation.report_runs import offline_run, settings, write_run

Patch = pytest.MonkeyPatch

Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def paths(runs: tuple[Run, Run]) -> list[Path]:
    return [run.path for run in runs]


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def report(paths: list[Path], capsys: Out, **options: Any) -> str:
    print_report(paths, **{"html": None, "problems": 10, "as_json": False, **options})
    return capsys.readouterr().out


def report_json(paths: list[Path], capsys: Out) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report(paths, capsys, published=True, as_json=True))
    return found


def test_the_table_has_the_runs_then_the_published_rows(paths: list[Path], capsys: Out) -> None:
    assert "GPT-4" not in report(paths, capsys)
    lines = report(paths, capsys, published=True).splitlines()
    rows = [" ".join(line.split()) for line in lines]
    assert rows[2] == "system n ALL FREE MC INT DEC EXTR BOOL OTH G1-6 G7-8"
    published = "Chameleon (GPT-4) 7,686 98.78 98.95 98.29 99.34 97.42 98.58 98.56 93.33 98.95 98.54"
    ours = next(place for place, row in enumerate(rows) if row.startswith("offline 24"))
    assert rows.index(published) > ours and max(map(places, lines)) <= 100
    table = report_json(paths, capsys)["tables"][0]
    assert table["columns"] == ["ALL", *find_benchmark("tabmwp").columns]
    for path in paths:
        row = next(row for row in table["rows"] if row["system"] == path.name)
        results = list(read_run(path).results)
        assert row["n"] == len(results) and not row["published"] and row["date"] == "2026-11-21"
        for column in table["columns"]:
            right = [r.correct for r in results if column == "ALL" or column in r.columns]
            share = pytest.approx(100 * sum(right) / len(right), abs=0.006) if right else None
            assert row["percent"][column] == share
    assert [row["published"] for row in table["rows"]].count(True) == len(find_benchmark("tabmwp").published)
    spent = "".join(line for line in report(paths, capsys).splitlines() if line.startswith("  Spent"))
    assert "no model calls" in spent and " tokens" in spent and "$" not in spent
    usage = report_json(paths, capsys)["runs"][1]["usage"]
    assert usage["calls"] > 12 and usage["cost"] is None


@pytest.mark.parametrize(("total", "told"), [(1_200, "5 of 1,200, unfinished"), (5, "")])
def test_a_run_that_has_not_ended_says_so(total: int, told: str, tmp_path: Path, capsys: Out) -> None:
    path, page = offline_run(tmp_path / "some", 5).path, tmp_path / "page.html"
    with RunDir(path, read_run(path).settings) as folder:
        folder.expect(total)
    text = " ".join((report([path], capsys, html=page, problems=1) + page.read_text("utf-8")).split())
    found = report_json([path], capsys)
    (line,) = (row for row in found["tables"][0]["rows"] if not row["published"])
    run = found["runs"][0]
    assert line["n"] == run["n"] == 5 and run["total"] == total
    assert line["unfinished"] is run["unfinished"] is bool(told)
    assert text.count(told) >= 4 if told else "unfinished" not in text  # in table and facts, twice


def test_facts_are_wrapped_and_tell_why_problems_failed(
    tmp_path: Path, capsys: Out, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    reasons = ["the server failed (500)"] * 3 + ["no ink"] * 2
    ends = [RunEnded("failed", Failure("ModelError", reason)) for reason in reasons]
    begun = RunStarted("tabmwp", {"question": "?"})
    made = ((Problem(f"p{n}", {"question": "?"}, "7"), (begun, end), False) for n, end in enumerate(ends))
    digests = {f"digest {n}": "0f" * 8 for n in range(9)}
    write_run(tmp_path / "run", settings("tabmwp", digests=digests), made)
    printed = report([tmp_path / "run"], capsys)
    lines = [line.strip() for line in printed.splitlines()]
    assert max(map(places, printed.splitlines())) <= 70
    failed = lines.index("Failed     5 (100.00 %)")
    assert lines[failed + 1 : failed + 3] == ["3 times: the server failed (500)", "2 times: no ink"]
    assert all(f"{name} {digest}" in " ".join(printed.split()) for name, digest in digests.items())


def test_runs_of_one_name_are_told_apart_and_benchmarks_have_a_table_each(paths: list[Path]) -> None:
    class Another(type(find_benchmark("tabmwp"))):  # type: ignore[misc]
        name, columns, published = "another", ("ONLY",), ()

    first = read_run(paths[0])
    elsewhere = replace(first, path=Path("elsewhere") / "offline")
    assert [each.name for each in told_apart([first, elsewhere])] == [str(first.path), "elsewhere/offline"]
    second = replace(first, settings={**first.settings, "benchmark": "another"}, benchmark=Another())
    tables = Comparison.of([first, second, first])
    assert [table.benchmark.name for table in tables] == ["tabmwp", "another"]
    (line,) = tables[1].rows
    assert line.cells["ONLY"] == "–" and line.to_json()["percent"]["ONLY"] is None


def test_stats_stand_side_by_side_with_the_published_use(paths: list[Path], capsys: Out) -> None:
    print_stats(paths, as_json=False)
    printed = capsys.readouterr().out
    title, header, *lines = printed.splitlines()
    assert title == "Questions that call a module, in percent (Chameleon, figure 5)"
    assert header.split()[:2] == ["offline", "model"] and "Chameleon (GPT-4)" in header
    shares = {line.split()[0]: line.split()[1:] for line in lines[: lines.index("")]}
    assert "100.00" in shares["table_reader"] and shares["program_generator"][-2:] == ["71.99", "70.84"]
    assert ["START", "program_generator", "–", "16.67", "39"] in [line.split() for line in lines]
    assert "table_reader → final_answer" in printed and "offline, 24 problems: most" in printed
    print_stats(paths, as_json=True)
    found = json.loads(capsys.readouterr().out)["runs"]
    told = [(run["run"], run["inventory"], run["model"]) for run in found]
    assert told == [("offline", "tables_offline", None), ("model", "tabmwp", "scripted:script")]
    assert found[0]["modules"]["table_reader"] == 1.0
    assert found[0]["transitions"]["START"]["table_reader"] == {"count": 24, "probability": 1.0}


def test_hostile_names_and_settings_cannot_steer_the_terminal(hostile: Run, capsys: Out) -> None:
    print_stats([hostile.path], as_json=False)
    printed = report([hostile.path], capsys)
    assert all(line.isprintable() for line in printed.splitlines()) and len(printed) < 30_000
    assert "<script>window.ran = 1</script>" in printed


@pytest.mark.parametrize("width", [40, 100, 400])
def test_blocks_keep_every_column_and_the_width(width: int) -> None:
    columns = [("name", ["one", "two" * 40, "日本語の名前" * 5])]
    columns += [(f"column {n}", [str(n), str(n) * 8, "–"]) for n in range(20)]
    columns.append(("text", ["x" * 500, "\x1b[31mred", "a\nb"]))
    text = in_blocks(columns, ["text"], width)
    assert max(map(places, text.splitlines())) <= width and "\x1b" not in text
    blocks = text.split("\n\n")
    assert all(len(block.splitlines()) == 5 for block in blocks)
    headers = " ".join(block.splitlines()[0] for block in blocks)
    assert all(f"column {n}" in headers for n in range(20)) and headers.endswith("text")
    assert (len(blocks) == 1) == (width == 400)


names = st.sampled_from(["row_lookup", "program_generator", "answer_generator", "a b", ""])
plans = st.lists(st.lists(names, max_size=6), max_size=30)


def stats(listed: Sequence[Sequence[str]]) -> PlanStats:
    return PlanStats(Counter(map(tuple, listed)))


@given(plans)
def test_stats_equal_a_plain_recount_in_any_order(listed: list[list[str]]) -> None:
    found, n = stats(listed).to_json(top=3), len(listed)
    assert json.dumps(found) == json.dumps(stats(sorted(listed)).to_json(top=3))
    every = {name for plan in listed for name in plan}
    assert found["modules"] == {name: sum(name in plan for plan in listed) / n for name in every}
    assert found["mean_length"] == (pytest.approx(sum(map(len, listed)) / n) if n else None)
    often = Counter(map(tuple, listed))
    assert found["programs"] == len(often)
    assert [each["count"] for each in found["top_programs"]] == [count for _, count in often.most_common(3)]
    pairs = Counter(pair for plan in listed for pair in zip([START, *plan], [*plan, END], strict=True))
    counts = {(a, b): each["count"] for a, after in found["transitions"].items() for b, each in after.items()}
    assert counts == pairs and found["without_plan"] == listed.count([])
    for after in stats(listed).probabilities.values():
        assert sum(after.values()) == pytest.approx(1)
