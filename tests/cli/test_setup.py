"""The files that a question comes with: from standard input, more than one, of the wrong kind, or none."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.by_cue import ByCue
from tests.e2e.commands import ROOT, Command, Outcome
from tests.loopback import Start

Ask = Callable[[str, bytes], Outcome]
SIGN = "Adult fare: $4.50\nChild fare: $2.25\n"
ASK = "ask 'What is the adult fare?'"


@pytest.fixture
def ask(sh: Command, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask with these bytes on standard input."""

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


def test_a_picture_is_read_from_standard_input_and_nothing_of_it_stays(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_further_tables_are_joined_by_file_names(tmp_path: Path, loopback: Start, sh: Command) -> None:
    def chain(text: str) -> str:
        done = text.rpartition("Function Chain:")[2]
        return "<END>" if "f_aggregate" in done else "f_aggregate()" if "f_join" in done else "f_join()"

    calls = "f_join(teams, on Team = Name)", "f_aggregate(sum of Points by Country)"
    replies = {"Function Chain:": chain, "Use f_join()": calls[0], "Use f_aggregate()": calls[1]}
    model = ByCue({**replies, "The answer is:": "24"})
    loopback(model)
    (tmp_path / "riders.csv").write_text("Rider,Team,Points\nBrandt,Tarn,20\nEk,Weir,5\nHolm,Tarn,4\n")
    (tmp_path / "teams.csv").write_text("Name,Country\nTarn,Italy\nWeir,Spain\n")
    asked = "ask 'How many points went to teams from Italy?' --table riders.csv --table teams.csv"
    outcome = sh(asked, "-i", "chain_of_table_extended", "--trace", "--store", "off")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "24\n" and all(call in outcome.err for call in calls)
    joined = model.last["Use f_join()"]
    assert "Other table : teams\n" in joined and "row 1 : Tarn | Italy" in joined
