"""The line of pandas that an answer shows gives that answer over `Table.to_pandas`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from chameleon import Declined, Executor, Table
from chameleon.modules.offline.algebra import (
    Compares,
    Count,
    Dates,
    Either,
    Exists,
    Filled,
    Fold,
    Form,
    Frequent,
    Gap,
    Greater,
    Is,
    Ordered,
    Pick,
    Share,
    Where,
)
from chameleon.modules.offline.judge import Answer, answer
from chameleon.modules.offline.sheet import Sheet
from chameleon.table import read_table
from chameleon.table.amounts import read_amount
from chameleon.table.dates import Moment
from chameleon.table.meaning import shown
from tests.modules.offline.test_everyday import DATA, _table
from tests.modules.offline.test_plain_questions import test_plain_questions as plain_questions
from tests.modules.offline.test_properties import CASES
from tests.modules.offline.test_table_reader import LEAGUE

pandas = pytest.importorskip("pandas")


def gives(line: str, found: Answer) -> bool:
    """Tell whether a line gives an answer: its number, its truth, or its texts in any order."""
    table, result = found.sheet.table, found.result
    value = eval(line, {"df": table.to_pandas(), "pd": pandas})
    values = list(dict.fromkeys(value)) if isinstance(value, pandas.Series | pandas.Index) else [value]
    if result.number is not None:
        return [float(each) for each in values] == pytest.approx([float(result.number)], rel=1e-9)
    if result.kind == "truth":
        return [str(each) for each in values] == [str(result.values == ("yes",))]
    columns = found.form.own_columns[-1:]
    told = [[text for text in result.values if is_said(each, text, table, columns)] for each in values]
    return all(told) and {text for texts in told for text in texts} == set(result.values)


def is_said(value: Any, text: str, table: Table, columns: Iterable[int]) -> bool:
    """Tell whether a value is a text of the answer: as it is read, or as the column means it."""
    if shown(str(value)) == text:
        return True
    for column in (table.columns[index] for index in columns):
        meaning = column.meaning
        if isinstance(value, str | bool | pandas.Timestamp):
            pairs = zip(column.cells, meaning.plain, strict=True)
            same = {str(each) for cell, each in pairs if shown(cell) == text}
            return bool(same & {str(value), str(value).removesuffix(" 00:00:00")})
        amount = read_amount(text, meaning.mark if meaning.mark in (".", ",") else ".")
        if amount is not None and (not amount.base or amount.factor == meaning.factor):
            return bool(float(amount.number) == pytest.approx(value, rel=1e-9))
    return False


def shows_right_lines(asked: Iterable[tuple[str, Table]], least: float) -> None:
    """Check the lines of all that is answered, and that so many of the answers show one."""
    lines, wrong = [], []
    for question, table in asked:
        try:
            found = answer(question, Sheet(table))
        except Declined:
            continue
        lines.append(line := found.form.code(found.sheet))
        if line is not None and not gives(line, found):
            wrong.append((question, line, found.result.values))
    assert not wrong
    assert sum(line is not None for line in lines) >= least * len(lines) > 0


@pytest.mark.skipif(not (DATA / "questions.jsonl").is_file(), reason="the shared data are not here")
def test_the_lines_of_everyday_questions() -> None:
    asked = map(json.loads, (DATA / "questions.jsonl").read_text("utf-8").splitlines())
    shows_right_lines(((q["question"], _table(q["table"])) for q in asked if q["part"] == "dev"), 0.9)


def test_the_lines_of_plain_questions() -> None:
    asked = plain_questions.pytestmark[0].args[1]  # type: ignore[attr-defined]
    shows_right_lines([(question, sheet.table) for sheet, question, _ in asked], 0.8)
    league = read_table(LEAGUE)
    told = ("How many teams are there?", "Which team has the most points?", "What is the average points?")
    shows_right_lines([(question, league) for question in told], 1.0)
    shows_right_lines(CASES[::4], 0.9)


ORDERS = Sheet(
    Table(
        ["Code", "Client", "Amount", "Paid", "Year", "Month", "Weight", "Status", "Takes", "Note", "Note"],
        [
            ["007", "Acme Ltd", "$5.00", "31 Jan 2024", "2023", "2024-01", "900 g", "open", "4:05", "a", "b"],
            ["012", "acme ltd[1]", "$7.50", "1 Feb 2024", "2024", "2024-02", "2 kg", "", "4:10", "a", "b"],
            ["013", "Bolt", "n/a", "", "2024", "2024-02", "3 kg", "shut", "5:00", "a", "b"],
            ["014", "Cor – Co", "$1,000.25", "15 Mar 2024", "", "2024-03", "3 kg", "open", "9:59", "c", ""],
            ["Total", "", "$1,012.75", "", "", "", "8.9 kg", "", "", "", ""],
        ],
    )
)
ACME, BOLT, COR = (Is(1, frozenset({text})) for text in ("acme ltd", "bolt", "cor - co"))
MARCH, JANUARY = Moment(2024, 3), Moment(2024, 1)


def where(*conditions: Any) -> Where:
    return Where(conditions)


@pytest.mark.parametrize(
    ("form", "part"),
    [
        (Count(where(ACME)), ".isin(['Acme Ltd', 'acme ltd[1]'])"),
        (Count(where(COR)), "(df['Client'] == 'Cor – Co')"),
        (Count(Where()), "len(df.drop(index=[4]))"),
        (Fold(Where(), 2, "sum"), ".drop(index=[4])"),
        (Fold(Where(), 2, "mean"), "['Amount'].mean()"),
        (Pick(Ordered(Where(), 2, True), (1,)), ".nlargest(1, 'Amount', keep='all')"),
        (Pick(Ordered(Where(), 2, True, 1), (1,)), "ascending=False).iloc[1:2]"),
        (Pick(Ordered(Where(), 6, True, 0), (1,)), "'Weight'"),
        (Pick(Ordered(Where(), 3, False), (1,)), "nsmallest(1, 'Paid'"),
        (Pick(Ordered(Where(), None, True, 0, 2), (1,)), ".iloc[-2:]"),
        (Pick(where(Is(0, frozenset({"007"}))), (2,)), "(df['Code'] == '007')"),
        (Pick(where(BOLT), (6,)), "['Weight']"),
        (Fold(Where(), 3, "max"), "['Paid'].max()"),
        (Pick(where(COR), (3,)), "['Paid']"),
        (Pick(where(Is(0, frozenset({"012"}))), (3,), part="month"), ".dt.month_name()"),
        (Count(where(Compares(2, ">", 6))), "(df['Amount'] > 6)"),
        (Count(where(Dates(3, "in", Moment(2024)))), "(df['Paid'].dt.strftime('%Y') == '2024')"),
        (Count(where(Dates(3, "<", MARCH))), "(df['Paid'].dt.strftime('%Y-%m') < '2024-03')"),
        (Count(where(Dates(3, ">", JANUARY))), "'%Y-%m'"),
        (Count(where(Dates(3, "in", JANUARY, MARCH))), ".between('2024-01', '2024-03')"),
        (Count(where(Dates(3, "in", Moment(0, 2)))), "(df['Paid'].dt.strftime('%m') == '02')"),
        (Count(where(Dates(3, "<=", Moment(2024, 2, 1)))), "<= '2024-02-01'"),
        (Count(where(Dates(4, "in", Moment(2024)))), "(df['Year'] == 2024)"),
        (Count(where(Dates(4, ">", Moment(2023)))), "(df['Year'] > 2023)"),
        (Count(where(Dates(4, "in", Moment(2020), Moment(2023)))), "df['Year'].between(2020, 2023)"),
        (Count(where(Dates(5, "in", Moment(2024, 2)))), "(df['Month'] == '2024-02')"),
        (Count(where(Filled(2))), "df['Amount'].notna()"),
        (Count(where(Either((BOLT, COR)))), " | "),
        (Share(Where(), where(ACME), 2), "100 * "),
        (Share(Where(), where(ACME)), "100 * len("),
        (Gap(Pick(where(COR), (2,), True), Fold(where(ACME), 2, "sum")), ".iloc[0]"),
        (Greater(("a", "b"), (Fold(where(ACME), 2, "sum"), Fold(where(COR), 2, "sum")), True), None),
        (Frequent(Where(), 5, "most"), "groupby('Month')"),
        (Exists(where(BOLT, Compares(2, ">", 0))), "> 0"),
        (Count(Where(), 5), "nunique"),
        # What pandas would see in another way shows no line.
        (Count(Where(), 1), None),  # "acme ltd" twice
        (Frequent(Where(), 7, "most"), None),  # a blank text
        (Pick(where(ACME), (7,)), None),
        (Count(where(Filled(7))), None),
        (Count(where(Either((Is(7, frozenset({"shut"})),), negated=True))), None),
        (Count(where(Compares(2, "!=", 5))), None),
        (Pick(where(ACME), (6,)), None),  # 900 g is 0.9 of kg
        (Pick(Ordered(Where(), 6, False, 2), (1,)), None),  # two are level
        (Pick(where(BOLT), (8,)), None),  # 300 seconds
        (Pick(Ordered(Where(), 8, True), (1,)), None),
        (Pick(where(COR), (9,)), None),  # two columns of that name
    ],
)
def test_a_line_gives_the_same_or_is_not_shown(form: Form, part: str | None) -> None:
    line = form.code(ORDERS)
    assert (line is None) == (part is None), line
    if line is not None:
        assert str(part) in line
        assert gives(line, Answer(form.run(ORDERS), form, 1.0, ORDERS)), line


def test_a_long_list_of_spellings_shows_no_line() -> None:
    names = ["ab", "Ab", "aB", "AB", "ab*", "Ab*", "aB*", "cd"]
    sheet = Sheet(Table(["Name", "Points"], [[name, str(n)] for n, name in enumerate(names)]))
    assert Count(where(Is(0, frozenset({"ab"})))).code(sheet) is None
    assert Count(where(Is(0, frozenset({"cd"})))).code(sheet) == "len(df[(df['Name'] == 'cd')])"


def test_an_answer_without_a_line_has_none_in_its_reading() -> None:
    race = Table(["Rider", "Time"], [["Ugo", "4:05:10"], ["Jan", "4:05:42"], ["Luc", "4:06:20"]], "race")
    state = Executor("tables_offline").run({"question": "Who has the best time?", "table": race})
    assert state.answer == "Ugo" and "pandas" not in state.cache["reading"]
