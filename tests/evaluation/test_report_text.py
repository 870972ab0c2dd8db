"""What `chameleon stats` and `chameleon report` print and are made of, and the page of a run."""

import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, State, Table
from chameleon.cli.reporting import print_report, print_stats
from chameleon.cli.scoring import in_blocks
from chameleon.core.events import Event, Failure, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.core.log import EventLog, event_from_json, event_to_json
from chameleon.core.module import Module, copy_with
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.page_views import TableChange
from chameleon.evaluation.run import Run, read_run, uniquely_named
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.run_page import events_of, page_of, write_run_page
from chameleon.evaluation.stats import END, START, PlanStats
from chameleon.evaluation.system_table import Comparison
from chameleon.inventory import Inventory
from chameleon.planners.fixed import Fixed
from chameleon.table.formats import places
from chameleon.usage import Call
from tests.e2e.commands import Command
from tests.evaluation.report_runs import Outline, assert_ours, offline_run, settings, write_run

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
    return dict(json.loads(report(paths, capsys, published=True, as_json=True)))


def test_the_table_has_the_runs_then_the_published_rows(paths: list[Path], capsys: Out) -> None:
    plain = report(paths, capsys)
    assert "GPT-4" not in plain
    lines = report(paths, capsys, published=True).splitlines()
    rows = [" ".join(line.split()) for line in lines]
    assert rows[2] == "system n ALL FREE MC INT DEC EXTR BOOL OTH G1-6 G7-8"
    published = "Chameleon (GPT-4) 7,686 98.78 98.95 98.29 99.34 97.42 98.58 98.56 93.33 98.95 98.54"
    ours = next(place for place, row in enumerate(rows) if row.startswith("offline 24"))
    assert rows.index(published) > ours and max(map(places, lines)) <= 100
    found = report_json(paths, capsys)
    [table], tabmwp = found["tables"], find_benchmark("tabmwp")
    assert table["columns"] == ["ALL", *tabmwp.columns]
    for path in paths:
        row = next(row for row in table["rows"] if row["system"] == path.name)
        results = list(read_run(path).results)
        assert row["n"] == len(results) and not row["published"] and row["date"] == "2026-11-21"
        for column in table["columns"]:
            right = [r.correct for r in results if column == "ALL" or column in r.columns]
            share = pytest.approx(100 * sum(right) / len(right), abs=0.006) if right else None
            assert row["percent"][column] == share
    assert [row["published"] for row in table["rows"]].count(True) == len(tabmwp.published)
    spent = "".join(line for line in plain.splitlines() if line.startswith("  Spent"))
    assert "no model calls" in spent and " tokens" in spent and "$" not in spent
    usage = found["runs"][1]["usage"]
    assert usage["calls"] > 12 and usage["cost"] is None


def test_a_run_that_has_not_ended_says_so(tmp_path: Path, capsys: Out) -> None:
    path, page = offline_run(tmp_path / "some", 5).path, tmp_path / "page.html"
    for total, told in {1_200: "5 of 1,200, unfinished", 5: ""}.items():
        with RunDir(path, read_run(path).settings) as folder:
            folder.expect(total)
        text = " ".join((report([path], capsys, html=page, problems=1) + page.read_text("utf-8")).split())
        found = report_json([path], capsys)
        (line,) = (row for row in found["tables"][0]["rows"] if not row["published"])
        run = found["runs"][0]
        assert line["n"] == run["n"] == 5 and run["total"] == total
        assert line["unfinished"] is run["unfinished"] is bool(told)
        assert text.count(told) >= 4 if told else "unfinished" not in text  # in table and facts, twice


