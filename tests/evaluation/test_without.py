"""`chameleon eval --without`: what an ablation runs, with planners that ask a model and with others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import Start, model_rows
from tests.evaluation.rows import make_rows, read_lines, write_rows


def run(command: Command, inventory: str, data: Path, out: Path, *without: str) -> Outcome:
    options = [part for name in without for part in ("--without", name)]
    model = ("--model", "openai:local", "--store", "off")
    return command(
        "eval", inventory, str(data), "--out", str(out), "--workers", "2", "--json", *model, *options
    )


def steps(out: Path) -> list[str]:
    return [line["module"] for line in read_lines(out / "events.jsonl") if line["event"] == "step"]


def test_a_planner_that_names_them_all_the_same(loopback: Start, command: Command, tmp_path: Path) -> None:
    """Its demonstrations name every module, so the model does."""
    model = RuleModel()
    loopback(model)
    data = write_rows(tmp_path / "d.jsonl", model_rows(9))
    out = tmp_path / "out"
    whole = run(command, "tabmwp", data, tmp_path / "whole")
    before = len(model.asked)
    outcome = run(command, "tabmwp", data, out, "row_lookup", "knowledge_retrieval")
    assert whole.code == outcome.code == 0 and json.loads(outcome.out)["n"] == 9
    assert {"row_lookup", "knowledge_retrieval"} <= set(steps(tmp_path / "whole"))
    assert not {"row_lookup", "knowledge_retrieval"} & set(steps(out))
    assert not {"row_lookup", "knowledge_retrieval"} & set(model.asked[before:])
    plans = [line for line in read_lines(out / "events.jsonl") if line["event"] == "plan"]
    lost = [plan for plan in plans if "without" in plan["note"]]
    assert lost and not any(plan["refused"] for plan in lost)
    settings = json.loads((out / "settings.json").read_text())
    assert settings["without"] == ["knowledge_retrieval", "row_lookup"]
    told = run(command, "tabmwp", data, out, "row_lookup")
    assert told.code == 1 and "without was" in told.err
    assert run(command, "tabmwp", data, out, "knowledge_retrieval", "row_lookup").code == 0
    assert run(command, "tabmwp", data, out, "knowledge_retrieval,row_lookup").code == 0


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
