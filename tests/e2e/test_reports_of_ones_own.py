"""Questions about a report of one's own, given as files, through the inventories for reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.pdfs import pdf
from tests.e2e.commands import Command
from tests.loopback import Start

pytest.importorskip("lxml")
pytest.importorskip("pypdfium2")

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
AVERAGE, OF_FARES = "What was the average of ferry fares?", "Program: table_average(ferry fares, none)"
IN_PYTHON = "```python\nans = (1250 - 900) / 900\n```"
OF_PAGE = "From: r.html, Skerry Port > 2 Income"
ASK = ("--model", "openai:local", "--store", "off")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report as a page and as a PDF, and a table with a text."""
    (tmp_path / "r.html").write_text(HTML)
    table = [["", "2011", "2010"], ["Harbour dues", "1,250", "900"], ["Ferry fares", "310", "290"]]
    pages = [[(18, "Skerry Port"), (11, "A report.")], [(14, "2 Income"), (11, "As follows."), table]]
    (tmp_path / "r.pdf").write_bytes(pdf(pages))
    (tmp_path / "t.csv").write_text('item,2011,2010\nHarbour dues,"1,250",900\nFerry fares,310,(290)\n')
    (tmp_path / "n.txt").write_text("Interest expense was 12.5 million in 2011 and 10 million in 2010.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("question", "reply", "given", "told"),
    [
        (CHANGE, PROGRAM, "--text r.html", f"38.89%\n{OF_PAGE} > Income, in thousands of crowns, row 1,"),
        (
            CHANGE,
            PROGRAM,
            "--text r.pdf",
            "38.89%\nFrom: r.pdf, Skerry Port > 2 Income, page 2, row 1, columns",
        ),
        (CHANGE, PROGRAM, "-t t.csv --text n.txt", "38.89%\nFrom: t.csv, row 1, columns 2011 and 2010\n"),
        (AVERAGE, OF_FARES, "--text r.html", f"10\n{OF_PAGE} > Income, in thousands of crowns, row 2"),
        (CHANGE, IN_PYTHON, "--text r.html -i finqa_pot", f"38.89%\n{OF_PAGE}"),
    ],
)
def test_one_place_is_cited_though_numbers_stand_in_others(
    files: Path, loopback: Start, command: Command, question: str, reply: str, given: str, told: str
) -> None:
    server = loopback(lambda request: reply)
    inventory = () if "-i" in given else ("-i", "finqa")
    done = command("ask", question, *ASK, *inventory, *given.split())
    assert done.code == 0 and f"{done.out}{done.err}".startswith(told), done.out + done.err
    assert done.err.count("From: ") == 1
    if "r.html" in given:
        prompt = server.requests[-1]["messages"][-1]["content"]
        shown = prompt.rpartition("Here is the question to answer.")[2]
        assert " | 2011 | 2010\nHarbour dues | 1,250 | 900\n" in shown.replace("\n|", "\n |")
        assert shown.count("Income, in thousands of crowns") == 1
