"""Questions of a conversation are told what this run answered before, however it is run and resumed."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State
from chameleon.benchmarks.sqa import Sqa
from chameleon.errors import Declined, ModelError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.problems import PartOfProblems, Problems, in_turn
from chameleon.evaluation.results import SEQUENCES, Result, Tally
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from tests.e2e.commands import Command
from tests.engine.doubles import Does
from tests.engine.files import write
from tests.evaluation.folders import cut
from tests.evaluation.rows import read_events, read_lines, read_results, write_rows

SQA = Sqa()
SETTINGS = {"benchmark": "sqa", "scorer": "official", "inventory": "mine"}
TABLE = {"table_id": "t", "caption": "Kites", "header": ["Kite", "Minutes"], "rows": [["Lark", "20"]]}
Json = dict[str, Any]


def row(sequence: str, position: int, does: str = "says") -> dict[str, Any]:
    """A question that is to be answered, declined or failed: "says", "declines" or "fails"."""
    asked = {"id": sequence, "annotator": 0, "position": position, "table_id": "t"}
    gold = {"answer_coordinates": [[0, 0]], "answer_text": [f"gold {position}"]}
    return {**asked, **gold, "question": f"{does} {sequence} {position}"}


def problems(conversations: Sequence[Sequence[str]]) -> list[Problem]:
    """Conversations, told by what becomes of each question; the last questions of all come first."""
    rows = [row(str(at), n, does) for at, asked in enumerate(conversations) for n, does in enumerate(asked)]
    return [SQA.problem(each, {"t": TABLE}) for each in sorted(rows, key=lambda each: -each["position"])]


def answering(state: State) -> Any:
    """An answer that depends on all of the history; or none, as the question says."""
    does, *_ = str(state.input["question"]).split()
    if does == "declines":
        raise Declined("it is out of reach")
    if does == "fails":
        raise ModelError("the server failed (500)")
    turns = [f"{turn['question']}={turn['answer']}" for turn in state.input["history"]]
    return [state.input["question"], *turns]


def expected(problems: Sequence[Problem]) -> dict[str, Any]:
    """What `answering` comes to for each problem, None where nothing was answered."""
    found: dict[str, Any] = {}
    turns: dict[str, list[str]] = {}
    for problem in sorted(problems, key=lambda each: each.position):
        before = turns.setdefault(problem.sequence, [])
        said = str(problem.input["question"])
        answer = found[problem.id] = [said, *before] if said.startswith("says") else None
        before.append(f"{said}={' | '.join(answer or [])}")
    return found


def evaluate(asked: Sequence[Problem], answer: Any = answering, retry: bool = False, **options: Any) -> Json:
    """The answers by problem, None for what is not answered; of a folder what it holds at last."""
    path = options.pop("path", None)
    modules = {"note": Does(lambda state: "noted"), "answer": Does(answer)}
    executor = Executor(Inventory("mine", Fixed(["note", "answer"]), modules))
    results: list[Result] = []
    with RunDir(path, SETTINGS) if path else nullcontext() as folder:
        if folder and retry:
            folder.forget_failures()
        kept = {"run_dir": folder, "on_result": results.append}
        Evaluation(executor, SQA.scorers["official"](), SQA, **kept, **options).run(asked)
    found = [Result.from_json(line) for line in read_results(path)] if path else results
    assert len({each.id for each in found}) == len(found)
    return {each.id: each.answer if each.answered else None for each in found}


does = st.sampled_from(["says", "says", "declines", "fails"])
conversations = st.lists(st.lists(does, min_size=1, max_size=4), min_size=1, max_size=5)


MIXED = problems([["says", "says", "says"], ["declines", "says"], ["fails", "says", "says"]])


@given(conversations)
def test_eight_workers_come_to_what_one_does(asked: list[list[str]]) -> None:
    every = problems(asked)
    assert evaluate(every) == evaluate(every, workers=8) == expected(every)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conversations") / "whole"
    assert evaluate(MIXED, path=path) == expected(MIXED)
    return path


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([1, 8]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_anywhere_it_ends_the_same(undisturbed: Path, first: float, second: float, workers: int) -> None:
    with cut(undisturbed, first, second) as path:
        assert evaluate(MIXED, path=path, workers=workers) == expected(MIXED)


def test_what_follows_a_failure_is_asked_again_where_it_is_told_otherwise(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting(state: State) -> Any:
        asked.append(str(state.input["question"]))
        if asked[-1] in fails:
            raise ConnectionError("it broke")
        return answering(state)

    every, fails = problems([["says"] * 3, ["says"] * 3]), ["says 0 1", "says 1 0"]
    first = evaluate(every, counting, path=tmp_path)
    assert [id for id, answer in first.items() if answer is None] == ["0/0/1", "1/0/0"]
    asked.clear()
    fails.remove("says 0 1")
    again = evaluate(every, counting, path=tmp_path, retry=True)
    assert sorted(asked) == ["says 0 1", "says 0 2", "says 1 0"], "the others are told the same"
    asked.clear()
    fails.clear()
    assert evaluate(every, counting, path=tmp_path, retry=True) == expected(every)
    assert asked == ["says 1 0", "says 1 1", "says 1 2"]
    assert again["1/0/0"] is None and again["0/0/2"] == expected(every)["0/0/2"]


def test_problems_that_stand_alone_come_first_and_lacks_are_found() -> None:
    alone = [Problem(name, {"question": "?"}, None) for name in "ab"]
    every = [*problems([["says", "says"]]), *alone]
    assert [[each.id for each in one] for one in in_turn(every)] == [["a"], ["b"], ["0/0/0", "0/0/1"]]
    blind, asked = {"has_picture": True}, {"question": "?"}
    every = [Problem("a", {}, None), Problem("b", asked, None, detail=blind)]
    found = Problems(lambda: iter([*every, Problem("c/0", asked, None, (), blind, sequence="c")]))
    assert found.without_question == ["a"] and found.blind == ["b", "c/0"]
    assert found.has_conversations


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans())))
def test_a_conversation_is_right_where_all_its_questions_are(verdicts: list[tuple[str, bool]]) -> None:
    tally = Tally(SQA.columns)
    for position, (sequence, correct) in enumerate(verdicts):
        tally.add(Result(str(position), "", False, correct, sequence=sequence, position=position))
    names = {sequence for sequence, _ in verdicts}
    wrong = {sequence for sequence, correct in verdicts if not correct}
    count = tally.columns[SEQUENCES]
    assert (count.n, count.correct) == (len(names), len(names - wrong))


places = st.tuples(st.sampled_from(["", "a", "b", "c"]), st.integers(0, 3))
mixed = st.lists(places, unique=True, max_size=12).map(
    lambda found: [Problem(f"{of}/{at}", {}, "7", sequence=of, position=at) for of, at in found]
)


@given(mixed, st.none() | st.integers(1, 13))
def test_all_that_a_limit_leaves_are_read_again(every: list[Problem], limit: int | None) -> None:
    problems = Problems(lambda: iter(every), limit)
    expected = list(islice((each for group in in_turn(every) for each in group), limit))
    assert list(problems) == expected and len(problems) == len(expected) == len(problems.ids)
    assert all(problem.id in problems.ids for problem in expected)
    again = [each for group in in_turn(problems) for each in group]
    assert again == expected, "a conversation that is cut short comes last"
    parts = [Problems(lambda **_: iter(every), limit, part=PartOfProblems(number, 3)) for number in (1, 2, 3)]
    assert sorted(each.id for part in parts for each in part) == sorted(each.id for each in expected)
    assert sum(map(len, parts)) == len(expected)


INVENTORY = """
name: follow_ups
input: {question: str, table: Table, history: "list?"}
planner: {use: fixed, plan: [kite]}
modules: {kite: {use: "kites.py:Kite"}}
"""
MODULE = """
from chameleon import Module

