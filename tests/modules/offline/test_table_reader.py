"""Questions over tables, an index, texts and pictures without a model: answers, sources and declines."""

import contextlib
import csv
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Declined, Executor, Inventory, State, Table
from chameleon.core.sources import sources_in_words
from chameleon.modules.offline.among import covered, telling_words
from chameleon.modules.offline.judge import answer
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index
from chameleon.table import read_table
from chameleon.values import freeze
from tests.e2e.commands import Command

HERE = Path(__file__).parent
LEAGUE = HERE.parents[2] / "demos" / "data" / "league.csv"
_ROWS = ["Oslo|3|$1,200|Ann", "Riga|2|$300|Bo", "Rome|7|$2,450|Ann", "Total|12|$3,950|"]
TRIPS = Table(["City", "Nights", "Price", "With"], [row.split("|") for row in _ROWS], "trips")


def ask(question: str, table: Table = TRIPS, inventory: str = "tables_offline", **given: Any) -> State:
    return Executor(Inventory.load(inventory)).run({"question": question, "table": table, **given})


def why(state: State) -> str:
    assert state.status == "declined", state.answer
    return state.why


def test_the_answer_with_the_rows_columns_and_cells_that_it_rests_on() -> None:
    state = ask("What is the price of Riga?")
    assert state.answer == "$300" == state.cache["answer"]
    (source,) = state.cache["sources"]
    assert (source["table"], source["of"], source["rows"]) == ("trips", 4, (2,))
    assert (source["columns"], source["cells"]) == (("City", "Price"), ((2, "Price"),))
    assert 0 < state.cache["reading"]["confidence"] <= 1
    assert "cells" not in ask("What is the average price?").cache["sources"][0]


def test_a_row_of_totals_is_left_out_and_said() -> None:
    assert ask("Which city has the highest price?").answer == "Rome"
    assert ask("How much higher is the price of Rome than that of Riga?").answer == "$2,150"
    told = ask("What is the average price?").cache["reading"]["means"]
    assert told == "average Price; rows left out: 1 of totals and notes"


def test_choices_units_and_items() -> None:
    assert ask("Which city has the highest price?", choices=["Oslo", "rome"]).answer == "rome"
    assert "not one of the choices" in why(ask("Which city has the highest price?", choices=["Oslo", "Riga"]))
    assert ask("How many nights in total?", unit="nights").answer == 12
    lengths = Table(["Walk", "Length"], [["Ridge", "12 km"], ["Lake", "5 km"]])
    assert ask("What is the total length?", lengths, unit="km").answer == 17
    assert "not in mi" in why(ask("What is the total length?", lengths, unit="mi"))
    assert ask("Which cities have Ann?", inventory="wikitq_offline").answer == ("Oslo", "Rome")
    assert ask("What is the average price?", inventory="wikitq_offline").answer[0].startswith("1316.6")


def test_at_least_bounds_the_confidence(command: Command) -> None:
    data = {"name": "sure", "extends": "tables_offline", "modules": {"table_reader": {"at_least": 1}}}
    state = Executor(Inventory.parse(data)).run({"question": "How many cities are there?", "table": TRIPS})
    assert "confidence of 0." in why(state) and "below 1" in why(state)
    asked = ("ask", "How many points does Harbour Rovers have?", "--table", str(LEAGUE), "--at-least")
    assert [command(*asked, least).code for least in ("0.1", "1", "2")] == [0, 3, 2]
    unable = command(*asked, "0.9", "--inventory", "tabmwp")
    assert unable.code == 1 and "no module of the inventory tabmwp takes at_least" in unable.complaint


@pytest.mark.parametrize("question", ["How many gloops are there in Rome?", "Why?", "x" * 10_001])
def test_what_is_not_understood_is_declined_in_one_line(question: str) -> None:
    assert "\n" not in why(ask(question))


