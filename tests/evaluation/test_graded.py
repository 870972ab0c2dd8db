"""Benchmarks that grade, and `chameleon score` of texts, predictions and programs of any system."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import chameleon
from chameleon import Executor, Inventory, State, Step
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.benchmarks.tabmwp import Tabmwp
from chameleon.core.events import RunEnded
from chameleon.errors import Declined, InputError, MissingPackage
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import RunDir
from chameleon.sandbox import shared_sandbox
from tests.benchmarks.shared_data import DATA, anchors, needs_data
from tests.conftest import thorough
from tests.e2e.commands import Command, Outcome
from tests.engine.doubles import Does, Proposes
from tests.engine.files import write
from tests.evaluation.asking import MINE
from tests.evaluation.rows import Row, make_rows, read_lines, write_rows

Patch = pytest.MonkeyPatch

SETTINGS = {"benchmark": "fetaqa", "scorer": "official", "inventory": "mine"}
FIGURES = ["BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BP"]


def row(number: int) -> Row:
    return {
        **{"feta_id": number, "table_page_title": "Kites", "table_section_title": f"Day {number}"},
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


CHAINS: list[Any] = [("answered", chain, ("chain 0",)) for chain in ((), (REFUSED,), "no chain", 7)]
CHAINS += [("answered", (KEPT, REFUSED, KEPT), ("chain 2",)), ("answered", [KEPT] * 9, ("chain 6+",))]
CHAINS += [(reason, [KEPT], ()) for reason in ("declined", "failed", "budget")]


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


SCORED = make_rows(9)


class Scoring:
    def __init__(self, command: Command, place: Path) -> None:
        self.command, self.place, self.predictions = command, place, place / "predictions.jsonl"
        self.data = str(write_rows(place / "problems.jsonl", SCORED))

    def __call__(self, rows: Sequence[Mapping[str, Any]] | str, *options: str) -> Outcome:
        path = rows if isinstance(rows, str) else str(write_rows(self.predictions, rows))
        return self.command("score", "tabmwp", self.data, path, "--json", *options)

    def counts(self, rows: Sequence[Mapping[str, Any]] | str, *options: str) -> tuple[int, int, int]:
        return counts(self(rows, *options))


def counts(outcome: Outcome) -> tuple[int, int, int]:
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    return found["n"], found["correct"], found["answered"]


@pytest.fixture
def score(command: Command, tmp_path: Path) -> Scoring:
    return Scoring(command, tmp_path)


def predicted(key: str = "prediction", id: str = "pid", kind: Any = str) -> list[Row]:
    return [{id: kind(row["pid"]), key: row["answer"]} for row in SCORED]


def test_predictions_under_the_names_that_files_use(score: Scoring) -> None:
    forms = [predicted(), predicted("executed_recorded"), predicted("executed", "id"), predicted(kind=int)]
    for rows in [*forms, predicted()[::-1]]:
        for scorer in ("chameleon", "promptpg"):
            assert score.counts(rows, "--scorer", scorer) == (9, 9, 9)
    path = score.place / "by_id.json"
    for indent in (None, 2):
        path.write_text(json.dumps({row["pid"]: row["answer"] for row in SCORED}, indent=indent))
        assert score.counts(str(path)) == (9, 9, 9)
    path.write_text(json.dumps({row["pid"]: {"mine": row["answer"]} for row in SCORED}))
    assert score.counts(str(path), "--field", "mine") == (9, 9, 9)


def test_texts_below_a_key_and_texts_that_are_null(score: Scoring) -> None:
    rows = [{"pid": r["pid"], "few": {"output": f"I think so. The answer is {r['answer']}."}} for r in SCORED]
    for scorer in ("chameleon", "promptpg"):
        assert score.counts(rows, "--field", "few.output", "--scorer", scorer)[:2] == (9, 9)
    told = score(rows, "--field", "few.output", "--scorer", "pot")
    assert told.complaint.startswith("this scorer has no rule for a model's text.")
    told = score([{"pid": SCORED[0]["pid"], "output": 7}], "--field", "output")
    assert told.complaint == f"output of {SCORED[0]['pid']} is an int, not a text"
    rows = [{"pid": row["pid"], "output": f"The answer is {row['answer']}."} for row in SCORED]
    rows[0]["output"] = rows[3]["output"] = None  # free questions, so that no rule guesses a choice
    for scorer in ("chameleon", "promptpg"):
        assert score.counts(rows, "--field", "output", "--scorer", scorer) == (9, 7, 7)


def test_what_we_declined_is_never_right_and_a_field_that_is_not_there_is_told(score: Scoring) -> None:
    """Chameleon's rule takes the first choice for nothing; that is for other systems' files alone."""
    none = {"answer": None, "declined": True, "error": {"kind": "Declined"}}
    rows = [{"pid": row["pid"], **none} for row in SCORED]
    assert score.counts(rows) == (9, 0, 0)
    first = sum(bool(row["choices"]) and row["choices"][0] == row["answer"] for row in SCORED)
    assert score.counts([{"pid": row["pid"], "prediction": None} for row in SCORED]) == (9, first, 0)
    rows = [{**row, "few": {"output": "7"}} for row in predicted()]
    for field, told in {
        "predicton": ". Did you mean 'prediction'?",
        "few.outptu": ". Did you mean 'few.output'?",
        "few": ". There are: few.output, pid, prediction.",
        **dict.fromkeys(["none.output", "", ".", "few.output.deeper"], ""),
    }.items():
        complaint = score(rows, "--field", field).complaint
        assert complaint.startswith("the prediction for problem 1000 ")
        assert f"has no field {field!r}{told}" in complaint


def test_missing_and_unknown_ids_are_told_and_ids_that_occur_twice_refused(score: Scoring) -> None:
    outcome = score([*predicted()[2:], *({"pid": f"x{n}", "prediction": 1} for n in range(3))])
    assert counts(outcome) == (9, 7, 7)
    missing, unknown = outcome.err.splitlines()
    assert missing == f"2 problems without a row in {score.predictions}: wrong."
    assert unknown == f"3 rows of {score.predictions} match no problem of the data, and are ignored."
    for rows, told in (
        ([{"pid": f"x{SCORED[0]['pid']}", "prediction": 1}], "belongs to the problem with the same 'pid'."),
        ([{"name": "1000", "prediction": "1"}] * 2, "has no problem id. Its fields: name, prediction."),
        ([{"pid": pid, "prediction": "1"} for pid in ("1000", 1000)], "two predictions for problem 1000"),
    ):
        assert told in score(rows).complaint


def test_where_picks_a_run_of_several_and_given_leaves_out_what_has_no_prediction(score: Scoring) -> None:
    runs = [{**row, "run": "good"} for row in predicted()[:6]]
    runs += [{**row, "run": "bad", "prediction": "none"} for row in predicted()[3:]]
    assert "two predictions for problem" in score(runs).complaint
    assert score.counts(runs, "--where", "run=good")[:2] == (9, 6)
    assert score.counts(runs, "--where", "run=bad", "--given")[0] == 6
    told = score(runs, "--where", "run=god").complaint
    assert "no row of the predictions that have run=god belongs to a problem of the data" in told
    assert "--where 'good' is not KEY=VALUE" in score(runs, "--where", "good").complaint
    rows = [*predicted("mine")[:4], {"pid": SCORED[4]["pid"], "mine": None}, predicted("other")[5]]
    outcome = score(rows, "--given", "--field", "mine")
    assert counts(outcome) == (4, 4, 4)
    assert outcome.err.endswith("predictions.jsonl: left out.\n") and outcome.err.startswith("5 problems")
    assert "has no field 'mien'. Did you mean 'mine'?" in score(rows, "--given", "--field", "mien").complaint


PROGRAMS: dict[Any, str] = {  # what a program comes to, if that is told
    "ans = 7": "a value",
    "x = 7": "no_answer",
    "ans = (": "SyntaxError",
    "ans = 1 / 0": "ZeroDivisionError",
    **{7: "no program", None: "no program"},
    **dict.fromkeys(["ans = open('/etc/passwd').read()", "import sys; sys.exit(7)", "ans = 10 ** 5000"], ""),
    **dict.fromkeys(["ans = 7\0", "ans = '\ud800'", ""], ""),
}


def program_ends(outcome: Outcome) -> dict[str, int]:
    """How many programs came to which end, as the command tells it."""
    told = re.fullmatch(r"Programs: (.*)\.\n", outcome.err)
    assert told is not None, outcome.err
    ends = (end.split(" ", 1) for end in re.split(r", (?=\d)", told[1]))
    return {name: int(number.replace(",", "")) for number, name in ends}


def test_hostile_programs_are_wrong_and_the_others_go_on(score: Scoring) -> None:
    row: Row = {"table": "a | b", "question": "?", "choices": None, "answer": "7"}
    rows = [{"pid": str(number), **row, "program": each} for number, each in enumerate(PROGRAMS)]
    write_rows(Path(score.data), rows)
    outcome = score(score.data, "--field", "program")
    n, correct, _ = counts(outcome)
    assert n == len(rows) and correct <= 2
    ends = program_ends(outcome)
    assert sum(ends.values()) == len(rows) and ends["no program"] == 2
    assert all(end in ends for end in PROGRAMS.values() if end)


YES_NO, COLORS = ["yes", "no"], ["red", "blue"]
# What a module answers, the gold answer, and choices: some are right by one rule alone.
ANSWERS: dict[str, tuple[Any, str, list[str] | None]] = {"int": (12, "12", None), "near": (12.04, "12", None)}
ANSWERS |= {"text": ("12", "12", None), "sentence": ("The answer is 12.", "12", None)}
ANSWERS |= {"list": ([12, 3], "12", None), "object": ({"total": 12}, "12", None)}
ANSWERS |= {"empty list": ([], "12", None)}
ANSWERS |= {
    "true": (True, "yes", YES_NO),
    "false": (False, "yes", YES_NO),
    "choice": ("12", "12", ["5", "12"]),
}
ANSWERS |= {"choice in capitals": ("BLUE", "blue", COLORS), "letter": ("(b)", "blue", COLORS)}
KNOWS = f"""
from chameleon import Module

