"""README, demos and the picture of the house are what they say they are."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.conftest import command as command

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DEMOS = sorted((ROOT / "demos").glob("*.py"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    scripts = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}"} | options.pop("env", {})
    return subprocess.run(command, text=True, capture_output=True, timeout=120, env=environment, **options)


def test_the_first_two_blocks_are_one_command_each() -> None:
    first, second = blocks("sh")[:2]
    assert first.count("\n") == 1 and "chameleon ask" in first and "--trace" in first
    assert second.count("\n") == 1 and "pytest" in second


OTHERS = blocks("sh")[2:]
FILES = re.compile(r"^printf .*?$|^cat > .*?^EOF$", re.MULTILINE | re.DOTALL)
"""What makes the files that later blocks use."""


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_every_other_block_runs_as_printed(number: int, tmp_path: Path, loopback, monkeypatch) -> None:
    block = OTHERS[number]
    if "--image" in block and not (find_spec("rapidocr") or shutil.which("tesseract")):
        pytest.skip("no text engine is here")
    server = loopback(_reply)
    monkeypatch.delenv("OPENAI_BASE_URL")
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    made = [found for earlier in OTHERS[:number] for found in FILES.findall(earlier)]
    # The test environment has the packages; installing them again would need the network.
    script = re.sub(r"^pip install .*$", "", "\n".join([*made, block]), flags=re.MULTILINE)
    script = script.replace("http://localhost:11434/v1", server.url)
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"} if "--model openai" in block else {}
    done = run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=env)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    for told in [words for part, said in PRINTED.items() if part in block for words in said]:
        assert told in done.stdout + done.stderr, done.stdout + done.stderr
    if "report" in block:
        assert "<details" in (tmp_path / "first.html").read_text()


PRINTED = {
    "visits.csv --json": ["\n1100\n", "Porto", "declined, exit code 3"],
    "--log run.jsonl": ["Lisbon\n"],
    "--model openai": ["Lisbon\n"],
    "--image": ["$4.50\n"],
    "chameleon index": ["\nLakeside\n", "From: shop/opening_hours.json"],
    "chameleon eval": ["right 100.00 % of them", "GPT-4"],
    "mine.yaml": ["\n3\n"],
}
"""What blocks print, by a part of each."""


def _reply(request: dict) -> str:
    """A model that plans one solution and writes it."""
    text = request["messages"][-1]["content"]
    if text.rstrip().endswith("Modules:"):
        return '["solution_generator", "answer_generator"]'
    return "Lisbon had 4,200 visitors, more than any other city. The answer is Lisbon."


def test_the_python_block_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("python")
    (tmp_path / "block.py").write_text(block)
    runpy.run_path(str(tmp_path / "block.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("$5.50 ")


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


def test_the_picture_of_the_house_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "draw_architecture.py"))
    script["check_rooms"]()
    picture = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert script["draw"]() == picture, "run: python scripts/draw_architecture.py"
