"""Made-up conversations, whose answers tell all that was asked and answered before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from chameleon import Executor, Inventory, State
from chameleon.benchmarks.sqa import Sqa
from chameleon.errors import Declined, ModelError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.results import Result
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import Does
from tests.evaluation.rows import read_results

SQA = Sqa()
SETTINGS = {"benchmark": "sqa", "scorer": "official", "inventory": "mine"}
TABLE = {"table_id": "t", "caption": "Kites", "header": ["Kite", "Minutes"], "rows": [["Lark", "20"]]}
Answering = Callable[[State], Any]


def row(sequence: str, position: int, does: str = "says") -> dict[str, Any]:
    """A question that is to be answered, declined or failed: "says", "declines" or "fails"."""
    asked = {"id": sequence, "annotator": 0, "position": position, "table_id": "t"}
    gold = {"answer_coordinates": [[0, 0]], "answer_text": [f"gold {position}"]}
    return {**asked, **gold, "question": f"{does} {sequence} {position}"}


def problems(conversations: Sequence[Sequence[str]]) -> list[Problem]:
    """Conversations, told by what becomes of each question; the last questions of all come first."""
    rows = [
        row(str(at), position, does)
        for at, questions in enumerate(conversations)
        for position, does in enumerate(questions)
    ]
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


def evaluate(
    asked: Sequence[Problem],
    answer: Answering = answering,
    *,
    path: Path | None = None,
    retry: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The answers by problem, None for what is not answered; of a folder those that it holds at the end."""
    modules = {"note": Does(lambda state: "noted"), "answer": Does(answer)}
    executor = Executor(Inventory("mine", Fixed(["note", "answer"]), modules))
    results: list[Result] = []
    with RunDir(path, SETTINGS) if path else nullcontext() as folder:
        if folder and retry:
            folder.forget_failures()
        kept = {"run_dir": folder, "on_result": results.append}
        Evaluation(executor, SQA.scorers["official"](), SQA, **kept, **options).run(asked)
    found = [Result.from_json(line) for line in read_results(path)] if path else results
    answers = {each.id: each.answer if each.answered else None for each in found}
    assert len(answers) == len(found)
    return answers
