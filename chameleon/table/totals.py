"""Set rows apart that are not data: totals and subtotals, repeated headers, headings, footers."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from fractions import Fraction
from itertools import pairwise, product
from statistics import median, pstdev, stdev
from typing import Any, NamedTuple

from chameleon.lazy import cached_property
from chameleon.table.dates import is_no_value
from chameleon.table.meaning import is_blank, shown
from chameleon.table.table import Table

_WORDS = {
    "sum": """total totals all sum sums career overall subtotal subtotals ytd ∑ σ summe summen gesamt
        gesamtsumme gesamtergebnis gesamtbetrag zwischensumme teilsumme endsumme insgesamt somme ensemble
        cumul suma sumas totales totale totali subtotale somma totais soma totaal eindtotaal subtotaal som
        合计 总计 小计 共计 总和 总数 合計 總計 小計 総計 計""",
    "mean": """average averages mean avg durchschnitt mittelwert moyenne promedio media média gemiddelde
        gemiddeld 平均 平均值 平均値""",
    "minimum": "min minimum mínimo minimo 最小 最小值 最小値",
    "maximum": "max maximum máximo massimo maximo 最大 最大值 最大値",
    "count": "count anzahl nombre recuento conteggio contagem aantal 件数 计数",
    "median": "median médiane mediana mediaan zentralwert 中位数 中央値",
    "standard deviation": "std stdev stddev sd écart desvio",
}
_OPERATIONS = {word: of for of, words in _WORDS.items() for word in words.split()}
_GLUE = """grand general général geral generale complessivo sub sous year to date value dev deviation standard
of the type estándar padrão de der des di da do van von"""
_GLUE_WORDS = frozenset(_GLUE.split())
_SUBTOTALS = frozenset(word for word in _OPERATIONS if word.startswith(("sub", "zwischen", "teil", "小")))
_LONG_CJK = sorted((word for word in _OPERATIONS if word[0] > "⺀" and len(word) > 1), key=len, reverse=True)
_CJK = re.compile("|".join(_LONG_CJK))  # Chinese and Japanese have no spaces between words
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]")
_WORD = re.compile(r"[^\W_]+|∑")
_LIKELY_LABEL = re.compile(rf"(?<![^\W_])(?:{'|'.join(_OPERATIONS)})(?![^\W_])|{_CJK.pattern}", re.IGNORECASE)
_FOOTER = re.compile(
    r"(notes?|sources?|data|legend|footnotes?|remarks?|quellen?|anmerkung(en)?|hinweise?|fuentes?|notas?|fonte"
    r"|bron|stand|as of|author|出典|来源|注)\s*[:\uff1a]|(page|seite) \d+ ?(of|von|/)|(as of|stand) .*\d"
    r"|(prepared|created|generated|printed|exported|compiled|erstellt|exportiert|elaborado)"
    r" (by|on|at|from|with|am|von|mit|por|el)\b|(end of|ende d[er]s|fin d[eu]) (report|list|table|data|tab)"
    r"|[*†‡§©] ?\w+ \w+ ",
    re.IGNORECASE,
)
_MAX_LABEL_CHARS, _FOOTER_WORDS = 60, 4  # characters; words
_FEW_ROWS = 20  # rows: up to this many may all be totals, or footers
_MAX_ROWS, _MIN_DIGITS = 5_000, 4  # rows, and digits of sums, for totals without a label
_MAX_NESTED, _MAX_FIGURES = 8, 100_000  # nested totals; figures examined individually
_TOTAL_WORDS = frozenset(
    ("total", "totals", "sum", "average", "mean", "min", "minimum", "max", "maximum", "count", "all")
)
_ROW_MENTION = r"(?:\b(?:row|line|item|entry)\s+|[\"'“‘]){}(?!\w)"
FOOTER, _BY_LABEL = "is a footer", "is labeled as a total"
_STATISTICS: Mapping[str, Sequence[Callable[[Any], Any]]] = {
    "minimum": (min,), "maximum": (max,), "median": (median,), "standard deviation": (pstdev, stdev),
}  # fmt: skip


class _Label(NamedTuple):
    """The meaning of a row's label, and its other words: "sum" and "north" of "North Total"."""

    of: str
    rest: frozenset[str]
    is_subtotal: bool