def test_facts_are_wrapped_with_why_problems_failed(tmp_path: Path, capsys: Out, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    reasons = ["the server failed (500)"] * 3 + ["no ink"] * 2
    ends = [RunEnded("failed", Failure("ModelError", reason)) for reason in reasons]
    begun = RunStarted("tabmwp", {"question": "?"})
    made = ((Problem(f"p{n}", {"question": "?"}, "7"), (begun, end), False) for n, end in enumerate(ends))
    digests = {f"digest {n}": "0f" * 8 for n in range(9)}
    write_run(tmp_path / "run", settings("tabmwp", digests=digests), made)
    printed = report([tmp_path / "run"], capsys)
    assert max(map(places, printed.splitlines())) <= 70
    told = "Failed 5 (100.00%) 3 times: the server failed (500) 2 times: no ink"
    wanted = (told, *(f"{name} {digest}" for name, digest in digests.items()))
    assert all(each in " ".join(printed.split()) for each in wanted)


def test_runs_of_one_name_are_told_apart_and_benchmarks_have_a_table_each(paths: list[Path]) -> None:
    class Another(type(find_benchmark("tabmwp"))):  # type: ignore[misc]
        name, columns, published = "another", ("ONLY",), ()

    first = read_run(paths[0])
    other = replace(first, path=Path("elsewhere") / "offline")
    assert [each.name for each in uniquely_named([first, other])] == [str(first.path), "elsewhere/offline"]
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


ROWS = [["Ann", "Oslo", "14"], ["Ben", "Rome", "25"], ["Cleo", "Oslo", "31"]]
TABLE = Table(["Name", "City", "Points"], ROWS)


def marks(change: TableChange) -> list[tuple[str, list[str]]]:
    return [(mark, [own for own, _ in cells]) for mark, cells in change.rows]


def test_tables_are_compared_and_large_ones_cut() -> None:
    change = TableChange.of(TABLE, TABLE.take_rows([0, 2]))
    assert [mark for mark, _ in change.rows] == ["", "gone", ""], "a dropped row stays in its place"
    assert (change.dropped, change.more, change.sizes) == (1, 0, (3, 3, 2, 3))
    added = TableChange.of(TABLE, Table([*TABLE.header, "Land"], [[*row, "x"] for row in TABLE.rows]))
    assert added.header[-1] == ("new", "Land") and marks(added)[0] == ("", ["", "", "", "new"])
    fewer = TableChange.of(TABLE, Table(["Points"], [[row[2]] for row in TABLE.rows]))
    assert fewer.header == [("", "Points"), ("gone", "Name"), ("gone", "City")]
    assert marks(fewer)[1] == ("", ["", "gone", "gone"])
    turned = TableChange.of(TABLE, TABLE.take_rows([2, 0]))
    assert turned.is_mixed and [mark for mark, _ in turned.rows] == ["", "", "gone"]
    rounded = Table(TABLE.header, [[row[0], row[1], f"{row[2]}.0"] for row in TABLE.rows])
    assert marks(TableChange.of(TABLE, rounded)) == [("", ["", "", "new"])] * 3
    grouped = Table(["Group", "Count"], [["Oslo", "2"], ["Rome", "1"]])
    assert {mark for mark, _ in TableChange.of(TABLE, grouped).rows} == {"new", "gone"}
    large = Table(["n", "square"], [[str(n), str(n * n)] for n in range(200_000)])
    begun = time.monotonic()
    change = TableChange.of(large, large.take_rows(range(0, 200_000, 2)))
    assert time.monotonic() - begun < 20 and len(change.rows) == 50
    assert change.more == 200_000 - 50 and change.dropped == 100_000
    wide = Table([str(n) for n in range(10_000)], [["x"] * 10_000] * 9)
    change = TableChange.of(wide, Table(["0"], [["x"]] * 9))
    assert len(change.header) == 500 and change.more_columns == 9_500
    assert all(len(cells) == 500 for _, cells in change.rows)


def test_a_run_shows_its_answer_reading_sources_and_steps() -> None:
    state = Executor("tables_offline").run({"question": "Which name has the most points?", "table": TABLE})
    page = state.to_html()
    outline = Outline(page)
    assert_ours(outline)
    assert all(text in page for text in ("Cleo", "Read as", "Name with the most Points", "table_reader"))
    assert "plan fixed by the inventory" in page and "a table, row 3, columns Name and Points</pre>" in page
    marked = [each.text for each in outline.of_class("source")]
    assert marked == ["Cleo", "31"]
    declined = Executor("tables_offline").run({"question": "Who is nicest?", "table": TABLE}).to_html()
    assert "Declined" in declined and "these words were not understood: nicest" in declined


def test_a_table_is_shown_after_each_step_that_changes_it() -> None:
    changed, steps = TABLE.take_rows([1]), (Step("select_row"), Step("answer"))
    events: list[Event] = [RunStarted("mine", {"question": "Who?", "table": TABLE}), Plan(steps, "fixed")]
    events += [StepRecord(steps[0], {"call": "f_select_row(2)", "table": changed}, {"table": changed})]
    events += [StepRecord(steps[1], "Ben"), RunEnded("answered")]
    page = page_of(events)
    assert "f_select_row(2)" in page and "2 rows dropped" in page
    assert [each.text for each in Outline(page).of_tag("del")] == ["Ann", "Oslo", "14", "Cleo", "Oslo", "31"]
    assert page == page_of(events_of(State.fold(events)))


def test_steps_that_ran_side_by_side_begin_at_the_same_time_also_from_a_log() -> None:
    class Slow(Module):
        reads, writes = ("input.question",), ()

        def run(self, state: State) -> str:
            time.sleep(0.02)
            return self.name

    modules = {name: copy_with(Slow(), name=name) for name in ("one", "two", "three")}
    state = Executor(Inventory("mine", Fixed(list(modules)), modules)).run({"question": "Who?"})
    assert [record.beside for record in state.history] == [False, True, True]
    logged = [event_from_json(event_to_json(event)) for event in events_of(state)]
    page = page_of(logged)
    begins = [float(each) for each in re.findall(r"margin-left: ([0-9.]+)%", page)]
    assert len(begins) == 4 and len(set(begins[1:])) == 1


def test_what_models_and_strangers_wrote_stays_text(hostile: Run) -> None:
    asked = {"name": "look<b>up", "args": {"city": "<i>Oslo"}}
    call = Call("m", (("user", "Who?"),), {}, tool_calls=(asked,))
    outline = Outline(page_of([RunStarted("mine", {}), Plan((), "react", calls=(call,))]))
    assert_ours(outline)
    [shown] = outline.of_class("call")
    assert "a call of look<b>up" in shown.text and '{"city": "<i>Oslo"}' in shown.text
    for _, events in hostile.with_events(list(hostile.results)):
        assert_ours(Outline(page_of(events)))


def test_a_page_holds_a_budget_of_text() -> None:
    def written(row: int, column: int, step: int) -> str:
        return f"{row}/{column}/{step if row % 3 else ''}".ljust(199, "<")

    columns, rows = range(60), range(300)
    grids = [[[written(row, column, step) for column in columns] for row in rows] for step in range(4)]
    tables = [Table([f"c{n}" for n in columns], grid) for grid in grids]
    step, call = Step("again"), Call("m", (("user", "x" * 5_000),) * 40, {}, "reply")
    records = [StepRecord(step, "", {"table": tables[n % 4]}, calls=(call,) * 40) for n in range(1_000)]
    begun = time.monotonic()
    page = page_of([RunStarted("mine", {"table": tables[3]}), Plan((step,) * 1_000, "fixed"), *records])
    assert time.monotonic() - begun < 30 and len(page.encode()) < 10_000_000
    assert_ours(Outline(page))
    assert "The page is full." in page and "Not shown: 20 messages after the first." in page


def test_what_was_not_reached_or_cut_is_told_and_times_have_one_spelling() -> None:
    steps = (Step("one"), Step("two"), Step("three"))
    why = Failure("Declined", "it is too hard", "Or let a model answer.")
    started = RunStarted("mine", {"question": "Who?"}, {}, 1_790_000_000)
    record = StepRecord(steps[0], error=why, seconds=0.02)
    page = page_of([started, Plan(steps, "fixed"), record, RunEnded("declined", why)])
    assert "<dd>one</dd>" in page and "<dt>Not reached</dt><dd>two → three</dd>" in page
    assert "<dd>2026-09-21 14:13 UTC</dd>" in page and "Or let a model answer." in page
    assert '<li class="step declined">' in page and ">20 ms" in page and "0.020" not in page
    step, started = Step("again"), RunStarted("mine", {"question": "Who?", "table": TABLE})
    records = [StepRecord(step, str(n)) for n in range(1_000)]
    page = page_of([started, Plan((step,) * 1_000, "fixed"), *records, RunEnded("answered")])
    assert len(page) < 1_000_000 and "more events are in the log" in page


def test_ask_and_report_write_the_page(command: Command, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("Name,Points\nAnn,1\nBen,2\n", "utf-8")
    asked = ("ask", "Who has the most points?", "-t", "t.csv", "-i", "tables_offline")
    done = command(*asked, "--html", "a.html", "--log", "a.jsonl")
    assert done.code == 0 and done.out == "Ben\n" and "Page: a.html" in done.err
    assert command("report", "a.jsonl", "--html", "b.html").code == 0
    assert Path("a.html").read_text("utf-8") == Path("b.html").read_text("utf-8")
    assert "--html FILE" in command("report", "a.jsonl").err
    assert "not a page written by Chameleon" in command(*asked, "--html", "t.csv").err
    with EventLog("empty.jsonl"), pytest.raises(InputError, match="there is no run to show"):
        write_run_page([], "c.html")
