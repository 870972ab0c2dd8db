"""Questions about a report of one's own, given as files, through the inventories for reports."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.documents.pdfs import pdf
from tests.e2e.commands import Command
from tests.loopback import LoopbackServer

HTML = """<h1>Skerry Port</h1><h2>1 Port</h2><p>The town owns the port. The crane was painted.</p>
<h2>2 Income</h2><table><caption>Income, in thousands of crowns</caption>
<tr><th></th><th>2011</th><th>2010</th></tr>
<tr><td>Harbour dues</td><td>1,250</td><td>900</td></tr>
<tr><td>Ferry fares</td><td>310</td><td>(290)</td></tr></table>
<h2>3 Costs</h2><p>Rents were low. Interest expense was 12.5 million in 2011 and 10 million in 2010.</p>
<table><tr><th></th><th>2011</th><th>2010</th></tr>
<tr><td>Pay</td><td>500</td><td>1,250</td></tr><tr><td>Fuel</td><td>900</td><td>80</td></tr></table>"""
CHANGE = "What was the percentage change in harbour dues from 2010 to 2011?"
PROGRAM = "Program: subtract(1250, 900), divide(#0, 900)"
FINQA = ("-i", "finqa", "--model", "openai:local", "--store", "off")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "r.html").write_text(HTML)
    (tmp_path / "t.csv").write_text('item,2011,2010\nHarbour dues,"1,250",900\nFerry fares,310,(290)\n')
    (tmp_path / "n.txt").write_text("Interest expense was 12.5 million in 2011 and 10 million in 2010.\n")
    return tmp_path


def _html(files: Path) -> list[str]:
    pytest.importorskip("lxml")
    return ["--text", str(files / "r.html")]


class TestCitations:
    @pytest.fixture(autouse=True)
    def _model(self, loopback: Callable[..., LoopbackServer]) -> None:
        loopback(lambda request: PROGRAM)

    def test_of_a_page(self, files: Path, command: Command) -> None:
        done = command("ask", CHANGE, *_html(files), *FINQA)
        assert done.code == 0, done.out + done.err
        assert "Answer: 38.89%\n" in done.out
        (line,) = [line for line in done.out.splitlines() if line.startswith("From: ")]
        assert line.startswith("From: r.html, Skerry Port > 2 Income")
        assert line.endswith("Income, in thousands of crowns, row 1, columns 2011 and 2010")

    def test_of_a_pdf(self, files: Path, command: Command) -> None:
        pytest.importorskip("pdfplumber")
        table = [["", "2011", "2010"], ["Harbour dues", "1,250", "900"], ["Ferry fares", "310", "290"]]
        pages = [[(18, "Skerry Port"), (11, "A report.")], [(14, "2 Income"), (11, "As follows."), table]]
        (files / "r.pdf").write_bytes(pdf(pages))
        done = command("ask", CHANGE, "--text", str(files / "r.pdf"), *FINQA)
        assert "Answer: 38.89%\n" in done.out, done.out + done.err
        assert "From: r.pdf, " in done.out and "page 2, row 1" in done.out

    def test_of_the_example_of_the_documents(self, tmp_path: Path, command: Command) -> None:
        """The first report, command and answer of docs/reports.md."""
        text = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
        report, asked, answer = re.findall(r"```\w*\n(.*?)\n```", text, re.DOTALL)[:3]
        (tmp_path / "port.md").write_text(report)
        asked = asked.replace("port.md", (tmp_path / "port.md").as_posix()).replace(
            "PROVIDER:NAME", "openai:local"
        )
        name, *given = shlex.split(asked)
        done = command(*given)
        assert name == "chameleon" and done.code == 0, done.out + done.err
        assert answer in done.out

    def test_of_a_table_with_a_text(self, files: Path, command: Command) -> None:
        given = ["--table", str(files / "t.csv"), "--text", str(files / "n.txt")]
        done = command("ask", CHANGE, *given, *FINQA)
        told = "Answer: 38.89%\nFrom: t.csv, row 1, columns 2011 and 2010\n"
        assert done.code == 0 and told in done.out, done.out + done.err


class TestWithAModel:
    def ask(
        self, loopback: Callable[..., LoopbackServer], command: Command, reply: str, *given: str
    ) -> tuple[Any, str]:
        server = loopback(lambda request: reply)
        done = command("ask", *given, "--model", "openai:local", "--store", "off", "--json")
        assert done.code == 0, done.out + done.err
        shown = server.requests[-1]["messages"][-1]["content"]
        return json.loads(done.out), shown.rpartition("Here is the question to answer.")[2]

    def test_a_table_has_its_caption_and_one_place_is_cited_though_numbers_stand_in_others(
        self, files: Path, loopback: Any, command: Command
    ) -> None:
        told, shown = self.ask(loopback, command, PROGRAM, CHANGE, *_html(files), "-i", "finqa")
        assert told["answer"] == "38.89%"
        assert " | 2011 | 2010\nHarbour dues | 1,250 | 900\n" in shown.replace("\n|", "\n |")
        assert shown.count("Income, in thousands of crowns") == 1
        (source,) = told["sources"]
        assert source["file"] == "r.html" and "2 Income" in source["heading"]
        assert source["rows"] == [1] and source["columns"] == ["2011", "2010"]

    def test_an_operation_over_a_row_of_a_passage(self, files: Path, loopback: Any, command: Command) -> None:
        asked = "What was the average of ferry fares?"
        reply = "Program: table_average(ferry fares, none)"
        told, _ = self.ask(loopback, command, reply, asked, *_html(files), "-i", "finqa")
        assert told["answer"] == 10
        (source,) = told["sources"]
        assert source["rows"] == [2]

    def test_in_the_sandbox(self, files: Path, loopback: Any, command: Command) -> None:
        reply = "```python\nans = (1250 - 900) / 900\n```"
        told, shown = self.ask(loopback, command, reply, CHANGE, *_html(files), "-i", "finqa_pot")
        assert told["answer"] == "38.89%" and "Harbour dues | 1,250 | 900" in shown
