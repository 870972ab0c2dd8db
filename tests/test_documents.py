"""README, demos and the picture of the house are what they say they are."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.conftest import command as command

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DEMOS = sorted((ROOT / "demos").glob("*.py"))


_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
BLOCKS = [match.groups("") for match in _BLOCK.finditer(README)]
"""The blocks that run: language, text, and what README says that they print."""


def blocks(language: str) -> list[str]:
    return [text for kind, text, _ in BLOCKS if kind == language]


def run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    scripts = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}"} | options.pop("env", {})
    return subprocess.run(command, text=True, capture_output=True, timeout=120, env=environment, **options)


def without_times(text: str) -> str:
    return re.sub(r"\d+(?:\.\d+)? m?s\b", "# s", text)


def test_the_first_two_blocks_are_one_command_each() -> None:
    first, second = blocks("sh")[:2]
    assert first.count("\n") == 1 and "chameleon ask" in first
    assert second.count("\n") == 1 and "pytest" in second


def test_the_first_block_prints_what_is_shown(tmp_path: Path) -> None:
    """All of it but the making of the environment, which .ci/run does."""
    _, first, shown = BLOCKS[0]
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    done = run(["bash", "-c", f"chameleon {first.partition('bin/chameleon ')[2]}"], cwd=tmp_path)
    assert without_times(done.stdout + done.stderr) == without_times(shown)


def test_the_prose_is_short() -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    assert len(re.findall(r"[\w’'.,%-]*\w[\w’'.,%-]*", prose)) <= 700


OTHERS = BLOCKS[2:]
FILES = re.compile(r"^printf .*?$|^cat > .*?^EOF$|^chameleon index .*?$", re.MULTILINE | re.DOTALL)
"""What makes the files that later blocks use."""


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_every_other_block_prints_what_is_shown(number: int, tmp_path: Path, loopback, monkeypatch) -> None:
    language, block, shown = OTHERS[number]
    server = loopback(_reply)
    monkeypatch.delenv("OPENAI_BASE_URL")
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    made = [found for _, earlier, _ in OTHERS[:number] for found in FILES.findall(earlier)]
    # The test environment has the packages; installing them again would need the network.
    (tmp_path / "block.py").write_text(block, "utf-8")
    text = "python block.py" if language == "python" else re.sub(r"(?m)^pip install .*$", "", block)
    quietly = [f"{{ {each}; }} >/dev/null 2>&1" if each.startswith("chameleon") else each for each in made]
    script = "\n".join([*quietly, "exec 2>&1", text]).replace("http://localhost:11434/v1", server.url)
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"} if "openai:" in block else {}
    done = run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=env)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    printed = without_times(done.stdout)
    pattern = ".*?".join(map(re.escape, without_times(shown).replace("…\n", "…").split("…")))
    assert re.fullmatch(pattern, printed, re.DOTALL), f"{shown}\n{printed}"
    assert shown or "openai" in block
    if "report" in block:
        assert "<details" in (tmp_path / "first.html").read_text()


def _reply(request: dict) -> str:
    """A model that plans one program and writes it."""
    text = request["messages"][-1]["content"]
    if "francs" in text:
        return '[{"module": "convert", "args": {"amount": 50, "currency": "CHF"}}]'
    if text.rstrip().endswith("Modules:"):
        return '["program_generator", "answer_generator"]'
    return 'visitors = {"Lisbon": 4200, "Porto": 2900, "Lyon": 3100}\nans = max(visitors, key=visitors.get)'


@pytest.mark.parametrize("demo", DEMOS, ids=lambda path: path.stem)
def test_demos_run_and_are_short(demo: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    assert len(demo.read_text("utf-8").splitlines()) < 60
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(demo), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_inventory_of_the_demo_runs_from_anywhere(tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "demos" / "own_inventory", folder)
    given = ["--table", str(ROOT / "demos/data/league.csv"), "--inventory", str(folder / "inventory.yaml")]
    done = command("ask", "Which team has the most points?", *given)
    assert done.code == 0, done.err
    assert done.out == "By the table, the answer is Kingsmere Town.\n"


def test_the_picture_of_the_terminal_is_what_is_printed() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "draw_terminal.py"))
    picture = (ROOT / "docs" / "terminal.svg").read_text("utf-8")
    assert script["draw"]() == picture, "run: python scripts/draw_terminal.py"


def test_the_picture_of_the_house_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "draw_architecture.py"))
    script["check_rooms"]()
    picture = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert script["draw"]() == picture, "run: python scripts/draw_architecture.py"
