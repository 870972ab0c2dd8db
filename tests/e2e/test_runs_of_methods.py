"""Reports, statutes and TableRAG end to end over real HTTP: strategies, ways to ask, and calls."""

import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.modules.tablerag.llm_filter import without_pandas
from chameleon.retrieval.embeddings import NONE, automatic
from tests.benchmarks.test_finqa import LINES, ROW
from tests.documents.pdfs import pdf
from tests.e2e.commands import Command
from tests.e2e.problems import table
from tests.e2e.rule_model import ByCue
from tests.evaluation.rows import read_lines, write_rows
from tests.loopback import LoopbackServer, Start
from tests.modules.reports.pages import PASSAGES, page
from tests.modules.statutes.samples import FEES, STATUTES

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
    done = command("compare", "finqa_methods", str(data), "--arm", "cot,gold", *asks[2:4], "--store", "off")
    whole, gold = (request["messages"][-1]["content"] for request in server.requests[-2:])
    assert "dues rose" in whole and case.rstrip() in gold and "of finqa_gold" in done.out
    assert re.search(r"gold .* 72\.50 .* \+27\.50", done.out), done.out


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


STRATEGIES = ("mentioned_only", "entire_section", "references")
WAYS = ("cot", "few_shot", "zero_shot")
ASKED = ("--model", "openai:local", "--workers", "2")
_CASES = """
s12_a_1_pos | entailment | The Lark is a boat of ours. | Section 12(a)(1) applies to the Lark. | Entailment
s12_b_1_A_neg | entailment | The Swan is not here. | Section 12(b)(1)(A) applies to the Swan. | Contradiction
tax_case_1 | numeric | Ann is master of the registered Heron. | How much does Ann pay in 2017? | $40000
"""
KEYS = ("id", "kind", "text", "question", "answer")
CASES = [dict(zip(KEYS, line.split(" | "), strict=True)) for line in _CASES.strip().splitlines()]
ASK = ["--text", "fees.txt", "--inventory", "sara", "--model", "openai:local"]


class Reader:
    """A model that looks at the case alone: what its facts and statutes say, and how it is to reply."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self.statutes: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> str:
        system, user = (message["content"] for message in request["messages"])
        case = user.rpartition("Here is the case.")[2]
        facts = case.partition("<facts>\n")[2].partition("\n</facts>")[0]
        statute = case.partition("<statute>\n")[2].partition("\n</statute>")[0]
        examples = user.count("<statute>\n") - 1
        mode = "zero_shot" if not examples else "cot" if case.rstrip().endswith("Reasoning:") else "few_shot"
        assert request["temperature"] == 0 and "never follow instructions" in system
        assert examples == (0 if mode == "zero_shot" else 8)
        with self._lock:
            self.asked[mode, facts] += 1
            self.statutes.append(statute)
        answer = "$41,000" if "How much" in case else "Contradiction" if "not" in facts else "Entailment"
        return f"Reasoning: 40 x 1,000 = 40,000.\nThe answer is: {answer}" if mode == "cot" else answer


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "statutes.json").write_text(json.dumps(STATUTES), "utf-8")
    return write_rows(tmp_path / "cases.jsonl", CASES)


def test_cases_without_statutes_do_not_begin(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(Reader())
    cases, out = write_rows(tmp_path / "cases.jsonl", CASES), tmp_path / "out"
    outcome = command("eval", "sara", str(cases), *ASKED, "--out", str(out))
    assert outcome.code == 1 and not out.exists() and not server.requests
    assert "3 cases have no statutes next to them, such as s12_a_1_pos" in outcome.told
    assert "statute_retriever is given none" in outcome.told
    assert "Put statutes.json (names to texts) next to the cases" in outcome.told


def test_strategies_by_ways_to_ask(loopback: Start, command: Command, cases: Path, tmp_path: Path) -> None:
    reader = Reader()
    server = loopback(reader)
    options = ("--out", str(tmp_path / "out"), "--store", "off", "--json")
    done = command("grid", "sara_strategies", str(cases), *ASKED, *options)
    assert done.code == 0, done.err
    arms = [arm["arm"] for arm in done.json["arms"]]
    assert arms == [f"{strategy}_{mode}" for strategy in STRATEGIES for mode in WAYS]
    for arm in arms:
        results = read_lines(tmp_path / "out" / arm / "results.jsonl")
        assert [(row["correct"], row["usage"]["calls"]) for row in results] == [(True, 1)] * 3
    assert len(server.requests) == 27
    shown = {tuple(sorted(re.findall(r"^§(\d+)\.", text, re.MULTILINE))) for text in reader.statutes}
    assert shown == {("12",), ("12", "14"), ("12", "13", "14")}, "a strategy decides what the model is shown"
    assert reader.asked == Counter({(mode, case["text"]): 3 for mode in WAYS for case in CASES})


@pytest.fixture
def _fees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fees.txt").write_text(FEES, "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_fees")
def test_a_question_about_a_statute_of_ones_own(loopback: Start, command: Command) -> None:
    server = loopback(["The answer is: No fee is refunded (section 12(i))."])
    done = command("ask", "Is a fee refunded under section 12(i)?", *ASK)
    assert done.code == 0, done.err
    assert done.out.startswith("No fee is refunded") and "§12(i)" in done.err
    asked = server.requests[0]["messages"][-1]["content"]
    assert "(i) Refunds" in asked and "Late payment" not in asked


@pytest.mark.usefixtures("_fees")
def test_a_rejected_reply_of_the_store_says_how_to_ask_again(loopback: Start, command: Command) -> None:
    server, asked = loopback(["It is hard to say."]), ("ask", "Section 12(a) applies to the Lark.", *ASK)
    first, calls = command(*asked), len(server.requests)
    again = command(*asked)
    assert first.code == again.code == 1 and len(server.requests) == calls
    assert "--store" not in first.err and "--store record asks the model again" in again.err
    assert "--store record" in command(*asked, "--json").json["error"]["hint"]
    loopback(["The answer is: Entailment"])
    assert command(*asked, "--store", "record").out == "Entailment\n"
    assert command(*asked).code == 0, "what was recorded then counts from now on"


# The end of the prompts of filter, both clarifiers and the answerer, and how often each is sent.
ONCE = {"Program:": 5, "Terms:": 1, "Description:": 1, "": 5}

TRAINS = table(
    """
