"""Retrievers by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import check_retriever, part_of, parts_for
from tests.retrieval.corpora import tables
from tests.retrieval.vectors.hashed import NAME, Hashed
from tests.retrieval.vectors.hashed import hashed as hashed


@pytest.mark.parametrize("name", ["okapi", "bm25", "lexical", "auto"])
def test_an_index_with_its_parts_is_searched_by_that_name(tmp_path: Path, name: str) -> None:
    index = Index.build(tmp_path / "index", tables(30), parts_for(name))
    hits = retriever(index, name).search("river bridge", 3)
    assert len(hits) == 3 and hits == sorted(hits, key=lambda hit: -hit.score)


@pytest.mark.parametrize("name", ["okapi", "bm25", "lexical", "auto"])
def test_parts_are_made_again_from_their_settings(name: str) -> None:
    for part in parts_for(name):
        again = part_of(part.name, part.settings())
        assert type(again) is type(part) and again.settings() == part.settings()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bm52", "Did you mean 'bm25'?"),
        ("okapy", "Did you mean 'okapi'?"),
        ("", "There are: "),
        ("??", "There are: "),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path, name: str, hint: str) -> None:
    index = Index.build(tmp_path / "index", tables(3), parts_for("bm25"))
    for use in (check_retriever, parts_for, lambda name: retriever(index, name)):
        with pytest.raises(InputError) as told:
            use(name)
        assert f"there is no retriever {name!r}" in str(told.value) and hint in str(told.value)


@pytest.mark.parametrize("name", ["bm25:model", "okapi:", "bm25+", "bm25+more", "+rerank"])
def test_names_that_are_put_together_wrongly(name: str) -> None:
    with pytest.raises(InputError, match="there is no retriever"):
        check_retriever(name)


def test_an_index_without_the_part_says_which_it_has(tmp_path: Path) -> None:
    index = Index.build(tmp_path / "index", tables(3), parts_for("bm25"))
    with pytest.raises(InputError, match=r"has no 'okapi'; it has: bm25\. Build it again for that retriever"):
        retriever(index, "okapi")


def test_one_part_scores_what_another_has_found(tmp_path: Path) -> None:
    index = Index.build(tmp_path / "index", [*tables(30), Document("none", text="z")], parts_for("bm25"))
    searched = retriever(index, "bm25")
    hits = searched.search("river bridge", 5)
    scores = searched.scores("river bridge", ["none", *(hit.id for hit in hits)])  # type: ignore[attr-defined]
    assert scores == [0.0, *(hit.score for hit in hits)]


def test_bm25_is_the_first_stage_of_lexical_and_auto_takes_what_is_there(tmp_path: Path) -> None:
    both = Index.build(tmp_path / "both", tables(30), parts_for("lexical"))
    alone = Index.build(tmp_path / "alone", tables(30), parts_for("bm25"))
    query = "river bridge"
    assert retriever(both, "bm25").search(query) == retriever(alone, "bm25").search(query)
    assert retriever(alone, "auto").search(query) == retriever(alone, "bm25").search(query)
    assert retriever(both, "auto").search(query) == retriever(both, "lexical").search(query)
    with pytest.raises(InputError, match="has no 'lexical'"):
        retriever(alone, "lexical")


@pytest.mark.parametrize(
    "name",
    [
        "okapi",
        "bm25",
        "lexical",
        "auto",
        "dense",
        "hybrid",
        "dense+rerank",
        "bm25+rerank:dense",
        "hybrid+rerank",
    ],
)
def test_auto_is_what_the_index_was_built_for(tmp_path: Path, hashed: Hashed, name: str) -> None:
    if name == "bm25+rerank:dense":
        full, parts = name, parts_for("bm25") + parts_for(f"dense:{NAME}")
    else:
        full = name.replace("dense", f"dense:{NAME}").replace("hybrid", f"hybrid:{NAME}")
        full = full.replace("blend", f"blend:{NAME}")
        parts = parts_for(full)
    Index.build(tmp_path / "index", tables(60), parts, retriever=full)
    index = Index.build(tmp_path / "index", tables(70))  # what is added changes nothing in that
    assert index.retriever == full
    for query in ("river bridge", "champion of the north"):
        assert retriever(index).search(query, 20) == retriever(index, full).search(query, 20)


def test_auto_of_an_index_that_does_not_say(tmp_path: Path, hashed: Hashed) -> None:
    for name in ("okapi", f"dense:{NAME}", f"hybrid:{NAME}"):
        index = Index.build(tmp_path / name, tables(30), parts_for(name))
        expected = "lexical" if name.startswith("hybrid") else name
        assert retriever(index).search("river bridge") == retriever(index, expected).search("river bridge")


def test_an_index_has_no_class_imported_that_nobody_named(tmp_path: Path, hashed: Hashed) -> None:
    name = "dense:hashed:words@json.tool:main"
    index = Index.build(tmp_path / "index", tables(5), parts_for(f"dense:{NAME}"), retriever=name)
    assert len(retriever(index).search("river", 2)) == 2
