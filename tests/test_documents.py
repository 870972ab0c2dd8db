"""README, demos and the picture of the house are what they say they are."""

import re
import runpy
import shutil
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.conftest import command as command

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DEMOS = sorted((ROOT / "demos").glob("*.py"))


def test_an_answer_comes_first_the_tests_last_and_the_page_is_short() -> None:
    first, *_, last = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert first.count("\n") == last.count("\n") == 1
    assert "chameleon ask" in first and "pytest" in last
    assert len(re.sub(r"\]\([^)]*\)", "]", README).split()) <= 900


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


def test_pictures_reference_and_reasons_to_decline_are_up_to_date() -> None:
    reference = runpy.run_path(str(ROOT / "docs/_ext/generated.py"))
    assert not reference["outdated"](), "run: python docs/_ext/generated.py"
    for name in ("terminal", "architecture"):
        script = runpy.run_path(str(ROOT / f"scripts/draw_{name}.py"))
        picture = (ROOT / f"docs/{name}.svg").read_text("utf-8")
        assert script["draw"]() == picture, f"run: python scripts/draw_{name}.py"
    script["check_rooms"]()
    page = (ROOT / "docs/declined.md").read_text("utf-8")
    code = "".join(file.read_text("utf-8") for file in (ROOT / "modules/offline").glob("*.py"))
    for _, reason in re.findall(r"(?:Declined|Unfit)\(f?([\"'])((?:(?!\1).)+)\1[,)]", code):
        assert all(part.strip(" \",:('") in page for part in re.split(r"{.*?}", reason)), reason
