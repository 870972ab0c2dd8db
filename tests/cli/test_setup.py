"""What a question comes with: files of standard input, several, or none; inventories within others."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from tests.e2e.commands import ROOT, Command, Outcome

Ask = Callable[[str, bytes], Outcome]
SIGN = "Adult fare: $4.50\nChild fare: $2.25\n"
ASK = "ask 'What is the adult fare?'"


@pytest.fixture
def ask(sh: Command, monkeypatch: MonkeyPatch) -> Ask:
    def run(options: str, data: bytes) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return sh(f"{ASK} {options}")

    return run


def test_a_text_is_read_from_standard_input(ask: Ask) -> None:
    for _ in range(2):  # the text is in the log: the same one goes on with it
        outcome = ask("--text - --log run.jsonl", SIGN.encode())
        assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in (
        (b"", "standard input: the text is empty"),
        (b"\xff\xfe\xfd", "standard input: is not UTF-16: byte 0xfd in line 1"),
        (b"x" * 1_000_001, "standard input: the text has more than the limit"),
    ):
        outcome = ask("--text -", data)
        assert outcome.code == 1 and words in outcome.complaint


def test_a_picture_from_stdin_leaves_nothing(ask: Ask, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    pytest.importorskip("rapidocr", reason="text needs rapidocr: pip install rapidocr onnxruntime")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome = ask("--image -", (ROOT / "demos/data/ferry.png").read_bytes())
    assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in ((b"", "is empty"), (b"no picture at all", "is no picture")):
        outcome = ask("--image -", data)
        assert outcome.code == 1 and words in outcome.complaint and "standard input" in outcome.complaint
    assert list(tmp_path.iterdir()) == []


def test_what_ran_and_what_would_answer_more_is_told(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "sign.txt").write_text(SIGN)
    for line in (f"{ASK} --text sign.txt", f"{ASK} --text sign.txt".replace("ask", "plan")):
        why = sh(line, "--json").json["why"]
        assert f"Runs {why}." in sh(line).err and "pictures_offline" in why
    outcome = sh("ask 'Why is the fare so high?' --text sign.txt")
    (line,) = (line for line in outcome.err.splitlines() if line.startswith("Declined: "))
    assert outcome.code == 3 and "let a model answer: --inventory pictures" in line.lower()
    assert "Or let" not in line or line.index(". ") < line.index("Or let")


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
    "cascade.yaml": OUTER.replace("outer", "cascade").replace(
        "rules: {inventory: inner.yaml}", f"rules: {{inventory: tables_offline, on_error: [small]}}, {SMALL}"
    ),
    "visits.csv": 'City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\n',
}
VISITS = "ask 'How many more visitors did Lisbon have than Lyon?' --table visits.csv --inventory "


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("nested")
def test_the_steps_of_an_inventory_within_are_told_below_its_own(sh: Command) -> None:
    shown = sh(f"{VISITS} cascade.yaml --trace").err
    assert shown.startswith("Runs inventory cascade; small asks openai:gpt-6-luna.\nPlan: rules\n")
    (step,) = sh(f"{VISITS} cascade.yaml --json").json["steps"]
    assert step["module"] == "rules" and step["output"] == "1,100"
    assert [each["module"] for each in step["steps"]] == ["table_reader", "final_answer"]
    assert "steps" not in step["steps"][0] and step["usage"]["calls"] == 0
    assert "\nModel: small asks openai:gpt-6-luna\n" in sh("check cascade.yaml").out
    shown = sh("check cascade.yaml --model openai:gpt-4.1").out
    assert "\nModel: openai:gpt-4.1, because " in shown and "small asks openai:gpt-6-luna" in shown
