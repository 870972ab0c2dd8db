"""`eval`, `compare` and `report` over questions of your own, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table, compare, evaluate
from chameleon.errors import InputError
from chameleon.evaluation import Problem
from chameleon.values import freeze
from tests.e2e.commands import Command

LEAGUE = "Team,Points,Won\nKingsmere,47,14\nHarbour,46,15\nNorthgate,35,10\n"
QUESTIONS = """\
question,answer,table,tags
How many more points does Kingsmere have than Northgate?,12,league.csv,difference
Which team has the most points?,kingsmere,league.csv,lookup
Which teams have more than 40 points?,Harbour; Kingsmere,league.csv,lookup
Which team is best liked?,DECLINE,league.csv,decline
How many points does Harbour have?,45,league.csv,lookup
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "league.csv").write_text(LEAGUE, "utf-8")
    (tmp_path / "q.csv").write_text(QUESTIONS, "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("CHAMELEON_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def scripted(folder: Path, name: str, *answers: str) -> str:
    """Write a model that answers in turn, as `wikitq_end_to_end` asks it."""
    (folder / name).write_text("\n".join(map(json.dumps, answers)), "utf-8")
    return f"scripted:{name}"


def test_eval_needs_no_other_option_and_says_what_it_does_without_a_model(command: Command) -> None:
    done = command("eval", "tables_first", "q.csv")
    assert done.code == 0 and "There is no model, so tables_offline answers alone" in done.err
    assert "80.00" in done.out and "declined 1 (1 right), failed 0." in done.out
    assert all(tag in done.out for tag in ("difference", "lookup", "decline"))
    counts = json.loads(command("eval", "tables_first", "q.csv", "--json").out)
    assert (counts["n"], counts["correct"]) == (5, 4)


def test_a_table_for_all_questions_is_an_option(command: Command, folder: Path) -> None:
    rows = [{"question": "Which team has the most points?", "answer": "Kingsmere"}]
    (folder / "q.jsonl").write_text(json.dumps(rows[0]), "utf-8")
    assert "there is no problem" not in command("eval", "tables_offline", "q.jsonl", "-t", "league.csv").err
    shown = json.loads(command("eval", "tables_offline", "q.jsonl", "-t", "league.csv", "--json").out)
    assert shown["correct"] == 1


def test_an_evaluation_resumes_and_refuses_another_table(command: Command, folder: Path) -> None:
    asked = ("eval", "tables_offline", "q.csv", "--out", "run")
    assert command(*asked, "--limit", "2").code == 0
    lines = (folder / "run" / "results.jsonl").read_bytes().splitlines()
    assert command(*asked).code == 0 and "2 of 5 are done" in command(*asked, "--limit", "5").err.replace(
        "5 of 5", "2 of 5"
    )
    again = (folder / "run" / "results.jsonl").read_bytes().splitlines()
    assert len(again) == 5 and again[:2] == lines
    (folder / "league.csv").write_text(LEAGUE + "Rovers,1,0\n", "utf-8")
    assert "the folder was made with other settings: the content of files has changed" in command(*asked).err


def test_a_sample_is_the_same_for_the_same_seed(command: Command, folder: Path) -> None:
    def drawn(seed: str) -> set[str]:
        command("eval", "tables_offline", "q.csv", "--sample", "2", "--seed", seed, "--out", f"s{seed}")
        lines = (folder / f"s{seed}" / "results.jsonl").read_text("utf-8").splitlines()
        return {json.loads(line)["id"] for line in lines}

    found = {seed: drawn(seed) for seed in "12345"}
    assert all(len(ids) == 2 for ids in found.values()) and len(set(map(frozenset, found.values()))) > 1
    assert drawn("1") == found["1"]


def test_a_scorer_of_your_own_is_a_function_in_a_file(command: Command, folder: Path) -> None:
    (folder / "mine.py").write_text("def score(answer, gold):\n    return True\n", "utf-8")
    shown = json.loads(command("eval", "tables_offline", "q.csv", "--scorer", "mine:score", "--json").out)
    assert shown["correct"] == 5
    assert "has no scorer 'valve'" in command("eval", "tables_offline", "q.csv", "--scorer", "valve").err


def test_ways_are_compared_in_one_table(command: Command, folder: Path) -> None:
    model = scripted(folder, "replies", "12", "Kingsmere", "Harbour, Kingsmere", "Harbour", "46")
    ways = ("-i", "tables_offline", "-i", "wikitq_end_to_end", "-m", model)
    options = (*ways, "-w", "1", "--out", "both", "--store", "off")
    done = command("compare", "q.csv", *options, "--json")
    first, second = json.loads(done.out)["arms"]
    assert (first["arm"], first["evaluation"]["correct"]) == ("tables_offline", 4)
    assert second["arm"] == "wikitq_end_to_end" and second["evaluation"]["correct"] == 3
    assert second["evaluation"]["difference"] is not None
    shown = command("compare", "q.csv", *options)
    assert "right  wrong" in shown.out and "to the first" in shown.out and "1 (1 right)" in shown.out
    assert (first["evaluation"]["declined"], first["evaluation"]["rightly_declined"]) == (1, 1)
    table = command("report", "both/tables_offline", "both/wikitq_end_to_end").out
    assert "✓ right, ✗ wrong, – declined, ! failed" in table and "kingsmere" in table


def test_a_way_without_its_model_is_told_and_leaves_the_others(command: Command) -> None:
    done = command("compare", "q.csv", "-i", "tables_offline", "-i", "tables")
    assert done.code == 0 and "tables could not run: it asks a model, and none is named" in done.out
    ways = ("tables", "tables_offline", "tables_first")
    told = command("compare", "q.csv", *(option for way in ways for option in ("-i", way))).out
    assert told.count("to tables_offline") == 2 and "to tables_offline, the first that ran" in told


def test_an_arm_of_a_grid_has_its_own_inventory_model_and_data(command: Command, folder: Path) -> None:
    model = scripted(folder, "replies", "12", "Kingsmere", "Harbour; Kingsmere", "Harbour", "45")
    (folder / "few.csv").write_text("".join(QUESTIONS.splitlines(keepends=True)[:3]), "utf-8")
    asked = f"{{inventory: wikitq_end_to_end, model: '{model}'}}"
    arms = f"  whole: {{data: q.csv}}\n  few: {{data: few.csv}}\n  asked: {asked}\n"
    (folder / "mine.yaml").write_text(f"name: mine\ninventory: tables_offline\narms:\n{arms}", "utf-8")
    lacking = command("compare", "mine.yaml")
    assert lacking.code == 2 and "the arm asked has no data of its own" in lacking.err
    done = command("compare", "mine.yaml", "q.csv", "-w", "1", "--store", "off", "--json")
    assert "3 arms of mine over 5 problems of questions and 2 problems of questions" in done.err
    counts = {each["arm"]: each["evaluation"] for each in json.loads(done.out)["arms"]}
    assert [(each["n"], each["correct"]) for each in counts.values()] == [(5, 4), (2, 2), (5, 4)]


def test_one_question_is_answered_in_every_way(command: Command, folder: Path) -> None:
    asked = ("compare", "Which team has the most points?", "-t", "league.csv")
    done = command(*asked, "-i", "tables_offline", "-i", "tables")
    assert done.code == 0 and "Kingsmere" in done.out and "Team with the most Points" in done.out
    assert "tables does not answer: the inventory tables asks a model" in " ".join(done.out.split())
    assert "such as OPENAI_API_KEY." in " ".join(done.out.split())  # to its end
    ways = json.loads(command(*asked, "-i", "tables_offline", "-i", "tables", "--json").out)["ways"]
    assert [way["answer"] for way in ways] == ["Kingsmere", None] and "model" in ways[1]["why not"]
    assert "name what to compare" in command(*asked).err


def test_labels_of_a_person_are_counted(command: Command, folder: Path) -> None:
    command("eval", "tables_offline", "q.csv", "--out", "run")
    (folder / "labels.csv").write_text("id,label\n6,gold wrong\n4,list; order\n", "utf-8")
    shown = command("report", "run", "--labels", "labels.csv")
    assert "3 labels" in shown.out and "gold wrong" in shown.out and "33.33" in shown.out
    assert "% of labels" in shown.out
    command("report", "run", "--labels", "labels.csv", "--html", "page.html")
    assert "<dt>gold wrong</dt><dd>1 (33.33 % of the labels)</dd>" in (folder / "page.html").read_text(
        "utf-8"
    )
    (folder / "labels.csv").write_text("id,label\n99,x\n", "utf-8")
    assert "there is no problem '99' in run" in command("report", "run", "--labels", "labels.csv").err


def test_python_evaluates_files_and_rows() -> None:
    found = evaluate("q.csv", "tables_offline")
    assert (found.n, found.accuracy) == (5, 0.8) and "Kingsmere" in repr(found)
    rows: list[dict[str, Any]] = [
        {"question": "Which is the largest n?", "answer": 3, "table": Table(["n"], [["1"], ["3"]])},
        {"question": "Which team has the most points?", "answer": "Kingsmere", "table": "league.csv"},
    ]
    assert [each.verdict for each in evaluate(rows, "tables_offline").results] == ["right", "right"]
    assert evaluate(rows, "tables_offline", scorer=lambda answer, gold: False).accuracy == 0
    problem = Problem("own", {"question": "Which team has the most points?"}, "Kingsmere")
    assert evaluate([problem], "tables_offline", table="league.csv").rows[0]["id"] == "own"
    with pytest.raises(InputError, match=r"problem 1: its scorer cannot judge .*: TypeError: unsupported"):
        evaluate(rows[1:], "tables_offline", scorer=lambda answer, gold: answer / 0)
    with pytest.raises(InputError, match=r"no key 'y'.*\(test_own_questions\.py, line \d+\)"):
        evaluate(rows[1:], "tables_offline", scorer=lambda answer, gold: freeze({"x": 1})["y"])
    with pytest.raises(InputError, match="row 1: it has no question"):
        evaluate([{"answer": 1}], "tables_offline")


def test_python_compares_files_and_a_question() -> None:
    found = compare("q.csv", ["tables_offline", "pictures_offline"])
    assert [row["way"] for row in found.rows] == ["tables_offline", "pictures_offline"]
    assert found.rows[0]["right"] == "4" and "<table>" in found._repr_html_()
    assert all(column in repr(found).splitlines()[0] for column in found.rows[0])
    one = compare("Which team has the most points?", ["tables_offline"], table="league.csv")
    assert one.rows[0]["answer"] == "Kingsmere" and "Points" in repr(one)


def test_what_compare_keeps_is_reported_by_its_folder_and_by_all_in_it(
    command: Command, folder: Path
) -> None:
    kept = ("compare", "q.csv", "-i", "tables_first", "-i", "tables_offline", "--out", "both")
    assert "tables_offline alone, for there is no model" in command(*kept).err
    for named in (["both"], sorted(str(each) for each in Path("both").iterdir())):
        assert "✓" in command("report", *named).out
    command("eval", "tables_offline", "q.csv", "--out", "one")
    again = command("compare", "q.csv", "-i", "tables_offline", "--out", "one")
    assert again.code == 1 and "the folder holds an evaluation" in again.err


def test_ways_of_one_name_are_told_apart_and_a_misspelled_file_is_no_question(command: Command) -> None:
    done = command("compare", "q.csv", "-i", "tables_offline", "-i", "tables_offline", "--json")
    assert [arm["arm"] for arm in json.loads(done.out)["arms"]] == ["tables_offline", "tables_offline (2)"]
    missing = command("compare", "qs.csv", "-i", "tables_offline")
    assert missing.code == 1 and "there is no such file. Did you mean 'q.csv'?" in missing.err


def test_runs_over_other_questions_are_no_pairs(command: Command, folder: Path) -> None:
    (folder / "other.csv").write_text(
        "question,answer,table\nHow many points does Harbour have?,46,league.csv\n"
    )
    arms = "  one: {data: q.csv}\n  other: {data: other.csv}\n"
    (folder / "mine.yaml").write_text(f"name: mine\ninventory: tables_offline\narms:\n{arms}", "utf-8")
    done = command("compare", "mine.yaml", "--out", "both", "--json")
    assert [arm["evaluation"]["difference"] for arm in json.loads(done.out)["arms"]] == [None, None]
    assert len(json.loads(command("report", "both", "--json").out)["tables"]) == 2


def test_a_scorer_of_your_own_is_kept_with_its_file(command: Command, folder: Path) -> None:
    (folder / "mine.py").write_text("def score(answer, gold):\n    return True\n", "utf-8")
    asked = ("eval", "tables_offline", "q.csv", "--scorer", "mine:score", "--out", "run")
    assert command(*asked).code == 0 and "5 of 5 are done" in command(*asked).err
    assert "✓" in command("report", "run").out


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("What,is,this,too,many", "line 3: this line has 5 cells, and the first line names 4"),
        ("How many points does Harbour have?,46", "Runs 2 problems"),
        ("How many points does Harbour have?,46,nowhere.csv", "line 3: nowhere.csv: there is no such file"),
        ("How many points does Harbour have?,,league.csv", "line 3: it has no answer. Write DECLINE"),
    ],
)
def test_a_bad_row_is_told_with_its_line_and_skipped(
    row: str, told: str, command: Command, folder: Path
) -> None:
    lines = QUESTIONS.splitlines()
    (folder / "bad.csv").write_text("\n".join([*lines[:2], row]), "utf-8")
    done = command("eval", "tables_offline", "bad.csv", "-t", "league.csv")
    assert told in done.err and done.code == 0
    assert ("Skipped 1 of 2 rows" in done.err) == ("Runs 2" not in told)
    sampled = command("eval", "tables_offline", "bad.csv", "-t", "league.csv", "--sample", "1").err
    assert sampled.count("skipped: ") == done.err.count("skipped: ") <= 1
    (folder / "bad.jsonl").write_text('{"question": "Q?", "answer": 1}\n\n{"question": \n42\n', "utf-8")
    told_json = command("eval", "tables_offline", "bad.jsonl", "-t", "league.csv").err
    assert "line 3: this is no JSON" in told_json and "line 4: each line must be" in told_json


