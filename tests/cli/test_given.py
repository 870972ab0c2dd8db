"""The files that a question comes with: from standard input, more than one, of the wrong kind, or none."""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT, Command

Pipe = Callable[[bytes], None]
QUESTION = "What is the adult fare?"
SIGN = "Adult fare: $4.50\nChild fare: $2.25\n"
TABLE = "child,apples\nAda,2\nBen,3\n"
FERRY = ROOT / "demos" / "data" / "ferry.png"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    """A PNG of that size, as its header says."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * width) * height) if width * height < 10**6 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


BAD_PICTURES = {
    "no bytes": (b"", "is empty"),
    "a text": (b"What is this?\n" * 50, "is no picture"),
    "a script": (b"%!PS-Adobe-3.0 EPSF-3.0\n", "is PostScript, which is a program"),
    "cut off in its header": (png(20, 10)[:20], "is damaged or cut off"),
    "a bomb": (png(10_000, 10_000), "too large to be unpacked safely"),
}


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Pipe:
    def pipe(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return pipe


def complaint_of_usage(command: Command, *arguments: str) -> str:
    outcome = command("ask", QUESTION, *arguments)
    assert outcome.code == 2 and not outcome.out and "Traceback" not in outcome.err
    return " ".join(word for word in outcome.err.split() if word != "│")


def test_a_text_is_read_from_standard_input(command: Command, piped: Pipe, tmp_path: Path) -> None:
    for _ in range(2):  # the text is in the log: the same one goes on with it
        piped(SIGN.encode())
        outcome = command("ask", QUESTION, "--text", "-", "--log", str(tmp_path / "run.jsonl"))
        assert outcome.code == 0 and outcome.out.endswith("Answer: $4.50\n")
    for data, words in (
        (b"", "standard input: the text is empty"),
        (b"\xff\xfe\xfd", "standard input: the file is not UTF-8 text (byte 0)"),
        (b"x" * 1_000_001, "standard input: the text has more than the limit"),
    ):
        piped(data)
        outcome = command("ask", QUESTION, "--text", "-")
        assert outcome.code == 1 and words in outcome.complaint


def test_a_picture_is_read_from_standard_input_and_nothing_of_it_stays(
    command: Command, piped: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidocr", reason="text needs rapidocr: pip install rapidocr onnxruntime")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    piped(FERRY.read_bytes())
    outcome = command("ask", QUESTION, "--image", "-")
    assert outcome.code == 0 and outcome.out.endswith("Answer: $4.50\n")
    for data, words in ((b"", "is empty"), (b"no picture at all", "is no picture")):
        piped(data)
        outcome = command("ask", QUESTION, "--image", "-")
        assert outcome.code == 1 and words in outcome.complaint and "standard input" in outcome.complaint
    assert list(tmp_path.iterdir()) == []


def test_only_one_of_them_reads_standard_input(command: Command) -> None:
    told = complaint_of_usage(command, "--image", "-", "--text", "-")
    assert "only one of them can read standard input" in told
    assert "--table" in complaint_of_usage(command, "--table", "-", "--text", "-")
    assert "--table" in complaint_of_usage(command, "--table", "-", "--table", "-")
    log = complaint_of_usage(command, "--image", "-", "--log", "run.jsonl")
    assert "save it to a file" in log and not Path("run.jsonl").exists()


@pytest.mark.parametrize("option", ["--image", "--text"])
def test_a_second_file_is_not_taken_in_place_of_the_first(command: Command, option: str) -> None:
    told = complaint_of_usage(command, option, str(FERRY), option, str(FERRY))
    assert "is given 2 times, and takes one file" in told


@pytest.mark.parametrize(
    "address", ["https://example.org/museum.png", "http://x/y", "data:image/png;base64,"]
)
def test_addresses_are_not_followed(command: Command, address: str) -> None:
    for option in ("--image", "--text"):
        outcome = command("ask", QUESTION, option, address)
        assert outcome.code == 1 and not outcome.out
        assert "is an address" in outcome.complaint and "Download it first" in outcome.complaint
        assert address[:10] in outcome.complaint


def test_a_picture_given_as_a_text_is_told(command: Command, tmp_path: Path) -> None:
    outcome = command("ask", QUESTION, "--text", str(FERRY))
    assert outcome.code == 1 and outcome.complaint.endswith("Did you mean --image?")
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    outcome = command("ask", QUESTION, "--text", str(tmp_path / "latin.txt"))
    assert outcome.code == 1 and "Save it as UTF-8" in outcome.complaint


def test_a_question_with_nothing_to_answer_from_names_all_that_it_may_come_with(command: Command) -> None:
    for verb in ("ask", "plan"):
        outcome = command(verb, QUESTION)
        assert outcome.code == 1 and not outcome.out
        assert all(option in outcome.complaint for option in ("--table", "--image", "--text"))


def test_a_table_beside_a_picture_is_told_which_inventory_takes_what(
    command: Command, tmp_path: Path
) -> None:
    table, text = tmp_path / "table.csv", tmp_path / "note.txt"
    table.write_text(TABLE)
    text.write_text(SIGN)
    for option, file, kind in (("--image", FERRY, "picture"), ("--text", text, "text")):
        outcome = command("ask", QUESTION, "--table", str(table), option, str(file))
        assert outcome.code == 1 and f"tables_offline takes no {kind}" in outcome.complaint
        assert "Leave it out, or name one that takes it with --inventory" in outcome.complaint
        assert ("such as finqa" in outcome.complaint) == (kind == "text")
    named = command(
        "ask", QUESTION, "--table", str(table), "--image", str(FERRY), "--inventory", "tables_offline"
    )
    assert named.code == 1 and "the inventory tables_offline takes no picture" in named.complaint


def test_json_says_why_it_ran_what_it_ran(command: Command, tmp_path: Path) -> None:
    text = tmp_path / "sign.txt"
    text.write_text(SIGN)
    for verb in ("ask", "plan"):
        told = json.loads(command(verb, QUESTION, "--text", str(text), "--json").out)
        first = command(verb, QUESTION, "--text", str(text)).out.splitlines()[0]
        assert first == f"Runs {told['why']}." and "pictures_offline" in told["why"]


def test_a_question_out_of_reach_is_told_of_the_model_in_a_sentence(command: Command, tmp_path: Path) -> None:
    text = tmp_path / "sign.txt"
    text.write_text(SIGN)
    outcome = command("ask", "Why is the fare so high?", "--text", str(text))
    assert outcome.code == 3
    (line,) = (line for line in outcome.out.splitlines() if line.startswith("Declined: "))
    assert "let a model answer: --inventory pictures" in line.lower()
    assert "Or let" not in line or line.index(". ") < line.index("Or let")


@pytest.mark.parametrize("verb", ["ask", "plan"])
@pytest.mark.parametrize(("content", "words"), BAD_PICTURES.values(), ids=BAD_PICTURES)
def test_a_picture_that_cannot_be_used(
    command: Command, tmp_path: Path, content: bytes, words: str, verb: str
) -> None:
    pytest.importorskip("PIL", reason="pictures need Pillow")
    file = tmp_path / "sign.png"
    file.write_bytes(content)
    outcome = command(verb, QUESTION, "--image", str(file))
    assert outcome.code == 1 and not outcome.out
    assert words in outcome.complaint and str(file) in outcome.complaint


def test_what_is_no_file(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place, for_image in [
        (tmp_path / "nowhere", "there is no such picture"),
        (tmp_path, "is a folder, not a file"),
        (pipe, "is a device or a pipe, not a file"),
        (Path("/dev/zero"), "is a device or a pipe, not a file"),
    ]:
        for option, words in (("--image", for_image), ("--text", for_image.replace("picture", "file"))):
            outcome = command("ask", QUESTION, option, str(place))
            assert outcome.code == 1 and not outcome.out
            assert words in outcome.complaint and str(place) in outcome.complaint


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="everything can be read here")
def test_what_may_not_be_read(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(png(20, 10))
    file.chmod(0)
    for option in ("--image", "--text"):
        assert "cannot be read: " in command("ask", QUESTION, option, str(file)).complaint


def test_a_text_has_a_limit(command: Command, tmp_path: Path) -> None:
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as file:
        file.truncate(50 * 2**30)  # a sparse file: it takes no room
    outcome = command("ask", QUESTION, "--text", str(huge))
    assert outcome.code == 1 and "more than the limit of 1,000,000 bytes" in outcome.complaint


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "riders.csv").write_text("Rider,Team,Points\nBrandt,Tarn,20\nEk,Weir,5\nHolm,Tarn,4\n")
    (tmp_path / "teams.csv").write_text("Name,Country\nTarn,Italy\nWeir,Spain\n")
    return ["--table", str(tmp_path / "riders.csv"), "--table", str(tmp_path / "teams.csv")]


def _reply(request: dict) -> str:
    """A model that joins, sums up, and reads the answer."""
    text = request["messages"][-1]["content"]
    if "Use f_join()" in text:
        assert "Other table : teams\n" in text and "row 1 : Tarn | Italy" in text
        return "f_join(teams, on Team = Name)"
    if "Use f_aggregate()" in text:
        return "f_aggregate(sum of Points by Country)"
    if "Function Chain:" not in text:
        return "24"
    chain = text.rpartition("Function Chain:")[2]
    return "<END>" if "f_aggregate" in chain else "f_aggregate()" if "f_join" in chain else "f_join()"


def test_the_others_are_joined_by_their_files_names(
    files: list[str], loopback: Any, command: Command
) -> None:
    loopback(_reply)
    asked = ["ask", "How many points went to teams from Italy?", *files, "-i", "chain_of_table_extended"]
    outcome = command(*asked, "--trace", "--store", "off")
    assert outcome.code == 0, outcome.err
    calls = "f_join(teams, on Team = Name)", "f_aggregate(sum of Points by Country)", "Answer: 24"
    assert all(call in outcome.out for call in calls)


@pytest.mark.parametrize("inventory", [["--inventory", "tables_offline"], []])
def test_an_inventory_of_one_table_says_so(files: list[str], inventory: list[str], command: Command) -> None:
    outcome = command("ask", "How many points?", *files, *inventory)
    assert outcome.code == 1
    assert "the inventory tables_offline takes no second table" in outcome.complaint
    assert "chain_of_table_extended" in outcome.complaint
