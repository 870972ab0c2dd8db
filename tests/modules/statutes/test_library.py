"""Statutes from mappings, texts, files and folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.modules.statutes.library import Statutes
from tests.modules.statutes.samples import STATUTES


class TestWhereStatutesComeFrom:
    def test_a_mapping_a_text_or_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "statutes.json"
        file.write_text(json.dumps(STATUTES), "utf-8")
        text = tmp_path / "law.txt"
        text.write_text("".join(STATUTES.values()), "utf-8")
        for given_as in (STATUTES, "".join(STATUTES.values()), file, str(file), text):
            assert list(Statutes.of(given_as).sections) == ["12", "13", "14"]
        assert Statutes.of(file).source == dict.fromkeys(STATUTES, str(file))

    def test_a_folder_of_texts(self, tmp_path: Path) -> None:
        for name, text in STATUTES.items():
            (tmp_path / f"section{name}").write_text(text, "utf-8")
        (tmp_path / "section7.txt").write_text("(a) Boats\n", "utf-8")
        (tmp_path / ".hidden").write_text("x", "utf-8")
        (tmp_path / "picture.png").write_bytes(b"\x89PNG")
        assert list(Statutes.of(tmp_path).sections) == ["12", "13", "14", "7"]

    def test_nothing_else(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_troubles_are_told_with_their_place(self) -> None:
        law = Statutes.of({"1": "§1. Fees\n\n(a) Boats.\n\n(a) Ships.\n"})
        assert law.troubles == [
            "section 1: line 5 ('(a) Ships.'): (a) is not the next of a series that it stands in"
        ]
