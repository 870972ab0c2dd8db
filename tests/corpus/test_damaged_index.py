"""`chameleon index` over an index that is damaged builds it anew, and touches nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chameleon.documents.indexing import index_files
from chameleon.errors import InputError
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from tests.e2e.commands import Command
from tests.e2e.conftest import command as command

KINDS = ["broken manifest", "no manifest", "short array", "no array", "no segment", "changed document"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "data"
    found.mkdir()
    for town in ("Como", "Garda", "Iseo"):
        (found / f"{town}.csv").write_text(f"lake,depth\n{town},{len(town)}00\n")
    return found


def harm(index: Path, kind: str) -> None:
    arrays = sorted(path for path in index.rglob("*.npy") if path.stat().st_size > 150)
    match kind:
        case "broken manifest":
            (index / "manifest.json").write_text('{"format": 1')
        case "no manifest":
            (index / "manifest.json").unlink()
        case "short array":
            arrays[0].write_bytes(arrays[0].read_bytes()[:-1])
        case "no array":
            arrays[-1].unlink()
        case "no segment":
            shutil.rmtree(next((index / "segments").iterdir()))
        case _:
            (lines,) = index.glob("segments/*/documents.jsonl")
            lines.write_bytes(lines.read_bytes()[:-2])


@pytest.mark.parametrize("name", ["auto", "bm25", "okapi"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_index_is_built_anew(folder: Path, tmp_path: Path, kind: str, name: str) -> None:
    out = tmp_path / "index"
    index_files([folder], out, name)
    before = retriever(Index.open(out)).search("depth of Garda")
    harm(out, kind)
    summary = index_files([folder], out)
    assert summary.damaged and summary.files == summary.held == 3
    again = Index.open(out)
    assert retriever(again).search("depth of Garda") == before and again.retriever == name
    assert not index_files([folder], out).damaged


def test_a_whole_index_is_left_as_it_is(folder: Path, tmp_path: Path) -> None:
    for unchanged in (0, 3):
        summary = index_files([folder], tmp_path / "index")
        assert not summary.damaged and summary.unchanged == unchanged


@pytest.mark.parametrize("name", ["manifest.json", "segments/notes.txt", "final-0001/draft.txt"])
def test_what_is_no_index_is_not_touched(folder: Path, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "site" / name
    mine.parent.mkdir(parents=True)
    mine.write_text('{"name": "a site of mine"}')
    (tmp_path / "site" / "manifest.json").write_text("{}")
    with pytest.raises(InputError):
        index_files([folder], tmp_path / "site")
    assert mine.exists() and (tmp_path / "site" / "manifest.json").read_text()


def test_where_nothing_tells_the_retriever_it_has_to_be_named(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    index_files([folder], out, "bm25")
    segment = next((out / "segments").iterdir())
    (segment / "dense").mkdir()
    harm(out, "broken manifest")
    with pytest.raises(
        InputError, match=r"manifest.json: the file is damaged. Name the retriever .*--retriever"
    ):
        index_files([folder], out)
    assert (out / "manifest.json").exists() and segment.exists()
    assert index_files([folder], out, "bm25").held == 3


def test_the_command_says_so_in_one_line(command: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    assert command("index", str(folder), "--out", str(out)).code == 0
    harm(out, "broken manifest")
    assert "Build the index again" in command("ask", "How deep is Como?", "--index", str(out)).complaint
    done = command("index", str(folder), "--out", str(out))
    assert done.code == 0
    assert done.out.splitlines()[0].startswith("The index was damaged, and is built anew: ")
