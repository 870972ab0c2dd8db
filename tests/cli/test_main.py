"""Bad input on the command line: exit code 1 and one clear line; wrong usage 2; a declined question 3."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from tests.e2e.commands import ROOT, Command
from tests.pictures.drawn import png

TABLE = "child,apples\nAda,2\nBen,3\nCleo,5\n"


FILES: dict[str, bytes] = {
    "table.csv": TABLE.encode(),
    "sign.txt": b"Adult fare: $4.50\n",
    "empty": b"",
    "blank.txt": b" \n\n",
    "ragged.csv": b"child,apples\nAda,2\nBen,3,4\n",
    "damaged.csv": "enfant,pommes\npêches,".encode() + b"\xea\n",
    "nul.csv": b"child,apples\nA\0da,2\n",
    "script.png": b"%!PS-Adobe-3.0 EPSF-3.0\n",
    "cut.png": png(20, 10)[:20],
    "bomb.png": png(10_000, 10_000),
    "long.png": png(1, 70_000),
    "unknown.yaml": b"extends: tables_offline\nplaner: {use: rules}\n",
    "planner.yaml": b"name: x\nplanner: {use: fixd}\nmodules: {}\n",
    "tag.yaml": b'!!python/object/apply:os.system ["echo"]\n',
    "class.yaml": b'extends: tables_offline\nmodules:\n  shout: {use: "json:JSONDecoder"}\n',
    "prompt.yaml": b"extends: tabmwp\nmodules:\n  row_lookup: {prompt: nowhere/at_all}\n",
    "an_index/manifest.json": b"",
    "notes/a.json": b'{"size": 3}',
    "tables.jsonl": b'{"table_id": "a", "header": ["x"], "rows": [["1"]], "caption": "c"}\n',
    "no_id.jsonl": b'{"table_id": "", "header": ["x"], "rows": []}\n',
    "plan.docx": b"PK\x03\x04 cut",
    "plan.xlsx": b"PK\x03\x04 xl/workbook cut",
    "lease.rtf": b"{\\rtf1 Rent: 900 EUR}",
    "lease.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "lease.odt": b"Rent: 900 EUR",
    "lease.pdf": b"Rent: 900 EUR",
    "letter.txt": b"Dear team,\n\nwe sold 4,200 units in May, 2,900 in June, 10 in July.\nWell, thanks.\n",
    "all.zip": b"PK\x03\x04 lease.txt",
    "song.mp3": b"ID3\x03\0\xff\xfb\x90",
    "asked.jsonl": b'{"id": 1, "question": "x", "table_id": "a"}\n',
    "unasked.jsonl": b'{"id": 1, "table_id": "a"}\n',
    "gone.jsonl": b'{"id": 1, "question": "x", "table_id": "gone"}\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that cannot be used, one good table and picture, a pipe, and files too large to be read."""
    made = tmp_path_factory.mktemp("bad")
    for name in ("bare", "notes", "an_index"):
        (made / name).mkdir()
    for name, content in FILES.items():
        (made / name).write_bytes(content)
    for name, size in (("huge.csv", 200 * 2**20), ("huge.txt", 50 * 2**30)):
        with (made / name).open("wb") as file:
            file.truncate(size)  # a sparse file: it takes no room
    shutil.copy(ROOT / "demos/data/ferry.png", made)
    os.mkfifo(made / "pipe")
    return made


@pytest.fixture
def bad(folder: Path, command: Command, monkeypatch: MonkeyPatch) -> Command:
    monkeypatch.chdir(folder)
    return lambda line: command(*shlex.split(line))


