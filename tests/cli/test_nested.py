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
    shown = command(*asked, "--trace").err
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


INNER = """\
name: inner
input: {question: str, table: Table}
planner: {use: fixed, plan: [table_reader, final_answer]}
modules: {table_reader: {}, final_answer: {}}
"""
OUTER = """\
name: outer
input: {question: str, table: Table}
planner: {use: fixed, plan: [rules]}
modules: {rules: {inventory: inner.yaml}}
"""


@pytest.fixture
def deep(cascade: Path) -> Path:
    (cascade / "inner.yaml").write_text(INNER)
    (cascade / "outer.yaml").write_text(OUTER)
    (cascade / "top.yaml").write_text(OUTER.replace("inner.yaml", "outer.yaml").replace("outer", "top", 1))
    return cascade


def test_a_run_three_deep_is_shown_indented_and_refused_once_changed(command: Command, deep: Path) -> None:
    asked = ["ask", QUESTION, "--table", f"{deep}/visits.csv", "--inventory", f"{deep}/top.yaml"]
    asked += ["--log", f"{deep}/run.jsonl", "--trace"]
    shown = command(*asked)
    lines = [line.partition("  [")[0] for line in shown.err.splitlines()]
    assert [line for line in lines if line.strip()[:4] in ("Plan", "rule", "1. t", "2. f", "1. r")] == [
        "Plan: rules",
        "     rules:",
        "     Plan: rules",
        "          rules › rules:",
        "          Plan: table_reader → final_answer",
        "            1. table_reader",
        "            2. final_answer",
        "       1. rules",
        "  1. rules",
    ]
    assert shown.out == "1,100\n" and command(*asked).out == "1,100\n"
    (deep / "inner.yaml").write_text(INNER.replace("{table_reader: {}", "{table_reader: {at_least: 0.5}"))
    assert "the inventory that rules runs has changed since the log began" in command(*asked).err


def test_faults_inside_are_told_with_their_place(command: Command, deep: Path) -> None:
    (deep / "inner.yaml").write_text(INNER.replace("final_answer]", "final_anser]"))
    checked = command("check", f"{deep}/outer.yaml")
    assert checked.code == 1 and "rules" in checked.err and "Did you mean 'final_answer'?" in checked.err
