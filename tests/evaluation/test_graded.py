"""Benchmarks that grade: from each answer to the tables, however a run comes to its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon import Executor, Inventory, State, Step
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.errors import Declined
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import RunDir
from tests.e2e.commands import Command
from tests.engine.doubles import Does, Proposes
from tests.evaluation.rows import Row, read_lines, write_rows

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
    modules = {"answer": Does(answer)}
    planner = Proposes(lambda state: () if state.history else [Step("answer")])
    with RunDir(path, SETTINGS) as folder:
        executor, scorer = Executor(Inventory("mine", planner, modules)), Fetaqa.scorers["official"]()
        Evaluation(executor, scorer, Fetaqa(), run_dir=folder).run(PROBLEMS[:problems])
    return read_run(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return evaluate(tmp_path_factory.mktemp("graded") / "run")


def test_results_keep_grades_and_no_verdict(run: Run) -> None:
    lines = read_lines(run.path / "results.jsonl")
    assert [line["correct"] for line in lines] == [None] * 6
    assert lines[0]["grades"]["ROUGE-1"] > 0.8
    assert lines[1]["declined"] and lines[1]["grades"]["ROUGE-1"] == 0
    assert lines[2]["error"]["message"].startswith("ValueError: broken")
    assert lines[2]["grades"]["reference"] > 0
    assert [line["columns"] for line in lines[:2]] == [["small", "chain 0"], ["small"]], "only answered runs"


def test_what_was_not_answered_counts_as_empty(run: Run) -> None:
    tally = run.tally
    everything, answered = tally.figures(tally.all), tally.figures(tally.answered)
    assert (tally.all.n, tally.answered.n, tally.failed) == (6, 4, 1)
    assert list(everything) == FIGURES
    assert everything["ROUGE-1"] == pytest.approx(answered["ROUGE-1"] * 4 / 6)
    assert everything["BP"] < answered["BP"]


def test_an_evaluation_that_goes_on_comes_to_the_same(run: Run, tmp_path: Path) -> None:
    evaluate(tmp_path / "half", 3)
    assert evaluate(tmp_path / "half").tally.to_json("fetaqa") == run.tally.to_json("fetaqa")


def test_score_finds_what_the_evaluation_found(run: Run, command: Command, tmp_path: Path) -> None:
    data = str(write_rows(tmp_path / "data.jsonl", ROWS))
    found = json.loads(command("score", "fetaqa", data, str(run.path / "results.jsonl"), "--json").out)
    assert found["figures"] == pytest.approx(run.tally.figures(run.tally.all))
    assert found["answered_figures"] == pytest.approx(run.tally.figures(run.tally.answered))
    assert found["breakdown"]["small"]["n"] == 6 and found["breakdown"]["large"]["figures"]["BLEU"] is None


def test_the_report_shows_figures(run: Run, command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = command("report", str(run.path), "--published", "--html", str(page)).out
    assert told.startswith("fetaqa: BLEU, ROUGE-1, ROUGE-2, ROUGE-L, BP\n")
    figures = run.tally.figures(run.tally.all)
    assert f"{figures['BLEU']:.4f}" in told and "32.61" in told
    assert "the others count as empty answers" in " ".join(told.split())
    html = page.read_text()
    assert html.count('class="problem graded"') == 4 and 'class="problem right"' not in html
    assert 'show-graded"' in html and 'show-wrong"' not in html
    assert "Graded: BLEU" in html
    found = json.loads(command("report", str(run.path), "--json").out)
    ours = found["tables"][0]["rows"][-1]
    assert ours["figures"]["ROUGE-L"] == pytest.approx(figures["ROUGE-L"], abs=5e-5)
    assert found["tables"][0]["columns"] == FIGURES


def test_stats_show_figures_by_size_and_length(run: Run, command: Command) -> None:
    assert "by table size" not in command("stats", str(run.path)).out, "all are small"
    groups = json.loads(command("stats", str(run.path), "--json").out)["runs"][0]["groups"]
    assert list(groups) == ["table size", "chain length"]
    assert groups["table size"]["small"]["n"] == 6 and list(groups["chain length"]) == ["chain 0"]
    assert groups["chain length"]["chain 0"]["n"] == 4, "one is declined and one fails"


def test_eval_prints_figures(command: Command, tmp_path: Path) -> None:
    data = str(write_rows(tmp_path / "data.jsonl", ROWS))
    told = command("eval", "tables_offline", data)
    assert told.code == 0 and "BLEU" in told.out and "right" not in told.out
    whole = json.loads(command("eval", "tables_offline", data, "--json").out)
    assert list(whole)[:5] == ["benchmark", "n", "figures", "answered", "answered_figures"]
