"""docs/traces.md is true: the spans that it shows, its commands, its Python and what they print."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT, Command
from tests.e2e.conftest import command as command
from tests.interop.otlp_receiver import OtlpReceiver
from tests.loopback import Reply, Start

PAGE = (ROOT / "docs/traces.md").read_text("utf-8")
_TIME = re.compile(r"[\d.]+ ms")
SHOWN = (
    *("gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    *("chameleon.plan.steps", "chameleon.ended"),
)
REPLIES = [
    Reply('["program_generator", "answer_generator"]', usage=(389, 14)),
    Reply("ans = sum([47, 46, 35, 35, 31, 29, 28, 27, 27, 24, 23, 22])", usage=(1412, 58)),
]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[list[str]]:
    lines = block.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("chameleon ")]


def test_the_spans_are_what_a_receiver_gets(command: Command, loopback: Start, monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    (asked,) = commands(blocks("sh")[0])
    loopback(REPLIES)
    with OtlpReceiver() as receiver:
        answered = command(*(receiver.url if part.startswith("http:") else part for part in asked))
        (trace,) = receiver.traces
    assert answered.out == "374\n"
    told = "\n".join(trace.lines(SHOWN)) + "\n"
    assert _TIME.sub("", told) == _TIME.sub("", blocks("text")[0])


def test_the_other_blocks_run(command: Command, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    (tmp_path / "logs").mkdir()
    done = [command(*each) for each in commands(blocks("sh")[1])]
    assert [each.code for each in done] == [0, 0]
    _, _, written, opened = blocks("text")
    assert done[-1].err == written
    spans, read, frames = blocks("python")
    with OtlpReceiver() as receiver:
        exec(spans.replace("http://localhost:4318", receiver.url), {})
        assert b"What is the total price?" in b"".join(receiver.bodies)
    exec(read, {})
    assert capsys.readouterr().out == opened
    exec(frames, {})
    assert "table_reader → final_answer" in capsys.readouterr().out