COMPLAINTS = [
    ("ask Q --table empty", "empty: is empty"),
    ("ask Q --table ragged.csv", "ragged.csv, line 3: 3 cells found, but the header has 2"),
    ("ask Q --table letter.txt", "If the file is prose, give it as a text."),
    ("ask Q --table ferry.png", "is a picture, not a table. Give it with --image."),
    ("ask Q --table plan.docx", "plan.docx: is a document, not a table. Give it with --text."),
    ("ask Q --text plan.xlsx", "plan.xlsx: is a table, not a document. Give it with --table."),
    ("ask Q --table song.mp3", "is an unsupported kind of file (.mp3). CSV, JSON"),
    ("ask Q --table an_index", "an_index: is an index. Give it with --index."),
    ("ask Q --table damaged.csv", "is not UTF-8: byte 0xea in line 2. It is damaged"),
    ("ask Q --table nul.csv", "nul.csv, line 2: has a NUL byte"),
    ("ask Q --table table.csv --sheet May", "has no sheet or table named 'May'. There are: 'table 1'."),
    ("ask Q --table mysql://ann:hush@h/db?x=hush", "mysql://h/db: "),
    ("ask Q --table nowhere.csv", "nowhere.csv: there is no such file"),
    ("ask Q --table bare", "bare: is a folder"),
    ("ask Q --table huge.csv", "more than the limit of 64.0 MB"),
    ("ask Q --image script.png", "is not an image"),
    ("ask Q --image cut.png", "is damaged or cut off"),
    ("ask Q --image bomb.png", "too large to be unpacked safely"),
    ("ask Q --image long.png", "1 × 70,000 pixels, too large"),
    ("ask Q --image huge.txt", "too large"),
    ("ask Q --image nowhere", "nowhere: there is no such file"),
    ("ask Q --image pipe", "is not a file"),
    ("ask Q --image https://example.org/museum.png", "museum.png: is an address, but images are read from"),
    ("ask Q --text /dev/zero", "/dev/zero: is not a regular file"),
    ("ask Q --text postgresql://me:geheim@h/db", "postgresql://h/db: is an address, but texts are read"),
    ("ask Q --text huge.txt", "more than the limit of 64.0 MB"),
    ("ask Q --text blank.txt", "blank.txt: the text is empty"),
    ("ask Q --text lease.rtf", "lease.rtf: is a text in RTF"),
    ("ask Q --text lease.doc", "old Office format"),
    ("ask Q --text lease.odt", "is not a .odt file"),
    ("ask Q --text lease.pdf", "is not a PDF"),
    ("ask Q --text plan.docx", "plan.docx: is broken"),
    ("ask Q --text all.zip", "is an archive"),
    ("plan Q", "Give a table with --table, an index with --index, a picture with --image or a text with"),
    ("ask Q -t table.csv --image ferry.png", "does not take a picture. Leave it out, or"),
    ("ask Q -t table.csv --text sign.txt", "does not take a text. Leave it out, or name one that takes it"),
    ("ask Q --index nowhere", "there is no such index"),
    ("ask Q --index bare", "the folder is not an index"),
    ("ask Q -i corpus_offline", "needs an index. Give one with --index"),
    ("ask Q -i pictures", "asks a model, but none is configured. Name one with --model"),
    ("ask Q -t table.csv --model opnai:gpt", "Did you mean openai:gpt?"),
    ("ask Q -t table.csv --model anthropic:some", "ANTHROPIC_API_KEY"),
    ("ask Q -t table.csv --model scripted:nowhere.jsonl", "there is no such file of scripted replies"),
    ("ask Q -t table.csv -i unknown.yaml", "unknown.yaml:2: unknown key 'planer'"),
    ("check unknown.yaml --no-import", "unknown.yaml:2: unknown key 'planer'"),
    ("check planner.yaml --no-import", "there is no planner 'fixd'. Did you mean 'fixed'?"),
    ("check tag.yaml", "not valid YAML"),
    ("check class.yaml", "JSONDecoder"),
    ("check prompt.yaml", "there is no prompt 'nowhere/at_all'"),
    ("index bare --out x", "The folder is empty."),
    ("index nowhere --out x", "nowhere: there is no such file or folder"),
    ("index bare --out x --retriever bm26", "Did you mean 'bm25'?"),
    ("index bare --out x --summaries", "summaries need a model, and none is named"),
    ("index notes --out x", "It has no file with a table or text."),
    ("index bare --out table.csv", "table.csv: is a file, not the folder of an index"),
    ("chat tables_offline", "needs a table. Give one with --table FILE"),
    ("chat", "there is nothing to answer the question from"),
    ("serve --mcp tables_offline --files nowhere", "nowhere: is not a folder"),
    ("serve --mcp tables_ofline", "tables_offline"),
    ("list modules text_detectr", "no module 'text_detectr'. Did you mean 'text_detector'?"),
    ("grid tablerag --inventory tabmwp", "the arm baseline: "),
    ("compare tablrag -i tables", "tablrag: there is no such file or experiment. A question goes in quotes"),
    ("eval asked.jsonl tables", "a file of questions is not an inventory. The inventory comes first"),
    ("recall no_id.jsonl asked.jsonl", "no_id.jsonl, row 1: this row has no table_id"),
    ("recall tables.jsonl unasked.jsonl", "row 1: this row is missing one of question, statement, query"),
    ("recall tables.jsonl gone.jsonl", "name a table that the corpus does not have, such as 'gone'"),
]