@pytest.mark.slow
def test_a_long_table_is_answered_and_a_longer_one_declined() -> None:
    cities = ("Leeds", "York", "Hull", "Bath", "Ely")
    rows = [[f"K{i}", cities[i % 5], str(i % 7), f"${i % 1000}.25"] for i in range(30_000)]
    orders = Table(["Order ID", "City", "Quantity", "Price"], rows, "orders")
    state = ask("What is the total quantity in Leeds?", orders)
    assert state.answer == str(sum(i % 7 for i in range(0, 30_000, 5)))
    (told,) = sources_in_words(state.cache["sources"])
    assert told == "orders, 6,000 of 30,000 rows, columns City and Quantity"
    state = ask("How many orders are there?", orders)
    assert state.answer == "30000" and "rows" not in state.cache["sources"][0]
    short = {"name": "short", "extends": "tables_offline", "modules": {"table_reader": {"max_table_rows": 9}}}
    state = Executor(Inventory.parse(short)).run({"question": "How many orders are there?", "table": orders})
    assert "more than 9 rows" in why(state)


TEAMS = Table(["Team", "Points", "Lost"], [["Nord", "40", "2"], ["Sud", "38", "4"], ["West", "31", "9"]])
_RIVERS = [["Po", "652"], ["Adige", "410"], ["Arno", "241"]]
RIVERS = Table(["River", "Length (km)"], _RIVERS, "Rivers of Italy")
BOTH = {"league": TEAMS, "rivers": RIVERS}


