"""An evaluation's folder as a log of Inspect, opened by Inspect's own reader."""

from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.evaluation.run import read_run
from chameleon.interop.inspect_log import write_inspect_log
from tests.e2e.commands import Command
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import model_rows
from tests.evaluation.rows import make_rows, write_rows
from tests.evaluation.test_graded import evaluate
from tests.loopback import Start

inspect_log = pytest.importorskip("inspect_ai.log")


def exported(command: Command, out: Path, file: Path) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    told = command("export", str(out), "--inspect", str(file))
    assert told.code == 0 and f"problems to {file}" in told.err
    log, run = inspect_log.read_eval_log(str(file)), read_run(out)
    results = {result.id: result for result in run.results}
    assert {sample.id for sample in log.samples} == results.keys()
    return log, run, [(sample, results[sample.id]) for sample in log.samples]


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_header_and_samples_say_what_the_run_says(command: Command, tmp_path: Path, kind: str) -> None:
    data, out = write_rows(tmp_path / "problems.jsonl.gz", make_rows(12)), tmp_path / "out"
    assert command("eval", "tables_offline", str(data), "--out", str(out)).code == 0
    log, run, samples = exported(command, out, tmp_path / f"run.{kind}")
    assert (log.status, log.eval.task, log.eval.model) == ("success", "tabmwp", "none/none")
    assert log.eval.dataset.name == "problems.jsonl.gz"
    assert log.eval.task_args == {"inventory": "tables_offline", "scorer": "chameleon"}
    assert log.eval.metadata == dict(run.settings) and log.results.completed_samples == 12
    (score,) = log.results.scores
    assert score.metrics["accuracy"].value == 8 / 12
    assert score.metrics["accuracy, FREE"].value == 4 / 8 and "accuracy, OTH" not in score.metrics
    for sample, result in samples:
        verdict = sample.scores["chameleon"]
        assert verdict.value == ("C" if result.correct else "I")
        assert verdict.metadata["verdict"] == ("declined" if result.declined else "right")
        assert sample.metadata["plan"] == list(result.plan) and sample.input and sample.target
        assert verdict.answer == (None if result.answer is None else str(result.answer))
        assert sample.metadata["answer"] == result.answer and sample.error is None
        assert [event.function for event in sample.events][:1] == ["table_reader"]


def test_calls_are_messages_model_events_and_usage(command: Command, tmp_path: Path, loopback: Start) -> None:
    loopback(RuleModel())
    data, out = str(write_rows(tmp_path / "problems.jsonl", model_rows(3))), tmp_path / "out"
    given = ["--model", "openai:local", "--out", str(out), "--allow-dropped"]
    assert command("eval", "tabmwp", data, *given).code == 0
    log, run, samples = exported(command, out, tmp_path / "run.eval")
    assert log.eval.model == "openai/local"
    assert log.stats.model_usage["openai/local"].input_tokens == run.tally.usage.input_tokens > 0
    for sample, result in samples:
        calls = [event for event in sample.events if event.event == "model"]
        assert len(calls) == result.usage.calls > 0
        assert sample.model_usage["openai/local"].output_tokens == result.usage.output_tokens
        assert [message.role for message in sample.messages][-2:] == ["user", "assistant"]
        assert sample.messages[-1].text == calls[-1].output.completion


def test_graded_and_failed_problems_are_told_as_such(tmp_path: Path) -> None:
    run = evaluate(tmp_path / "graded", 3)
    assert write_inspect_log(run.path, tmp_path / "run.eval") == 3
    log = inspect_log.read_eval_log(str(tmp_path / "run.eval"))
    answered, declined, failed = sorted(log.samples, key=lambda sample: str(sample.id))
    assert answered.scores["official"].value["ROUGE-1"] > 0.8
    assert declined.scores["official"].explanation.startswith("declined: ") and declined.error is None
    assert "broken" in failed.error.message and failed.scores["official"].metadata["verdict"] == "failed"
    figures = run.tally.figures(run.tally.all)
    assert log.results.scores[0].metrics["ROUGE-1"].value == figures["ROUGE-1"]
    assert log.results.completed_samples == 2
    for name, said in (("run.txt", "must be named NAME"), ("run.eval", "not the folder of an evaluation")):
        with pytest.raises(InputError, match=said):
            write_inspect_log(tmp_path, tmp_path / name)
