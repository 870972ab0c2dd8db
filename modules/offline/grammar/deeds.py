"""The verbs and nouns that go without saying for a kind of column, and what makes them matter again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.shapes import is_address, labels
from chameleon.modules.offline.grammar.words import Word, stem_set, stems, tokenize
from chameleon.table import Column, Table

_DEEDS = """
units quantity qty copies pieces tickets sales : sell buy order purchase
revenue turnover sales takings : bring make earn generate gross income
income earnings : earn make bring come
amount total : spend pay cost
amount spent cost expense expenses total : spend pay
paid payer : pay
price cost fare fee toll : cost pay charge ticket
received : earn make get receive
order orders ordered customer : place make order
salary wage pay : earn make paid
hired joined : hire employ start join
department team office role job : work employ based
author writer : write
year published : publish write appear
language : speak
genre category type kind range continent group : belong
instructor teacher coach : teach
room venue : hold
oscars awards medals prizes trophies : win
gross office : earn gross
agent assignee : handle
m : meter
cm : centimeter
mm : millimeter
rain rainfall precipitation snow : fall rainfall
wind : blow
distance minutes time duration transport commute : travel commute ride go
transport mode vehicle : ride go travel drive commute use
minutes duration arrives arrival : trip journey travel ride last
departs departure from : leave depart start go run travel
arrives arrival to : arrive reach go run travel
days daily platform : run leave depart operate
rating satisfaction grade score stars : give rate get
score points mark marks maths math english science history : score get mark grade test exam
position place rank time : finish come
club team : run play belong
played games matches : play
planned plan budget : budget
visitors guests attendance : come visit
city town village : live
attendance seats : sell
sold : sell
"""
_IMPLIED = tuple(
    (stem_set(line.split(" : ")[0]), stem_set(line.split(" : ")[1])) for line in _DEEDS.strip().splitlines()
)

_DIRECTIONS = word_set(
    """
    income expense expenses expenditure credit debit deposit withdrawal refund refunded return returned
    returns refunds cancelled canceled void buy sell bought sold purchase purchases sale incoming outgoing
    in out
    """
)
_STORED = stem_set("stock warehouse reorder inventory")
_SALES = stem_set("sell buy order purchase")
_TRADED = stem_set("revenue turnover sales takings income earnings price fare fee toll")
_MONEY_DEEDS = stem_set("charge spend pay cost earn make bring sell buy order purchase generate gross")


@lru_cache(maxsize=256)
def implied_by(table: Table, columns: frozenset[int]) -> frozenset[str]:
    """The stems that these columns let pass: "sold" where units are read.

    Verbs of trade do not pass where rows go both ways: where a column tells sales from purchases or
    returns, or amounts are of either sign.
    """
    numbers = frozenset(i for i in columns if table.columns[i].kind == "number")
    found = _implied(table, numbers) | (_implied(table, columns - numbers) - _SALES)
    if goes_both_ways(table, columns):
        return found - _MONEY_DEEDS
    return found - _SALES if {word for name in table.header for word in stems(name)} & _STORED else found


def implied_by_topic(topic: frozenset[str]) -> frozenset[str]:
    """The verbs of trade that a caption or a story lets pass: "made" where it speaks of revenues."""
    found = frozenset(word for named, implied in _IMPLIED if named & topic & _TRADED for word in implied)
    return found & _MONEY_DEEDS


def _implied(table: Table, columns: frozenset[int]) -> frozenset[str]:
    own = {word for i in columns for word in _counted(table.header[i])}
    return frozenset(word for named, implied in _IMPLIED if named & own for word in implied)


@lru_cache(maxsize=256)
def neutral_deeds(table: Table) -> frozenset[str]:
    """The stems of verbs that choose no rows here: some column implies them and none is called so."""
    every = frozenset(range(len(table.header)))
    choosing = [c for c in table.columns if c.kind == "number" or any(not cell.strip() for cell in c.cells)]
    implied = implied_by(table, every)
    if not _TRADES & row_nouns(table):
        implied -= _SALES
    return implied - {word.stem for c in choosing for word in tokenize(c.name) if word.text.lower() != "left"}


def _counted(name: str) -> frozenset[str]:
    """The stems of a column's name; "Unit" says nothing in "Unit price"."""
    own = frozenset(word.stem for word in tokenize(name))
    return own - {"unit"} if own & {"price", "pric", "cost"} else own


