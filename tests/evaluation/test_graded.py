"""Benchmarks that grade, and columns that only a run has: from each answer to tables and data frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon import Executor, Inventory, State, Step
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.core.events import RunEnded
from chameleon.errors import Declined, InputError, MissingPackage
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import RunDir
from tests.e2e.commands import Command
from tests.engine.doubles import Does, Proposes
from tests.evaluation.rows import Row, read_lines, write_rows

Patch = pytest.MonkeyPatch

SETTINGS = {"benchmark": "fetaqa", "scorer": "official", "inventory": "mine"}
FIGURES = ["BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BP"]


def row(number: int) -> Row:
    return {
        "feta_id": number,
        "table_page_title": "Kites",
        "table_section_title": f"Day {number}",
        "table_array": [["Kite", "Minutes"], ["red", str(number)], ["blue", "50"]],
        "question": "For how many minutes did the red kite fly?",
        "answer": f"The red kite flew for {number} minutes on that day.",
    }


ROWS = [row(number) for number in range(1, 7)]
PROBLEMS = [Fetaqa().problem(each, {}) for each in Fetaqa().rows(ROWS, Path("rows.jsonl"))]


def answer(state: State) -> str:
    minutes = int(state.input["table"].rows[0][1])
    if minutes == 2:
        raise Declined("this is out of reach")
    if minutes == 3:
        raise ValueError("broken")
    return f"The red kite flew for {minutes} minutes."


def evaluate(path: Path, problems: int = len(PROBLEMS)) -> Run:
    planner = Proposes(lambda state: () if state.history else [Step("answer")])
    executor = Executor(Inventory("mine", planner, {"answer": Does(answer)}))
    with RunDir(path, SETTINGS) as folder:
        Evaluation(executor, Fetaqa.scorers["official"](), Fetaqa(), run_dir=folder).run(PROBLEMS[:problems])
    return read_run(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return evaluate(tmp_path_factory.mktemp("graded") / "run")


def test_results_keep_grades_and_no_verdict_and_what_was_not_answered_counts_as_empty(run: Run) -> None:
    lines = read_lines(run.path / "results.jsonl")
    assert [line["correct"] for line in lines] == [None] * 6
    assert lines[0]["grades"]["ROUGE-1"] > 0.8
    assert lines[1]["declined"] and lines[1]["grades"]["ROUGE-1"] == 0
    assert lines[2]["error"]["message"].startswith("ValueError: broken")
    assert lines[2]["grades"]["reference"] > 0
    assert [line["columns"] for line in lines[:2]] == [["small", "chain 0"], ["small"]], "only answered runs"
    tally = run.tally
    everything, answered = tally.figures(tally.all), tally.figures(tally.answered)
    assert (tally.all.n, tally.answered.n, tally.failed) == (6, 4, 1)
    assert list(everything) == FIGURES
    assert everything["ROUGE-1"] == pytest.approx(answered["ROUGE-1"] * 4 / 6)
    assert everything["BP"] < answered["BP"]


def test_going_on_and_score_come_to_the_same(run: Run, tmp_path: Path, command: Command) -> None:
    evaluate(tmp_path / "half", 3)
    assert evaluate(tmp_path / "half").tally.to_json("fetaqa") == run.tally.to_json("fetaqa")
    data = str(write_rows(tmp_path / "data.jsonl", ROWS))
    found = json.loads(command("score", "fetaqa", data, str(run.path / "results.jsonl"), "--json").out)
    assert found["figures"] == pytest.approx(run.tally.figures(run.tally.all))
    assert found["answered_figures"] == pytest.approx(run.tally.figures(run.tally.answered))
    assert found["breakdown"]["small"]["n"] == 6 and found["breakdown"]["large"]["figures"]["BLEU"] is None
    assert "chain 0" not in found["breakdown"], "recorded answers have no chain"


def test_eval_report_and_stats_show_figures(run: Run, command: Command, tmp_path: Path) -> None:
    data, page = str(write_rows(tmp_path / "data.jsonl", ROWS)), tmp_path / "page.html"
    done = command("eval", "tables_offline", data)
    assert done.code == 0 and "BLEU" in done.out and "right" not in done.out
    whole = json.loads(command("eval", "tables_offline", data, "--json").out)
    assert list(whole)[:5] == ["benchmark", "n", "figures", "answered", "answered_figures"]

    told = command("report", str(run.path), "--published", "--html", str(page)).out
    assert told.startswith("fetaqa: BLEU, ROUGE-1, ROUGE-2, ROUGE-L, BP\n")
    figures = run.tally.figures(run.tally.all)
    assert f"{figures['BLEU']:.4f}" in told and "32.61" in told
    assert "the others count as empty answers" in " ".join(told.split())
    html = page.read_text()
    assert html.count('class="problem graded"') == 4 and 'class="problem right"' not in html
    assert 'show-graded"' in html and 'show-wrong"' not in html and "Graded: BLEU" in html
    [table] = json.loads(command("report", str(run.path), "--json").out)["tables"]
    assert table["rows"][-1]["figures"]["ROUGE-L"] == pytest.approx(figures["ROUGE-L"], abs=5e-5)
    assert table["columns"] == FIGURES

    assert "by table size" not in command("stats", str(run.path)).out, "all are small"
    groups = json.loads(command("stats", str(run.path), "--json").out)["runs"][0]["groups"]
    assert list(groups) == ["table size", "chain length"]
    assert groups["table size"]["small"]["n"] == 6 and list(groups["chain length"]) == ["chain 0"]
    assert groups["chain length"]["chain 0"]["n"] == 4, "one is declined and one fails"


def test_data_frames(run: Run, runs: tuple[Run, Run], tmp_path: Path, monkeypatch: Patch) -> None:
    """A row is a problem, several folders are one frame, and grades are columns."""
    graded = chameleon.results(run.path)
    assert graded["ROUGE-1"][0] > 0.8 and graded["correct"].isna().all()
    assert list(graded["verdict"][:3]) == ["graded", "declined", "failed"]
    assert "broken" in graded["error"][2] and graded["failed"].tolist()[:3] == [False, False, True]

    frame = chameleon.results(f"{runs[0].path.parent}/*")
    assert list(frame["run"].unique()) == ["model", "offline"] and len(frame) == 36
    assert frame["correct"].dtype == "boolean" and frame["input_tokens"].dtype == "Int64"
    for each in runs:
        rows, results = frame[frame["run"] == each.name], list(each.results)
        assert rows["correct"].mean() == each.tally.all.correct / each.tally.all.n
        assert rows["declined"].sum() == sum(result.declined for result in results)
        first, row = results[0], rows.iloc[0]
        assert (row["id"], row["answer"], row["gold"]) == (first.id, first.answer, first.gold)
        assert row["plan"] == " → ".join(first.plan) and row["question"].endswith("?")
        assert row["columns"] == list(first.columns) and row["seconds"] == first.seconds
        for name in ("calls", "input_tokens", "output_tokens"):
            assert rows[name].sum() == getattr(each.tally.usage, name)
    assert rows["cost"].isna().all() and rows["cached_tokens"].isna().all()

    for folders in ((), (tmp_path,), (f"{tmp_path}/none*",), (tmp_path / "none",)):
        with pytest.raises(InputError):
            chameleon.results(*folders)
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[programs\]"):
        chameleon.results(tmp_path)


KEPT, REFUSED = {"call": "select_row(1)"}, {"call": "sort_by(a)", "refused": "no such column"}


CHAINS: list[tuple[str, Any, tuple[str, ...]]] = [
    *(("answered", chain, ("chain 0",)) for chain in ((), (REFUSED,), "no chain", 7)),
    ("answered", (KEPT, REFUSED, KEPT), ("chain 2",)),
    ("answered", [KEPT] * 9, ("chain 6+",)),
    *((reason, [KEPT], ()) for reason in ("declined", "failed", "budget")),
]


def test_the_length_of_a_chain() -> None:
    for reason, chain, columns in CHAINS:
        ended: Any = RunEnded(reason)  # type: ignore[arg-type]
        assert Tabfact().run_columns(State(cache={"chain": chain}, ended=ended)) == columns
        assert Tabfact().run_columns(State(cache={"chain": chain})) == ()


@pytest.mark.parametrize("declined", [0, 1])
def test_columns_of_runs_come_last_and_tell_something_where_not_all_are_in_them(declined: int) -> None:
    tally = Tally(Tabfact.columns)
    for number in range(3):
        gone = number < declined
        columns = ("small",) if gone else ("small", "chain 2")
        tally.add(Result(str(number), None if gone else "yes", gone, not gone, columns=columns))
    assert list(tally.columns) == [*Tabfact.columns, "chain 2"]
    assert ("chain 2" in tally.telling) == bool(declined)
    n = 3 - declined
    assert tally.to_json("tabfact")["breakdown"]["chain 2"] == {"n": n, "correct": n, "accuracy": 1.0}
