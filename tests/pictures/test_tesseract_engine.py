"""Tesseract's table of words, and the program itself where it is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from chameleon.errors import ModuleError
from chameleon.pictures import tesseract_engine
from chameleon.pictures.pieces import rectangle
from chameleon.pictures.tesseract_engine import TesseractEngine, pieces_in

HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def row(text: str, left: int, line: int = 1, conf: float = 90, level: int = 5) -> str:
    return f"{level}\t1\t1\t1\t{line}\t1\t{left}\t10\t30\t10\t{conf}\t{text}\n"


def test_joins_words_that_stand_close_in_a_line() -> None:
    table = (
        HEADER + row("", 0, level=4, conf=-1) + row("ice", 0) + row("cream", 35, conf=60) + row("far", 200)
    )
    table += row("below", 235, line=2) + row(" ", 270, line=2, conf=95)
    pieces = pieces_in(table)
    assert [piece.text for piece in pieces] == ["ice cream", "far", "below"]
    assert pieces[0].box == rectangle(0, 10, 65, 10) and pieces[0].confidence == 0.6


def test_a_broken_table_is_an_error() -> None:
    with pytest.raises(ModuleError, match="tesseract's table has the row"):
        pieces_in(HEADER + "5\t1\t1\t1\t1\t1\tx\t10\t30\t10\t90\tword\n")


@settings(max_examples=50)
@given(st.text())
def test_any_other_text_is_a_table_without_words_or_an_error(text: str) -> None:
    try:
        assert all(piece.text for piece in pieces_in(HEADER + text))
    except ModuleError as problem:
        assert "table" in str(problem)


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(blacklist_categories=["Z", "C"]), min_size=1), max_size=6))
def test_no_word_is_lost(words: list[str]) -> None:
    table = HEADER + "".join(row(word, 50 * place) for place, word in enumerate(words))
    assert [piece.text for piece in pieces_in(table)] == words


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            'cat >/dev/null; echo "Error opening deu" >&2; exit 1',
            r"Error opening deu.*tesseract --list-langs",
        ),
        ("exec sleep 20", "longer than"),
    ],
)
def test_a_program_that_fails_or_hangs_is_told(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tesseract").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "tesseract").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(tesseract_engine, "_SECONDS", 0.2 if "sleep" in script else 10)
    with pytest.raises(ModuleError, match=told):
        TesseractEngine(["deu", "fra"]).read(Image.new("RGB", (9, 9)))


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed")
def test_languages_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ModuleError, match="tesseract failed"):
        TesseractEngine(["xyz"]).read(Image.new("RGB", (9, 9)))
