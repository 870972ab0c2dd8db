"""Tesseract's table of words, and the program itself where it is installed."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures need pillow")

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from chameleon.errors import ModuleError
from chameleon.pictures.pieces import Piece, rectangle
from chameleon.pictures.tesseract_engine import TesseractEngine

HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def pieces_in(table: str) -> list[Piece]:
    """Read the table without the program, which may not be installed."""
    return TesseractEngine.__new__(TesseractEngine).pieces_in(table)


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


@given(st.text())
def test_any_other_text_is_a_table_without_words_or_an_error(text: str) -> None:
    try:
        assert all(piece.text for piece in pieces_in(HEADER + text))
    except ModuleError as problem:
        assert "table" in str(problem)


@given(st.lists(st.text(st.characters(blacklist_categories=["Z", "C"]), min_size=1), max_size=6))
def test_no_word_is_lost(words: list[str]) -> None:
    table = HEADER + "".join(row(word, 50 * place) for place, word in enumerate(words))
    assert [piece.text for piece in pieces_in(table)] == words


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> TesseractEngine:
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return TesseractEngine(["deu", "fra"])


def test_a_failing_program_is_told_with_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'cat >/dev/null; echo "Error opening data file deu" >&2; exit 1'
    engine = stand_in(tmp_path, script, monkeypatch)
    with pytest.raises(ModuleError, match=r"Error opening data file deu.*tesseract --list-langs"):
        engine.read(Image.new("RGB", (9, 9)))


def test_a_program_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chameleon.pictures import tesseract_engine

    monkeypatch.setattr(tesseract_engine, "_SECONDS", 0.2)
    engine = stand_in(tmp_path, "exec sleep 20", monkeypatch)
    with pytest.raises(ModuleError, match="longer than"):
        engine.read(Image.new("RGB", (9, 9)))


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed")
def test_languages_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ModuleError, match="tesseract failed"):
        TesseractEngine(["xyz"]).read(Image.new("RGB", (9, 9)))
