"""A folder with files of many kinds: indexed, asked and cited, without a model and with one."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.documents.made import contract
from tests.e2e.commands import Command

for package in ("tantivy", "python_calamine", "lxml", "pypdfium2"):
    pytest.importorskip(package)
docx, pptx = pytest.importorskip("docx"), pytest.importorskip("pptx")
odf = pytest.importorskip("odf.opendocument")

PAGE = """<!doctype html><title>Seal watch</title><h1>Seal watch</h1>
<p>Volunteers count the grey seals on the skerry at low water, on the first Sunday of every month.</p>
<table><tr><th>Month</th><th>Pups</th></tr><tr><td>October</td><td>14</td></tr>
<tr><td>November</td><td>31</td></tr></table>"""
NOTES = "The key of the boathouse hangs behind the barometer.\n\nThe pump needs a new gasket before spring.\n"


def write_folder(at: Path) -> Path:
    """Write files of kinds that the folder of the demo lacks: tables, texts, and both in one."""
    at.mkdir()
    (at / "mooring.pdf").write_bytes(contract())
    letter = docx.Document()
    letter.add_heading("Dredging of the inner basin", 1)
    letter.add_paragraph("The dredger Pelican clears the inner basin in the second week of March.")
    letter.save(str(at / "letter.docx"))
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Regatta"
    slide.placeholders[1].text = "The prize for the fastest dinghy is a brass lantern."
    slides.save(str(at / "regatta.pptx"))
    (at / "tides.ods").write_bytes(
        ods("Tides", [["Port", "High water"], ["Arvik", "06:12"], ["Lone", "07:40"]])
    )
    (at / "café.csv").write_bytes("Gericht;Preis\nCrêpe;4,50\nSoufflé;7,20\nRösti;5,00\n".encode("cp1252"))
    (at / "visits.csv.gz").write_bytes(gzip.compress(b"Harbour,Visitors\nHollin,412\nMarsh End,388\n"))
    (at / "seals.html").write_text(PAGE)
    (at / "notes.txt").write_text(NOTES)
    (at / "broken.docx").write_bytes(b"PK\x03\x04 and no more")
    (at / "photo.raw").write_bytes(b"\0")
    return at


def ods(title: str, rows: list[list[str]]) -> bytes:
    from odf import table, text

    document = odf.OpenDocumentSpreadsheet()
    sheet = table.Table(name=title)
    for row in rows:
        line = table.TableRow()
        for value in row:
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=value))
            line.addElement(cell)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    written = io.BytesIO()
    document.write(written)
    return written.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any]:
    """The folder, its index, and what the command that made it told."""
    from tests.e2e.commands import spawn

    root = tmp_path_factory.mktemp("everything")
    folder = write_folder(root / "harbour")
    done = spawn("index", str(folder), "--out", str(root / "index"), "--json")
    assert done.code == 0, done.err
    return folder, root / "index", json.loads(done.out)


@pytest.mark.slow
def test_every_file_is_read_or_told_of(made: tuple[Path, Path, Any]) -> None:
    told = made[2]
    assert (told["files"], told["tables"]) == (8, 5) and told["passages"] >= 8
    assert told["held"] == {"tables": 5, "passages": told["passages"]}
    assert told["skipped"] == {".raw": 1} and [each["where"] for each in told["warnings"]] == ["broken.docx"]
    assert any("Windows-1252" in note["what"] for note in told["notes"])


@pytest.mark.parametrize(
    ("question", "answer", "source"),
    [
        ("When is high water at Lone?", "07:40", "tides.ods, sheet Tides, row 2"),
        ("What is the Preis of Soufflé?", "7,20", "café.csv, row 2"),
        ("How many visitors did Marsh End have?", "388", "visits.csv.gz, row 2"),
        ("How many pups were there in November?", "31", "seals.html, heading Seal watch, row 2"),
        ("What is the 2025 price of the stern line?", "101", "mooring.pdf, heading Supply Agreement > 4"),
    ],
)
def test_tables_of_every_kind_are_answered_from(
    made: tuple[Path, Path, Any], command: Command, question: str, answer: str, source: str
) -> None:
    done = command("ask", question, "--index", str(made[1]))
    assert done.code == 0, done.out + done.err
    assert done.out == f"{answer}\n" and f"From: {source}" in done.err


@pytest.mark.parametrize(
    ("question", "place", "words"),
    [
        ("Who clears the inner basin?", ("letter.docx", "Dredging of the", None), "dredger Pelican"),
        ("What is the prize for the fastest dinghy?", ("regatta.pptx", "Regatta", "1"), "a brass lantern"),
        ("Where does the key of the boathouse hang?", ("notes.txt", "", None), "behind the barometer"),
        ("When do volunteers count the seals?", ("seals.html", "Seal watch", None), "first Sunday"),
        ("By which notice may a party end the agreement?", ("mooring.pdf", "", "2"), "notice of ninety days"),
    ],
)
def test_texts_are_shown_with_their_place_where_no_model_reads_them(
    made: tuple[Path, Path, Any],
    command: Command,
    question: str,
    place: tuple[str, str, str | None],
    words: str,
) -> None:
    done = command("ask", question, "--index", str(made[1]), "--json")
    first = json.loads(done.out)["nearest"][0]
    file, heading, page = place
    assert done.code == 3 and first["file"] == file and words in " ".join(first["text"].split())
    assert first.get("heading", "").startswith(heading) and first.get("page") == page
    shown = command("ask", question, "--index", str(made[1]))
    named = f", {heading}" if heading else ", " if page else "\n"  # a file without headings has none
    assert f"Nearest: {file}{named}" in shown.err and not shown.out


def test_with_a_model_the_passages_answer_and_are_named(
    made: tuple[Path, Path, Any], loopback: Any, command: Command
) -> None:
    asked: list[str] = []

    def reply(request: dict[str, Any]) -> str:
        system, shown = request["messages"][0]["content"], request["messages"][-1]["content"]
        if system.startswith("You find what"):
            asked.append("choice")
            assert "Passage: " in shown
            return "passages"
        assert system.startswith("You answer a question about a paper")
        lines = shown.rpartition("Now this one.")[2].splitlines()
        (head,) = [line for line in lines if line.startswith("Passage ") and "Dredging" in line]
        asked.append(head.partition(":")[0].removeprefix("Passage "))
        return f"The dredger does it.\nPassages: {asked[-1]}\nThe answer is Pelican."

    loopback(reply)
    question = "Which ship clears the basin of the harbour club?"
    model = ("--model", "openai:local", "--store", "off")
    done = command("ask", question, "--index", str(made[1]), *model, "--json")
    told = json.loads(done.out)
    assert (told["answer"], done.code) == ("Pelican", 0), done
    assert told["plan"][:2] == ["table_retriever", "table_choice"] and "paper_answerer" in told["plan"]
    (source,) = told["sources"]
    assert (source["file"], source["heading"]) == ("letter.docx", "Dredging of the inner basin")
    assert "Pelican" in source["text"]


def test_a_file_that_changes_or_goes_takes_its_passages_with_it(tmp_path: Path, command: Command) -> None:
    folder, out = tmp_path / "notes", str(tmp_path / "index")
    folder.mkdir()
    (folder / "a.txt").write_text("The lamp is red.\n")
    (folder / "b.md").write_text("# Lamps\n\nThe buoy has a green lamp.\n")

    def index() -> Any:
        return json.loads(command("index", str(folder), "--out", out, "--json").out)

    def nearest(question: str) -> list[str]:
        told = json.loads(command("ask", question, "--index", out, "--json").out)
        return [each["text"] for each in told.get("nearest", ())]

    assert index()["held"] == {"tables": 0, "passages": 2} and len(nearest("Which lamp?")) == 2
    (folder / "a.txt").write_text("The lamp is white.\n")
    (folder / "b.md").unlink()
    told = index()
    assert (told["files"], told["gone"], told["held"]["passages"]) == (1, 1, 1)
    assert nearest("Which lamp?") == ["The lamp is white."]
    (folder / "a.txt").unlink()
    done = command("index", str(folder), "--out", out)
    assert done.code == 0 and "Gone, and taken out: 1 file." in done.out
