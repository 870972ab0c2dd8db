"""Completion in the shell: commands, options and inventories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import environment, spawn


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ev", "eval"),
        ("ask -i tables_o", "tables_offline"),
        ("ask -i mi", "mine.yaml"),
        ("chat tables_o", "tables_offline"),
        ("ask --quie", "--quiet"),
    ],
)
def test_what_is_begun_is_completed(tmp_path: Path, words: str, offered: str) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    (tmp_path / "chameleon.toml").write_text("broken")
    asked = {"_CHAMELEON_COMPLETE": "complete_bash", "COMP_WORDS": f"chameleon {words}"}
    done = spawn(env=environment(**asked, COMP_CWORD=str(len(words.split()))), cwd=tmp_path)
    assert (done.code, done.err, done.out.split()) == (0, "", [offered])


def test_the_script_of_the_shell_is_shown() -> None:
    env = environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    shown = spawn("--show-completion", "zsh", env=env)
    assert shown.code == 0 and "_CHAMELEON_COMPLETE=complete_zsh" in shown.out
