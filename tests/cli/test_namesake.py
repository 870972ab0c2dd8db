"""Zope's template engine Chameleon, which has the same import name, installed beside this package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chameleon.namesake import namesake
from tests.e2e.commands import ROOT, environment

SENTENCE = "the template engine Chameleon 4.6.0 is installed here, too"


def installed(folder: Path, *, files: str = "chameleon/__init__.py,,\n", top: str = "") -> None:
    """Lay down what pip leaves of a distribution."""
    about = folder / "Chameleon-4.6.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: Chameleon\nVersion: 4.6.0\n")
    (about / "RECORD").write_text(files)
    if top:
        (about / "top_level.txt").write_text(top)


@pytest.mark.parametrize(
    ("files", "top", "told"),
    [
        ("chameleon/__init__.py,,\n", "", True),
        ("", "chameleon\n", True),
        ("other/__init__.py,,\n", "other\n", False),
    ],
)
def test_it_is_known_by_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: str, top: str, told: bool
) -> None:
    assert namesake() == ""
    installed(tmp_path, files=files, top=top)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert namesake().startswith(SENTENCE) is told and ("virtual environments" in namesake()) is told


def test_doctor_warns_of_it(tmp_path: Path) -> None:
    installed(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "chameleon", "doctor"],
        env=environment(str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"\nWarning: {SENTENCE}" in done.stdout


@pytest.mark.parametrize("broken", ["cli/__init__.py", "errors.py", "text.py"])
def test_where_its_files_lie_in_the_place_of_ours_the_error_says_so(tmp_path: Path, broken: str) -> None:
    package = tmp_path / "chameleon"
    shutil.copytree(ROOT / "chameleon", package, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for link in [each for each in package.iterdir() if each.is_symlink()]:
        target = link.resolve()
        link.unlink()
        link.symlink_to(target)
    (package / "__init__.py").write_text('"""Another package."""\n')
    (package / broken).write_text("")
    asked = [sys.executable, "-m", "chameleon", "ask", "q", "--table", "t.csv"]
    env = {**environment(), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        asked, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr and SENTENCE not in done.stderr
    installed(tmp_path)
    done = subprocess.run(
        asked, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1 and done.stderr.startswith(f"chameleon: {SENTENCE}")
    assert len(done.stderr.splitlines()) == 1
