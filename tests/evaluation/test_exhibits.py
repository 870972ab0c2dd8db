"""What papers print besides tables, with the same of runs: in the terminal, as JSON, and as charts."""

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.core.events import Event, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from tests.e2e.commands import Command
from tests.evaluation.report_runs import Outline, assert_ours, settings, write_run

COT = "Chain-of-Table (PaLM 2)"
PRINTED = {"tabmwp": 5, "scienceqa": 6, "wikitq": 6, "tabfact": 3, "finqa": 1, "sara": 2, "fetaqa": 1}
MANY = " ".join(map(str, range(40)))
CHAINS = {"a": ("chain 1",), "b": ("chain 1",), "c": ("chain 2",), "d": ("chain 3",)}


def make(folder: Path, name: str, right: str, wrong: str = "", plan: str = "look", **made: Any) -> str:
    """Write the folder of an evaluation of problems named by letters; return its path."""
    steps, chains = tuple(map(Step, plan.split())), made.pop("chains", {})
    events: list[Event] = [RunStarted("x", {"question": "?"}), Plan(steps, "rules")]
    events += [*(StepRecord(step, "7") for step in steps), RunEnded("answered")]
    runs = ((Problem(id, {}, "7", chains.get(id, ())), events, id in right) for id in right + wrong)
    return str(write_run(folder / name, settings("x", **{"benchmark": "wikitq", **made}), runs).path)


def exhibits(command: Command, *arguments: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return the numbers by system of each exhibit of a report, by its title."""
    [table] = json.loads(command("report", *arguments, "--json").out)["tables"]
    return {e["title"]: {s["system"]: s["values"] for s in e["systems"]} for e in table["exhibits"]}


@pytest.mark.parametrize("name", PRINTED)
def test_all_that_is_printed_is_in_the_report(name: str, command: Command, tmp_path: Path) -> None:
    run = make(tmp_path, "mine", "a", benchmark=name)
    figures, page = find_benchmark(name).published_figures, tmp_path / "page.html"
    assert len(figures) == PRINTED[name] and exhibits(command, run) == {}
    found = exhibits(command, run, "--published")
    shown = " ".join(command("report", run, "--published", "--html", str(page)).out.split())
    html = Outline(page.read_text("utf-8"))
    assert_ours(html)
    titles = [each.text for each in html.of_tag("h3")]
    for place, figure in figures.items():
        [title] = [each for each in found if each.endswith(f"({place})")]
        assert title in shown and title in titles
        assert {system: found[title][system] for system in figure["systems"]} == figure["systems"]
    tuned = {row.tuned for row in find_benchmark(name).published if row.tuned}
    assert all(each in shown and each in {td.text for td in html.of_tag("td")} for each in tuned)
    assert bool(tuned) == (" tuned " in shown)


def test_problems_are_grouped_by_the_chains_of_another_run(command: Command, tmp_path: Path) -> None:
    one, page = make(tmp_path, "one", "abcde", chains=CHAINS), tmp_path / "page.html"
    two = make(tmp_path, "two", "adef", "bc")
    found = exhibits(command, one, two, "--chains-of", one, "--published")
    lengths, right = [each for title, each in found.items() if title.endswith(", by the chains of one")]
    assert all(lengths[each] == {"chain 1": 2, "chain 2": 1, "chain 3": 1} for each in ("one", "two"))
    assert right["two"] == {"chain 1": 50.0, "chain 2": 0.0, "chain 3": 100.0}
    assert (lengths[COT]["chain 1"], right["Dater (PaLM 2)"]["chain 1"]) == (95, 49.5)
    shown = command("report", one, two, "--chains-of", one, "--html", str(page)).out
    assert shown.count("by the chains of one") == 2 and "50.00" in shown
    [chart] = [each for each in Outline(page.read_text("utf-8")).of_class("chart") if "chain 3" in each.text]
    assert "has the numbers" in chart.text and chart.text.count("100.00") == 4
    for name, code in {"ab wikitq": 0, "fg wikitq": 1, "e wikitq": 1, "a tabfact": 1}.items():
        ids, benchmark = name.split()
        other = make(tmp_path, name, ids, benchmark=benchmark)
        done = command("report", one, other, "--chains-of", one)
        assert (done.code, "none of its problems has a chain in one" in done.told) == (code, bool(code))
    assert command("report", two, "--chains-of", two).code == 1, "it has no chains"


def test_changes_are_to_the_run_with_all_modules(command: Command, tmp_path: Path) -> None:
    runs = [
        make(tmp_path, "other", "abcd", model="m"),
        make(tmp_path, "less", "a", "bcd", without=["sort_by"]),
        make(tmp_path, "whole", "abc", "d"),
        make(tmp_path, "least", "e", "a", without=["group_by", "sort_by"]),
    ]
    found = exhibits(command, *runs, "--published")
    [changes] = [each for title, each in found.items() if "table 5" in title]
    assert changes["to whole"] == {"sort_by": -50.0, "group_by, sort_by": -100.0}
    assert changes[COT]["sort_by"] == -1.46 and "to other" not in changes


@pytest.mark.parametrize(
    ("plan", "down", "back"),
    [("a b", 3, 0), ("a a", 2, 1), ("a b a", 3, 1), ("<b>&\u202e", 2, 0), (MANY, 15, 0)],
)
def test_charts(plan: str, down: int, back: int, command: Command, tmp_path: Path) -> None:
    page, run = tmp_path / "page.html", make(tmp_path, "run", "a", plan=plan, benchmark="scienceqa")
    command("report", run, "--html", str(page))
    outline = Outline(page.read_text("utf-8"))
    assert_ours(outline)
    assert sorted(each.classes[0] for each in outline.of_tag("path")) == ["back"] * back + ["down"] * down
    assert sum("↑" in each.text for each in outline.of_class("share")) == back
    command("report", run, "--published", "--html", str(page))
    outline = Outline(page.read_text("utf-8"))
    chart = outline.of_class("chart")[0]
    bars = [each for each in outline.of_tag("rect") if chart in each.parents]
    assert [each.classes for each in bars] == [["ours"], *[["published"]] * 21]
    assert "Human 88.40" in chart.text and len(outline.of_tag("line")) == 1
    assert bars[0].attributes["width"] == "40.00%" and chart.text.startswith("ALL by system")