def is_trade(word: Word) -> bool:
    """Whether it is a verb of trade: "spend", "sold", "earned"."""
    return word.stem in _MONEY_DEEDS


def goes_both_ways(table: Table, columns: Iterable[int]) -> bool:
    """Whether rows differ in direction, so that "spent" or "sold" chooses among them."""
    kinds = {
        cell.strip().lower() for column in table.columns if column.kind == "text" for cell in column.cells
    }
    signs = {value.number > 0 for i in columns for value in table.columns[i].values if value.number}
    return bool(kinds & _DIRECTIONS) or len(signs) > 1


_TRANSPORT = word_set("train bus ferry boat plane flight tram ship coach")
_TRADES = word_set("sale order transaction purchase payment expense")
_ROW_NOUNS = """
units quantity revenue turnover : sale order transaction purchase
order ordered customer : order
amount spent paid : payment expense purchase transaction
author pages isbn : book title
director : movie film
artist album : song track
salary department job hired position role : employee person worker colleague
respondent satisfaction : respondent person participant
student class maths math english : student pupil person
bedrooms address : property home house
runner athlete : runner athlete person participant
departs departure : train bus ferry boat plane flight tram ship coach
item sku product : item product article
"""
_SIGNATURES = tuple(
    (stem_set(line.split(" : ")[0]), word_set(line.split(" : ")[1]))
    for line in _ROW_NOUNS.strip().splitlines()
)
_ANY_ROW = word_set("row record entry line")
_NOT_NOUNS = word_set("id number no code name date sku key first last full position rank place")
_NEUTRAL_KEYS = _NOT_NOUNS | word_set("title address route service invoice receipt ref reference")
_THINGS = word_set("sku title address name")
_PEOPLE = word_set("employee student member respondent runner athlete player guest customer worker")


@lru_cache(maxsize=256)
def row_nouns(table: Table) -> frozenset[str]:
    """What one row may be called, singular and plural: "sale", "employees", "train", "row".

    The nouns come from the name of the column that tells the rows apart, and from what the columns
    measure; names of other columns are left out, since these are what the rows have.
    """
    header = {word for name in table.header for word in stems(name)}
    words = frozenset(word for name in table.header for word in _words(name))
    key = key_column(table)
    own = _words(key.name) if key else frozenset[str]()
    found = {noun for named, nouns in _SIGNATURES if named & header for noun in nouns}
    if own & _TRANSPORT:
        found -= _TRANSPORT
    if own & _THINGS:
        found -= _TRADES
    if "sku" not in own:
        found -= {"item", "product", "article"}
    if own - _NEUTRAL_KEYS - found - {"line"}:
        found = {"person"} if own & _PEOPLE else set()
    kept = {noun for noun in found if noun not in words or noun in _openings(table)}
    return frozenset(form for noun in kept | (own - _NOT_NOUNS) | _ANY_ROW for form in _forms(noun))


def _words(name: str) -> frozenset[str]:
    """The words of a column's name, singular: "Employees" and "Employee" are the same."""
    plain = re.findall(r"[a-z]+", name.split("(", maxsplit=1)[0].lower())
    return frozenset(word.removesuffix("s") if not word.endswith("ss") else word for word in plain)


def _openings(table: Table) -> frozenset[str]:
    """The words that open names such as "Order ID" and "Order date", whose rows are orders."""
    pairs = [re.findall(r"[a-z]+", name.lower()) for name in table.header]
    return frozenset(pair[0] for pair in pairs if len(pair) == 2 and pair[1] in _NOT_NOUNS)


def _forms(noun: str) -> set[str]:
    """Singular and plural."""
    if noun == "person":
        return {noun, "people"}
    if noun.endswith("y"):
        return {noun, noun[:-1] + "ies"}
    return {noun, noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")}


@lru_cache(maxsize=256)
def key_column(table: Table) -> Column | None:
    """The column whose cells tell all rows apart: an identifier, else names, else years or ranks."""
    keys = [
        column
        for column in labels(table)
        if column.kind in {"text", "number"}
        and all(cell.strip() for cell in column.cells)
        and len(set(column.cells)) == len(column.cells)
    ]
    identifiers = [column for column in keys if _words(column.name) & _IDENTIFIERS]
    names = [column for column in keys if column.kind == "text" or is_address(column)]
    return next(iter((*identifiers, *names, *keys)), None)


_IDENTIFIERS = word_set("id sku")