@pytest.fixture(scope="module")
def ask_index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Ask a question to an index of these tables, by their names; each index is built once."""
    pytest.importorskip("tantivy")
    folders: dict[str, Path] = {}

    def asked(question: str, tables: Mapping[str, Table], ahead: float = 1.5) -> State:
        if (key := str({name: each.to_json() for name, each in tables.items()})) not in folders:
            folders[key] = tmp_path_factory.mktemp("tables") / "index"
            named = {name: each.with_caption(each.caption or name) for name, each in tables.items()}
            documents = [Document(name, each, source={"file": name}) for name, each in named.items()]
            build_index(folders[key], documents)
        changed = {"extends": "corpus_offline", "modules": {"index_reader": {"ahead": ahead}}}
        executor = Executor(Inventory.parse({"name": "changed", **changed}))
        return executor.run({"question": question, "index": str(folders[key])})

    return asked


def sources(state: State) -> list[Any]:
    return [(each["id"], list(each["rows"]), list(each["columns"])) for each in state.cache["sources"]]


def test_the_rows_and_columns_that_were_read(ask_index: Any) -> None:
    state = ask_index("How many points does Sud have?", BOTH)
    assert state.answer == "38" and sources(state) == [("league", [2], ["Team", "Points"])]
    assert state.cache["sources"][0]["cells"] == ((2, "Points"),)
    state = ask_index("Which river is the longest?", BOTH)
    assert state.answer == "Po" and sources(state) == [("rivers", [1], ["River", "Length (km)"])]
    assert "nothing in the index" in why(ask_index("Who is the mayor?", BOTH))


def test_tables_that_differ_are_named_and_none_is_chosen(ask_index: Any) -> None:
    other = Table(TEAMS.header, [["Nord", "12", "2"], ["Sud", "11", "4"]])
    tables = {"league 2023": TEAMS, "league 2024": other}
    told = why(ask_index("How many points does Nord have?", tables))
    assert "it is not clear which table is meant (" in told and "2023: 40" in told and "2024: 12" in told
    state = ask_index("How many points did Nord have in 2024?", tables)
    assert state.answer == "12" and sources(state)[0][0] == "league 2024"


@pytest.mark.parametrize("question", ["How many teams are there?", "How many points are there in total?"])
def test_counts_and_sums_agree_only_over_copies(ask_index: Any, question: str) -> None:
    other = Table(TEAMS.header, [["Nord", "1", "2"], ["Ost", "8", "30"], ["Ulm", "100", "0"]])
    told = why(ask_index(question, {"league a": TEAMS, "league b": other}))
    assert "it is not clear which table is meant (" in told
    assert len(ask_index(question, {"league a": TEAMS, "league b": TEAMS}).sources) == 2


def test_the_telling_words_of_a_question() -> None:
    words = telling_words("How many points did Nord get in the 2024 season?")
    assert set(words.values()) == {"points", "Nord", "2024", "season"}
    assert covered(words, ["league 2024", "club/league_2024.csv", "Points"]) == {"point", "2024"}


@pytest.mark.parametrize(("text", "answer"), [("Nord has 44 points now.", None), ("Nord plays.", "40")])
def test_a_text_that_says_as_much_as_the_table_is_shown(tmp_path: Path, text: str, answer: Any) -> None:
    build_index(tmp_path / "index", [Document("league", TEAMS), Document("news", text=text)])
    executor = Executor(Inventory.parse({"name": "same", "extends": "corpus_offline"}))
    state = executor.run({"question": "How many points does Nord have?", "index": str(tmp_path / "index")})
    assert state.answer == answer
    assert text in [each["text"] for each in state.cache["nearest"]]


def test_a_table_with_more_of_the_words_goes_before_one_that_can_be_read(ask_index: Any) -> None:
    notes = Table(["Question", "Reply"], [["Points of Nord in the cup", "see the board"], ["Fees", "none"]])
    state = ask_index("How many points does Nord have in the cup?", {"league": TEAMS, "notes": notes})
    assert "notes" in why(state)


def test_a_rival_that_cannot_be_read_is_told_of_unless_it_is_a_part(ask_index: Any) -> None:
    rival = Table(["Team", "Points at home", "Points away"], [["Nord", "8", "9"], ["Sud", "3", "1"]])
    told = why(ask_index("How many points does Nord have?", {"league": TEAMS, "rival": rival}, ahead=9))
    assert "it is not clear which table is meant (league: 40; rival: cannot tell)" in told
    near = ask_index("How many points does Nord have?", {"league": TEAMS, "rival": rival}, ahead=1)
    assert near.answer == "40"
    best = Table(TEAMS.header, TEAMS.rows[:2], "best of the league")
    state = ask_index("How many points are there in total?", {"league": TEAMS, "best": best}, ahead=9)
    assert state.answer == "109" and [name for name, _, _ in sources(state)] == ["league"]
    view = Table(["Team"], [["Nord"], ["West"]], "points of some")
    state = ask_index("How many points does Nord have?", {"league": TEAMS, "view": view}, ahead=9)
    assert state.answer == "40"


EVERYDAY = (HERE.parents[2] / "../shared/data/everyday").resolve()


@pytest.mark.skipif(not (EVERYDAY / "questions.jsonl").is_file(), reason="the shared data are not here")
def test_few_answers_are_wrong() -> None:
    spec = importlib.util.spec_from_file_location("everyday_score", EVERYDAY / "score.py")
    assert spec is not None and spec.loader is not None
    rule = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rule)
    lines = (json.loads(line) for line in (EVERYDAY / "questions.jsonl").read_text("utf-8").splitlines())
    asked = [line for line in lines if line["part"] == "dev"]
    names = {line["table"] for line in asked}
    tables = {name: Table(*_rows(name), name.replace("_", " ")) for name in names}
    inputs = [{"question": line["question"], "table": tables[line["table"]]} for line in asked]
    states = list(Executor(Inventory.load("tables_offline")).batch(inputs))
    assert {state.status for state in states} <= {"answered", "declined"}
    pairs = zip(asked, states, strict=True)
    told = [(line, state.answer) for line, state in pairs if state.answer is not None]
    wrong = [line["id"] for line, said in told if not rule.right(said, line)]
    assert len(wrong) <= 3, wrong
    assert len(told) > len(asked) / 3


def _rows(name: str) -> tuple[list[str], list[list[str]]]:
    with (EVERYDAY / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


LINES = [
    (folder, *line.split("\t"))
    for folder in (HERE / "english", HERE / "german")
    for line in (folder / "questions.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("folder", "name", "question", "expected"), LINES)
def test_questions_are_answered_or_declined(folder: Path, name: str, question: str, expected: str) -> None:
    """German needs no more than a file of words."""
    over = read_table(folder / f"{name}.csv").with_caption(name)
    try:
        found = ", ".join(answer(question, over).result.values)
    except Declined:
        found = ""
    assert found == expected


FERRY = "Harbour Ferry\nAdult fare: $4.50\nChild fare: $2.25\nFirst boat: 6:15\nLast boat: 21:40\nPier 3"
BOOK = "Title: The Old Man and the Sea\nAuthor: Anna Smith\nPages: 127\nCode: AB-12\nPrice: 15 euro"


def label_answer(question: str, text: str, choices: list[str] | None = None) -> str:
    given = {"question": question} | ({"choices": choices} if choices else {})
    state = State(input=freeze(given), cache=freeze({"detected_text": text}))
    return str(LabelReader().run(state)["answer"])


@pytest.mark.parametrize("line", Path(__file__).with_name("labels.tsv").read_text("utf-8").splitlines())
def test_values_beside_their_labels_and_whole_texts_are_answered_and_the_rest_declined(line: str) -> None:
    question, text, expected = line.split("\t")
    text = text.replace("FERRY", FERRY).replace("BOOK", BOOK).replace(" / ", "\n")
    with pytest.raises(Declined) if not expected else contextlib.nullcontext():
        assert label_answer(question, text) == expected


def test_a_value_is_one_of_the_choices() -> None:
    assert label_answer("What is the adult fare?", FERRY, ["2.25", "4.5"]) == "4.5"
    assert label_answer("What does the sign say?", "No entry", ["No entry", "Parking"]) == "No entry"
    with pytest.raises(Declined):
        label_answer("What is the adult fare?", FERRY, ["$2.25", "$3"])


def piece(text: str, left: int, top: int) -> dict[str, Any]:
    right, bottom = left + 8 * len(text), top + 10
    box = [[left, top], [right, top], [right, bottom], [left, bottom]]
    return {"text": text, "box": box, "confidence": 1}


def seen(question: str, *pieces: dict[str, Any], **given: str) -> str:
    text = "\n".join(str(each["text"]) for each in pieces)
    cache = {"detected_text": text, "text_boxes": list(pieces)}
    return str(LabelReader().run(State(freeze({"question": question, **given}), freeze(cache)))["answer"])


def test_pieces_of_a_picture_stand_beside_each_other_or_apart() -> None:
    fare = [piece("Adult fare", 0, 0), piece("$4.50", 200, 0)]
    assert seen("What is the adult fare?", *fare) == "$4.50"
    for label, *others in (["Author", "Hall Two"], ["Harbour", "Ferry"], ["Ashby", "07:05", "09:35"]):
        with pytest.raises(Declined):
            seen(f"What is the {label}?", *(piece(t, 300 * n, 0) for n, t in enumerate([label, *others])))


def test_a_text_beside_a_picture_is_read_as_well() -> None:
    sign, child = piece("Adult fare: $4.50", 0, 0), "Child fare: $2.25"
    assert seen("What is the child fare?", sign, text=child) == "$2.25"
    assert seen("What does the sign say?", sign, text=child) == "Adult fare: $4.50"
    with pytest.raises(Declined):
        seen("What is the adult fare?", sign, text="Adult fare: $5")


def test_the_inventory_reads_a_text_and_tells_the_line() -> None:
    executor = Executor(Inventory.load("pictures_offline"))
    state = executor.run({"question": "What is the adult fare?", "text": FERRY})
    assert state.answer == "$4.50" and state.cache["reading"]["line"] == "Adult fare: $4.50"
    assert "the text is empty" in why(executor.run({"question": "What does it say?", "text": " "}))


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_question_is_answered_or_declined(question: str, text: str) -> None:
    with contextlib.suppress(Declined):
        assert label_answer(question, text) in " ".join(filter(None, map(str.strip, text.splitlines())))


_LABELS = st.sampled_from(["Adult fare", "Child fare", "Fare", "Fare for adults", "Pages", "Author", "Age"])
_VALUES = st.sampled_from(["$4.50", "5", "Anna Smith", "free", "9:00 to 17:30", "$3 or $4", ""])


@given(st.lists(st.tuples(_LABELS, st.sampled_from([": ", " ", ":", " = "]), _VALUES), max_size=5))
def test_what_is_answered_stands_alone_beside_the_label(lines: list[tuple[str, str, str]]) -> None:
    text = "\n".join(map("".join, lines))
    asked = {"What is the adult fare?": {"Adult fare", "Fare for adults"}, "How many pages?": {"Pages"}}
    for question, labels in {**asked, "Who is the author?": {"Author"}}.items():
        with contextlib.suppress(Declined):
            assert {label_answer(question, text)} == {value for label, _, value in lines if label in labels}
