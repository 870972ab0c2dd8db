"""Completion in the shell: commands, options and inventories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import environment, spawn


def completed(words: str, folder: Path) -> list[str]:
    """Return what the shell offers for the last of these words."""
    asked = {"_CHAMELEON_COMPLETE": "complete_bash", "COMP_WORDS": words}
    done = spawn(env=environment(**asked, COMP_CWORD=str(len(words.split(" ")) - 1)), cwd=folder)
    assert done.code == 0 and not done.err
    return done.out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("chameleon ev", ["eval"]),
        ("chameleon ask -i tables_o", ["tables_offline"]),
        ("chameleon ask -i mi", ["mine.yaml"]),
        ("chameleon chat tables_o", ["tables_offline"]),
        ("chameleon ask --quie", ["--quiet"]),
    ],
)
def test_what_is_begun_is_completed(tmp_path: Path, words: str, offered: list[str]) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    (tmp_path / "chameleon.toml").write_text("broken")
    assert completed(words, tmp_path) == offered


def test_the_script_of_the_shell_is_shown() -> None:
    env = environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    shown = spawn("--show-completion", "zsh", env=env)
    assert shown.code == 0 and "_CHAMELEON_COMPLETE=complete_zsh" in shown.out
