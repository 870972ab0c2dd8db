"""An inventory within an inventory, on the command line: what runs, its steps, and which models are asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command

CASCADE = """\
name: cascade
input: {question: str, table: Table}
planner: {use: fixed, plan: [rules]}
modules:
  rules: {inventory: tables_offline, on_error: [small]}
  small: {inventory: tables, llm: {model: "openai:gpt-6-luna"}}
"""
QUESTION = "How many more visitors did Lisbon have than Lyon?"


@pytest.fixture
def cascade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("CHAMELEON_MODEL", raising=False)
    (tmp_path / "cascade.yaml").write_text(CASCADE)
    (tmp_path / "visits.csv").write_text('City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\n')
    return tmp_path


def test_the_steps_of_an_inventory_within_are_told_below_its_own(command: Command, cascade: Path) -> None:
    asked = ["ask", QUESTION, "--table", f"{cascade}/visits.csv", "--inventory", f"{cascade}/cascade.yaml"]
    shown = command(*asked, "--trace").out
    assert shown.startswith("Runs inventory cascade; small asks openai:gpt-6-luna.\nPlan: rules\n")
    assert "\n     rules:\n     Plan: table_reader → final_answer\n" in shown
    assert "\n       2. final_answer  [" in shown and "\n  1. rules  [" in shown
    (step,) = json.loads(command(*asked, "--json").out)["steps"]
    assert step["module"] == "rules" and step["output"] == "1,100"
    assert [each["module"] for each in step["steps"]] == ["table_reader", "final_answer"]
    assert "steps" not in step["steps"][0] and step["usage"]["calls"] == 0


def test_a_check_names_the_models_that_parts_have_of_their_own(command: Command, cascade: Path) -> None:
    shown = command("check", f"{cascade}/cascade.yaml").out
    assert "\nModel: small asks openai:gpt-6-luna\n" in shown
    shown = command("check", f"{cascade}/cascade.yaml", "--model", "openai:gpt-4.1").out
    assert "\nModel: openai:gpt-4.1, because " in shown and "small asks openai:gpt-6-luna" in shown
