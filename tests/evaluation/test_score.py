"""`chameleon score`: texts, predictions and programs of any system, in any form, by the official rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon.sandbox import ExecResult, shared_sandbox
from tests.benchmarks.shared_data import DATA, anchors, needs_data
from tests.e2e.commands import Command, Outcome
from tests.evaluation.rows import Row, make_rows, write_rows

ROWS = make_rows(9)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "problems.jsonl", ROWS)


def counts(outcome: Outcome) -> tuple[int, int, int]:
    """How many problems there are, how many are right, and how many were answered."""
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    return found["n"], found["correct"], found["answered"]


def given(folder: Path, rows: Sequence[Mapping[str, Any]], name: str = "predictions.jsonl") -> str:
    return str(write_rows(folder / name, rows))


def test_the_shape_is_that_of_eval(command: Command, data: Path) -> None:
    outcome = command("score", "tabmwp", str(data), str(data), "--field", "answer", "--json")
    found = json.loads(outcome.out)
    assert not outcome.err and found.pop("seconds") >= 0
    assert list(found) == [
        "benchmark",
        "n",
        "correct",
        "accuracy",
        "answered",
        "answered_accuracy",
        "breakdown",
        "usage",
    ]
    assert (found["benchmark"], found["accuracy"], found["answered_accuracy"]) == ("tabmwp", 1.0, 1.0)
    assert found["breakdown"]["MC"] == {"n": 3, "correct": 3, "accuracy": 1.0}
    assert found["breakdown"]["BOOL"] == {"n": 0, "correct": 0, "accuracy": None}


VALUES: dict[str, list[Row]] = {
    "prediction": [{"pid": row["pid"], "prediction": row["answer"]} for row in ROWS],
    "executed_recorded": [{"pid": row["pid"], "executed_recorded": row["answer"]} for row in ROWS],
    "executed": [{"id": row["pid"], "executed": row["answer"]} for row in ROWS],
    "numbers as ids": [{"pid": int(row["pid"]), "prediction": row["answer"]} for row in ROWS],
    "another order": [{"pid": row["pid"], "prediction": row["answer"]} for row in reversed(ROWS)],
}


@pytest.mark.parametrize("scorer", ["chameleon", "promptpg"])
@pytest.mark.parametrize("rows", VALUES.values(), ids=VALUES)
def test_predictions_under_the_names_that_files_use(
    command: Command, data: Path, rows: list[Row], scorer: str, tmp_path: Path
) -> None:
    outcome = command("score", "tabmwp", str(data), given(tmp_path, rows), "--scorer", scorer, "--json")
    assert counts(outcome) == (9, 9, 9)


@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_of_predictions_by_id(
    command: Command, data: Path, indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "by_id.json"
    path.write_text(json.dumps({row["pid"]: row["answer"] for row in ROWS}, indent=indent))
    assert counts(command("score", "tabmwp", str(data), str(path), "--json")) == (9, 9, 9)
    path.write_text(json.dumps({row["pid"]: {"mine": row["answer"]} for row in ROWS}, indent=indent))
    outcome = command("score", "tabmwp", str(data), str(path), "--field", "mine", "--json")
    assert counts(outcome) == (9, 9, 9)


def test_texts_below_a_key(command: Command, data: Path, tmp_path: Path) -> None:
    rows = [{"pid": r["pid"], "few": {"output": f"I think so. The answer is {r['answer']}."}} for r in ROWS]
    predictions = given(tmp_path, rows)
    for scorer in ("chameleon", "promptpg"):
        asked = ("score", "tabmwp", str(data), predictions, "--field", "few.output", "--scorer", scorer)
        assert counts(command(*asked, "--json"))[0] == 9
        assert counts(command(*asked, "--json"))[1] == 9
    told = command("score", "tabmwp", str(data), predictions, "--field", "few.output", "--scorer", "pot")
    expected = "this scorer has no rule for a model's text. Score predictions or programs, or take another"
    assert told.complaint.startswith(expected)


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("predicton", "has no field 'predicton'. Did you mean 'prediction'?"),
        ("few.outptu", "has no field 'few.outptu'. Did you mean 'few.output'?"),
        ("few", "has no field 'few'. There are: few.output, pid, prediction."),
        ("none.output", "has no field 'none.output'"),
        ("", "has no field ''"),
        (".", "has no field '.'"),
        ("pid.output", "has no field 'pid.output'"),
        ("few.output.deeper", "has no field 'few.output.deeper'"),
    ],
)
def test_a_field_that_is_not_there_is_told(
    command: Command, data: Path, field: str, told: str, tmp_path: Path
) -> None:
    rows = [{"pid": row["pid"], "prediction": "7", "few": {"output": "7"}} for row in ROWS]
    outcome = command("score", "tabmwp", str(data), given(tmp_path, rows), "--field", field)
    assert outcome.complaint.startswith("the prediction for problem 1000 ") and told in outcome.complaint


def test_our_own_results_score_as_they_were_scored(command: Command, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = command("eval", "tables_offline", str(data), "--out", str(out), "--json")
    scored = command("score", "tabmwp", str(data), str(out / "results.jsonl"), "--json")
    assert counts(scored) == counts(ran) == (9, 6, 6)
    assert json.loads(scored.out)["breakdown"] == json.loads(ran.out)["breakdown"]


def test_what_our_results_declined_is_never_right(command: Command, data: Path, tmp_path: Path) -> None:
    """Chameleon's rule takes the first choice for nothing; that is for other systems' files alone."""
    rows = [{"pid": r["pid"], "answer": None, "declined": True, "error": {"kind": "Declined"}} for r in ROWS]
    assert counts(command("score", "tabmwp", str(data), given(tmp_path, rows), "--json")) == (9, 0, 0)
    others = [{"pid": row["pid"], "prediction": None} for row in ROWS]
    first = sum(bool(row["choices"]) and row["choices"][0] == row["answer"] for row in ROWS)
    assert counts(command("score", "tabmwp", str(data), given(tmp_path, others), "--json")) == (9, first, 0)


def test_missing_and_unknown_ids_are_told(command: Command, data: Path, tmp_path: Path) -> None:
    rows = [*VALUES["prediction"][2:], *({"pid": f"x{number}", "prediction": 1} for number in range(3))]
    predictions = given(tmp_path, rows)
    outcome = command("score", "tabmwp", str(data), predictions, "--json")
    assert counts(outcome) == (9, 7, 7)
    assert outcome.err.splitlines() == [
        f"2 problems without a row in {predictions}: wrong.",
        f"3 rows of {predictions} of no problem of the data: not looked at.",
    ]


def test_predictions_for_other_problems_are_refused(command: Command, data: Path, tmp_path: Path) -> None:
    predictions = given(tmp_path, [{"pid": f"x{number}", "prediction": 1} for number in range(9)])
    assert command("score", "tabmwp", str(data), predictions).complaint == (
        f"{predictions}: no row of the predictions belongs to a problem of the data. "
        "A row belongs to the problem with the same 'pid'."
    )


@pytest.mark.parametrize("scorer", ["chameleon", "promptpg"])
def test_a_text_that_is_null_is_no_prediction(
    command: Command, data: Path, scorer: str, tmp_path: Path
) -> None:
    rows = [{"pid": row["pid"], "output": f"The answer is {row['answer']}."} for row in ROWS]
    rows[0]["output"] = rows[3]["output"] = None  # free questions, so that no rule guesses a choice
    asked = ("score", "tabmwp", str(data), given(tmp_path, rows), "--field", "output", "--scorer", scorer)
    assert counts(command(*asked, "--json")) == (9, 7, 7)


RUNS = [
    {"pid": row["pid"], "run": run, "prediction": row["answer"] if run == "good" else "none", "n": 7}
    for run, rows in (("good", ROWS[:6]), ("bad", ROWS[3:]))
    for row in rows
]


def test_where_picks_a_run_of_several(command: Command, data: Path, tmp_path: Path) -> None:
    asked = ("score", "tabmwp", str(data), given(tmp_path, RUNS), "--json")
    assert "two predictions for problem" in command(*asked).complaint
    assert counts(command(*asked, "--where", "run=good"))[:2] == (9, 6)
    assert counts(command(*asked, "--where", "run=bad", "--given"))[0] == 6
    told = command(*asked, "--where", "run=god").complaint
    assert "no row of the predictions that have run=god belongs to a problem of the data" in told
    assert "--where 'good' is no KEY=VALUE" in command(*asked, "--where", "good").complaint


def test_given_leaves_out_what_has_no_prediction(command: Command, data: Path, tmp_path: Path) -> None:
    rows = [{"pid": row["pid"], "mine": row["answer"]} for row in ROWS[:4]]
    rows += [{"pid": ROWS[4]["pid"], "mine": None}, {"pid": ROWS[5]["pid"], "other": "7"}]
    predictions = given(tmp_path, rows)
    asked = ("score", "tabmwp", str(data), predictions, "--field", "mine", "--given", "--json")
    outcome = command(*asked)
    assert counts(outcome) == (4, 4, 4)
    assert outcome.err == f"5 problems without a row in {predictions}: left out.\n"
    typo = (*asked[:5], "mien", *asked[6:])
    assert "has no field 'mien'. Did you mean 'mine'?" in command(*typo).complaint


def test_rows_without_an_id_and_ids_that_occur_twice_are_told(
    command: Command, data: Path, tmp_path: Path
) -> None:
    twice = given(tmp_path, [{"pid": "1000", "prediction": "1"}, {"pid": 1000, "prediction": "2"}])
    assert "two predictions for problem 1000" in command("score", "tabmwp", str(data), twice).complaint
    nameless = given(tmp_path, [{"name": "1000", "prediction": "1"}] * 2)
    told = command("score", "tabmwp", str(data), nameless).complaint
    assert told == "a row of the predictions names no problem. Its fields: name, prediction."


ODD: list[Any] = [
    [], {}, [["7"]], {"a": 1}, True, False, 10**400, -0.0, 1e308, float("nan"), float("inf"), "", " ",
    "\ud800", "\0", "<script>", "1/0", "1/", "/", "1,,", "%", "$", "9" * 5000, "\x1b[31m7", None, [None],
]  # fmt: skip


@pytest.mark.parametrize("scorer", ["chameleon", "pot", "promptpg"])
def test_predictions_of_odd_types_are_wrong_and_no_more(
    command: Command, scorer: str, tmp_path: Path
) -> None:
    rows = [row for row in make_rows(3 * len(ODD)) if not row["choices"] and row["unit"] is None]
    data = write_rows(tmp_path / "problems.jsonl", rows)
    predictions = given(
        tmp_path, [{"pid": r["pid"], "prediction": odd} for r, odd in zip(rows, ODD, strict=True)]
    )
    outcome = command("score", "tabmwp", str(data), predictions, "--scorer", scorer, "--json")
    assert counts(outcome)[:2] == (len(ODD), 0)
    texts = given(tmp_path, [{"pid": row["pid"], "output": 7} for row in rows])
    told = command("score", "tabmwp", str(data), texts, "--field", "output", "--scorer", scorer).complaint
    assert told == f"output of {rows[0]['pid']} is a int, not a text"


PROGRAMS: dict[str, tuple[Any, str]] = {
    "7": ("ans = 7", "a value"),
    "none": ("x = 7", "no_answer"),
    "broken": ("ans = (", "SyntaxError"),
    "zero": ("ans = 1 / 0", "ZeroDivisionError"),
    "reads": ("ans = open('/etc/passwd').read()", ""),
    "spawns": ("import os\nans = os.system('true')", ""),
    "forks": ("import os\nwhile True: os.fork()", ""),
    "exits": ("import sys; sys.exit(7)", ""),
    "prints": ("print('7' * 10**7)\nans = 7", ""),
    "large": ("ans = 10 ** 5000", ""),
    "memory": ("ans = 'a' * 10**11", ""),
    "NUL": ("ans = 7\0", ""),
    "surrogate": ("ans = '\ud800'", ""),
    "empty": ("", ""),
    "number": (7, "no program"),
    "null": (None, "no program"),
}


def program_ends(outcome: Outcome) -> dict[str, int]:
    """How many programs came to which end, as the command tells it."""
    told = re.fullmatch(r"Programs: (.*)\.\n", outcome.err)
    assert told is not None, outcome.err
    ends = (end.split(" ", 1) for end in re.split(r", (?=\d)", told[1]))
    return {name: int(number.replace(",", "")) for number, name in ends}


def test_hostile_programs_are_wrong_and_the_others_go_on(command: Command, tmp_path: Path) -> None:
    rows = [
        {"pid": name, "table": "a | b", "question": "?", "choices": None, "answer": "7", "program": program}
        for name, (program, _) in PROGRAMS.items()
    ]
    data = given(tmp_path, rows)
    outcome = command("score", "tabmwp", data, data, "--field", "program", "--json")
    n, correct, _ = counts(outcome)
    assert n == len(rows) and correct <= 2
    ends = program_ends(outcome)
    assert sum(ends.values()) == len(rows)
    assert ends["no program"] == 2
    assert all(end in ends for _, end in PROGRAMS.values() if end)


def test_a_program_that_does_not_end_is_stopped(command: Command, tmp_path: Path) -> None:
    rows = [{**ROWS[0], "program": "while True: pass"}, {**ROWS[3], "program": f"ans = {ROWS[3]['answer']}"}]
    data = given(tmp_path, rows)
    outcome = command("score", "tabmwp", data, data, "--field", "program", "--json")
    assert counts(outcome) == (2, 1, 1)


def figures(prefix: str) -> dict[str, int]:
    start = f"tabmwp.{prefix}."
    found = anchors().items()
    return {name.removeprefix(start): value for name, (value, _) in found if name.startswith(start)}


def right(outcome: Outcome) -> dict[str, int]:
    """The right answers of each column that has problems."""
    assert outcome.code == 0, outcome.err
    columns = json.loads(outcome.out)["breakdown"]
    return {name: count["correct"] for name, count in columns.items() if count["n"]}


class RunOnce:
    """A sandbox that runs each program once, however often it is asked for."""

    def __init__(self) -> None:
        self.ended: dict[str, ExecResult] = {}

    def run(self, program: str, *, timeout: float) -> ExecResult:
        if program not in self.ended:
            self.ended[program] = shared_sandbox().run(program, timeout=timeout)
        return self.ended[program]


@needs_data
def test_codex_programs_run_again_give_the_recorded_figures(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox, data = RunOnce(), str(DATA / "tabmwp/codex_pot.jsonl.gz")
    monkeypatch.setattr("chameleon.evaluation.score.shared_sandbox", lambda: sandbox)
    for scorer in ("pot", "chameleon"):
        outcome = command("score", "tabmwp", data, data, "--field", "program", "--scorer", scorer, "--json")
        assert right(outcome) == figures(f"codex_pot.rerun.{scorer}_scorer")
        expected = figures("codex_pot.rerun.outcome")
        ends = program_ends(outcome)
        without_value = {name: count for name, count in ends.items() if name != "a value"}
        assert without_value == {"no_answer" if name == "no_ans" else name: n for name, n in expected.items()}
        assert json.loads(outcome.out)["answered"] == 6685 - figures("codex_pot.rerun")["none"]


@needs_data
def test_gpt3_outputs_give_the_recorded_figures(command: Command) -> None:
    gpt3, codex = (str(DATA / f"tabmwp/{name}.jsonl.gz") for name in ("gpt3_promptpg", "codex_pot"))
    normalised = command(
        "score", "tabmwp", gpt3, gpt3, "--field", "zeroshot.prediction_norm", "--scorer", "promptpg", "--json"
    )
    assert right(normalised) == figures("gpt3.zeroshot.promptpg_rule")
    for setting in ("zeroshot_cot", "fewshot2_cot"):
        outcome = command("score", "tabmwp", codex, gpt3, "--field", f"{setting}.output", "--json")
        assert right(outcome) == figures(f"gpt3.{setting}.chameleon_answer_generator")
        assert outcome.err == f"1 row of {gpt3} of no problem of the data: not looked at.\n"


@needs_data
def test_recorded_values_need_no_field(command: Command) -> None:
    data = str(DATA / "tabmwp/codex_pot.jsonl.gz")
    outcome = command("score", "tabmwp", data, data, "--scorer", "pot", "--json")
    assert right(outcome) == figures("codex_pot.recorded.pot_scorer")
    assert json.loads(outcome.out)["answered"] == 6685 - figures("codex_pot.recorded")["none"]
