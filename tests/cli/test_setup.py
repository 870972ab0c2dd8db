"""The files that a question comes with: from standard input, more than one, of the wrong kind, or none."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.by_cue import ByCue
from tests.e2e.commands import ROOT, Command

Pipe = Callable[[bytes], None]
QUESTION = "What is the adult fare?"
SIGN = "Adult fare: $4.50\nChild fare: $2.25\n"
FERRY = ROOT / "demos" / "data" / "ferry.png"


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Pipe:
    def pipe(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return pipe


def test_a_text_is_read_from_standard_input(command: Command, piped: Pipe, tmp_path: Path) -> None:
    for _ in range(2):  # the text is in the log: the same one goes on with it
        piped(SIGN.encode())
        outcome = command("ask", QUESTION, "--text", "-", "--log", str(tmp_path / "run.jsonl"))
        assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in (
        (b"", "standard input: the text is empty"),
        (b"\xff\xfe\xfd", "standard input: is not UTF-16: byte 0xfd in line 1"),
        (b"x" * 1_000_001, "standard input: the text has more than the limit"),
    ):
        piped(data)
        outcome = command("ask", QUESTION, "--text", "-")
        assert outcome.code == 1 and words in outcome.complaint


def test_a_picture_is_read_from_standard_input_and_nothing_of_it_stays(
    command: Command, piped: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidocr", reason="text needs rapidocr: pip install rapidocr onnxruntime")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    piped(FERRY.read_bytes())
    outcome = command("ask", QUESTION, "--image", "-")
    assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in ((b"", "is empty"), (b"no picture at all", "is no picture")):
        piped(data)
        outcome = command("ask", QUESTION, "--image", "-")
        assert outcome.code == 1 and words in outcome.complaint and "standard input" in outcome.complaint
    assert list(tmp_path.iterdir()) == []


def test_json_says_why_it_ran_what_it_ran(command: Command, tmp_path: Path) -> None:
    text = tmp_path / "sign.txt"
    text.write_text(SIGN)
    for verb in ("ask", "plan"):
        told = json.loads(command(verb, QUESTION, "--text", str(text), "--json").out)
        said = command(verb, QUESTION, "--text", str(text)).err
        assert f"Runs {told['why']}." in said and "pictures_offline" in told["why"]


def test_a_question_out_of_reach_is_told_of_the_model_in_a_sentence(command: Command, tmp_path: Path) -> None:
    text = tmp_path / "sign.txt"
    text.write_text(SIGN)
    outcome = command("ask", "Why is the fare so high?", "--text", str(text))
    assert outcome.code == 3
    (line,) = (line for line in outcome.err.splitlines() if line.startswith("Declined: "))
    assert "let a model answer: --inventory pictures" in line.lower()
    assert "Or let" not in line or line.index(". ") < line.index("Or let")


def test_further_tables_are_joined_by_file_names(tmp_path: Path, loopback: Any, command: Command) -> None:
    def chain(text: str) -> str:
        done = text.rpartition("Function Chain:")[2]
        return "<END>" if "f_aggregate" in done else "f_aggregate()" if "f_join" in done else "f_join()"

    model = ByCue(
        {
            "Function Chain:": chain,
            "Use f_join()": "f_join(teams, on Team = Name)",
            "Use f_aggregate()": "f_aggregate(sum of Points by Country)",
            "The answer is:": "24",
        }
    )
    loopback(model)
    (tmp_path / "riders.csv").write_text("Rider,Team,Points\nBrandt,Tarn,20\nEk,Weir,5\nHolm,Tarn,4\n")
    (tmp_path / "teams.csv").write_text("Name,Country\nTarn,Italy\nWeir,Spain\n")
    files = ["--table", str(tmp_path / "riders.csv"), "--table", str(tmp_path / "teams.csv")]
    asked = ["ask", "How many points went to teams from Italy?", *files, "-i", "chain_of_table_extended"]
    outcome = command(*asked, "--trace", "--store", "off")
    assert outcome.code == 0, outcome.err
    calls = "f_join(teams, on Team = Name)", "f_aggregate(sum of Points by Country)"
    assert outcome.out == "24\n" and all(call in outcome.err for call in calls)
    joined = model.last["Use f_join()"]
    assert "Other table : teams\n" in joined and "row 1 : Tarn | Italy" in joined
