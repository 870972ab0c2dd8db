"""`chameleon sandbox`: a program, its result, and what is told of a file that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command


def test_a_program_is_run_and_its_guarantees_are_shown(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("print('hello')\nans = 6 * 7\n")
    shown = command("sandbox", str(file))
    assert shown.code == 0 and "  | hello\nans = 42  (int, " in shown.out and "Guarantees of " in shown.out
    told = json.loads(command("sandbox", str(file), "--result", "none", "--json").out)
    assert told["value"] is None and told["status"] != "ok"
    assert {"name", "active", "note"} == set(told["guarantees"][0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "there is no such file"),
        (b"\xff", "is not UTF-8 text (byte 0)"),
        (b"#" * 10**6, "is larger than a"),
    ],
)
def test_a_file_that_is_no_program(command: Command, tmp_path: Path, data: bytes | None, words: str) -> None:
    file = tmp_path / "program.py"
    if data is not None:
        file.write_bytes(data)
    outcome = command("sandbox", str(file))
    assert outcome.code == 1 and words in outcome.complaint and str(file) in outcome.complaint