@pytest.mark.parametrize(("line", "words"), COMPLAINTS, ids=range(len(COMPLAINTS)))
def test_what_cannot_be_done_is_one_line(bad: Command, line: str, words: str) -> None:
    if "--image" in line:
        pytest.importorskip("PIL", reason="pictures need Pillow")
    outcome = bad(line)
    told = outcome.err if line.startswith(("recall", "serve")) else outcome.complaint
    assert outcome.code == 1 and words in told and "Traceback" not in told
    assert not outcome.out or outcome.out.startswith(("An inventory is code: ", "tabmwp cannot run here: "))


USAGE = [
    ("ask", "Invalid value for QUESTION: the question is missing"),
    ("frob", "No such command 'frob'"),
    ("ask Q --image - --text -", "only one of them can read standard input"),
    ("ask Q --table - --text -", "Invalid value for --table"),
    ("ask Q --image - --log run.jsonl", "save it to a file"),
    ("ask Q --image ferry.png --image ferry.png", "is given 2 times, but takes one file"),
    ("ask Q -i tables -i tables_offline", "but takes one: `chameleon compare` is for several"),
    ("ask Q --index bare --table table.csv", "is searched by itself, but is given with something else"),
    ("ask Q --table table.csv --choices yes", "two options or more"),
    ("grid tablerag --no-model --model openai:local", "--model is given as well"),
    ("recall tables.jsonl", "Missing argument 'QUERIES'"),
    ("chat tables_offline --table -", "standard input holds the questions"),
    ("serve --mcp", "INVENTORY"),
    ("serve --mcp tables_offline --http http", "is not [HOST:]PORT"),
    ("index bare --out x -m openai:local", "a model is used only with --summaries"),
    ("list experiments tablerag", "only modules and planners can be shown one by one"),
]


@pytest.mark.parametrize(("line", "words"), USAGE, ids=range(len(USAGE)))
def test_wrong_usage_exits_with_2(bad: Command, folder: Path, line: str, words: str) -> None:
    outcome = bad(line)
    assert outcome.code == 2 and not outcome.out and "Traceback" not in outcome.err
    assert words in outcome.told and not (folder / "run.jsonl").exists()


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="everything can be read here")
@pytest.mark.parametrize("option", ["--image", "--text"])
def test_what_may_not_be_read(sh: Command, tmp_path: Path, option: str) -> None:
    (tmp_path / "secret").write_bytes(png(20, 10))
    (tmp_path / "secret").chmod(0)
    assert "cannot be read" in sh(f"ask Q {option} secret").complaint


def test_a_declined_question_exits_with_3_and_says_why(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    asked = "ask 'Why do children like the color of apples so much?' --table table.csv"
    outcome, told = sh(asked), sh(asked, "--json").json
    assert outcome.code == 3 and not outcome.out and outcome.err.startswith("Declined: ")
    assert told["declined"] is True and told["answer"] is None and told["error"]["kind"] == "Declined"


def test_help_has_fourteen_commands_in_three_groups_and_hidden_ones_work(command: Command) -> None:
    groups = {
        "Ask": "ask chat index plan",
        "Build": "check list serve doctor approve",
        "Measure": "eval compare report score export",
    }
    for panel in re.split("╭─ ", command("--help").out)[1:]:
        names = groups.pop(panel.split()[0], None)
        assert names in (None, " ".join(re.findall(r"^│ ([a-z]+)  ", panel, re.MULTILINE)))
    assert not groups
    for hidden in ("grid", "merge", "stats", "recall", "sandbox"):
        assert command(hidden, "--help").code == 0
