"""`eval`, `compare` and `report` over questions of your own, and the same from Python."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table, compare, evaluate
from chameleon.errors import InputError
from chameleon.evaluation import Problem
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
MOST = "Which team has the most points?"
ROW = {"id": "x", "question": MOST, "answer": "Kingsmere", "table": "league.csv"}
EVAL = "eval tables_offline q.csv"
TWO = "compare q.csv -i tables_offline"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "league.csv").write_text(LEAGUE, "utf-8")
    (tmp_path / "q.csv").write_text(QUESTIONS, "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("CHAMELEON_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def grid(folder: Path, arms: str) -> None:
    (folder / "mine.yaml").write_text(f"name: mine\ninventory: tables_offline\narms:\n{arms}", "utf-8")


def scripted(folder: Path, *answers: str) -> str:
    (folder / "replies").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    return "scripted:replies"


def test_eval_needs_no_other_option_and_says_what_it_does_without_a_model(sh: Command, folder: Path) -> None:
    done = sh("eval tables_first q.csv")
    assert done.code == 0 and "There is no model, so only tables_offline answers" in done.err
    assert "80.00" in done.out and "declined 1 (1 right), failed 0." in done.out
    assert all(tag in done.out for tag in ("difference", "lookup", "decline"))
    counts = sh("eval tables_first q.csv --json").json
    assert (counts["n"], counts["correct"]) == (5, 4)
    (folder / "q.jsonl").write_text(json.dumps({"question": MOST, "answer": "Kingsmere"}), "utf-8")
    assert sh("eval tables_offline q.jsonl -t league.csv --json").json["correct"] == 1
    (folder / "other.csv").write_text("Team,Points\nSelmark,1\n", "utf-8")
    assert sh("eval tables_offline q.csv -t other.csv --json").json["correct"] == 4, "each row names its own"


def test_a_sample_is_the_same_for_the_same_seed(sh: Command, folder: Path) -> None:
    def drawn(seed: str, out: str) -> frozenset[str]:
        sh(f"{EVAL} --sample 2 --seed {seed} --out {out}")
        lines = (folder / out / "results.jsonl").read_text("utf-8").splitlines()
        return frozenset(json.loads(line)["id"] for line in lines)

    found = {seed: drawn(seed, seed) for seed in "12345"}
    assert {len(ids) for ids in found.values()} == {2} and len(set(found.values())) > 1
    assert drawn("1", "again") == found["1"]


def test_a_scorer_of_your_own_is_a_function_in_a_file_and_kept_with_it(sh: Command, folder: Path) -> None:
    (folder / "mine.py").write_text("def score(answer, gold):\n    return True\n", "utf-8")
    own = f"{EVAL} --scorer mine:score"
    assert sh(own, "--json").json["correct"] == 5
    assert "has no scorer 'valve'" in sh(EVAL, "--scorer", "valve").err
    assert sh(own, "--out", "run").code == 0 and "5 of 5 done" in sh(own, "--out", "run").err
    assert "✓" in sh("report run").out


def test_ways_are_compared_in_one_table(sh: Command, folder: Path) -> None:
    model = scripted(folder, "12", "Kingsmere", "Harbour, Kingsmere", "Harbour", "46")
    asked = f"{TWO} -i wikitq_end_to_end -m {model} -w 1 --out both --store off"
    first, second = sh(asked, "--json").json["arms"]
    assert (first["arm"], first["evaluation"]["correct"]) == ("tables_offline", 4)
    assert second["arm"] == "wikitq_end_to_end" and second["evaluation"]["correct"] == 3
    assert second["evaluation"]["difference"] is not None
    assert (first["evaluation"]["declined"], first["evaluation"]["rightly_declined"]) == (1, 1)
    shown = sh(asked).out
    assert "right  wrong" in shown and "to the first" in shown and "1 (1 right)" in shown
    table = sh("report both/tables_offline both/wikitq_end_to_end").out
    assert "✓ right, ✗ wrong, – declined, ! failed" in table and "kingsmere" in table


def test_an_arm_of_a_grid_has_its_own_inventory_model_and_data(sh: Command, folder: Path) -> None:
    model = scripted(folder, "12", "Kingsmere", "Harbour; Kingsmere", "Harbour", "45")
    (folder / "few.csv").write_text("".join(QUESTIONS.splitlines(keepends=True)[:3]), "utf-8")
    asked = f"{{inventory: wikitq_end_to_end, model: '{model}'}}"
    grid(folder, f"  whole: {{data: q.csv}}\n  few: {{data: few.csv}}\n  asked: {asked}\n")
    lacking = sh("compare mine.yaml")
    assert lacking.code == 2 and "the arm asked has no data" in lacking.err
    done = sh("compare mine.yaml q.csv -w 1 --store off --json")
    assert "Evaluates 3 arms over 5 questions in q.csv and 2 questions in few.csv" in done.err
    found = [arm["evaluation"] for arm in done.json["arms"]]
    assert [(each["n"], each["correct"]) for each in found] == [(5, 4), (2, 2), (5, 4)]


def test_runs_over_other_questions_are_no_pairs(sh: Command, folder: Path) -> None:
    asked = "How many points does Harbour have?,46,league.csv"
    (folder / "other.csv").write_text(f"question,answer,table\n{asked}\n")
    grid(folder, "  one: {data: q.csv}\n  other: {data: other.csv}\n")
    done = sh("compare mine.yaml --out both --json")
    assert [arm["evaluation"]["difference"] for arm in done.json["arms"]] == [None, None]
    assert len(sh("report both --json").json["tables"]) == 2


def test_one_question_is_answered_in_every_way(sh: Command) -> None:
    asked = f"compare '{MOST}' -t league.csv"
    done = sh(f"{asked} -i tables_offline -i tables")
    shown = " ".join(done.out.split())
    assert done.code == 0 and "Kingsmere" in shown and "Team with the most Points" in shown
    assert "tables does not answer: the inventory tables asks a model" in shown
    assert "such as OPENAI_API_KEY." in shown  # to its end
    ways = sh(f"{asked} -i tables_offline -i tables --json").json["ways"]
    assert [way["answer"] for way in ways] == ["Kingsmere", None] and "model" in ways[1]["why not"]
    assert "name what to compare" in sh(asked).err


def test_labels_of_a_person_are_counted(sh: Command, folder: Path) -> None:
    sh(f"{EVAL} --out run")
    (folder / "labels.csv").write_text("id,label\n6,gold wrong\n4,list; order\n", "utf-8")
    shown = sh("report run --labels labels.csv --html page.html").out
    assert all(each in shown for each in ("Labels that", "gold wrong", "33.33", "run, % of labels"))
    page = (folder / "page.html").read_text("utf-8")
    assert re.search(r"gold wrong</th><td class=\"figure\">1</td><td class=\"figure\">33.33</td>", page)
    (folder / "labels.csv").write_text("id,label\n99,x\n", "utf-8")
    assert "there is no problem '99' in run" in sh("report run --labels labels.csv").err


def test_python_evaluates_files_and_rows(folder: Path) -> None:
    found = evaluate("q.csv", "tables_offline")
    assert (found.n, found.accuracy) == (5, 0.8) and "Kingsmere" in repr(found)
    table = Table(["n"], [["1"], ["3"]])
    rows: list[dict[str, Any]] = [{"question": "Which is the largest n?", "answer": 3, "table": table}, ROW]
    assert [each.verdict for each in evaluate(rows, "tables_offline").results] == ["right", "right"]
    assert evaluate(rows, "tables_offline", scorer=lambda answer, gold: False).accuracy == 0
    problem = Problem("own", {"question": MOST}, "Kingsmere")
    assert evaluate([problem], "tables_offline", table="league.csv").rows[0]["id"] == "own"
    (folder / "league.csv").write_text("Team,Points\nHarbour,99\nKingsmere,4\n", "utf-8")
    assert evaluate([ROW], "tables_first").accuracy == 0, "a changed table is read again"
    for wrong, told in (([{"answer": 1}], "row 1: it has no question"), ([ROW, ROW], "row 2: the id x")):
        with pytest.raises(InputError, match=told):
            evaluate(wrong, "tables_offline")
    with pytest.raises(InputError, match=r"problem x: its scorer cannot judge .*: TypeError: unsupported"):
        evaluate([ROW], "tables_offline", scorer=lambda answer, gold: answer / 0)


def test_python_compares_files_and_a_question() -> None:
    found = compare("q.csv", ["tables_offline", "pictures_offline"])
    assert [row["way"] for row in found.rows] == ["tables_offline", "pictures_offline"]
    assert found.rows[0]["right"] == "4" and "<table>" in found._repr_html_()
    assert all(column in repr(found).splitlines()[0] for column in found.rows[0])
    one = compare(MOST, ["tables_offline"], table="league.csv")
    assert one.rows[0]["answer"] == "Kingsmere" and "Points" in repr(one)
    some = compare([ROW], ["tables_first", "tables"])
    assert list(some.runs) == ["tables_first"] and len(some.rows) == 2


def test_what_compare_keeps_is_reported_by_its_folder_and_by_all_in_it(sh: Command) -> None:
    assert "only tables_offline, because no model is set" in sh(f"{TWO} -i tables_first --out both").err
    for named in (["both"], sorted(str(each) for each in Path("both").iterdir())):
        assert "✓" in sh("report", *named).out
    sh(f"{EVAL} --out one")
    again = sh(f"{TWO} --out one")
    assert again.code == 1 and "the folder holds a single evaluation" in again.err


def test_ways_of_one_name_are_told_apart_and_a_misspelled_file_is_no_question(sh: Command) -> None:
    arms = sh(f"{TWO} -i tables_offline --json").json["arms"]
    assert [arm["arm"] for arm in arms] == ["tables_offline", "tables_offline (2)"]
    done = sh("compare q.csv -i tables -i tables_offline -i tables_first").out
    assert "tables could not run: it asks a model" in done and "to tables_offline, the first that ran" in done
    missing = sh(TWO.replace("q.csv", "qs.csv"))
    assert missing.code == 1 and "there is no such file. Did you mean 'q.csv'?" in missing.err


ONE = "\n".join([*QUESTIONS.splitlines()[:2], ""])
IN_JSON = json.dumps({"question": MOST, "answer": "Kingsmere"}) + "\n\n"


@pytest.mark.parametrize(
    ("text", "told", "is_skipped"),
    [
        (f"{ONE}What,is,this,too,many", "line 3: this line has 5 cells, but the first line names 4", True),
        (f"{ONE}How many points does Harbour have?,46", "Runs 2 problems", False),
        (f"{ONE}How many points?,46,nowhere.csv", "line 3: nowhere.csv: there is no such file", True),
        (f"{ONE}How many points?,,league.csv", "line 3: it has no answer. Write DECLINE", True),
        (IN_JSON + '{"question": ', "line 3: this is no", True),
        (f"{IN_JSON}42", "line 3: each", True),
        ("question,answer,tabel\nHow many?,12,x", "column 'tabel' is not used; did you mean 'table'?", False),
        ("question,answer,note\nHow many?,12,x", "Runs 1 problem", False),
    ],
)
def test_a_bad_row_is_skipped(sh: Command, folder: Path, text: str, told: str, is_skipped: bool) -> None:
    name = "q.jsonl" if text.startswith("{") else "q.csv"
    (folder / name).write_text(text, "utf-8")
    asked = f"eval tables_offline {name} -t league.csv"
    done = sh(asked)
    assert told in done.err and done.code == 0 and ("Skipped 1 of 2 rows" in done.err) == is_skipped
    assert ("not used" in done.err) == ("not used" in told)
    assert sh(f"{asked} --sample 1").err.count("skipped: ") == done.err.count("skipped: ") <= 1


def test_a_report_leaves_the_log_as_it_is(sh: Command, folder: Path) -> None:
    sh(f"ask '{MOST}' -t league.csv -i tables_offline --log l")
    cut = (folder / "l").read_bytes()[:-30]
    (folder / "l").write_bytes(cut)
    assert sh("report l --html l.html").code == 0
    assert (folder / "l").read_bytes() == cut and "Kingsmere" in (folder / "l.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/hosts", "~/secret.csv", "link.csv", "league.csv"])
def test_a_row_names_no_file_outside_the_folder_of_its_file(name: str, folder: Path) -> None:
    (folder.parent / "secret.csv").write_text(LEAGUE, "utf-8")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "q.jsonl").write_text(json.dumps({**ROW, "table": name}), "utf-8")
    assert evaluate("q.jsonl", "tables_offline").n == (name == "league.csv")
    outside = [{**ROW, "table": str(folder.parent / "secret.csv")}]
    assert evaluate(outside, "tables_offline").accuracy == 1, "the rows of a program may name any file"
