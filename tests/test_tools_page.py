"""The pages of tools run as they stand: their files, their commands, and what these print."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import environment
from tests.hosted import Asked, HostedServer
from tests.hosted_tools import Calls
from tests.test_docs_blocks import BLOCKS, HELD, ROOT, run_bash

_FIGURES = re.compile(
    r"(?<=\[)[^]]*(?:m?s|\$[\d.]+)(?=\])|(?<=\[)(?:under )?[\d.]+ m?s(?=\])|(?<=^Model: ).*|(?<=Took ).*"
)
PAGES = [page for page, test in HELD.items() if test == "tests/test_tools_page.py"]
PAGE = "\n".join((ROOT / page).read_text("utf-8") for page in PAGES)
FILES = dict(re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))
SCRIPTS = [(each.text, each.printed) for page in PAGES for each in BLOCKS[page] if each.language == "sh"]
(PACKAGE,) = [each for each in SCRIPTS if "./my-tools" in each[0]]


@pytest.fixture
def server() -> Iterator[HostedServer]:
    with HostedServer(_reply, thinking=0) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files of the page, and its package as pip installs it."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    package = tmp_path / "installed"
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    about = package / f"my_tools-{project['version']}.dist-info"
    about.mkdir(parents=True)
    (package / "my_tools.py").write_text(FILES["tools.py"], "utf-8")
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", "utf-8")
    points = ConfigParser(delimiters="=")
    points.read_dict(project["entry-points"])
    with (about / "entry_points.txt").open("w") as file:
        points.write(file)
    (table,) = re.findall(r"^printf .*$", "\n".join(script for script, _ in SCRIPTS), re.M)
    subprocess.run(["bash", "-c", table], cwd=tmp_path, check=True)
    return tmp_path


def run(script: str, folder: Path, server: HostedServer) -> str:
    """Run a block of the shell as a reader would; packages are installed already."""
    keys = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k", "CHAMELEON_STORE": "off"}
    script = re.sub(r"^pip install .*$", "", script, flags=re.M)
    return run_bash(f"cd {folder}\n{script}", environment(str(folder / "installed"), **keys))


def without_figures(text: str) -> str:
    """Leave out times and costs, and the lines that a slow machine prints while it works."""
    text = re.sub(r"^.* …\n", "", text, flags=re.M)
    return "".join(f"{_FIGURES.sub('#', line.rstrip())}\n" for line in text.splitlines())


def as_pattern(printed: str) -> str:
    """Return what a page prints as a pattern: a line "…" stands for any lines."""
    return re.escape(without_figures(printed)).replace("…\\\n", "(?:.*\n)*?")


@pytest.mark.parametrize(
    "block", [each for each in SCRIPTS if each != PACKAGE], ids=lambda each: each[0][:40]
)
def test_what_the_page_prints_is_printed(block: tuple[str, str], folder: Path, server: HostedServer) -> None:
    script, printed = block
    said = run(script, folder, server)
    assert not printed or re.fullmatch(as_pattern(printed), without_figures(said)), said


def test_the_model_sees_the_line_of_the_page_and_a_package_lists_tools(folder: Path, server: Any) -> None:
    run("python ask.py", folder, server)
    lines = server.requests[0].body["messages"][0]["content"].splitlines()
    assert any(each.language == "text" and each.text.strip() in lines for each in BLOCKS["docs/tools.md"])
    script, printed = PACKAGE
    assert printed.split() in [line.split() for line in run(script, folder, server).splitlines()]
    (folder / "tools.py").unlink()
    (named,) = re.findall(r"now name them: `(modules: .*?)`", PAGE)
    (folder / "mine.yaml").write_text(f"name: mine\nplanner: one_shot\n{named}\n", "utf-8")
    script = 'chameleon ask "How warm is Oslo in Fahrenheit?" --inventory mine.yaml --model openai:gpt-6-luna'
    assert run(script, folder, server).startswith("39.2\n")


def _reply(asked: Asked) -> str | Calls:
    text = "\n".join(said for _, said in asked.messages)
    results = [each["output"] for each in asked.body.get("input", ()) if "output" in each]
    if "How warm is Oslo in Fahrenheit?" in text:
        city = "Oslo"
        if "Question: And Rome?" in text:
            assert "Question: How warm is Oslo in Fahrenheit?\nAnswer: 39.2\n</conversation>" in text
            city = "Rome"
        for shown in ("weather(city: string): ", 'convert(celsius: number, to: "F" | "K") -> number: '):
            assert f"- {shown}" in text
        first = {"module": "weather", "args": {"city": city}}
        return json.dumps([first, {"module": "convert", "args": {"celsius": "$weather.temp", "to": "F"}}])
    if "Is Oslo or Rome warmer" in text:
        if len(results) == 2:
            warmest = max(json.loads(each)["temp"] for each in results)
            return Calls([("convert", {"celsius": warmest, "to": "F"})])
        if results:
            return f"Rome, at {results[-1]} °F."
        return Calls([("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})])
    if "visited Lisboa" in text:
        if results and "Failed" not in results[-1]:
            return results[-1]
        return Calls([("visitors", {"city": "Lisbon" if "Lisbon" in str(results) else "Lisboa"})])
    if text.rstrip().endswith("Modules:"):
        return '["solution_generator", "answer_generator"]'
    return "Lisbon had 4,200. The answer is 4,200."
