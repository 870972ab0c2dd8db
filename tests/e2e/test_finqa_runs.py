"""Reports end to end over real HTTP: of FinQA, by each mode and retriever, and of your own files."""

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.retrieval.embeddings import NONE, automatic
from tests.benchmarks.test_finqa import LINES, ROW
from tests.documents.pdfs import pdf
from tests.e2e.commands import Command
from tests.evaluation.rows import read_lines
from tests.loopback import LoopbackServer, Start
from tests.modules.reports.pages import PASSAGES, page

CHANGE = "what was the percentage change in harbour dues from 2010 to 2011?"
PROGRAM = "subtract(1250, 900), divide(#0, 900)"
MODES = {
    "zero_shot": ("finqa_zero_shot", PROGRAM),
    "few_shot": ("finqa_few_shot", f"Program: {PROGRAM}"),
    "cot": ("finqa", f"The dues were 900 and 1250.\nProgram: {PROGRAM}"),
}
pytest.importorskip("lxml")
pytest.importorskip("pypdfium2")
needs_embeddings = pytest.mark.skipif(automatic() == NONE, reason="no embeddings are installed here")


def run(loopback: Start, reply: Any, name: str, **retriever: Any) -> tuple[State, Any]:
    server, changed = loopback(reply), {"report_retriever": retriever}
    inventory = Inventory.parse({"name": "mine", "extends": name, "modules": changed})
    return Executor(inventory, LLM.connect("openai:local")).run(page(CHANGE)), server


def asked(server: LoopbackServer) -> str:
    """The case that the model was given last, without the examples before it."""
    text: str = server.requests[-1]["messages"][-1]["content"]
    return text.rpartition("Here is the question to answer.")[2] or text


@pytest.mark.parametrize(
    ("mode", "by"),
    [
        *(("zero_shot", "lexical"), ("few_shot", "bm25"), ("cot", "lexical")),
        pytest.param("cot", "hybrid", marks=needs_embeddings),
    ],
)
def test_every_mode_and_every_retriever(loopback: Start, mode: str, by: str) -> None:
    inventory, reply = MODES[mode]
    state, server = run(loopback, [reply], inventory, by=by, k=3)
    assert state.answer == "38.89%" and state.usage.calls == 1
    assert state.cache["finqa_program"] == PROGRAM and state.cache["program_result"] == 0.38889
    retrieved = state.cache["retrieved"]
    assert len(retrieved) == 3 and "row 1" in [fact["id"] for fact in retrieved]
    assert [source["rows"] for source in state.cache["sources"]] == [(1,)]
    case = asked(server)
    assert "harbour dues | $ 1250 | $ 900 | $ 870" in case and CHANGE in case
    shown = [each["text"] for each in PASSAGES if each["text"] in case and len(each["text"]) > 1]
    assert len(shown) == sum("passage" in fact["source"] for fact in retrieved)
    (request,) = server.requests
    text = request["messages"][-1]["content"]
    assert text.count("\nProgram: ") == (0 if mode == "zero_shot" else 12)
    assert text.endswith("Reasoning:" if mode == "cot" else "Program:") and request["temperature"] == 0


def test_an_evaluation(loopback: Start, command: Command, tmp_path: Path) -> None:
    data = tmp_path / "dev.json"
    both = {"question": "what were dues and fares in 2011?", "program": "add(1250, 310)", "exe_ans": 1560.0}
    data.write_text(json.dumps([ROW, {**ROW, "id": "second", "qa": {**ROW["qa"], **both}}]))

    def reply(request: dict[str, Any]) -> str:
        case = request["messages"][-1]["content"].rpartition("Here is the question")[2]
        wrong = "add(310, 1,250), subtract(#0, 60)"
        return f"Program: {PROGRAM if 'percentage change' in case else wrong}"

    server = loopback(reply)
    done = command("eval", "finqa", str(data), "--model", "openai:local", "--out", str(tmp_path / "run"))
    assert done.code == 0, done.err
    by_id = {result["id"]: result for result in read_lines(tmp_path / "run" / "results.jsonl")}
    assert by_id[ROW["id"]]["grades"] == {"execution": 1, "program": 1, "answer": 1}
    assert by_id["second"]["grades"] == {"execution": 0, "program": 0, "answer": 0}
    assert by_id[ROW["id"]]["found"] == {"program": PROGRAM} and by_id["second"]["answer"] == 1500
    assert len(server.requests) == 2
    told = command("report", str(tmp_path / "run"), "--published").out
    assert "execution accuracy" in told and "50.0000" in told and "68.00" in told


