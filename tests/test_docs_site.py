"""The site of docs/ is built without warnings, and its pages name and find each other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
_LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)")


def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package)
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    done = subprocess.run([*build, str(DOCS), str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "reference/cli.html").read_text("utf-8")
    assert "chameleon doctor" in commands and "--max-cost" in commands
    assert "| `max_tokens` | whole number > 0 |" in (tmp_path / "reference/inventory.md").read_text("utf-8")
    assert "SearXNG" in (tmp_path / "web_search.html").read_text("utf-8")
    listed = _LINK.findall((tmp_path / "llms.txt").read_text("utf-8"))
    assert all((tmp_path / page).is_file() for page in listed)


def test_every_page_is_in_the_menu_and_in_llms_txt_and_links_lead_to_files() -> None:
    listed = set(_LINK.findall((DOCS / "llms.txt").read_text("utf-8")))
    assert listed == PAGES - {"index.md"}
    menu = "\n".join(re.findall(r"```{toctree}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.S))
    names = {each.rpartition("<")[2].rstrip(">") for each in menu.splitlines()}
    assert {page.removesuffix(".md") for page in listed} <= names
    # As GitHub shows them; the site checks headings.
    for page in ("../README.md", *PAGES):
        for link in _LINK.findall((DOCS / page).read_text("utf-8")):
            target = link.partition("#")[0]
            if target and ":" not in link:
                assert (DOCS / page).parent.joinpath(target).exists(), (page, link)
