"""Find signs that a working program guessed: in the values it copies, searches for, omits or returns."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from chameleon import State, Table
from chameleon.modules.program.answer_generator import as_choice
from chameleon.table.amounts import read_amount
from chameleon.table.grounding import computes, of_another_kind

_WORK = (ast.BinOp, ast.BoolOp, ast.Compare, ast.Call, ast.Subscript, ast.JoinedStr, ast.For, ast.AugAssign)
_COMPUTING = (ast.BinOp, ast.Compare, ast.Call, ast.For, ast.comprehension, ast.AugAssign)
PRESETS = ("table", "tables", "df", "pd", "np")
_SEARCH_METHODS = ("contains", "startswith", "endswith", "isin", "eq")
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Numbers that need no source: days, weeks, percent, thousands and the like.
_OWN_NUMBERS = frozenset([*range(32), 52, 60, 100, 360, 365, 366, 1_000, 1_000_000, 0.5, 0.01])
_CHOICE_CALLS = ("max", "min", "sorted", "sum", "len", "round", "str")
_MAX_COPIED_CELLS = 60  # cells; programs may copy the values of a table up to this size
_MIN_COPIED, _MAX_CELLS, _TINY = 4, 20_000, 0.001  # numbers; cells to check; below it, a tolerance


def doubt(program: ast.Module, value: Any, state: State) -> str:
    """Say why a working program may have guessed `value`, or return "" if nothing suggests that."""
    choices, question, tables = state.input.get("choices") or (), state.input["question"], state.tables
    table = _side_by_side(tables) if len(tables) > 1 else state.table
    if choices and as_choice(value, choices) not in choices:
        return f"the result is not one of the choices: set ans to one of {'; '.join(choices)}"
    if table is None:
        return ""
    scales = any(isinstance(each, ast.Mult | ast.Div) for each in ast.walk(program))
    for name in set() if scales else {n.value for n in ast.walk(program) if isinstance(n, ast.Constant)}:
        columns = [each for one in tables for each in one.columns if each.name == name]
        if len(units := sorted({each.meaning.unit for each in columns} - {""})) > 1:
            return f"the column {name!r} is in {' and in '.join(units)}: bring it to one unit"
    context = [each for key, each in state.cache.items() if key != "program" and isinstance(each, str)]
    code = Suspect(program, table, question, " ".join([question, table.caption, *choices, *context]))
    if why := code.rests_on_nothing(value, has_choices=bool(choices)):
        return why
    is_small = table.cells <= _MAX_CELLS
    fault = code.looks_for_nothing or (is_small and (code.miscopies or code.omits or code.leaves_out)) or ""
    return fault or ("" if choices else of_another_kind(question, value, [table]) or code.invents(value))


def _side_by_side(tables: Sequence[Table]) -> Table:
    """Combine several tables into one, with all columns and all rows, as data that a program may read."""
    header = [name for table in tables for name in table.header]
    rows, before = list[Sequence[str]](), 0
    for table in tables:
        after = len(header) - before - len(table.header)
        rows += [("",) * before + row + ("",) * after for row in table.rows]
        before += len(table.header)
    return Table(header, rows, " ".join(table.caption for table in tables))


def may_copy(table: Table) -> bool:
    """Return whether a table is short enough for a program to copy its values."""
    return table.cells <= _MAX_COPIED_CELLS


def header_is_row(table: Table) -> bool:
    """Return whether the header may really be a row of data, since it contains an amount."""
    return any(read_amount(cell) for cell in table.header)


@dataclass(frozen=True)
class Suspect:
    """A program over a table, the question it answers, and the other texts that it was written from."""

    program: ast.Module
    table: Table
    question: str
    source_text: str

    @property
    def used(self) -> set[str]:
        """Return ans and the names it is computed from."""
        names = {"ans"}
        for statement in reversed(self.program.body):  # backwards from ans
            ids = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
            names |= ids if names & ids else set()
        return names

    def rests_on_nothing(self, value: Any, *, has_choices: bool) -> str:
        """Say why ans does not follow from the data: from the table or from values copied from it."""
        used = self.used
        nodes = [[*ast.walk(statement)] for statement in self.program.body]
        # The nodes of all statements that name ans, or something that it is computed from.
        on_the_way = [n for each in nodes if any(getattr(n, "id", "") in used for n in each) for n in each]
        if used & {*PRESETS}:
            is_idle = computes(self.question) and not any(isinstance(node, _COMPUTING) for node in on_the_way)
            return "it reads a fixed cell and does not compute what is asked" if is_idle else ""
        if not any(isinstance(node, _WORK) for node in on_the_way):
            return "it neither reads the table nor computes anything: ans has to follow from the data"
        if not may_copy(self.table) and not any(map(self.is_a_column, on_the_way)):
            return "the table is too long to copy values from it: compute ans over df"
        numbers = self.known
        names = {_phrase(cell) for cell in chain(self.table.header, *self.rows) if _words(cell)}
        constants = [node for node in on_the_way if isinstance(node, ast.Constant)]
        copied = (_figure(node) in numbers or _phrase(str(node.value)) in names for node in constants)
        if not any(copied):
            return "no value of the table is in the program: copy those that ans follows from"
        chooses = any(isinstance(n, ast.Compare) or getattr(n, "id", "") in _CHOICE_CALLS for n in on_the_way)
        if isinstance(value, str) and not (has_choices or chooses):
            return "nothing is compared: a name has to come from a comparison, or be looked up in the table"
        return ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows, preceded by the header if it may be one of them."""
        return [*([self.table.header] if header_is_row(self.table) else []), *self.table.rows]

    @property
    def known(self) -> set[float]:
        """Return the numbers in the table and in the other texts."""
        texts = (self.source_text, *self.table.header, *chain(*self.rows))
        return {number for text in texts for number in _numbers(text)}

    @property
    def miscopies(self) -> str:
        """Report a number that is nowhere in the data, or not in the rows its name or the question means."""
        numbers, phrase, figures = self.known, _phrase(self.source_text), {*_figures(self.source_text)}
        figures |= {n for p in figures for n in (p / 100, 1 + p / 100, 1 - p / 100)}  # 5%: 0.05, 1.05, 0.95
        often = Counter(word for row in self.rows for word in {*_words(" ".join(row))})  # in how many rows
        keys = {word for word in _words(self.source_text) if often[word] == 1 and len(word) > 2}
        # The rows that the question means: by a word of no other row, or by a whole cell.
        rows = [r for r in self.rows if keys & {*_words(" ".join(r))} or any(_is_named(c, phrase) for c in r)]
        fitting = {n for cell in chain(*rows) for n in _numbers(cell)} | figures if rows else numbers
        used = self.used
        for node in ast.walk(self.program):
            checked = [(node, numbers)]
            if isinstance(node, ast.Assign) and (name := ast.unparse(node.targets[0])) in used:
                checked.append((node.value, fitting & (self.numbers_of(name) or fitting)))
            if isinstance(node, ast.Dict):
                of_names = (self.numbers_of(str(getattr(key, "value", ""))) or numbers for key in node.keys)
                checked += zip(node.values, of_names, strict=True)
            for each, among in checked:
                number = _figure(each)
                if number is None or number in _OWN_NUMBERS or 0 < number < _TINY:
                    continue
                if number not in figures and among.isdisjoint((number, 100 * number)):
                    is_nowhere = numbers.isdisjoint((number, 100 * number))
                    place = "the table or the question" if is_nowhere else "the row it belongs to"
                    return f"{number:g} is not in {place}: copy exactly, or read the table"
        return ""

    def numbers_of(self, name: str) -> set[float]:
        """Return the numbers in rows with all words of a name in the program, such as `red_boots`."""
        words, texts = {*_words(name)}, [" ".join(row) for row in self.rows]
        return {number for text in texts if words <= {*_words(text)} for number in _numbers(text)}

    @property
    def figures(self) -> list[list[float]]:
        """Return the first number of each cell, column by column."""
        return [[n for cell in each for n in [*_figures(cell)][:1]] for each in zip(*self.rows, strict=True)]

    def is_a_column(self, node: ast.AST) -> bool:
        """Return whether a list has all numbers of a column."""
        copied = _copied(node)
        return len(copied) >= _MIN_COPIED and sorted(copied) in map(sorted, self.figures)

    @property
    def omits(self) -> str:
        """Report a list that has most numbers of a column, but not all."""
        for node in ast.walk(self.program):
            copied = _copied(node)
            is_whole = len(copied) < _MIN_COPIED or self.is_a_column(node)
            for column in self.figures if not is_whole else ():
                count = (Counter(copied) & Counter(column)).total()
                if len(copied) <= len(column) and len(column) / 2 < count < len(column):
                    return f"it copies {count} of the {len(column)} numbers of a column: copy all"
        return ""

    @property
    def looks_for_nothing(self) -> str:
        """Report a compared text that is not a cell of the column, or a name that the question lacks."""
        columns, stems = dict[str, list[str]](), _stems(self.source_text)
        for column in self.table.columns:  # several tables may share a column name
            columns.setdefault(column.name, []).extend(column.cells)
        nodes = list(ast.walk(self.program))
        of_tables = [each for each in nodes if getattr(getattr(each, "value", 0), "id", "") == "tables"]
        tables = {id(getattr(each, "slice", each)) for each in of_tables}
        for node in nodes:
            called = node.func if isinstance(node, ast.Call) else None
            is_search = isinstance(called, ast.Attribute) and called.attr in _SEARCH_METHODS
            scope = ast.walk(node) if is_search or isinstance(node, ast.Compare) else ()
            constants = [e.value for e in scope if isinstance(e, ast.Constant) and id(e) not in tables]
            texts = [each for each in constants if isinstance(each, str)]
            searched = [columns[text] for text in texts if text in columns]
            cells = {cell.strip().casefold() for each in searched for cell in each}
            for text in (each for each in texts if each not in columns and len(searched) == 1):
                form = text.strip().casefold()
                if form not in cells and not (is_search and any(form in cell for cell in cells)):
                    return f"{text!r} is not a cell of that column: search for one that is"
                if len(cells) > len(searched[0]) / 2 and stems.isdisjoint(_stems(text)):  # of names
                    return f"{text!r} is not named by the question: look for what it names"
        return ""

    @property
    def leaves_out(self) -> str:
        """Report a cell that the question names and the program does not: a condition left out."""
        code, phrase = _stems(ast.unparse(self.program)), _phrase(self.question)
        reads = not code.isdisjoint(PRESETS)  # copied values are checked separately
        texts = [each for each in self.table.columns if reads and each.meaning.kind == "text"]
        cells = {_phrase(cell): cell for each in texts for cell in each.cells if _is_named(cell, phrase)}
        for form, cell in cells.items():
            is_part = any(form in other for other in cells if other != form)  # "red" of "a red pen"
            if not is_part and code.isdisjoint(stem for stem in _stems(form) if len(stem) > 2):
                return f"the question names {cell!r}, and the program does not: use it"
        return ""

    def invents(self, value: Any) -> str:
        """Report a word of the result that is in neither the table nor the question."""
        words = {*_words(" ".join([self.question, *self.table.header, *chain(*self.table.rows)]))}
        for each in value if isinstance(value, list | tuple) else [value]:
            for word in _words(each) if isinstance(each, str) else ():
                if word.isalpha() and len(word) > 2 and word not in words | {"true", "false", "yes"}:
                    return f"{word!r} of the result is nowhere in the table: copy the answer from it"
        return ""


def _copied(node: ast.AST) -> list[float]:
    values = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return [number for number in map(_figure, values) if number is not None]


def _figure(node: ast.AST | None) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _figures(text: str) -> Iterator[float]:
    return (float(digits.replace(",", "")) for digits in _DIGITS.findall(text))


def _numbers(text: str) -> Iterator[float]:
    yield from _figures(text)
    yield from map(float, re.findall(r"\d+", text))


def _words(text: str) -> list[str]:
    words = re.sub(r"[\W_]+", " ", text.casefold()).split()
    return [word.removesuffix("s") if len(word) > 3 else word for word in words]


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _words(text)}


def _phrase(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _is_named(cell: str, phrase: str) -> bool:
    return any(len(word) > 2 and not word.isdigit() for word in _words(cell)) and _phrase(cell) in phrase
