"""The page of a run: what it shows of steps and of the table as it changed, and that all in it is text."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from chameleon import Executor, State, Table
from chameleon.core.events import Event, Failure, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.core.log import EventLog, event_from_json, event_to_json
from chameleon.core.module import Module, copy_with
from chameleon.errors import InputError
from chameleon.evaluation.page_views import TableChange
from chameleon.evaluation.run import Run
from chameleon.evaluation.run_page import events_of, page_of, write_run_page
from chameleon.inventory import Inventory
from chameleon.planners.fixed import Fixed
from chameleon.usage import Call
from tests.e2e.commands import Command
from tests.evaluation.html_outline import Outline, assert_ours

Patch = pytest.MonkeyPatch

TABLE = Table(
    ["Name", "City", "Points"], [["Ann", "Oslo", "14"], ["Ben", "Rome", "25"], ["Cleo", "Oslo", "31"]]
)


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
    assert "there is no page of ours" in command(*asked, "--html", "t.csv").err
    with EventLog("empty.jsonl"), pytest.raises(InputError, match="there is no run to show"):
        write_run_page([], "c.html")
