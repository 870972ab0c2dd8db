"""Measure how long a command takes, as a multiple of `python -c 'import pydantic, yaml, typer'`.

    python perf/cli.py [ROUNDS]

Every round runs each row once, like the installed command: compiled, in a new process.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from model_server import ModelServer
from timings import Figure, surroundings, table

BASE = "import pydantic, yaml, typer"
COMMAND = "import sys; from chameleon.cli import main; sys.argv[0] = 'chameleon'; main()"
SECOND = """
import time
from chameleon import Executor, Inventory, Table
executor = Executor(Inventory.load("tables_offline"))
held = Table(["city", "people"], [["Paris", "2"], ["Rome", "3"], ["Oslo", "1"]])
for city in ("Rome", "Oslo"):
    begun = time.perf_counter()
    state = executor.run({"question": f"how many people does {city} have?", "table": held})
    assert state.answer in ("3", "1"), state.ended
print(time.perf_counter() - begun)
"""
ASK = ("ask", "--table", "t.csv", "how many people does Rome have?")
ROWS = {
    "ask, no model": ASK,
    "ask, a model": (*ASK, "--model", "openai:local"),
    "list inventories": ("list", "inventories"),
    "--version": ("--version",),
    "--help": ("--help",),
}


def environment(folder: Path, address: str) -> dict[str, str]:
    """Return the environment of commands: only the server's key, no store, and a bytecode cache."""
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    server = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "k"} if address else {}
    return kept | server | {"CHAMELEON_STORE": "off", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def run(code: str, arguments: tuple[str, ...], folder: Path, address: str = "") -> tuple[float, str]:
    """Run Python code; return its wall seconds and what it printed."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(folder, address),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return seconds, done.stdout


def measure(rounds: int) -> None:
    base: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in ROWS}
    second: list[float] = []
    with tempfile.TemporaryDirectory() as made, ModelServer(0.0) as server:
        folder = Path(made)
        (folder / "t.csv").write_text("city,people\nParis,2\nRome,3\nOslo,1\n")
        for number in range(rounds + 1):  # the first run compiles
            seconds = {"": run(BASE, (), folder)[0]}
            for name, arguments in ROWS.items():
                address = server.url if "--model" in arguments else ""
                seconds[name] = run(COMMAND, arguments, folder, address)[0]
            again = float(run(SECOND, (), folder)[1])
            if number:
                base.append(seconds.pop(""))
                second.append(again)
                for name, each in seconds.items():
                    found[name].append(each)
    least, median = min(base), Figure(base).median
    rows = [
        [name, f"{min(each) / least:.2f}", f"{Figure(each).median / median:.2f}", ms(each)]
        for name, each in {BASE: base, **found}.items()
    ]
    rows.append(["a second run in one process", "", "", ms(second)])
    print(surroundings("pydantic", "PyYAML", "typer"))
    table(f"Commands, {rounds} rounds", ["command", "x, least", "x, median", "ms, median (range)"], rows)


def ms(seconds: list[float]) -> str:
    return Figure([1000 * each for each in seconds]).shown()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
