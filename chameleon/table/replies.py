"""Read tables that a model wrote back, in any form, and match them with their source table."""

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, pairwise

from chameleon.errors import InputError
from chameleon.quoting import untagged
from chameleon.table.bars import has_bar, is_rule, lines_of, split_rows
from chameleon.table.formats import ELLIPSIS
from chameleon.table.json_files import json_records
from chameleon.table.records import Origin
from chameleon.table.table import Row, Table
from chameleon.table.text_files import delimited_records
from chameleon.text import clean_cell

_ORIGIN = Origin("the reply")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*\n(.*?)^[ \t]*(?:```|~~~)", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"^\s*(?:/\*\s*)?(?:col|row\s+\d+)\s*:\s?", re.IGNORECASE)
_IGNORED = str.maketrans(dict.fromkeys("\"'`´‘’‚‛“”„‟«»‹›|*", ""))
_NOTE = re.compile(rf"{ELLIPSIS} \d[\d,]* (?:more rows? not shown|cells? cut to)")


def parse_table(text: str, like: Table | None = None) -> Table:
    """Read the table in a model's reply: lines with bars, Markdown, or JSON; in a fence also tabs or commas.

    Removes prose around the table, a rule line, bars at the ends, and the labels `col :` and `row 1 :` of
    Chain-of-Table's prompts. Fenced text is tried first, and later tables before earlier ones.

    Args:
        like: names that differ from its header only in case, space or quotes are replaced, and a missing
            header is taken from it if the widths agree.

    Raises:
        InputError: if the text holds no table or rows differ in width.
    """
    fault: InputError | None = None
    names = {normal(name) for name in like.header if name} if like else set[str]()
    for block in [*reversed(_FENCE.findall(text)), text]:
        candidates = [*_in_json(block), *_with_bars(block)]
        if not candidates:  # prose has commas: outside a fence, require a known column or a tab
            is_clear = block is not text or "\t" in text
            candidates = [each for each in _delimited(block) if is_clear or names & {*map(normal, each[0])}]
        for lines in candidates:
            try:
                return _to_table(lines, like)
            except InputError as error:
                fault = fault or error
    raise fault or _ORIGIN.error("has no table", hint="Ask for lines of cells separated by bars.")


class _Ruled(list[list[str]]):
    """Lines of a table whose first is certainly a header, because of the rule below it."""


def _in_json(text: str) -> Iterator[list[list[str]]]:
    """Yield the lines of the table in a text of JSON, if any."""
    begin = re.search(r"^\s*[\[{]", text, re.MULTILINE)
    end = re.match(r"(?s:.*)[]}]\s*$", text, re.MULTILINE)
    if begin and end and begin.start() < end.end():
        with suppress(InputError):  # a header or prose can also begin with a bracket
            yield [list(cells) for _, cells in json_records(text[begin.start() : end.end()], _ORIGIN)]


def _with_bars(text: str) -> Iterator[list[list[str]]]:
    """Yield tables with bars, the last first, but tables of one line after all longer ones."""
    tables = list[list[str]]()
    for has_bars, run in groupby((line for line in lines_of(text) if line.strip()), has_bar):
        table = list(run) if has_bars else []
        begins = [0, *(place - 1 for place in range(2, len(table)) if is_rule(table[place])), len(table)]
        tables += [table[begin:end] for begin, end in pairwise(begins) if begin < end]
    tables.reverse()
    for table in sorted(tables, key=lambda table: len(table) == 1):
        labeled = all(map(_LABEL.match, table))
        cells = split_rows([_LABEL.sub("", line) for line in table] if labeled else table)
        yield _Ruled(cells) if len(table) > 1 and is_rule(table[1]) else cells


def _delimited(text: str) -> Iterator[list[list[str]]]:
    """Yield the table in a block of two or more lines with tabs or commas."""
    delimiter = "\t" if "\t" in text else ","
    lines = [line for line in lines_of(text) if delimiter in line and not _NOTE.match(line)]
    with suppress(InputError):
        records = [*delimited_records("\n".join(lines), delimiter, _ORIGIN, strict=True)]
        if len(records) > 1:
            yield [list(cells) for _, cells in records]


def _to_table(lines: list[list[str]], like: Table | None) -> Table:
    """Return the table, with the names in `like`. Raises `InputError` if rows differ in width."""
    header, *rows = cells = [[clean_cell(cell) for cell in line] for line in lines]
    if like is not None and not isinstance(lines, _Ruled) and _lacks_header(header, like):
        header, rows = list(like.header), cells
    if like is not None:
        spelling = {normal(name): name for name in reversed(like.header)}  # the first of equal names wins
        header = [name if name in like.header else spelling.get(normal(name), name) for name in header]
    width = len(header)
    rows = [row if any(row[width:]) else row[:width] for row in rows]  # blank extra cells are dropped
    return Table(header, rows, like.caption if like else "")


def _lacks_header(line: Sequence[str], like: Table) -> bool:
    """Return whether a first line is not a header: it is a row of `like`, or shares no name with it."""
    names, cells = set(map(normal, like.header)) - {""}, list(map(normal, line))
    if len(line) != len(like.header) or cells == list(map(normal, like.header)):
        return False
    return names.isdisjoint(cells) or cells in (list(map(normal, row)) for row in like.rows)


def as_subtable(reply: Table, table: Table) -> Table | None:
    """Rebuild a model's sub-table from the rows and columns of `table` that it names.

    Names and cells match if they are equal after normalizing case, space, bars, quotes and asterisks; exact
    matches are tried first, and repeated names match in order.

    Returns:
        the rows and columns in the order of `table`, with its cells; None if `reply` is empty, or has a row
        or column not in `table`, or a row more often than `table`.
    """
    columns = positions([(name,) for name in reply.header], [(name,) for name in table.header])
    if columns is None or not reply.rows:
        return None
    rows = positions(reply.rows, [tuple(row[index] for index in columns) for row in table.rows])
    return None if rows is None else table.take_rows(sorted(rows)).take_columns(sorted(columns))


def normal(text: str) -> str:
    """Normalize a name or cell for comparison: ignore case, space, quotes, bars, asterisks and width.

    Also ignore how a prompt writes tags, in case it was copied from one.
    """
    return " ".join(unicodedata.normalize("NFKC", untagged(text)).translate(_IGNORED).casefold().split())


def positions(rows: Sequence[Row], present: Sequence[Row]) -> list[int] | None:
    """Find each of `rows`, using each position once, first ones first; None if one is missing.

    Rows match exactly, or else after `normal`.
    """
    matches: dict[int, int] = {}
    keys: tuple[Callable[[Row], Row], ...] = (lambda row: row, lambda row: tuple(map(normal, row)))
    for key in keys:
        if len(matches) == len(rows):
            break
        used = set(matches.values())
        free: defaultdict[Row, deque[int]] = defaultdict(deque)
        for position, row in enumerate(present):
            if position not in used:
                free[key(row)].append(position)
        for index, row in enumerate(rows):
            if index not in matches and free[key(row)]:
                matches[index] = free[key(row)].popleft()
    return [matches[index] for index in range(len(rows))] if len(matches) == len(rows) else None
