"""Whatever a server or a stranger's file says, nothing of it steers the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.cli.out import echo, say
from chameleon.cli.show import Page
from chameleon.state import Plan, Step
from chameleon.text import harmless_lines
from tests.e2e.commands import Command

EVIL = "a\x1b[2J\x9b31m\x07\u202eb\x7f"
CLEAN = "a\ufffd[2J\ufffd31m\ufffd\ufffdb\ufffd"


def test_breaks_and_indents_stay() -> None:
    assert harmless_lines(f"  x\n    {EVIL}\n\ty\n") == f"  x\n    {CLEAN}\n    y\n"


def test_both_streams_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    echo(EVIL)
    say(EVIL)
    page = Page(as_json=False, trace=True)
    page.begin(f"inventory x; model {EVIL}\n{EVIL}")
    page.show(Plan((Step("x"),), EVIL, kind="proposed"))
    shown = capsys.readouterr()
    assert shown.err == f"{CLEAN}\n"
    assert [line for line in shown.out.splitlines() if "\ufffd" not in line] == ["Plan: x"]
    assert len(shown.out.splitlines()) == 4 and shown.out.replace("\n", "").isprintable()


def test_the_name_of_an_inventory_is_cleaned(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text('extends: tables_offline\nname: "a\\e[2J\\x9b31m\\n\\u202eb"\nabout: "c\\e[2J"\n')
    outcome = command("check", str(file))
    assert outcome.code == 0 and outcome.out.replace("\n", "").isprintable()
    assert len(outcome.out.splitlines()[0]) > 10 and " is fine: " in outcome.out.splitlines()[0]