class Kite(Module):
    "Names the kite that was not named before: that is told by the history alone."
    def run(self, state):
        return "Swift" if "Lark" in str(state.input.get("history")) else "Lark"
"""


class Conversing:
    """Evaluations of two small conversations over the command line, by a tool that names kites."""

    def __init__(self, command: Command, place: Path) -> None:
        self.command, self.out = command, place / "out"
        write(place, MODULE, "kites.py")
        self.inventory = str(write(place, INVENTORY, "mine.yaml"))
        write_rows(place / "tables.jsonl", [{**TABLE, "rows": [["Lark", "20"], ["Swift", "15"]]}])
        second = {"answer_coordinates": [[1, 0]], "answer_text": ["Swift"]}
        asked = [row("b", 0), {**row("a", 1), **second}, row("a", 0)]
        self.data = str(write_rows(place / "data.jsonl", asked))

    def run(self, *options: str) -> dict[str, Any]:
        done = self.command("eval", self.inventory, self.data, "--out", str(self.out), "--json", *options)
        return {"err": done.err, **(json.loads(done.out) if done.out else {})}


def test_the_command(command: Command, tmp_path: Path) -> None:
    conversing = Conversing(command, tmp_path)
    found = conversing.run()
    assert (found["benchmark"], found["correct"], found["n"]) == ("sqa", 3, 3), found["err"]
    assert found["breakdown"][SEQUENCES]["correct"] == found["breakdown"][SEQUENCES]["n"] == 2
    assert found["breakdown"]["question 2"] == {"n": 1, "correct": 1, "accuracy": 1.0}
    lines = read_lines(conversing.out / "results.jsonl")
    assert {(line["sequence"], line["position"]) for line in lines} == {("a/0", 0), ("a/0", 1), ("b/0", 0)}
    again = command("score", "sqa", conversing.data, str(conversing.out / "results.jsonl"), "--json")
    assert json.loads(again.out)["breakdown"][SEQUENCES]["correct"] == 2
    shown = command("report", str(conversing.out), "--html", str(tmp_path / "page.html"))
    assert shown.code == 0 and SEQUENCES in shown.out
    assert "says a 0" in (tmp_path / "page.html").read_text()
    assert "place in the conversation" in command("stats", str(conversing.out)).out


def test_limits_gold_history_and_none(command: Command, tmp_path: Path) -> None:
    made = Conversing(command, tmp_path)
    for limit, asked in (("1", ["b/0/0"]), ("2", ["b/0/0", "a/0/0"])):  # the data has the last question first
        assert made.run("--limit", limit)["n"] == len(asked)
        assert [line["id"] for line in read_lines(made.out / "results.jsonl")] == asked
    assert made.run()["correct"] == 3
    made.out = tmp_path / "gold"
    assert made.run("--gold-history")["n"] == 3
    assert 'history changed from "gold" to null' in made.run()["err"]
    assert "gold 0" in str(read_events(made.out))
    alone = {"id": "s", "query": "which?", "label": ["Lark"], "table": TABLE}
    data = str(write_rows(tmp_path / "alone.jsonl", [alone]))
    asked = ["eval", "wikitq_offline", data, "--scorer", "tablerag", "--gold-history"]
    assert "the data has none" in command(*asked).err
    write(tmp_path, INVENTORY.replace(', history: "list?"', ""), "mine.yaml")
    made.out = tmp_path / "none"
    done = made.run()
    assert "takes no history" in done["err"] and done["correct"] == 2