def _label_of(text: str) -> _Label | None:
    """Return the meaning of a text as a row's label, or None if it cannot be the label of a total."""
    if len(text) > _MAX_LABEL_CHARS:
        return None
    words = _WORD.findall(_CJK.sub(r" \g<0> ", _BRACKETS.sub(" ", shown(text).lower())))
    operations = [_OPERATIONS[word] for word in words if word in _OPERATIONS]
    is_subtotal = not _SUBTOTALS.isdisjoint(words)
    rest = frozenset() if is_subtotal else frozenset(words) - (_OPERATIONS.keys() - {"all"}) - _GLUE_WORDS
    return _Label(operations[0], rest, is_subtotal) if operations else None


def set_apart(table: Table) -> Table:
    """Return the table without the rows that are not data; its `apart` keeps them, each with the reason.

    A row is a total by its label, in nine languages, if its figures confirm it or nothing else is in it or
    below it; without a label, if its figures are the sum, mean, minimum, maximum or count of the rows that
    it closes. A table that was already examined is returned unchanged.
    """
    if table.apart is not None:
        return table
    reasons = _Rows(table).reasons() if len(table.rows) > 1 else {}
    return table.without(reasons if len(reasons) < len(table.rows) else {})


def with_named(table: Table, question: str) -> Table:
    """Return the table with the totals that a question names restored as data.

    It names a total by all words of its label ("Total assets"), if the rest of it is not the name of a row;
    by the whole label ("Grand total", "Summe") unless a word such as "total"; or in quotes, or after "row".
    """
    words, places, low = _words(question), set[int](), question.lower()
    spaced = f" {' '.join(_WORD.findall(low))} "
    for place, row, _ in table.apart or ():
        for column, cell in zip(table.columns, row, strict=True):
            label, text = _label_of(cell), cell.strip(" :").lower()
            is_own = label is not None and f" {text} " in spaced and text not in _TOTAL_WORDS
            if label is not None and label.rest:
                is_own = label.rest <= words and label.rest not in map(_words, set(column.cells))
            if is_own or (text and text in low and re.search(_ROW_MENTION.format(re.escape(text)), low)):
                places.add(place)
    if not places:
        return table
    apart = {each.place: each.why for each in table.apart or () if each.place not in places}
    return table.whole.without(apart)


