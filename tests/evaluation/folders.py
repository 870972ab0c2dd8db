"""Small evaluations that are kept in a folder, and go on from wherever it stands."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, Module, State, Step
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from tests.engine.doubles import Does, Proposes
from tests.evaluation.rows import make_rows

SETTINGS = {"benchmark": "tabmwp", "inventory": "mine"}
BENCHMARK = find_benchmark("tabmwp")
PROBLEMS = [BENCHMARK.problem(row, {}) for row in make_rows(6)]
KEPT = ("results.jsonl", "events.jsonl.gz", "recent.jsonl", "settings.json")


def first_price(state: State) -> str:
    return str(state.input["table"].rows[0][1])


def inventory(answer: Callable[[State], Any]) -> Inventory:
    """Two steps and a choice among two plans, so that a log can be cut in many places."""

    def propose(state: State) -> Any:
        if state.history:
            return ()
        is_asked_why = str(state.input["question"]).startswith("Why")
        return [Step("note"), Step("answer")] if is_asked_why else [Step("answer")]

    modules: dict[str, Module] = {"note": Does(lambda state: "ü" * 30), "answer": Does(answer)}
    return Inventory("mine", Proposes(propose), modules)


def evaluate(path: Path, answer: Any = first_price, retry: bool = False, **options: Any) -> None:
    """Evaluate the `problems` into the folder, from wherever it stands."""
    problems = options.pop("problems", PROBLEMS)
    with RunDir(path, SETTINGS) as folder:
        if retry:
            folder.forget_failures()
        scorer, executor = BENCHMARK.scorers["chameleon"](), Executor(inventory(answer))
        Evaluation(executor, scorer, BENCHMARK, run_dir=folder, **options).run(problems)


@contextmanager
def cut(whole: Path, results: float, events: float) -> Iterator[Path]:
    """Make a folder of an evaluation that has these shares of the bytes of a whole one."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "cut"
        path.mkdir()
        for name, share in zip(KEPT, (results, events, events, 1.0), strict=True):
            content = (whole / name).read_bytes()
            (path / name).write_bytes(content[: round(share * len(content))])
        yield path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "whole"
    evaluate(path)
    return path
