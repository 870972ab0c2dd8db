"""Sixty questions that need more than one table: what a model is shown, the answer, and its sources."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.llm import ScriptedModel
from tests.benchmarks.shared_data import needs_data
from tests.several.asked import (
    QUESTIONS,
    SHARED,
    Question,
    build,
    corpus_of,
    gold_cites,
    gold_ids,
    is_right,
    scripted,
)

pytest.importorskip("tantivy")

Indexed = Callable[[Question], str]
# A program gives a time as seconds, where a query copies the cell.
IN_SECONDS = {"fetaqa-3": "140.72"}
# The words of these lead to one table alone, or to another that shares names with it.
NAMED_IN_PART = {"library-1", "library-3", "grants-2", "orchard-1"}


def of(*kinds: str) -> pytest.MarkDecorator:
    """Parametrize a test over the questions of some kinds; those over shared data skip without them."""
    marks = {True: needs_data, False: ()}
    chosen = [each for each in QUESTIONS if each["kind"] in kinds]
    params = [pytest.param(each, id=each["id"], marks=marks[corpus_of(each) == SHARED]) for each in chosen]
    return pytest.mark.parametrize("question", params)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """The index of a question's folder, or of the tables of all questions over shared data; built once."""
    wanted = {id for each in QUESTIONS for id in gold_ids(each)}
    made: dict[str, str] = {}

    def index(question: Question) -> str:
        if (corpus := corpus_of(question)) not in made:
            made[corpus] = build(corpus, tmp_path_factory.mktemp(corpus) / "index", wanted.__contains__)
        return made[corpus]

    return index


def asked(inventory: str, question: Question, index: str) -> tuple[State, list[str]]:
    """Ask a question; return how it ended, and the last message of each request."""
    model = scripted(question, index)
    executor = Executor(Inventory.parse({"name": "asked", "extends": inventory}), llm=LLM.connect(model))
    state = executor.run({"question": question["question"], "index": index})
    return state, [messages[-1][1] for messages in model.requests]


def cites(state: State) -> Iterator[tuple[str, list[int] | None]]:
    """Yield each source of an answer, as the questions name it: the rows, None for all, or a passage."""
    for each in state.sources:
        if "passage" in each:
            heading = each["heading"].rpartition(" > ")[2]
            yield f"{each['file']}#{heading}" if "file" in each else heading, None
        else:
            yield each["id"], list(each["rows"]) if len(each["rows"]) < each["of"] else None


def expected(question: Question) -> dict[str, list[int] | None]:
    """Return the gold sources: passages of HybridQA are known by their titles alone."""
    of_text = question["reply"] and corpus_of(question) == SHARED
    gold = gold_cites(question).items()
    return {key.rpartition("#")[2] if of_text else key: rows for key, rows in gold}


def test_there_are_sixty() -> None:
    assert Counter(each["kind"] for each in QUESTIONS) == {"join": 20, "union": 20, "compare": 10, "text": 10}
    assert len({each["id"] for each in QUESTIONS}) == 60
    assert all(len(each["tables"]) > 1 for each in QUESTIONS if each["kind"] != "text")


@of("join", "union", "compare")
def test_one_query(question: Question, indexed: Indexed) -> None:
    state, (request,) = asked("corpus_sql", question, indexed(question))
    assert is_right(state.answer, question["answer"]), state
    database = request.rpartition("Here is the question to answer.")[2]
    for table in state.tables:
        assert all(f'\t"{name.strip()}' in database for name in table.header if name.isalpha())
    retrieved = [each["id"] for each in state.cache["retrieved"]]
    assert {*gold_ids(question)} <= {*retrieved[: len(state.tables)]}
    assert database.count("CREATE TABLE") == len(state.tables)
    assert dict(cites(state)) == expected(question)


@pytest.mark.parametrize(
    ("asked_for", "queries", "answer"),
    [
        ("How many loaves were sold in 2023 and 2024?", ["SELECT Loaves", "SELECT SUM(Loaves)"], "7"),
        ("How many loaves were sold in each year?", ["SELECT Loaves"], "3, 4"),
        ("Which shop sold the most?", ["SELECT MAX(Loaves)", "SELECT MAX(Shop)"], "B"),
    ],
)
def test_a_result_of_another_kind_is_asked_for_again(asked_for: str, queries: list[str], answer: str) -> None:
    tables = [Table(["Shop", "Loaves"], [["A", "3"], ["B", "4"]], f"sales 202{n}") for n in (3, 4)]
    model = ScriptedModel([f"{query} FROM sales_2023" for query in queries])
    given = {"question": asked_for, "table": tables[0], "tables": tables[1:]}
    state = Executor("corpus_sql", LLM.connect(model)).run(given)
    assert str(state.answer) == answer and len(model.requests) == len(queries)


@of("join", "compare", "text")
def test_tables_that_a_model_chooses(question: Question, indexed: Indexed) -> None:
    state, requests = asked("corpus", question, indexed(question))
    assert is_right(state.answer, IN_SECONDS.get(question["id"], question["answer"])), state
    chosen = state.cache.get("table_choice") or {"id": "", "others": ()}
    if not question["reply"]:
        assert [chosen["id"], *chosen["others"]] == gold_ids(question)
        captions = [each.caption for each in state.tables]
        assert all(caption in requests[-1] for caption in captions)
    assert dict(cites(state)) == expected(question)


@of("union", "compare", "join", "text")
def test_without_a_model_answers_are_right_or_declined(question: Question, indexed: Indexed) -> None:
    state, _ = asked("corpus_offline", question, indexed(question))
    if question["kind"] in ("join", "text"):
        assert state.answer is None and "Declined" not in str(state.why)
    if question["kind"] == "join":
        named = [id for id in gold_ids(question) if id in str(state.why)]
        assert (len(named) > 1) != (question["id"] in NAMED_IN_PART), state.why
    if state.answer is not None:
        assert is_right(state.answer, question["answer"])
        gold = expected(question)
        assert {id for id, _ in cites(state)} == {*gold}
        assert all(gold[id] in (rows, None) for id, rows in cites(state))


@needs_data
def test_how_many_are_answered_without_a_model(indexed: Indexed) -> None:
    states = {each["id"]: asked("corpus_offline", each, indexed(each))[0] for each in QUESTIONS}
    answered = Counter(each["kind"] for each in QUESTIONS if states[each["id"]].answer is not None)
    assert answered == {"union": 5, "compare": 2}
