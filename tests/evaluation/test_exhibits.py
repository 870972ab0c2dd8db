"""What papers print besides tables, with the same of runs: in the terminal, as JSON, and as charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon.core.events import Event, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from tests.e2e.commands import Command
from tests.evaluation.html_outline import Outline, assert_ours
from tests.evaluation.report_runs import settings, write_run

PRINTED = {"tabmwp": 5, "scienceqa": 6, "wikitq": 6, "tabfact": 3, "finqa": 1, "sara": 2, "fetaqa": 1}
CHAINS = {"1": "chain 1", "2": "chain 1", "3": "chain 2", "4": "chain 3", "5": ""}


def make(
    folder: Path, name: str, right: Mapping[str, bool], plan: Sequence[str] = ("look",), **made: Any
) -> str:
    """Write the folder of an evaluation of those problems; return its path."""
    steps = tuple(map(Step, plan))
    chains = made.pop("chains", {})
    events: list[Event] = [RunStarted("x", {"question": "?"}), Plan(steps, "rules")]
    events += [*(StepRecord(step, "7") for step in steps), RunEnded("answered")]
    runs = [
        (Problem(id, {}, "7", tuple(filter(None, [chains.get(id)]))), events, each)
        for id, each in right.items()
    ]
    write_run(folder / name, settings("x", **{"benchmark": "wikitq", **made}), runs)
    return str(folder / name)


def exhibits(command: Command, *arguments: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return the numbers by system of each exhibit of a report, by its title."""
    [table] = json.loads(command("report", *arguments, "--json").out)["tables"]
    return {e["title"]: {s["system"]: s["values"] for s in e["systems"]} for e in table["exhibits"]}


@pytest.mark.parametrize("name", PRINTED)
def test_all_that_is_printed_is_in_the_report(name: str, command: Command, tmp_path: Path) -> None:
    run = make(tmp_path, "mine", {"1": True}, benchmark=name)
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
    a = make(tmp_path, "a", dict.fromkeys(CHAINS, True), chains=CHAINS)
    b = make(tmp_path, "b", {"6": True, "5": True, "4": True, "3": False, "2": False, "1": True})
    found = exhibits(command, a, b, "--chains-of", a)
    lengths, right = found.values()
    assert [title.rpartition(", ")[2] for title in found] == ["by the chains of a"] * 2
    assert lengths == {each: {"chain 1": 2, "chain 2": 1, "chain 3": 1} for each in ("a", "b")}
    assert right["b"] == {"chain 1": 50.0, "chain 2": 0.0, "chain 3": 100.0}
    with_printed = exhibits(command, a, b, "--chains-of", a, "--published")
    [title] = [each for each in with_printed if "figure 3)" in each]
    assert title.endswith("by the chains of a") and with_printed[title]["Dater (PaLM 2)"]["chain 1"] == 49.5
    page = tmp_path / "page.html"
    shown = command("report", a, b, "--chains-of", a, "--html", str(page)).out
    assert "by the chains of a" in shown and "50.00" in shown
    [chart] = [each for each in Outline(page.read_text("utf-8")).of_class("chart") if "chain 3" in each.text]
    assert "The numbers are in a table" in chart.text and chart.text.count("100.00") == 4


@pytest.mark.parametrize(
    ("ids", "made", "fault"),
    [
        (("1", "2"), {}, None),
        (("7", "8"), {}, "it has no problem that has a chain in a"),
        (("5",), {}, "it has no problem that has a chain in a"),
        (("1",), {"benchmark": "tabfact"}, "it has no problem that has a chain in a"),
    ],
)
def test_a_run_without_those_problems_is_named(
    ids: Sequence[str], made: Mapping[str, Any], fault: str | None, command: Command, tmp_path: Path
) -> None:
    a = make(tmp_path, "a", dict.fromkeys(CHAINS, True), chains=CHAINS)
    b = make(tmp_path, "b", dict.fromkeys(ids, True), **made)
    done = command("report", a, b, "--chains-of", a)
    assert (done.code, (fault or "") in done.err) == (1 if fault else 0, True)
    assert command("report", b, "--chains-of", b).code == 1, "b has no chains"


def test_changes_are_to_the_run_with_all_modules(command: Command, tmp_path: Path) -> None:
    ids = "1234"
    runs = {
        "other": make(tmp_path, "other", dict.fromkeys(ids, True), model="m"),
        "less": make(tmp_path, "less", {id: id == "1" for id in ids}, without=["sort_by"]),
        "whole": make(tmp_path, "whole", {id: id < "4" for id in ids}),
        "least": make(tmp_path, "least", {"1": False, "9": True}, without=["group_by", "sort_by"]),
    }
    found = exhibits(command, *runs.values(), "--published")
    [changes] = [each for title, each in found.items() if "table 5" in title]
    assert changes["to whole"] == {"sort_by": -50.0, "group_by, sort_by": -100.0}
    assert changes["Chain-of-Table (PaLM 2)"]["sort_by"] == -1.46 and "to other" not in changes


@pytest.mark.parametrize(
    ("plan", "arcs"),
    [
        (["a", "b"], ["down"] * 3),
        (["a", "a"], ["down", "back", "down"]),
        (["a", "b", "a"], ["down", "back", "down", "down"]),
        (["<b>&\u202e"], ["down"] * 2),
        ([f"tool {n}" for n in range(40)], ["down"] * 15),
    ],
)
def test_a_graph_has_an_arc_for_each_step(
    plan: list[str], arcs: list[str], command: Command, tmp_path: Path
) -> None:
    run, page = make(tmp_path, "run", {"1": True}, plan), tmp_path / "page.html"
    command("report", run, "--html", str(page))
    outline = Outline(page.read_text("utf-8"))
    assert_ours(outline)
    assert sorted(each.classes[0] for each in outline.of_tag("path")) == sorted(arcs)
    labels = [each.text for each in outline.of_class("share")]
    assert len(labels) == len(arcs) and sum("↑" in each for each in labels) == arcs.count("back")


def test_a_chart_names_its_bars_and_draws_people_as_a_line(command: Command, tmp_path: Path) -> None:
    run, page = make(tmp_path, "run", {"1": True}, benchmark="tabmwp"), tmp_path / "page.html"
    command("report", run, "--published", "--html", str(page))
    outline = Outline(page.read_text("utf-8"))
    chart = outline.of_class("chart")[0]
    bars = [each for each in outline.of_tag("rect") if chart in each.parents]
    assert [each.classes for each in bars] == [["ours"], *[["published"]] * 20]
    assert "Human 90.22" in chart.text and len(outline.of_tag("line")) == 1
    assert bars[0].attributes["width"] == "40.00%" and chart.text.startswith("ALL by system")