class Tool(Module):
    "Answers what it knows."
    def run(self, state):
        return {ANSWERS!r}[state.input["question"]][0]
"""


@pytest.mark.parametrize("scorer", Tabmwp.scorers)
def test_eval_and_score_come_to_the_same_verdict_on_every_answer(score: Scoring, scorer: str) -> None:
    write(score.place, KNOWS, "tools.py")
    row = {"table": "kind | number\nkites | 3", "unit": None}
    asked = {name: {"answer": gold, "choices": choices} for name, (_, gold, choices) in ANSWERS.items()}
    rows = [{"pid": name, "question": name, **gold, **row} for name, gold in asked.items()]
    write_rows(score.place / "problems.jsonl", rows)
    command_line = ("eval", str(write(score.place, MINE)), score.data, "--scorer", scorer, "--json")
    ran = score.command(*command_line, "--out", str(score.place / "out"))
    results = score.place / "out/results.jsonl"
    whole, again = json.loads(ran.out), json.loads(score(str(results), "--scorer", scorer).out)
    assert list(whole) == list(again) and whole["answered"] == len(ANSWERS)
    assert {**whole, "usage": 0, "seconds": 0} == {**again, "usage": 0, "seconds": 0}
    right = {line["id"] for line in read_lines(results) if line["correct"]}
    assert {"int", "choice", "text"} <= right and not right & {"empty list", "false"}
    if scorer == "pot":  # its rule makes a program's "12" a number before it compares
        assert {"near", "list", "true"} <= right and not right & {"sentence", "choice in capitals"}


def figures(prefix: str) -> dict[str, int]:
    start = f"tabmwp.{prefix}."
    found = anchors().items()
    return {name.removeprefix(start): value for name, (value, _) in found if name.startswith(start)}


@thorough
@needs_data
def test_codex_programs_give_the_recorded_figures(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    once, data = SimpleNamespace(run=cache(shared_sandbox().run)), str(DATA / "tabmwp/codex_pot.jsonl.gz")
    monkeypatch.setattr("chameleon.evaluation.score.shared_sandbox", lambda: once)
    for scorer in ("pot", "chameleon"):
        outcome = command("score", "tabmwp", data, data, "--field", "program", "--scorer", scorer, "--json")
        found = json.loads(outcome.out)
        right = {name: count["correct"] for name, count in found["breakdown"].items() if count["n"]}
        assert right == figures(f"codex_pot.rerun.{scorer}_scorer")
        expected = figures("codex_pot.rerun.outcome")
        ends = program_ends(outcome)
        without_value = {name: count for name, count in ends.items() if name != "a value"}
        assert without_value == {"no_answer" if name == "no_ans" else name: n for name, n in expected.items()}
        assert found["answered"] == 6685 - figures("codex_pot.rerun")["none"]