class _Rows:
    """The rows of a table, examined from the top: which are data, and which are totals of others."""

    def __init__(self, table: Table) -> None:
        self.table, self.rows = table, table.rows
        self.data: list[int] = []  # places of the rows that a total may include
        self.bounds = [0]  # in `data`: where the rows of a total begin
        self.sums: dict[int, list[tuple[Fraction, int]]] = {}
        """By column, sums and counts of the figures in the first rows of `data`: zero rows, one, two, …"""
        self.examined = 0

    def reasons(self) -> dict[int, str]:
        """Return the places of the rows that are not data, with the reason for each."""
        reasons = dict(self.others)
        last = max((place for place in range(len(self.rows)) if place not in reasons), default=0)
        unlabeled = {last} if last < _MAX_ROWS else set[int]()
        unlabeled |= {place for place, row in enumerate(self.rows) if not row[0] and place > 1}
        for place in range(last + 1):
            if place in reasons:
                continue
            if (place in self.labels or place in unlabeled) and (why := self._total(place, last)):
                reasons[place] = why
                self.bounds.append(len(self.data))
            else:
                self.data.append(place)
        for place in reversed(self.data):
            adjacent = reasons.get(place + 1, "") + reasons.get(place - 1, "")
            if "total" not in adjacent and " of the " not in adjacent:
                continue
            label, names = self.labels.get(place), {self.rows[place][column] for column in self.texts}
            is_title = len(self.texts) > 1 == len(names) and names != {""}  # one text across all names
            if is_title or (label is not None and not label.rest):  # as "Std" next to "Mean"
                reasons[place] = "is next to a total"
        totals = {place for place, why in reasons.items() if why == _BY_LABEL}  # not if most rows are
        return {n: reasons[n] for n in sorted(reasons) if n not in totals or 2 * len(totals) < len(self.rows)}

    @cached_property
    def others(self) -> dict[int, str]:
        """The rows that are neither data nor totals, by position."""
        reasons = dict(self._footers())
        last = len(self.rows) - 1 - len(reasons)
        headings = [place for place in range(last) if self._only_text(place) is not None]
        if len(headings) > 1 and headings[0] == 0 and all(two - one > 1 for one, two in pairwise(headings)):
            reasons |= dict.fromkeys(headings, "is a heading")
        for place, row in enumerate(self.rows[: last + 1]):
            if row == self.table.header and len(row) > 1:
                reasons[place] = "repeats the header"
        return reasons

    @cached_property
    def labels(self) -> dict[int, _Label]:
        """The rows with a cell that may label a total."""
        labels: dict[int, _Label] = {}
        for column in self.table.columns:
            texts = dict.fromkeys(column.cells)
            likely = filter(_LIKELY_LABEL.search, texts) if _LIKELY_LABEL.search("\n".join(texts)) else ()
            by_text = {text: label for text in likely if (label := _label_of(text))}
            places = [place for place, cell in enumerate(column.cells) if cell in by_text] if by_text else []
            for place in places if 2 * len(places) <= max(len(self.rows), _FEW_ROWS) else ():
                if place not in labels or labels[place].rest:
                    labels[place] = by_text[column.cells[place]]
        of_all = [place for place, label in labels.items() if label.of != "sum" and not label.rest]
        is_of_statistics = 0 in of_all  # as in the output of pandas `describe()`
        return {n: label for n, label in labels.items() if not is_of_statistics or n not in of_all}

    @cached_property
    def texts(self) -> list[int]:
        """The columns without figures."""
        return [column for column, kind in self._kinds.items() if kind is None]

    @cached_property
    def unnamed(self) -> int:
        """The number of rows without any text."""
        return sum(not any(row[column] for column in self.texts) for row in self.rows)

    @cached_property
    def figures(self) -> dict[int, Sequence[Fraction | None]]:
        """The values by column, for columns that can be added up; None for a cell that is not a figure."""
        return {column: values for column, values in self._kinds.items() if values is not None}

    @cached_property
    def _kinds(self) -> dict[int, Sequence[Fraction | None] | None]:
        kinds: dict[int, Sequence[Fraction | None] | None] = {}
        excluded = {*self.labels, *self.others}
        bare = [place for place in range(len(self.rows)) if place not in excluded]
        for column, part in zip(self.table.columns, self.table.take_rows(bare).columns, strict=True):
            is_whole = column.meaning.is_number or not excluded
            meaning, places = (column.meaning, range(len(self.rows))) if is_whole else (part.meaning, bare)
            if meaning.is_number and meaning.kind != "percent":
                values = dict(zip(places, meaning.values, strict=True))
                cells = map(values.get, range(len(self.rows)))
                kinds[column.index] = [None if value is None else Fraction(value) for value in cells]
            elif meaning.kind not in ("percent", "empty"):
                kinds[column.index] = None
        return kinds

    def _footers(self) -> Iterator[tuple[int, str]]:
        """Yield the last rows with a single text, such as "Source: …", or a sentence."""
        for place in range(len(self.rows) - 1, max(0, len(self.rows) - _FEW_ROWS), -1):
            if (text := self._only_text(place)) is None:
                return
            begins = bool(self.rows[place][0]) and len(text.split()) >= _FOOTER_WORDS and text.endswith(".")
            if not begins and not _FOOTER.match(text):
                return
            yield place, FOOTER

    def _only_text(self, place: int) -> str | None:
        """Return the only text of a row, in one of its cells or in all of them."""
        filled, width = [cell for cell in self.rows[place] if cell], len(self.table.header)
        is_one = len({*filled}) == 1 < width and len(filled) in (1, max(width, 3))
        is_one = is_one and (len(filled) == 1 or len(filled[0].split()) >= _FOOTER_WORDS)
        return filled[0] if is_one and is_no_value(filled[0]) else None

    def _total(self, place: int, last: int) -> str:
        """Say which rows a row is the total of, or that its label says so; "" for data."""
        row, label = self.rows[place], self.labels.get(place)
        if label is None:
            is_named = any(row[column] for column in self.texts)
            digits = sum(len(re.sub(r"\D", "", row[column])) for column in self.figures)
            is_sure = digits >= _MIN_DIGITS and (place == last > 2 or not is_named)
            if (is_named or not self.texts or self.unnamed > 1) and not is_sure:
                return ""
            is_any = place == last > 2 and not is_named
            return self._closes(place, tuple(_WORDS)[:5] if is_any else ("sum",), 2)
        above = self.rows[self.data[-1]] if self.data else row
        columns = [column for column in self.texts if _label_of(row[column]) is None]
        filled = [column for column in columns if not (is_blank(row[column]) or row[column] == above[column])]
        is_alone, rows = not filled, self
        if place == 0:  # it may be the total of all rows below
            rows = copy(self)  # keeps the cached columns
            rows.data, rows.sums = [n for n in range(1, last + 1) if n not in self.labels], {}
        is_tail = place == 0 or all(each in self.labels for each in range(place + 1, last + 1)[:_FEW_ROWS])
        may_be = is_alone or not label.rest if label.of == "sum" else is_tail and not label.rest
        if may_be and (why := rows._closes(place, (label.of,), 1)):
            return why
        is_edge = is_tail and (place == 0 or last - place < _FEW_ROWS)
        if (is_edge and rows._is_less(place)) or len(filled) > 1:
            return ""
        is_whole = len(columns) < len(self.texts) - 1  # the label is in more than one cell
        is_bare = is_alone and (bool(columns) or is_whole)
        is_plain = label.is_subtotal or (is_edge and not label.rest) or is_bare
        return _BY_LABEL if label.of == "sum" and is_plain else ""

    def _is_less(self, place: int) -> bool:
        """Return whether each figure of a row is less than another in its column, unlike a sum."""
        pairs = [(values[place], [values[n] or 0 for n in self.data]) for values in self.figures.values()]
        filled = [(value, others) for value, others in pairs if value is not None and others]
        return bool(filled) and all(min(others) >= 0 and value < max(others) for value, others in filled)

    def _closes(self, place: int, operations: Sequence[str], min_rows: int) -> str:
        """Say which rows the figures of a row are the sum (or mean, …) of; "" for none."""
        for column, values in self.figures.items():
            sums = self.sums.setdefault(column, [(Fraction(0), 0)])
            for new in self.data[len(sums) - 1 :]:
                (total, filled), value = sums[-1], values[new]
                sums.append((total, filled) if value is None else (total + value, filled + 1))
        row = {column: values[place] for column, values in self.figures.items()}
        figures = {column: value for column, value in row.items() if value is not None}
        # It may add up the rows since the last total, all rows, or those since an earlier total.
        starts = dict.fromkeys([self.bounds[-1], 0, *self.bounds[:-_MAX_NESTED:-1]])
        for start, operation in product(starts, operations) if figures else ():
            count = len(self.data) - start
            same = sum(self._is(operation, column, value, start) for column, value in figures.items())
            is_most = same == len(figures) or (2 * same >= len(figures) and place in self.labels)
            if same and is_most and count >= min_rows:
                where = "above" if place else "below"
                odd = [c for c, value in figures.items() if not self._is(operation, c, value, start)]
                but = f" (but not in {', '.join(self.table.header[c] for c in odd)})" if odd else ""
                return f"is the {operation} of the {f'{count} rows' if count > 1 else 'row'} {where}{but}"
        return ""

    def _is(self, operation: str, column: int, value: Fraction, start: int) -> bool:
        """Return whether a figure is the sum (or mean, …) of its column from a row on, at its precision."""
        (before, fewer), (total, count) = self.sums[column][start], self.sums[column][-1]
        total, count = total - before, count - fewer
        places = len(str(float(value)).rstrip("0").partition(".")[2])
        tolerance = Fraction(1, 2 * 10**places)
        if operation == "sum":
            # Each summand may have been rounded by half a unit of its last place.
            return total == value != 0 or (places > 0 and abs(total - value) <= count * tolerance)
        if operation == "count":
            return value in (count, len(self.data) - start)
        if count < 2 or operation == "mean":
            return count > 1 and abs(total / count - value) <= tolerance
        self.examined += count
        if self.examined > _MAX_FIGURES:
            return False
        values = self.figures[column]
        numbers = [number for place in self.data[start:] if (number := values[place]) is not None]
        return any(abs(statistic(numbers) - value) <= tolerance for statistic in _STATISTICS[operation])


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