def test_python_reads_a_changed_table_again_and_refuses_an_id_twice(folder: Path) -> None:
    row = {
        "id": "x",
        "question": "Which team has the most points?",
        "answer": "Harbour",
        "table": "league.csv",
    }
    assert evaluate([row], "tables_first").accuracy == 0
    (folder / "league.csv").write_text("Team,Points\nHarbour,99\nKingsmere,4\n", "utf-8")
    assert evaluate([row], "tables_first").accuracy == 1
    with pytest.raises(InputError, match="row 2: the id x occurs twice"):
        evaluate([row, row], "tables_first")
    found = compare([row], ["tables_first", "tables"])
    assert list(found.runs) == ["tables_first"] and len(found.rows) == 2


def test_a_report_leaves_the_log_as_it_is(command: Command, folder: Path) -> None:
    command(
        "ask", "Which team has the most points?", "-t", "league.csv", "-i", "tables_offline", "--log", "l"
    )
    cut = (folder / "l").read_bytes()[:-30]
    (folder / "l").write_bytes(cut)
    assert command("report", "l", "--html", "l.html").code == 0
    assert (folder / "l").read_bytes() == cut and "Kingsmere" in (folder / "l.html").read_text("utf-8")


@pytest.mark.parametrize(("column", "meant"), [("tabel", "table"), ("unt", "unit"), ("note", "")])
def test_a_misspelled_column_is_told_once(column: str, meant: str, command: Command, folder: Path) -> None:
    (folder / "q.csv").write_text(f"question,answer,{column}\nHow many?,12,league.csv\n", "utf-8")
    told = command("eval", "tables_offline", "q.csv", "-t", "league.csv", "--sample", "1").err
    assert told.count("is not used") == bool(meant)
    assert not meant or f"column '{column}' is not used; did you mean '{meant}'?" in told


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/hosts", "~/secret.csv", "link.csv", "league.csv"])
def test_a_row_names_no_file_outside_the_folder_of_its_file(name: str, folder: Path) -> None:
    (folder.parent / "secret.csv").write_text(LEAGUE, "utf-8")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    row = f'{{"question": "Which team has the most points?", "answer": "Kingsmere", "table": "{name}"}}'
    (folder / "q.jsonl").write_text(row, "utf-8")
    assert evaluate("q.jsonl", "tables_offline").n == (name == "league.csv")
    outside = [{**json.loads(row), "table": str(folder.parent / "secret.csv")}]
    assert evaluate(outside, "tables_offline").accuracy == 1, "the rows of a program may name any file"
