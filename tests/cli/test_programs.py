"""`chameleon sandbox`: a program, its result, and what is told of a file that is none."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.commands import Command


def test_a_program_is_run_and_its_guarantees_are_shown(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("print('hello')\nans = 6 * 7\n")
    shown = command("sandbox", str(file))
    assert shown.code == 0 and "  | hello\nans = 42  (int, " in shown.out and "Guarantees of " in shown.out
    told = json.loads(command("sandbox", str(file), "--result", "none", "--json").out)
    assert told["value"] is None and told["status"] != "ok"
    assert {"name", "active", "note"} == set(told["guarantees"][0])
