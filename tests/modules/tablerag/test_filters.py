"""What is kept of a table and of passages: by likeness, and by a model's code, and how samples vote."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import ChameleonError, Table
from chameleon.modules.sql.database import safe_names
from chameleon.modules.tablerag import llm_filter
from chameleon.modules.tablerag.similarity import PassageRetriever, SemanticFilter, top
from chameleon.table.replies import normal
from chameleon.text import estimated_tokens
from tests.benchmarks.shared_data import DATA, needs_data
from tests.modules.tablerag.running import REGATTA, output, run

_SHIPS = [[f"Ship {n}", "Arvik" if n in (3, 7, 11) else "Selmark", f"{n} m"] for n in range(20)]
MANY = Table(["Ship", "Port", "Length"], _SHIPS)


def kept(**given: Any) -> tuple[Any, Table]:
    parameters = {key: given.pop(key) for key in ("rows", "columns", "order") if key in given}
    state, _ = run(SemanticFilter(by="bm25", **parameters), table=given.pop("table", MANY), **given)
    return output(state, "semantic_filter"), state.input["table"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"rows": 3, "question": "Which ships lie in Arvik?"}, MANY.take_rows([3, 7, 11])),
        ({"rows": None, "columns": 1, "question": "Which port?"}, MANY.take_columns([1])),
        ({"rows": 10, "table": REGATTA}, REGATTA),
        ({"table": Table(["a"])}, Table(["a"])),
        ({"rows": 2, "question": "Who knows?"}, MANY),  # nothing tells the rows apart
    ],
)
def test_what_is_like_the_question_stays_in_order(given: dict[str, Any], expected: Table) -> None:
    told, table = kept(**given)
    assert table == expected and bool(told.get("whole")) == (expected == given.get("table", MANY))


def test_rows_may_stand_in_the_order_of_likeness_the_nearest_last() -> None:
    told, _ = kept(rows=2, order="similarity", question="Ship 7 in Arvik")
    assert told["rows"][-1] == 7
    with pytest.raises(ChameleonError, match="guesswork"):
        SemanticFilter(by="guesswork").check()


def test_what_was_cut_before_is_counted_from_the_whole() -> None:
    first, second = SemanticFilter(6, by="bm25"), SemanticFilter(2, 2, by="bm25")
    first.name, second.name = "first", "second"
    state, _ = run([first, second], table=MANY, question="Ship 11 and Ship 7 in which port?")
    assert state.cache["kept"] == {"rows": (7, 11), "columns": (0, 1)}
    assert state.input["table"] == MANY.take_rows([7, 11]).take_columns([0, 1])


@needs_data
def test_the_published_vectors() -> None:
    """30 of 30, in the published order; by default the same rows stand in the order of the table."""
    numpy = pytest.importorskip("numpy")
    stored = numpy.load(DATA / "tablerag/row_embeddings.npz")["emb"]
    lines = (DATA / "tablerag/row_embeddings_index.jsonl").read_text("utf-8").splitlines()
    places = {row["file"]: row for row in map(json.loads, lines)}
    recorded = (DATA / "vectors/tablerag_semantic_topk.jsonl").read_text("utf-8").splitlines()
    vectors = list(map(json.loads, recorded))
    assert len(vectors) == 30
    for vector in vectors:
        place = places[vector["file"]]
        rows = stored.astype(float)[place["offset"] : place["offset"] + len(place["rows"])]
        asked = rows[vector["query_row"]]
        near = (rows @ asked / (numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(asked))).tolist()
        returned = vector["indices_returned"]
        assert top(near, vector["k"], "similarity") == returned
        assert top(near, vector["k"]) == sorted(returned)
        assert [near[each] for each in returned] == pytest.approx(vector["similarity"], abs=1e-4)


FILLER = "The weather was mild and the town was quiet that year. "
LIT = "The lighthouse of Skerry was lit in 1861. "
HARBOUR = {"title": "Quay Field", "text": FILLER * 30 + LIT + FILLER * 30}
PARK = {"title": "Weir Park", "text": FILLER * 40}
KEEPER = {"title": "Anna Brede", "text": "Anna Brede kept the lighthouse of Skerry for ten years."}
QUESTION = "Who kept the lighthouse of Skerry?"


def kept_passages(passages: list[Any], max_tokens: int = 150, **given: Any) -> tuple[Any, Any]:
    state, _ = run(PassageRetriever(max_tokens, by="bm25"), passages=passages, question=QUESTION, **given)
    return output(state, "passage_retriever"), state.input["passages"]


def test_what_is_near_to_the_question_stays_and_what_fits_stays_whole() -> None:
    told, passages = kept_passages([PARK, HARBOUR, KEEPER])
    assert passages[-1] == KEEPER and told["kept"][0] < told["kept"][1]
    _, passages = kept_passages([PARK, HARBOUR, KEEPER], 400)
    assert "lit in 1861" in next(each["text"] for each in passages if each["title"] == "Quay Field")
    told, passages = kept_passages([KEEPER, "A sentence alone."], 1000)
    assert passages == (KEEPER, "A sentence alone.") and "kept" not in told


TEXT = st.text("ab .\nZ", max_size=900)
PASSAGE = st.fixed_dictionaries({"title": st.sampled_from(["", "Skerry"]), "text": TEXT})


@settings(max_examples=20)
@given(st.lists(PASSAGE, max_size=4), st.integers(20, 200))
def test_never_more_than_may_be_kept(passages: list[dict[str, str]], most: int) -> None:
    told, left = kept_passages(passages, most)
    if "kept" in told:
        tokens = sum(estimated_tokens(f"{each['title']}: {each['text']}") for each in left)
        assert tokens <= most + 3 * len(passages)
        words = {word for each in passages for word in each["text"].split()}
        assert all(set(each["text"].split()) <= words for each in left)


needs_pandas = pytest.mark.skipif(bool(llm_filter.without_pandas()), reason="no pandas in a sandbox here")
ALL = tuple(range(4))
ENDLESS = "while True: pass"


def filtered(*replies: Any, **settings: Any) -> Any:
    """What the module makes of these replies, and the table after it."""
    module = llm_filter.LLMFilter(**settings)
    module.samples = len(replies)
    state, _ = run(module, replies)
    return output(state, "llm_filter"), state


NUMBERS = "df['Points'] = pd.to_numeric(df['Points'].str.replace(',', ''), errors='coerce')\n"


@needs_pandas
@pytest.mark.parametrize(
    ("code", "rows", "columns"),
    [
        ("filtered_table = df", ALL, ALL),
        ("filtered_table = df[df['Country'] == 'SEL'][['Crew']].reset_index(drop=True)", (0, 2), (1,)),
        ("filtered_table = df.sort_values('Crew').tail(2)[['Country', 'Crew']]", (2, 3), (1, 2)),
        (f"{NUMBERS}filtered_table = df[(df['Points'] > 900) | df['Points'].isna()]", (0, 1, 3), ALL),
        ("df['Crew'] = df['Crew'].str.lower()\nfiltered_table = df[df['Crew'] == 'pikes']", (2,), ALL),
    ],
)
def test_rows_and_columns_are_those_selected(code: str, rows: Any, columns: Any) -> None:
    assert llm_filter.run_filter(code, REGATTA) == llm_filter.KeptPart(rows, columns)


@needs_pandas
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("filtered_table = df[df['Country'] == 'XYZ']", "is empty"),
        ("filtered_table = df['Crew']", "is not a table"),
        ("result = df", "does not set filtered_table"),
        ("filtered_table = df.assign(Double=1)", "the column 'Double'"),
        ("filtered_table = df[['Crew', 'Crew']]", "a column twice"),
        ("df.loc[0, 'Crew'] = 'Sharks'\nfiltered_table = df", "a row that the table does not have"),
        ("df['Rank'] = [10**400] * 4\nfiltered_table = df", "a row that the table does not have"),
        ("filtered_table = df[df['Year'] > 3]", "KeyError in line 1"),
        ("filtered_table = df[", "SyntaxError"),
        ("import os\nos._exit(0)", ""),
        (ENDLESS, "took too long"),
        ("x = [0] * 10**12\nfiltered_table = df.head(1)", ""),
        ("filtered_table = pd.DataFrame([['x' * 100] * 4] * 10**5, columns=df.columns)", ""),
        ("pd.DataFrame.to_numpy = lambda *a, **k: np.array([['a', 'b', 'c']])\nfiltered_table = df", ""),
        ("class F(pd.DataFrame):\n    columns = ['Rank', 'X']\nfiltered_table = F([[1, 2]])", ""),
    ],
)
def test_anything_else_leaves_the_table_whole_and_says_why(code: str, reason: str) -> None:
    told, state = filtered(f"```python\n{code}\n```", timeout=0.3 if code == ENDLESS else None)
    assert told["whole"] and told["reason"] and reason in told["reason"]
    assert state.input["table"] == REGATTA and "kept" not in state.cache


SEL = "filtered_table = df[df['Country'] == 'SEL']"
SEL_TOO = "filtered_table = df[df['Country'].str.contains('sel', case=False)]"
FIRST, BROKEN = "filtered_table = df.head(1)", "filtered_table = df['Year']"


@needs_pandas
def test_samples_agree_that_keep_the_same_and_what_is_cut_off_has_no_vote() -> None:
    told, _ = filtered(FIRST, SEL, SEL_TOO, FIRST + " [", "no code")
    assert told["rows"] == (0, 2) and told["votes"] == 2 and told["code"] == SEL
    assert len(told["faults"]) == 2
    told, state = filtered(SEL, *[BROKEN] * 4)  # code that fails votes for the whole table
    assert told["whole"] and told["votes"] == 1 and state.input["table"] == REGATTA
    cut = {"text": FIRST, "finish": "length"}
    assert filtered(cut, SEL)[0]["rows"] == (0, 2)
    assert "cut off" in filtered(cut, cut)[0]["reason"]


@needs_pandas
def test_by_text_code_counts_to_the_letter_and_runs_only_then() -> None:
    told, _ = filtered(SEL, FIRST, SEL_TOO, FIRST, agree="text")
    assert told["rows"] == (0,) and told["votes"] == 2
    assert "KeyError" in filtered(FIRST, *[BROKEN] * 2, agree="text")[0]["reason"]


def test_a_small_table_is_not_asked_about_and_without_pandas_none(monkeypatch: pytest.MonkeyPatch) -> None:
    state, client = run(llm_filter.LLMFilter(), [], table=REGATTA.take_rows([0]))
    assert output(state, "llm_filter")["whole"] and not client.requests
    monkeypatch.setattr("chameleon.modules.tablerag.llm_filter.without_pandas", lambda: "pandas is not here")
    state, client = run(llm_filter.LLMFilter(), [])
    assert output(state, "llm_filter")["reason"] == "pandas is not here" and not client.requests


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
LINES = st.integers(1, 3).map(lambda width: st.lists(CELL, min_size=width, max_size=width))
TABLES = LINES.flatmap(lambda line: st.builds(Table, line, st.lists(line, min_size=1, max_size=5)))


@settings(max_examples=50)
@given(TABLES, st.data())
def test_every_true_selection_is_found_again(table: Table, data: st.DataObject) -> None:
    """With its labels, in any order; without them what is found has cells that are compared as the same."""
    rows = data.draw(st.lists(st.sampled_from(range(len(table.rows))), min_size=1, unique=True))
    columns = data.draw(st.lists(st.sampled_from(range(len(table.header))), min_size=1, unique=True))
    names = safe_names(table.header)
    cells = [[table.rows[row][column] for column in columns] for row in rows]
    frame = {"columns": [names[column] for column in columns], "rows": cells}
    labeled = llm_filter.kept_in_frame(frame | {"index": list(map(str, rows))}, table, names)
    assert labeled == llm_filter.KeptPart(tuple(sorted(rows)), tuple(sorted(columns)))
    plain = llm_filter.kept_in_frame(frame, table, names)
    assert isinstance(plain, llm_filter.KeptPart) and plain.columns == labeled.columns
    found = sorted([normal(table.rows[row][column]) for column in columns] for row in plain.rows)
    assert found == sorted(list(map(normal, line)) for line in cells)


NUMBER = st.booleans() | st.integers() | st.floats()
VALUE = st.none() | NUMBER | st.text(max_size=3) | st.lists(NUMBER)
CELLS = st.lists(st.lists(VALUE, max_size=3), max_size=5)
LABELS = st.none() | st.lists(st.text("0123456789-²", max_size=12), max_size=5)


@given(TABLES, st.lists(st.text(max_size=3), max_size=3), LABELS, CELLS)
def test_no_frame_makes_it_stumble(table: Table, header: Any, labels: Any, cells: Any) -> None:
    names = safe_names(table.header)
    frame = {"columns": header or names, "rows": cells} | ({} if labels is None else {"index": labels})
    kept = llm_filter.kept_in_frame(frame, table, names)
    if isinstance(kept, llm_filter.KeptPart):
        assert kept.rows and set(kept.rows) <= set(range(len(table.rows)))
        assert kept.columns and set(kept.columns) <= set(range(len(table.header)))