def test_the_ceiling(loopback: Start, command: Command, tmp_path: Path) -> None:
    data = tmp_path / "dev.json"
    data.write_text(json.dumps([ROW]))
    server = loopback(lambda request: f"Program: {PROGRAM}")
    asks = ("--benchmark", "finqa_gold", "--model", "openai:local", "--out", str(tmp_path / "run"))
    done = command("eval", "finqa_gold", str(data), *asks)
    assert done.code == 0, done.err
    case = asked(server)
    assert LINES[1][0] in case and LINES[2][0] not in case
    assert "fares rose to 310" in case and "dues rose" not in case


HTML = """<h1>Skerry Port</h1><h2>1 Port</h2><p>The town owns the port. The crane was painted.</p>
<h2>2 Income</h2><table><caption>Income, in thousands of crowns</caption>
<tr><th></th><th>2011</th><th>2010</th></tr>
<tr><td>Harbour dues</td><td>1,250</td><td>900</td></tr>
<tr><td>Ferry fares</td><td>310</td><td>(290)</td></tr></table>
<h2>3 Costs</h2><p>Rents were low. Interest expense was 12.5 million in 2011 and 10 million in 2010.</p>
<table><tr><th></th><th>2011</th><th>2010</th></tr>
<tr><td>Pay</td><td>500</td><td>1,250</td></tr><tr><td>Fuel</td><td>900</td><td>80</td></tr></table>"""
AVERAGE, OF_FARES = "What was the average of ferry fares?", "Program: table_average(ferry fares, none)"
STATED = f"Program: {PROGRAM}"
IN_PYTHON = "```python\nans = (1250 - 900) / 900\n```"
OF_PAGE = "From: r.html, Skerry Port > 2 Income"
ASKS = ("--model", "openai:local", "--store", "off")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
        (CHANGE, STATED, "--text r.html", f"38.89%\n{OF_PAGE} > Income, in thousands of crowns, row 1,"),
        (CHANGE, STATED, "--text r.pdf", "38.89%\nFrom: r.pdf, Skerry Port > 2 Income, page 2, row 1, "),
        (CHANGE, STATED, "-t t.csv --text n.txt", "38.89%\nFrom: t.csv, row 1, columns 2011 and 2010\n"),
        (AVERAGE, OF_FARES, "--text r.html", f"10\n{OF_PAGE} > Income, in thousands of crowns, row 2"),
        (CHANGE, IN_PYTHON, "--text r.html -i finqa_pot", f"38.89%\n{OF_PAGE}"),
    ],
)
def test_one_place_is_cited(
    files: Path, loopback: Start, command: Command, question: str, reply: str, given: str, told: str
) -> None:
    server = loopback(lambda request: reply)
    inventory = () if "-i" in given else ("-i", "finqa")
    done = command("ask", question, *ASKS, *inventory, *given.split())
    assert done.code == 0 and f"{done.out}{done.err}".startswith(told), done.out + done.err
    assert done.err.count("From: ") == 1
    if "r.html" in given:
        prompt = server.requests[-1]["messages"][-1]["content"]
        shown = prompt.rpartition("Here is the question to answer.")[2]
        assert " | 2011 | 2010\nHarbour dues | 1,250 | 900\n" in shown.replace("\n|", "\n |")
        assert shown.count("Income, in thousands of crowns") == 1
