"""The fixture that runs the command line in the test's own process."""

import logging
import sys
from functools import cache

import pytest
import typer.main

from tests.e2e.commands import Command, Outcome

get_command = cache(typer.main.get_command)
"""Read the signatures of all commands once."""


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `chameleon ARGUMENTS…` here, which saves the start of a process."""
    from chameleon.cli import main

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["chameleon", *arguments])
        monkeypatch.setattr(typer.main, "get_command", get_command)
        # Like a process of its own: the last command's handler writes to a stderr that is closed by now.
        monkeypatch.setattr(logging.getLogger("chameleon"), "handlers", [])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Outcome(int(ended.value.code or 0), captured.out, captured.err)

    return run
