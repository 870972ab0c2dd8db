"""Late interaction as a part of an index: what is found, what is kept on disk, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from chameleon.errors import InputError, ModelError
from chameleon.retrieval.document import Document
from chameleon.retrieval.late import encoder as encoders
from chameleon.retrieval.late import similarities
from chameleon.retrieval.late.part import LatePart, LateSearcher, LateSettings
from chameleon.table import Table
from tests.retrieval.late.hashing import NAME

PASSAGES = ["rain and snow", "tea from china", "green tea", "tea", "wind", "rain"]


def documents(texts: Sequence[str]) -> list[Document]:
    return [Document(str(number), text=text) for number, text in enumerate(texts)]


def built(
    folder: Path, texts: Sequence[Sequence[str]], dead: Sequence[int] = (), **settings: Any
) -> LateSearcher:
    """A searcher over segments of passages."""
    part = LatePart(LateSettings(NAME, **settings))
    paths = [folder / f"{number:06d}" for number in range(len(texts))]
    for path, some in zip(paths, texts, strict=True):
        path.mkdir()
        part.write(documents(some), path)
    alive = numpy.ones(sum(map(len, texts)), bool)
    alive[list(dead)] = False
    (folder / "final").mkdir()
    part.finish(paths, alive, folder / "final")
    return part.open(paths, alive, folder / "final")


def test_a_document_that_says_every_word_of_the_query_is_first(tmp_path: Path) -> None:
    searcher = built(tmp_path, [PASSAGES])
    positions, scores = searcher.search("green tea", 3)
    assert positions[0] == 2 and scores[0] == pytest.approx(2, abs=1e-3)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True) and len(positions) == 3


@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_segments_do_not_show(tmp_path: Path, precision: str) -> None:
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    one = built(tmp_path / "one", [PASSAGES], precision=precision)
    many = built(tmp_path / "many", [PASSAGES[:1], [], PASSAGES[1:4], PASSAGES[4:]], precision=precision)
    for query in ("tea", "rain or snow", "china", ""):
        (found, scores), (others, same) = one.search(query, 6), many.search(query, 6)
        assert found.tolist() == others.tolist() and scores == pytest.approx(same, abs=1e-6)
        chosen = numpy.array([5, 0, 3, 3])
        ordered = dict(zip(found.tolist(), scores.tolist(), strict=True))
        assert many.scores(query, chosen) == pytest.approx([ordered[c] for c in chosen.tolist()], abs=1e-6)


def test_ties_are_by_position_and_what_is_deleted_is_not_found(tmp_path: Path) -> None:
    searcher = built(tmp_path, [["tea", "rain", "tea"], ["tea", "tea"]], dead=[0, 3])
    assert searcher.search("tea", 2)[0].tolist() == [2, 4]
    assert searcher.search("tea", 10)[0].tolist() == [2, 4, 1]
    assert searcher.search("tea", 1)[0].tolist() == [2]
    assert not len(searcher.search("tea", 0)[0])


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    searcher = built(tmp_path, [[]])
    assert not len(searcher.search("tea", 3)[0])
    assert not len(searcher.scores("tea", numpy.empty(0, numpy.int64)))


def test_the_vectors_stay_on_disk(tmp_path: Path) -> None:
    searcher = built(tmp_path, [PASSAGES])
    base: Any = searcher._segments[0].vectors
    while not isinstance(base, numpy.memmap):
        base = base.base
    assert Path(base.filename) == tmp_path / "000000" / "tokens.npy"


def test_half_precision_takes_half_the_room(tmp_path: Path) -> None:
    sizes = {}
    for precision in ("float32", "float16"):
        (tmp_path / precision).mkdir()
        built(tmp_path / precision, [PASSAGES * 50], precision=precision)
        sizes[precision] = (tmp_path / precision / "000000" / "tokens.npy").stat().st_size
    assert sizes["float32"] == pytest.approx(2 * sizes["float16"], abs=128)


def test_a_table_is_read_in_several_texts(tmp_path: Path) -> None:
    table = Table(["city", "river"], [[f"city{number}", f"river{number}"] for number in range(200)])
    for texts, found in ((1, False), (30, True)):
        folder = tmp_path / str(texts)
        folder.mkdir()
        part = LatePart(LateSettings(NAME, texts=texts))
        part.write([Document("a", table)], folder)
        searcher = part.open([folder], numpy.ones(1, bool), folder)
        assert (searcher.search("river199", 1)[1][0] > 0.99) is numpy.bool_(found)


def test_broken_files_are_told(tmp_path: Path) -> None:
    for name, content in (("offsets", numpy.array([0, 3, 10**6])), ("tokens", numpy.ones(7, numpy.float16))):
        folder = tmp_path / name
        folder.mkdir()
        built(folder, [PASSAGES])
        numpy.save(folder / "000000" / f"{name}.npy", content)
        with pytest.raises(InputError, match=r"tokens\.npy"):
            LatePart(LateSettings(NAME)).open(
                [folder / "000000"], numpy.ones(len(PASSAGES), bool), folder / "final"
            )


def test_another_model_than_that_of_the_index_is_told(tmp_path: Path) -> None:
    built(tmp_path, [PASSAGES])
    part = LatePart(LateSettings(NAME.replace("Hashing", "Wider")))
    searcher = part.open([tmp_path / "000000"], numpy.ones(len(PASSAGES), bool), tmp_path)
    with pytest.raises(InputError, match="24 numbers, and had 16"):
        searcher.search("tea", 1)


@pytest.mark.parametrize(("name", "said"), [("Failing", "out of memory"), ("Uneven", "no 6 matrices")])
def test_an_encoder_that_fails_is_told(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        LatePart(LateSettings(NAME.replace("Hashing", name))).write(documents(PASSAGES), tmp_path)


@pytest.mark.parametrize("settings", [{"texts": 0}, {"precision": "int8"}])
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        LatePart(LateSettings(NAME, **settings))


def test_code_that_nobody_named_is_not_imported() -> None:
    with pytest.raises(InputError, match="is not loaded"):
        encoders.encoder("tests.retrieval.late.nowhere:Hashing")
    with pytest.raises(InputError, match="cannot be imported"):
        encoders.plug("tests.retrieval.late.nowhere:Hashing")
    for name in ("NoEncoder", "Nobody"):
        with pytest.raises(InputError, match="no subclass of TokenEncoder"):
            encoders.encoder(NAME.replace("Hashing", name))


def test_a_few_texts_in_memory_are_compared() -> None:
    found = similarities("green tea", ["rain", "green tea", "tea", ""], NAME)
    assert max(range(4), key=found.__getitem__) == 1
    assert found[1] == pytest.approx(2) and found[3] == 0
