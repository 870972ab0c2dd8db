"""What a command left behind, and commands run as a user's shell runs them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OF_A_RUN = (
    *("Runs ", "Plan", "Another plan", "Fallback plan", "Model: "),
    *("Took ", "Dropped", "Summaries by ", "     "),
)
"""How lines begin that a failed run prints of itself."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def told(self) -> str:
        """What is on stderr, without the frames and the breaks of lines."""
        return " ".join(self.err.replace("│", " ").split())

    @property
    def complaint(self) -> str:
        """The one line on what is wrong, on stderr, beside what a run says of itself."""
        assert "Traceback" not in self.err and "a fault of ours" not in self.err, self.err
        lines = [line for line in self.err.splitlines() if not line.endswith("; trying again")]
        faults = [line for line in lines if line.startswith("chameleon: ")]
        told = [line for line in lines if line not in faults and not line.startswith(OF_A_RUN)]
        assert len(faults) == 1 and not told, self.err
        return faults[0].removeprefix("chameleon: ")


Command = Callable[..., Outcome]


def environment(*folders: str, **changes: str) -> dict[str, str]:
    """This test's environment for a process of its own, which imports from `folders` and this checkout."""
    path = os.pathsep.join(filter(None, [*folders, str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, **changes}


def spawn(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None, text: str = ""
) -> Outcome:
    """Run `python -m chameleon ARGUMENTS…` as a process with this text on its standard input."""
    command = [sys.executable, "-m", "chameleon", *arguments]
    options = {"capture_output": True, "timeout": 60, "env": env or environment()}
    done = subprocess.run(command, input=text.encode(), check=False, cwd=cwd, **options)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
