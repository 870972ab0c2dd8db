"""Statutes from mappings, texts, files and folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.modules.statutes.library import Statutes
from tests.modules.statutes.samples import STATUTES


def test_statutes_come_from_a_mapping_a_text_a_file_or_a_folder(tmp_path: Path) -> None:
    whole = "".join(STATUTES.values())
    file, text, folder = tmp_path / "statutes.json", tmp_path / "law.txt", tmp_path / "folder"
    file.write_text(json.dumps(STATUTES), "utf-8")
    text.write_text(whole, "utf-8")
    for given_as in (STATUTES, whole, file, str(file), text):
        assert list(Statutes.of(given_as).sections) == ["12", "13", "14"]
    assert Statutes.of(file).source == dict.fromkeys(STATUTES, str(file))
    folder.mkdir()
    more = {"section7.txt": "(a) Boats\n", ".hidden": "x", "picture.png": "\x89PNG"}
    for name, held in ({f"section{name}": held for name, held in STATUTES.items()} | more).items():
        (folder / name).write_text(held, "utf-8")
    assert list(Statutes.of(folder).sections) == ["12", "13", "14", "7"]


def test_statutes_come_from_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "statutes.json"
    for held in (b"[1]", b"{", b"\xff\xfe"):
        file.write_bytes(held)
        with pytest.raises(InputError):
            Statutes.of(file)
    for bad in (None, "", 7, {"1": 2}, "/nowhere/at-all.json"):
        with pytest.raises(InputError):
            Statutes.of(bad)
    monkeypatch.setattr("chameleon.modules.statutes.library._LARGEST", 9)
    (tmp_path / "law.txt").write_text("§1. Fees\n(a) Boats.\n", "utf-8")
    with pytest.raises(InputError, match="more than 9 bytes"):
        Statutes.of(tmp_path)


def test_troubles_are_told_with_their_place() -> None:
    (told,) = Statutes.of({"1": "§1. Fees\n\n(a) Boats.\n\n(a) Ships.\n"}).troubles
    assert told.startswith("section 1: line 5 ('(a) Ships.'): ")
