"""A folder with files of many kinds: indexed, asked and cited, without a model and with one."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.documents.made import contract
from tests.e2e.commands import Command, spawn
from tests.loopback import Start

for package in ("tantivy", "lxml", "pypdfium2"):
    pytest.importorskip(package)
docx, pptx = pytest.importorskip("docx"), pytest.importorskip("pptx")

PAGE = """<!doctype html><title>Seal watch</title><h1>Seal watch</h1>
<p>Volunteers count the grey seals on the skerry at low water, on the first Sunday of every month.</p>
<table><tr><th>Month</th><th>Pups</th></tr><tr><td>October</td><td>14</td></tr>
<tr><td>November</td><td>31</td></tr></table>"""
NOTES = "The key of the boathouse hangs behind the barometer.\n\nThe pump needs a new gasket before spring.\n"
FILES = {
    "mooring.pdf": contract(),
    "café.csv": "Gericht;Preis\nCrêpe;4,50\nSoufflé;7,20\nRösti;5,00\n".encode("cp1252"),
    "visits.csv.gz": gzip.compress(b"Harbour,Visitors\nHollin,412\nMarsh End,388\n"),
    "seals.html": PAGE.encode(),
    "notes.txt": NOTES.encode(),
    "broken.docx": b"PK\x03\x04 and no more",
    "photo.raw": b"\0",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """The index of a folder with kinds that the demo's lacks, and what the command that made it told."""
    root = tmp_path_factory.mktemp("everything")
    letter, slides = docx.Document(), pptx.Presentation()
    letter.add_heading("Dredging of the inner basin", 1)
    letter.add_paragraph("The dredger Pelican clears the inner basin in the second week of March.")
    letter.save(f"{root}/letter.docx")
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Regatta"
    slide.placeholders[1].text = "The prize for the fastest dinghy is a brass lantern."
    slides.save(f"{root}/regatta.pptx")
    for name, content in FILES.items():
        (root / name).write_bytes(content)
    index = f"{root.parent}/index of everything"
    done = spawn("index", str(root), "--out", index, "--json")
    assert done.code == 0, done.err
    return index, done.json


@pytest.fixture
def ask(made: tuple[str, Any], command: Command) -> Command:
    """Ask the index."""
    return lambda question, *more: command("ask", question, "--index", made[0], *more)


@pytest.mark.slow
def test_every_file_is_read_or_told_of(made: tuple[str, Any]) -> None:
    told = made[1]
    assert (told["files"], told["tables"]) == (7, 4) and told["passages"] >= 8
    assert told["held"] == {"tables": 4, "passages": told["passages"]}
    assert told["skipped"] == {".raw": 1} and [each["where"] for each in told["warnings"]] == ["broken.docx"]
    assert any("Windows-1252" in note["what"] for note in told["notes"])


@pytest.mark.parametrize(
    ("question", "answer", "source"),
    [
        ("What is the Preis of Soufflé?", "7,20", "café.csv, row 2"),
        ("How many visitors did Marsh End have?", "388", "visits.csv.gz, row 2"),
        ("How many pups were there in November?", "31", "seals.html, heading Seal watch, row 2"),
        ("What is the 2025 price of the stern line?", "101", "mooring.pdf, heading Supply Agreement > 4"),
    ],
)
def test_tables_of_every_kind_are_answered_from(
    ask: Command, question: str, answer: str, source: str
) -> None:
    done = ask(question)
    assert (done.code, done.out) == (0, f"{answer}\n") and f"From: {source}" in done.err, done


@pytest.mark.parametrize(
    ("question", "file", "heading", "page", "words"),
    [
        ("Who clears the inner basin?", "letter.docx", "Dredging of the", None, "dredger Pelican"),
        ("What is the prize for the fastest dinghy?", "regatta.pptx", "Regatta", "1", "a brass lantern"),
        ("Where does the key of the boathouse hang?", "notes.txt", "", None, "behind the barometer"),
        ("When do volunteers count the seals?", "seals.html", "Seal watch", None, "first Sunday"),
        ("By which notice may a party end the agreement?", "mooring.pdf", "", "2", "notice of ninety days"),
    ],
)
def test_texts_are_shown_with_their_place_where_no_model_reads_them(
    ask: Command, question: str, file: str, heading: str, page: str | None, words: str
) -> None:
    done = ask(question, "--json")
    first = done.json["nearest"][0]
    assert done.code == 3 and first["file"] == file and words in " ".join(first["text"].split())
    assert first.get("heading", "").startswith(heading) and first.get("page") == page
    shown = ask(question)
    named = f", {heading}" if heading else ", " if page else "\n"  # a file without headings has none
    assert f"Nearest: {file}{named}" in shown.err and not shown.out


def test_with_a_model_the_passages_answer_and_are_named(loopback: Start, ask: Command) -> None:
    def reply(request: dict[str, Any]) -> str:
        system, shown = request["messages"][0]["content"], request["messages"][-1]["content"]
        if system.startswith("You find what"):
            assert "Passage: " in shown
            return "passages"
        assert system.startswith("You answer a question about a paper")
        lines = shown.rpartition("Now this one.")[2].splitlines()
        (head,) = [line for line in lines if line.startswith("Passage ") and "Dredging" in line]
        number = head.partition(":")[0].removeprefix("Passage ")
        return f"The dredger does it.\nPassages: {number}\nThe answer is Pelican."

    loopback(reply)
    question = "Which ship clears the basin of the harbour club?"
    done = ask(question, "--model", "openai:local", "--store", "off", "--json")
    told, (source,) = done.json, done.json["sources"]
    assert (told["answer"], done.code) == ("Pelican", 0), done
    assert told["plan"][:2] == ["table_retriever", "table_choice"] and "paper_answerer" in told["plan"]
    assert (source["file"], source["heading"]) == ("letter.docx", "Dredging of the inner basin")
    assert "Pelican" in source["text"]


def test_a_file_that_changes_or_goes_takes_its_passages_with_it(tmp_path: Path, sh: Command) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The lamp is red.\n")
    (folder / "b.md").write_text("# Lamps\n\nThe buoy has a green lamp.\n")
    index = "index notes --out index"

    def nearest() -> list[str]:
        return [each["text"] for each in sh("ask 'Which lamp?' --index index --json").json["nearest"]]

    assert sh(index, "--json").json["held"] == {"tables": 0, "passages": 2} and len(nearest()) == 2
    (folder / "a.txt").write_text("The lamp is white.\n")
    (folder / "b.md").unlink()
    told = sh(index, "--json").json
    assert (told["files"], told["gone"], told["held"]["passages"]) == (1, 1, 1)
    assert nearest() == ["The lamp is white."]
    (folder / "a.txt").unlink()
    done = sh(index)
    assert done.code == 0 and "Gone, and taken out: 1 file." in done.out
