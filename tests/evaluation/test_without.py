"""`chameleon eval --without`: what an ablation runs, with planners that ask a model and with others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome
from tests.e2e.rule_model import PROGRAM, RuleModel
from tests.evaluation.asking import Start, model_rows
from tests.evaluation.rows import Row, make_rows, read_lines, write_rows


def run(command: Command, inventory: str, data: Path, out: Path, *without: str) -> Outcome:
    options = [part for name in without for part in ("--without", name)]
    model = ("--model", "openai:local", "--store", "off")
    return command(
        "eval", inventory, str(data), "--out", str(out), "--workers", "2", "--json", *model, *options
    )


def steps(out: Path) -> list[str]:
    return [line["module"] for line in read_lines(out / "events.jsonl") if line["event"] == "step"]


def plans(out: Path, kind: str = "proposed") -> list[Row]:
    lines = read_lines(out / "events.jsonl")
    return [line for line in lines if line["event"] == "plan" and line["kind"] == kind]


def test_a_planner_that_names_them_all_the_same(loopback: Start, command: Command, tmp_path: Path) -> None:
    """Its demonstrations name every module, so the model does."""
    model = RuleModel()
    loopback(model)
    data = write_rows(tmp_path / "d.jsonl", model_rows(18))
    out = tmp_path / "out"
    whole = run(command, "tabmwp", data, tmp_path / "whole")
    before = len(model.asked)
    outcome = run(command, "tabmwp", data, out, "row_lookup", "knowledge_retrieval")
    assert whole.code == outcome.code == 0 and json.loads(outcome.out)["n"] == 18
    assert {"row_lookup", "knowledge_retrieval"} <= set(steps(tmp_path / "whole"))
    assert not {"row_lookup", "knowledge_retrieval"} & set(steps(out))
    assert not {"row_lookup", "knowledge_retrieval"} & set(model.asked[before:])
    lost = [plan for plan in plans(out) if "without" in plan["note"]]
    assert lost and not any(plan["refused"] for plan in lost)
    settings = json.loads((out / "settings.json").read_text())
    assert settings["without"] == ["knowledge_retrieval", "row_lookup"]
    told = run(command, "tabmwp", data, out, "row_lookup")
    assert told.code == 1 and "without was" in told.err
    assert run(command, "tabmwp", data, out, "knowledge_retrieval", "row_lookup").code == 0
    assert run(command, "tabmwp", data, out, "knowledge_retrieval,row_lookup").code == 0


def test_every_module_of_a_plan(loopback: Start, command: Command, tmp_path: Path) -> None:
    """Without the program's modules a plan is its last step, and the rules do not ask for them."""
    loopback(RuleModel({"planner": [json.dumps(PROGRAM)] * 3}))
    data = write_rows(tmp_path / "d.jsonl", model_rows(3))
    out = tmp_path / "out"
    outcome = run(command, "tabmwp", data, out, *PROGRAM[:3])
    assert outcome.code == 1 and "3 problems failed: --retry-failed tries them again." in outcome.err
    assert {tuple(step["module"] for step in plan["steps"]) for plan in plans(out)} == {("answer_generator",)}
    assert not any(plan["refused"] for plan in plans(out))


def test_the_fallback(loopback: Start, command: Command, tmp_path: Path) -> None:
    loopback(RuleModel({"planner": ["no plan", "none either"]}))
    data = write_rows(tmp_path / "d.jsonl", model_rows(1))
    out = tmp_path / "out"
    assert run(command, "tabmwp", data, out, "program_verifier").code == 0
    (fallback,) = plans(out, "fallback")
    assert [step["module"] for step in fallback["steps"]] == [
        "program_generator", "program_executor", "answer_generator",
    ]  # fmt: skip


@pytest.mark.parametrize("inventory", ["tables_offline", "tabmwp_pot"])
def test_fixed_plans_and_rules(loopback: Start, command: Command, inventory: str, tmp_path: Path) -> None:
    loopback(RuleModel())
    rows = model_rows(4) if inventory == "tabmwp_pot" else make_rows(4)
    data = write_rows(tmp_path / "d.jsonl", rows)
    out = tmp_path / "out"
    outcome = run(command, inventory, data, out, "program_verifier")
    assert outcome.code == 0, outcome.err
    assert "program_verifier" not in steps(out) and "program_executor" in steps(out)
    assert all(line["plan"][-1] == "answer_generator" for line in read_lines(out / "results.jsonl"))
