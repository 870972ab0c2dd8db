"""Every block of README and docs/ runs here, or in the test that is named, or says why it cannot.

Blocks run page by page, in one folder with `demos`; a script stands in for models. The `text` blocks below,
up to the next block or heading, are what Python prints, or lines that a command prints; "…" is anything.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.documents.pdfs import pdf
from tests.e2e.commands import Command, environment
from tests.e2e.conftest import command as command
from tests.hosted import Asked, HostedServer

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DATA: Any = yaml.safe_load(Path(__file__).with_name("docs_blocks.yaml").read_text("utf-8"))
HELD, CANNOT, REPLIES = DATA["held"], DATA["cannot"], DATA["replies"]
RUN = ("python", "sh", "console")
MODEL = "openai:gpt-4.1-mini"
_FENCE = re.compile(r"(?:`([\w-]+\.[\w.-]+)`[^\n]*:\n\n)?^( *)```([\w{}-]*)\n(.*?)^\2```$", re.M | re.S)
_FIGURES = re.compile(r"(?:under )?\d+(?:\.\d+)? m?s\b")


class Block(NamedTuple):
    """A block of a page: `file` is what it is called, `printed` the text below it."""

    page: str
    language: str
    file: str
    text: str
    printed: str

    @property
    def reason(self) -> str | None:
        """Why it cannot run here."""
        return next((why for begins, why in CANNOT.items() if self.text.startswith(begins)), None)

    @property
    def held(self) -> str | None:
        return HELD.get(self.page) or HELD.get(f"{self.page} {self.language}")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = list(_FENCE.finditer(text))
    blocks = []
    for number, match in enumerate(found):
        printed, end = "", match.end()
        for after in found[number + 1 :]:
            if after[3] != "text" or re.search("^#", text[end : after.start()], re.M):
                break
            printed, end = printed + _body(after), after.end()
        name = page.relative_to(ROOT).as_posix()
        blocks.append(Block(name, match[3], match[1] or "", _body(match), printed))
    return blocks


def _body(match: re.Match[str]) -> str:
    return "".join(line[len(match[2]) :] for line in match[4].splitlines(keepends=True))


BLOCKS = {page.relative_to(ROOT).as_posix(): blocks_of(page) for page in PAGES}
TO_RUN = [name for name, found in BLOCKS.items() if any(e.language in RUN and not e.held for e in found)]


@pytest.fixture
def server() -> Iterator[HostedServer]:
    with HostedServer(reply, thinking=0) as server:
        yield server


@pytest.mark.parametrize("page", TO_RUN)
def test_blocks_run(page: str, tmp_path: Path, server: Any, command: Command, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAMELEON_STORE", "off")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    for name, text in DATA["given"].get(page, {}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        said = (ROOT / text[1:]).read_text("utf-8") if text.startswith("@") else text
        (tmp_path / name).write_text(said, "utf-8")
    lines = [(18, "Agreement"), (10, "It ends by a notice of ninety days.")]
    (tmp_path / "agreement.pdf").write_bytes(pdf([lines]))
    names: dict[str, object] = {}
    for block in BLOCKS[page]:
        if block.file:
            (tmp_path / block.file).write_text(block.text, "utf-8")
        if block.language not in RUN or block.held or block.reason:
            continue
        for script, printed in scripts_of(block):
            with pytest.MonkeyPatch.context() as patched:
                for name, value in model_of(script, server).items():
                    patched.setenv(name, value)
                if block.language == "python":
                    said = without_figures(run_python(script, names))
                    assert not printed or said == without_figures(printed), f"{script}\n{said}"
                else:
                    said = run_shell(script, command, codes={0, 3} if "Declined" in printed else {0})
                    assert re.search(as_pattern(printed), without_figures(said)), f"{script}\n{said}"


def scripts_of(block: Block) -> Iterator[tuple[str, str]]:
    """Yield what is to run, each with what it prints; in a `console` block lines with "$ " are commands."""
    if block.language != "console":
        yield block.text, block.printed
        return
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        script, _, printed = part.partition("\n")
        yield script, printed


def run_python(script: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script.replace("PROVIDER:NAME", MODEL), "block", "exec"), names)
    return printed.getvalue()


def run_shell(script: str, command: Command, *, codes: Set[int]) -> str:
    """Run a block as a reader would; packages are installed already. Commands alone need no shell."""
    script = re.sub(r"^pip install .*$|^python3 -m venv .*? \.venv/bin/(?=chameleon)", "", script, flags=re.M)
    script = script.replace("\\\n", " ").replace("http://localhost:11434/v1", "$OPENAI_BASE_URL")
    script = re.sub(r"(?:PROVIDER|openai):NAME", MODEL, script).replace("=…", "=k")
    lines = list(filter(None, script.splitlines()))
    if all(re.fullmatch(r"chameleon [^|>&;]*", line) for line in lines):
        done = [command(*shlex.split(line, comments=True)[1:]) for line in lines]
        assert {each.code for each in done} <= codes, f"{script}\n{done}"
        return "".join(each.out + each.err + each.out for each in done)
    return run_bash(script, environment(), codes)


def run_bash(script: str, variables: Mapping[str, str], codes: Set[int] = frozenset({0})) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    bash = ["bash", "-euo", "pipefail", "-c", script]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ended = subprocess.run(bash, env={**variables, "PATH": path}, text=True, timeout=120, **both)
    assert ended.returncode in codes, f"{script}\n{ended.stdout}"
    return ended.stdout


def model_of(script: str, server: HostedServer) -> dict[str, str]:
    """Return the variables by which a block asks the server of the test, where it asks a model."""
    if "ANTHROPIC" in script:
        return {"ANTHROPIC_BASE_URL": server.url}
    if not re.search(r"openai|OPENAI|PROVIDER:NAME|chain_of_table|-i finqa", script):
        return {}
    nowhere = {"WIKIPEDIA_ENDPOINT": f"{server.url}/w/api.php"}
    return {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k", **nowhere}


def without_figures(text: str) -> str:
    return _FIGURES.sub("# s", "".join(f"{line.rstrip()}\n" for line in text.splitlines()))


def as_pattern(printed: str) -> str:
    """Return a pattern of lines that are printed in this order, whatever stands between them."""
    lines = [r"\s+".join(map(re.escape, line.split())) for line in without_figures(printed).splitlines()]
    return "(?s)" + ".*?".join(lines).replace("…", ".*?")


def reply(asked: Asked) -> str:
    last = asked.messages[-1][1][-400:]
    return next((said for part, said in REPLIES.items() if part in last), "It is so. The answer is yes.")


def test_every_block_has_a_language_and_what_cannot_run_is_in_a_page() -> None:
    blocks = [each for found in BLOCKS.values() for each in found]
    assert not [(each.page, each.text) for each in blocks if not each.language]
    assert all(any(each.text.startswith(begins) for each in blocks) for begins in CANNOT)
