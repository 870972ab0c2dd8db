"""SARA and TableRAG end to end over real HTTP: strategies, ways to ask, and calls."""

import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.modules.tablerag.llm_filter import without_pandas
from tests.e2e.commands import Command
from tests.e2e.problems import table
from tests.e2e.rule_model import ByCue
from tests.evaluation.rows import read_lines, write_rows
from tests.loopback import Start
from tests.modules.statutes.samples import FEES, STATUTES

STRATEGIES = ("mentioned_only", "entire_section", "references")
MODES = ("cot", "few_shot", "zero_shot")
MODEL = ("--model", "openai:local", "--workers", "2")
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
def data(tmp_path: Path) -> Path:
    (tmp_path / "statutes.json").write_text(json.dumps(STATUTES), "utf-8")
    return write_rows(tmp_path / "cases.jsonl", CASES)


def test_cases_without_statutes_do_not_begin(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(Reader())
    cases, out = write_rows(tmp_path / "cases.jsonl", CASES), tmp_path / "out"
    outcome = command("eval", "sara", str(cases), *MODEL, "--out", str(out))
    assert outcome.code == 1 and not out.exists() and not server.requests
    assert "3 cases have no statutes beside them, such as s12_a_1_pos" in outcome.told
    assert "statute_retriever is given none" in outcome.told
    assert "Put statutes.json (names to texts) beside the cases" in outcome.told


def test_strategies_by_ways_to_ask(loopback: Start, command: Command, data: Path, tmp_path: Path) -> None:
    reader = Reader()
    server = loopback(reader)
    options = ("--out", str(tmp_path / "out"), "--store", "off", "--json")
    done = command("grid", "sara_strategies", str(data), *MODEL, *options)
    assert done.code == 0, done.err
    arms = [arm["arm"] for arm in done.json["arms"]]
    assert arms == [f"{strategy}_{mode}" for strategy in STRATEGIES for mode in MODES]
    for arm in arms:
        results = read_lines(tmp_path / "out" / arm / "results.jsonl")
        assert [(row["correct"], row["usage"]["calls"]) for row in results] == [(True, 1)] * 3
    assert len(server.requests) == 27
    shown = {tuple(sorted(re.findall(r"^§(\d+)\.", text, re.MULTILINE))) for text in reader.statutes}
    assert shown == {("12",), ("12", "14"), ("12", "13", "14")}, "a strategy decides what the model is shown"
    assert reader.asked == Counter({(mode, case["text"]): 3 for mode in MODES for case in CASES})


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