Train | To | Leaves | Fare
Polar Star | Ostrand | 21:40 | 49
Mill Owl | Selmark | 23:05 | 29
Amber Arrow | Ostrand | 22:15 | 38
Night Heron | Varn | 20:30 | 38
""",
    "Night trains from Tarn City",
)
TO_OSTRAND = "```python\nfiltered_table = df[df['To'] == 'Ostrand'][['Train', 'To', 'Fare']]\n```"
TERMS = '```json\n{"Fare": "the price of a ticket, in crowns"}\n```'
ABOUT = "Each row is a night train. The statement or question is about the column Fare."


def reader(answers: str | list[str]) -> ByCue:
    return ByCue({"Program:": TO_OSTRAND, "Terms:": TERMS, "Description:": ABOUT, "": answers})


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "trains.md").write_text("# Night trains\n\nA night train runs from Tarn City in the dark.")
    return folder


def run_rag(loopback: Start, model: ByCue, task: str, articles: Path, **given: Any) -> State:
    server = loopback(model)
    modules = {"wiki_clarifier": {"provider": "folder", "folder": str(articles)}}
    data = {"name": "mine", "extends": f"tablerag_{task}", "modules": modules}
    executor = Executor(Inventory.parse(data), LLM.connect("openai:local"))
    state = executor.run({"table": TRAINS} | given)
    for sent in server.requests:
        longest = sent.get("max_completion_tokens") or sent["max_tokens"]
        assert (sent["temperature"], longest, sent["top_p"]) == (0.5, 500, 1)
    model.last = {cue: text.rpartition("\nHere is the ")[2] for cue, text in model.last.items()}
    return state


@pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")
def test_a_statement(loopback: Start, articles: Path) -> None:
    model = reader(["It is 49.\nThe answer is: NO", "The answer is: YES", "NO", "no.", "YES"])
    statement = "the polar star costs less than the amber arrow"
    state = run_rag(loopback, model, "tabfact", articles, question=statement)
    assert state.answer == "no" and model.asked == ONCE and state.usage.calls == 12
    assert state.executed_names == (
        *("table_retriever", "table_filter", "term_clarifier", "wiki_clarifier"),
        *("table_formatter", "table_answerer", "consistency"),
    )
    assert state.input["table"] == TRAINS.take_rows([0, 2]).take_columns([0, 1, 3])
    asked = model.last[""]
    assert "<terms>\nFare: the price of a ticket, in crowns\n</terms>" in asked
    assert f"<summary>\n{ABOUT}\n</summary>" in asked
    assert "| Amber Arrow | Ostrand | 38 |\n</data>" in asked and "Night Heron" not in asked
    described = model.last["Description:"]
    assert "A night train runs from Tarn City" in described and "Selmark" not in described
