"""An inventory within an inventory, on the command line: what runs, its steps, and which models are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import Command

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
SMALL = 'small: {inventory: tables, llm: {model: "openai:gpt-6-luna"}}'
FILES = {
    "inner.yaml": INNER,
    "outer.yaml": OUTER,
    "top.yaml": OUTER.replace("inner.yaml", "outer.yaml").replace("outer", "top", 1),
    "cascade.yaml": OUTER.replace("outer", "cascade").replace(
        "rules: {inventory: inner.yaml}", f"rules: {{inventory: tables_offline, on_error: [small]}}, {SMALL}"
    ),
    "visits.csv": 'City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\n',
}
ASK = "ask 'How many more visitors did Lisbon have than Lyon?' --table visits.csv --inventory "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_steps_of_an_inventory_within_are_told_below_its_own(sh: Command) -> None:
    shown = sh(f"{ASK} cascade.yaml --trace").err
    assert shown.startswith("Runs inventory cascade; small asks openai:gpt-6-luna.\nPlan: rules\n")
    (step,) = sh(f"{ASK} cascade.yaml --json").json["steps"]
    assert step["module"] == "rules" and step["output"] == "1,100"
    assert [each["module"] for each in step["steps"]] == ["table_reader", "final_answer"]
    assert "steps" not in step["steps"][0] and step["usage"]["calls"] == 0
    assert "\nModel: small asks openai:gpt-6-luna\n" in sh("check cascade.yaml").out
    shown = sh("check cascade.yaml --model openai:gpt-4.1").out
    assert "\nModel: openai:gpt-4.1, because " in shown and "small asks openai:gpt-6-luna" in shown


def test_a_run_three_deep_is_shown_indented_and_refused_once_changed(sh: Command, folder: Path) -> None:
    asked = f"{ASK} top.yaml --log run.jsonl --trace"
    shown = sh(asked)
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
    assert shown.out == "1,100\n" and sh(asked).out == "1,100\n"
    (folder / "inner.yaml").write_text(INNER.replace("{table_reader: {}", "{table_reader: {at_least: 0.5}"))
    assert "the inventory that rules runs has changed since the log began" in sh(asked).err
    (folder / "inner.yaml").write_text(INNER.replace("final_answer]", "final_anser]"))
    checked = sh("check outer.yaml")
    assert checked.code == 1 and "rules" in checked.err and "Did you mean 'final_answer'?" in checked.err
