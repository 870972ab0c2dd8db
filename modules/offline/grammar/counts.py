"""How many rows: "How many teams have at least 10 wins?", "How many different regions are there?"."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import is_flag, is_numbered_name
from chameleon.modules.offline.grammar.deeds import goes_both_ways, key_column, neutral_deeds, row_nouns
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.selection import LITERAL_LIMIT, Selection
from chameleon.modules.offline.grammar.targets import people_named
from chameleon.modules.offline.grammar.words import stem_set, stems
from chameleon.table import Column

_DIFFERENT = frozenset({"different", "distinct", "unique"})
_STOPS = word_set("is are was were did do does have has had there in on at with that who which when where")
_OPENINGS = (("how", "many"), ("number", "of"), ("count", "of"), ("count", "the"), ("count",))
_TRADED = word_set("sold bought ordered purchased made produced shipped left needed")


def read_count(problem: Problem) -> Draft | None:
    """A count of the rows that meet the conditions, or of the different names in a column."""
    frame = Frame(problem)
    opening = _opening(frame)
    if not opening or frame.has("how", "many", "more") or frame.has("how", "many", "times"):
        return None
    different = frame.places_of(*_DIFFERENT)
    noun = _noun(frame, max(opening))
    if different:
        return _count_names(frame, noun, different | opening)
    read = opening | frozenset(noun[-1:])
    if noun and is_row_noun(frame, noun[-1]):
        days = _days(frame) if frame.texts[noun[-1]] in _DAYS else None
        return _count_rows(frame, read, days or each_row(frame))
    column = _counted(frame, noun)
    if column is None:
        return None
    if len(set(column.cells)) == len(column.cells):
        return _count_rows(frame, read, column)
    if frame.has("are", "there") and not (frame.cells or frame.bounds or frame.dates):
        return _count_names(frame, noun, opening)
    return _count_holders(frame, read, column)


def _opening(frame: Frame) -> frozenset[int]:
    """ "How many", or "the number of" in a question that asks for no other number."""
    for words in _OPENINGS:
        places = frame.phrase(*words)
        if places and (words[0] == "how" or min(places) - frame.problem.asked[0] <= _FAR_OFF):
            total = frozenset({min(places) - 1}) & frame.places_of("total")
            return places | total
    return frozenset()


_FAR_OFF = 4


def _noun(frame: Frame, start: int) -> list[int]:
    """The positions of the words that say what is counted, up to a noun for rows, a verb or a bound."""
    places: list[int] = []
    bound = {place for item in frame.bounds for place in item.places}
    cells = {place for mention in frame.cells for place in mention.places}
    for i in range(start + 1, start + 6):
        if i not in frame.texts or frame.texts[i] in _STOPS or i in bound:
            break
        if frame.texts[i] == "the":
            continue
        places.append(i)
        if i not in cells and is_row_noun(frame, i):
            break
    return places


def is_row_noun(frame: Frame, place: int) -> bool:
    """Whether the word means rows, and not the numbers of a column that is called the same."""
    quantities = {column.index for column in frame.measures}
    named = [m for m in frame.columns if place in m.places and not m.hinted]
    if any(set(mention.columns) & quantities for mention in named):
        return False
    text, word = frame.texts[place], frame.problem.words[place]
    if text in _DAYS and _days(frame) is not None:
        return True
    if text in row_nouns(frame.table):
        return True
    label = frame.label
    # Of "fleet: vehicles", the name of a database's table or of a sheet, the last part is the subject.
    subject = frame.table.caption.replace("_", " ").rpartition(": ")[2]
    is_subject = (word.stem,) == stems(subject)
    if label is None or len(set(label.cells)) < len(label.cells):
        return is_subject and label is not None and frame.has_no_measure_named()
    return word.stem in people_named(label, frame.table.header) or (
        is_subject and frame.has_no_measure_named()
    )


_DAYS = frozenset({"day", "days"})


def _days(frame: Frame) -> Column | None:
    """The only column of dates, whose rows are days."""
    dates = [column for column in frame.table.columns if column.kind == "date"]
    return dates[0] if len(dates) == 1 else None


def each_row(frame: Frame) -> Column:
    """The key of the table, or the numbers of its rows where it has none."""
    numbers = tuple(str(i + 1) for i in range(len(frame.table.rows)))
    return key_column(frame.table) or Column("", 0, numbers)


def _counted(frame: Frame, noun: list[int]) -> Column | None:
    """The column of the names that are counted; None where a quantity is asked for."""
    cells = {place for mention in frame.cells for place in mention.places}
    columns = {place: mention for mention in frame.columns for place in mention.places}
    quantities = {column.index for column in frame.measures}
    has_cell = False
    for place in noun:
        if place in cells:
            has_cell = True
        elif place in columns:
            options = set(columns[place].columns)
            if options & quantities:
                return _kind(frame) if has_cell and columns[place].hinted else None
            if all(is_flag(frame.table.columns[i]) for i in options):
                continue
            return None if columns[place].hinted else frame.table.columns[min(options)]
        else:
            break
    return _kind(frame) if has_cell else None


def _kind(frame: Frame) -> Column | None:
    """The key of the table, where what is counted is a kind found in another column: "forwards"."""
    kinds = {frame.column_of_cell(mention) for mention in frame.cells}
    key = key_column(frame.table)
    if key is None or key.index in kinds or quantity_column(frame) is not None:
        return None
    outright = [mention for mention in frame.numeric_mentions() if not mention.hinted]
    return None if outright and not frame.bounds else key


_QUANTITIES = stem_set("units quantity qty stock copies pieces count amount number sold")


def quantity_column(frame: Frame) -> Column | None:
    """The column that says how many of a thing there are, so that "how many chairs" may mean it."""
    found = [c for c in frame.measures if set(stems(c.name.split("(")[0])) & _QUANTITIES]
    priced = stem_set("price cost value")
    found = [column for column in found if not set(stems(column.name)) & priced]
    return found[0] if found else None


def how_many_of(frame: Frame) -> tuple[tuple[int, ...], frozenset[int]] | None:
    """The column of quantities that "how many chairs were ordered" means, and the verb.

    Things are sold and ordered where rows are dated or of customers; they are there or in stock where
    rows are neither.
    """
    opening = frame.phrase("how", "many")
    column = quantity_column(frame)
    if not opening or column is None or any(not m.hinted for m in frame.numeric_mentions()):
        return None
    cells = {place for mention in frame.cells for place in mention.places}
    after = [i for i in range(max(opening) + 1, max(opening) + 4) if i in frame.texts]
    if not after or after[0] not in cells or any(is_row_noun(frame, i) for i in after if i not in cells):
        return None
    names = {word for name in frame.table.header for word in stems(name)}
    is_trade = bool(names & _TRADING) or any(c.kind == "date" for c in frame.table.columns)
    verbs = _SELLING if is_trade else _KEEPING
    if not is_trade and any(len(frame.rows_of(mention)) > 1 for mention in frame.cells):
        return None
    said = frozenset(i for i, text in frame.texts.items() if text in verbs)
    others = frame.places_of(*((_SELLING | _KEEPING) - verbs - {"have", "there", "has", "had"}))
    is_order = {frame.texts[place] for place in said} <= {"order", "ordered"}
    if not said or others or (not is_order and goes_both_ways(frame.table, (column.index,))):
        return None
    return (column.index,), said


_TRADING = stem_set("revenue customer order sold sales channel buyer")
_SELLING = word_set("sold sell sells bought buy ordered order purchased purchase shipped delivered")
_KEEPING = word_set("have there left stock stocked available has")


def _count_rows(frame: Frame, opening: frozenset[int], column: Column) -> Draft:
    frame.require_no_both()
    selection = frame.select_with_numbers()
    names_one = column.name and column.kind != "date"
    if names_one and any(c.column == column.index and c.places for c in selection.conditions):
        raise Declined(f"each {column.name} has one row only, so there is nothing to count")
    names = {column.cells[row] for row in selection.rows}
    if column.kind == "date" and len(names) < len(selection.rows):
        raise Declined(f"several rows have the same {column.name}", hint='Ask "how many rows ...".')
    read, used = _accounted(frame, selection)
    read |= neutral_places(frame)
    reading = f"Count of rows{selection.said}"
    lines, rows = matching_code(selection, column)
    lines.append(f"ans = len({rows})")
    return Draft(assemble(lines), reading, opening | read, used | {column.index})


def neutral_places(frame: Frame) -> frozenset[int]:
    """The verbs that choose no rows: "made" in "how many sales were made in March"."""
    neutral = neutral_deeds(frame.table)
    return frozenset(i for i in frame.texts if frame.problem.words[i].stem in neutral)


def _accounted(frame: Frame, selection: Selection) -> tuple[frozenset[int], frozenset[int]]:
    """The words and columns of the conditions, names of bounded columns included."""
    read = selection.places
    bounded = frozenset(column for column in selection.columns)
    read |= {p for m in frame.numeric_mentions() if set(m.columns) & bounded for p in m.places}
    return read, bounded


def matching_code(selection: Selection, column: Column, name: str = "") -> tuple[list[str], str]:
    """Lines that list the selected rows, by their names in `column`, and the variable that holds them."""
    if len(selection.rows) <= LITERAL_LIMIT:
        names = [column.cells[row].strip() for row in selection.rows]
        name = name or ("names" if column.name else "row_numbers")
        return [f"{name} = {names!r}"], name
    renaming = [f"{name} = rows"] if name else []
    return [*selection.rows_code(), *renaming], name or "rows"


def _count_holders(frame: Frame, opening: frozenset[int], column: Column) -> Draft:
    """How many different names of a column that repeats them have rows that fit.

    Raises `Declined` where a name has several rows and they could count, add up or differ.
    """
    selection = frame.select_with_numbers()
    cells = [column.cells[row].strip() for row in selection.rows if column.cells[row].strip()]
    bounded = frame.bounds or any(c.column in {m.index for m in frame.measures} for c in selection.conditions)
    trades = set(frame.texts.values()) & _TRADED and quantity_column(frame)
    if trades or (bounded and len(set(column.cells)) < len(column.cells)) or not selection.places:
        raise Declined(
            f"{column.name} repeats names, so it is not clear what to count",
            hint='Ask "how many different ..." or "how many rows ...".',
        )
    read, used = _accounted(frame, selection)
    lines = _names_code(selection, column, cells)
    reading = f"Count of different {column.name}{selection.said}"
    return Draft(assemble(lines), reading, opening | read, used | {column.index})


def _count_names(frame: Frame, noun: list[int], read: frozenset[int]) -> Draft | None:
    """How many different names a column has."""
    mentions = [m for m in frame.columns if set(m.places) & set(noun)]
    if len(mentions) != 1 or len(mentions[0].columns) != 1:
        return None
    column = frame.table.columns[mentions[0].columns[0]]
    selection = frame.select()
    cells = [column.cells[row].strip() for row in selection.rows if column.cells[row].strip()]
    read |= selection.places | frozenset(mentions[0].places)
    reading = f"Count of different {column.name}{selection.said}"
    lines = _names_code(selection, column, cells)
    return Draft(assemble(lines), reading, read, selection.columns | {column.index})


def _names_code(selection: Selection, column: Column, cells: list[str]) -> list[str]:
    names = sorted(set(cells))
    if len(names) <= LITERAL_LIMIT or is_numbered_name(column):
        return [
            f"names = {{{', '.join(map(repr, names))}}}" if names else "names = set()",
            "ans = len(names)",
        ]
    return [
        *selection.rows_code(),
        f"cells = [row[{column.index}] for row in rows]",
        'ans = len({str(cell).strip() for cell in cells if cell not in (None, "")})',
    ]
