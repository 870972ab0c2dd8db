"""Which numbers count rows: "3 cyclists" and "two games" do, "rank 3" and "40 points" do not."""

from __future__ import annotations

from collections.abc import Iterable

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.directions import is_of_places
from chameleon.modules.offline.lexical.english import PLAIN_VERBS, ROW_NOUNS, SMALL, STEERING
from chameleon.modules.offline.lexical.fields import Field, fields_of, is_of_years
from chameleon.modules.offline.lexical.links import Linked, Mention

_COUNTED = word_set("game games match matches time times week weeks player players team teams race races")
_LINKING = word_set("of the")
_HAVING = word_set("have has had having with by")
_REACH = 4
_SUMMED = word_set("total all")
_PLURALS = word_set("people men women children")


def counts_rows(linked: Linked) -> bool:
    """Whether a number counts rows ("3 games", "2 times") and so stands in no cell."""
    return any(counts(linked, mention) for mention in linked.mentions)


def counts_of_groups(linked: Linked) -> bool:
    """Whether a number says how many rows others share: "teams that have 2 riders".

    No cell holds such a number: it is that of the rows in a group.
    """
    return any(is_of_a_group(linked, mention) for mention in linked.mentions)


def is_of_a_group(linked: Linked, mention: Mention) -> bool:
    """Whether a number counts rows that something before it has: "saunier has 2 riders"."""
    before = range(mention.start - _REACH, mention.start)
    return counts(linked, mention) and any(linked.text(n) in _HAVING for n in before)


def counts_within_figures(linked: Linked) -> bool:
    """Whether what is counted is "in" a column of figures that no number is given for: "in stock".

    Some of its figures may say that there is none.
    """
    numbers = {place for m in linked.mentions if m.kind == "number" for place in m.places}
    return any(
        "in" in (linked.text(named.start - 1), linked.text(named.start))
        and not numbers & {named.end, named.end + 1}
        and named.fields[0].datatype == "number"
        and named.fields[0].pure
        and not is_of_places(named.fields[0])
        and not is_of_years(named.fields[0])
        and linked.text(named.start) not in _SUMMED
        for named in linked.columns
    )


def counts(linked: Linked, mention: Mention) -> bool:
    """Whether this number counts what the noun right after it names.

    It does before a noun for rows, and before the plural of a column's name, unless that column gives
    figures ("40 points") or the number's own column is named before it ("rank 3", "in week 3").
    """
    token = linked.tokens[mention.start]
    if mention.kind != "number" or token.number is None or token.number.denominator != 1:
        return False
    if _is_named_before(linked, mention):
        return False
    place = mention.end
    while linked.text(place) in _LINKING and place < mention.end + 2:
        place += 1
    named = next((named for named in linked.columns if place in named.places), None)
    if tells_age(linked, mention):
        return False
    if linked.text(place) in ROW_NOUNS:
        if named is None or linked.text(place) in _COUNTED:
            return True
        if not named.fields[0].pure or named.fields[0].is_name:
            return True
    if named is None:
        return any(count(linked, mention) for count in (counts_things, counts_cells, _counts_of_a_kind))
    if is_year(linked, mention):
        return False
    rows = named.fields[0].is_name or is_of_places(named.fields[0])
    if token.number == 1 and place == mention.end and named.whole and rows:
        return True
    return is_plural(linked.text(place)) and not gives_figures(named.fields[0])


def counts_cells(linked: Linked, mention: Mention) -> bool:
    """Whether a number stands before the plural of what cells say: "two cats" of cells "Cat"."""
    place = mention.end
    named = next((other for other in linked.mentions if place in other.places), None)
    if named is None or named.kind != "name" or named.end != place + 1 or not is_plural(linked.text(place)):
        return False
    fields = [(option.field, row) for option in named.options for row in option.rows]
    words = [field.cells[row].lower().split() for field, row in fields]
    if not named.whole or any(_is_key(field) for field, _ in fields):
        return False
    return not any(is_plural(word) for each in words for word in each[-1:])


def _counts_of_a_kind(linked: Linked, mention: Mention) -> bool:
    """Whether the name of a kind parts a number from a column's plural: "3 lighting products"."""
    kind = next((each for each in linked.mentions if each.start == mention.end and each.kind == "name"), None)
    if kind is None or not is_plural(linked.text(kind.end)):
        return False
    return any(named.start == kind.end and named.fields[0].is_name for named in linked.columns)


def tells_age(linked: Linked, mention: Mention) -> bool:
    """Whether a number is an age: "12 years old"."""
    return linked.text(mention.end) in ("year", "years") and linked.text(mention.end + 1) == "old"


def counts_things(linked: Linked, mention: Mention) -> bool:
    """Whether a number stands before a plural that the table does not know, and in no column of figures."""
    number = linked.tokens[mention.start].number
    if mention.kind != "number" or number is None or number > len(linked.table.rows):
        return False
    fields = [option.field for option in mention.options]
    figures = any(field.datatype == "number" and field.pure and not is_of_places(field) for field in fields)
    return is_before_things(linked, mention) and not figures


def is_before_things(linked: Linked, mention: Mention) -> bool:
    """Whether a plural that names nothing in the table follows the number: "3 books"."""
    place = mention.end
    word = linked.text(place)
    known = word in SMALL | STEERING | PLAIN_VERBS | ROW_NOUNS or place in linked.named_places
    return (
        mention.kind == "number" and is_plural(word) and not known and not _is_named_before(linked, mention)
    )


def is_year(linked: Linked, mention: Mention) -> bool:
    """Whether a number is a plain year."""
    token = linked.tokens[mention.start]
    return token.number is not None and 1500 <= token.number <= 2100 and token.text.isdecimal()


def is_plural(word: str) -> bool:
    """Whether a noun is in the plural, by its ending."""
    return word in _PLURALS or (len(word) > 3 and word.endswith("s") and not word.endswith("ss"))


def gives_figures(field: Field) -> bool:
    """Whether a column's numbers are amounts of what it is named for, rather than names of its rows."""
    if field.datatype != "number" or not field.pure:
        return False
    words = field.name.lower().split()
    return (bool(words) and is_plural(words[-1])) or not _numbers_rows(field)


def _numbers_rows(field: Field) -> bool:
    """Whether a column of numbers tells the rows apart, as numbers of trains and years do."""
    filled = [cell.strip() for cell in field.cells if cell.strip()]
    return is_of_years(field) or len(set(filled)) == len(filled)


def _is_named_before(linked: Linked, mention: Mention) -> bool:
    """Whether the number's own column, or a word for it, stands right before it."""
    near = [named for named in linked.columns if named.end == mention.start]
    figures = any(field.datatype == "number" and field.pure for named in near for field in named.fields)
    return figures or linked.text(mention.start - 1) == "number"


def picks_one(linked: Linked, where: Iterable[Condition]) -> bool:
    """Whether the rows are picked by the name of one, with nothing to count: "ada won 5 games"."""
    names = {each.column for each in where if each.relation == "is" and not each.also and not each.negated}
    return any(field.name in names and field.is_name and _is_key(field) for field in fields_of(linked.table))


def _is_key(field: Field) -> bool:
    """Whether a column names every row otherwise."""
    keys = [cell.strip().lower() for cell in field.cells if cell.strip()]
    return len(keys) > 2 and len(set(keys)) == len(keys)
