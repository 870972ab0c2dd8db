"""From a question about a PDF, a long page or a long text to an answer with the passages that it rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import Command
from tests.papers.made import contract, filing
from tests.papers.pdfs import pdf

pytest.importorskip("pdfplumber")
pytest.importorskip("lxml")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    (tmp_path / "agreement.pdf").write_bytes(contract())
    (tmp_path / "report.html").write_bytes(filing())
    return tmp_path


def _finding(words: str, answer: str) -> Callable[[dict[str, Any]], str]:
    """A model that looks for the passage with these words, and answers from it."""

    def reply(request: dict[str, Any]) -> str:
        shown = request["messages"][-1]["content"].partition("Now this one.")[2]
        passages = re.findall(r"^Passage (\d+):.*?\n<passage>\n(.*?)\n</passage>", shown, re.M | re.S)
        numbers = [number for number, text in passages if words in text]
        if not numbers:
            return "It is not told.\nPassages: none"
        return f"The passage says so.\nPassages: {', '.join(numbers)}\nThe answer is {answer}."

    return reply


def test_a_pdf_is_answered_with_the_clause_and_page(papers: Path, loopback: Any, command: Command) -> None:
    server = loopback(_finding("ninety days", "ninety days"))
    asked = ["ask", "How long is the notice to end the agreement?", "--text", str(papers / "agreement.pdf")]
    done = command(*asked, "--model", "openai:local", "--store", "off")
    assert done.code == 0, done.err
    assert "Answer: ninety days\n" in done.out
    assert "From: agreement.pdf, Supply Agreement > 2 Term > 2.2, page 2\n" in done.out
    assert len(server.requests) == 1


def test_a_long_page_is_answered_from_a_few_of_its_passages(
    papers: Path, loopback: Any, command: Command
) -> None:
    server = loopback(_finding("north basin", "4.2 million crowns"))
    asked = ["ask", "What did dredging the north basin cost?", "--text", str(papers / "report.html")]
    done = command(*asked, "--model", "openai:local", "--store", "off", "--json")
    told = json.loads(done.out)
    assert done.code == 0 and told["answer"] == "4.2 million crowns" and told["inventory"] == "papers"
    (source,) = told["sources"]
    assert source["file"] == "report.html" and source["heading"].endswith("Item 7. Works and dredging")
    (request,) = server.requests
    assert len(request["messages"][-1]["content"]) < 20_000


def test_a_section_is_found_by_its_number(papers: Path, loopback: Any, command: Command) -> None:
    loopback(_finding("berth 3101", "berth 3101"))
    asked = ["ask", "What does Item 31 begin with?", "--text", str(papers / "report.html")]
    done = command(*asked, "--model", "openai:local", "--store", "off", "--json")
    (source,) = json.loads(done.out)["sources"]
    assert source["heading"].endswith("Item 31. Berths of quay 31")


def test_passages_that_do_not_tell_are_declined(papers: Path, loopback: Any, command: Command) -> None:
    loopback(_finding("no such words", ""))
    asked = ["ask", "Which bank keeps the prices?", "--text", str(papers / "agreement.pdf")]
    done = command(*asked, "--model", "openai:local", "--store", "off")
    assert done.code == 3 and "do not answer the question" in done.out


def test_a_reply_that_names_a_passage_that_is_not_there_is_asked_again(
    papers: Path, loopback: Any, command: Command
) -> None:
    server = loopback(["Passages: 99\nThe answer is x.", "Passages: 1\nThe answer is y."])
    asked = ["ask", "How long does it run?", "--text", str(papers / "agreement.pdf")]
    done = command(*asked, "--model", "openai:local", "--store", "off")
    assert done.code == 0 and "Answer: y\n" in done.out and len(server.requests) == 2


@pytest.mark.parametrize(
    ("file", "question", "answer", "place"),
    [
        ("agreement.pdf", "What is the deposit?", "2,500 EUR", "page 4"),
        ("agreement.pdf", "What is the bow line in 2025?", "124", "4 Prices"),
        ("report.html", "What were the berth fees in 2024?", "8,915", "Item 8. Income"),
    ],
)
def test_a_label_or_cell_is_answered_without_a_model(
    papers: Path, command: Command, file: str, question: str, answer: str, place: str
) -> None:
    done = command("ask", question, "--text", str(papers / file))
    assert done.code == 0, done.out + done.err
    assert f"Answer: {answer}\n" in done.out and f"From: {file}, " in done.out and place in done.out


def test_without_a_model_other_questions_are_declined_with_the_nearest_passage(
    papers: Path, command: Command
) -> None:
    done = command("ask", "Why may a party end it by a notice?", "--text", str(papers / "agreement.pdf"))
    assert done.code == 3 and "2.2, page 2" in done.out and "--inventory papers" in done.out


def test_a_named_inventory_that_takes_a_text_gets_the_text(papers: Path, command: Command) -> None:
    asked = ["ask", "What is the deposit?", "--text", str(papers / "agreement.pdf")]
    done = command(*asked, "--inventory", "pictures_offline")
    assert done.code == 0 and done.out.endswith("Answer: 2,500 EUR\n")


def test_a_paper_that_cannot_be_read_is_one_line(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "a.pdf"
    for data, words in (
        (b"%PDF-1.4\n", "broken"),
        (pdf([[(11, "x")]], locked=True), "encrypted"),
        (pdf([[]]), "no text"),
    ):
        file.write_bytes(data)
        done = command("ask", "What is it?", "--text", str(file))
        assert done.code == 1 and words in done.complaint


def test_markdown_and_long_texts_are_papers_and_short_texts_are_not(tmp_path: Path, command: Command) -> None:
    lease = "# Lease\n\n## 3 Rent\n\nRent: 900 EUR\n\n## 4 Keys\n\nThere are two keys.\n"
    long = "".join(f"{n} Berth {n}\n\nThe berth is dry at low tide.\n\n" for n in range(1, 900))
    for name, text, cited in (
        ("lease.md", lease, "From: lease.md, Lease > 3 Rent\n"),
        ("long.txt", f"{long}900 Rent\n\nRent: 900 EUR\n", "From: long.txt, 900 Rent\n"),
        ("short.txt", "Rent: 900 EUR\n", ""),
    ):
        file = tmp_path / name
        file.write_text(text)
        done = command("ask", "What is the rent?", "--text", str(file))
        assert done.code == 0, done.out
        assert "Answer: 900 EUR\n" in done.out and cited in done.out
        assert ("From:" in done.out) == bool(cited)


def test_without_the_package_a_pdf_says_what_to_install(
    papers: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.util import find_spec

    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "pdfplumber" else find_spec(name)
    )
    done = command("ask", "What is it?", "--text", str(papers / "agreement.pdf"))
    assert done.code == 1 and 'pip install "chameleon-compose[papers]"' in done.complaint
