"""Views of runs on pages: self-contained HTML, in which anything from data or models is escaped text."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from html import escape
from itertools import groupby, islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chameleon import values
from chameleon.core.events import Event, Nested, RunStarted, StepRecord
from chameleon.core.sources import sources_in_words
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.figures import in_time
from chameleon.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2_000
"""The most characters shown of a text; the page says how many are left out."""
_MAX_ROWS, _MAX_COLUMNS, _MAX_CELLS = 50, 500, 3_000
_MAX_TABLE, _MIN_CELL = 200_000, 200  # characters: all cells of a table, and at least of one cell
_MAX_PARTS, _MAX_DEPTH, _TOP_PROGRAMS = 50, 3, 12
DECLINES = frozenset({"Declined", "InnerDeclined", "NotApproved", "Unverified"})  # shown as declined
_MAX_PAGE, _MIN_RUN, _TAGS = 8_000_000, 20_000, 40  # bytes: all texts, at least of a run, tags of a text
_MAX_PICTURE_BYTES = 2_000_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}  # by their first bytes
_GENERATOR, _HEAD_BYTES = b'<meta name="generator" content="chameleon', 500
_ALLOWED_CHARS = "\n\t\u200c\u200d"  # Persian, Indic scripts and emoji need the last two


def write_html(template: str, file: str | Path, **context: Any) -> None:
    """Write a page from a template; the file appears only when complete. Raises `InputError`."""
    path = _place_of(Path(file))
    draft = path.with_name(f"{path.name}.new")
    stream = environment().get_template(template).stream(**context)
    stream.enable_buffering(200)
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as page:
            page.writelines(stream)
        draft.replace(path)
    except OSError as problem:
        where = str(problem.filename or path).removesuffix(".new")  # the events file may be the missing one
        raise InputError(f"the page cannot be written: {problem.strerror}", where=where) from problem
    finally:
        draft.unlink(missing_ok=True)


def _place_of(page: Path) -> Path:
    """Return where to write a page, following links. Raises `InputError` if something else is there."""
    path = page.resolve()
    if path.is_file():
        with path.open("rb") as file:
            if _GENERATOR in file.read(_HEAD_BYTES):
                return path
    if path.exists():
        what = "the page cannot be written: the existing file is not a page written by Chameleon"
        raise InputError(what, where=str(page), hint="Name another file.")
    return path


def environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    room = PageRoom()
    env = Environment(
        loader=PackageLoader("chameleon.evaluation", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Applied to every expression before it is escaped, so none is forgotten.
        finalize=lambda value: (
            value if hasattr(value, "__html__") or isinstance(value, Shown) else room.shown(str(value))
        ),
    )
    env.filters |= {
        "brief": brief,
        "shown": room.shown,
        "in_time": in_time,
        "count": lambda number: f"{number:,}",
        "from_json": values.from_json,
        "text": value_text,
        "as_table": _as_table,
        "extent": _extent,
        "rows_with": _rows_with,
        "planned_by": planned_by,
        "parts": lambda value: islice(
            value.items() if isinstance(value, Mapping) else enumerate(value, 1), _MAX_PARTS
        ),
        "picture": _picture_of,
    }
    env.tests |= {"parted": _is_parted, "decline": lambda error: error.kind in DECLINES}
    env.globals |= {"room": room, "MOST_PARTS": _MAX_PARTS, "MOST_CALLS": 20, "TOP_PROGRAMS": _TOP_PROGRAMS}
    return env


class PageRoom:
    """The space left on a page: once full, texts are shortened, and tables and calls left out."""

    def __init__(self) -> None:
        self.left = self.now = _MAX_PAGE

    def begin(self, runs: int) -> str:
        """Begin the next run, with `runs` left: it may use a share of the remaining space."""
        self.now = max(_MIN_RUN, self.left // min(8, max(1, runs)))  # an equal share, but at least an eighth
        return ""

    def shown(self, text: str, most: int = LONGEST) -> Shown:
        excerpt = shown(text, min(most, 200) if self.now <= 0 else most)
        size = _TAGS + len(escape(excerpt).encode())
        self.now, self.left = self.now - size, self.left - size
        return excerpt


class StepView(NamedTuple):
    """A step as a page shows it.

    Attributes:
        same: the keys of the state that hold its output, or a part of it.
        changes: the other keys that it wrote, with their values.
        table: the change of the table, if it changed; it is left out of `changes`.
    """

    number: int
    record: StepRecord
    output: Any
    same: list[str]
    changes: list[tuple[str, Any]]
    table: TableChange | None

    @property
    def call(self) -> str:
        """The call of the table operation in a step of a chain; else ""."""
        output = self.record.output
        return str(output.get("call") or "") if isinstance(output, Mapping) else ""

    @staticmethod
    def _in_words(output: Any) -> Any:
        """Describe how a reader took the question and found its answer, as the head of a page does."""
        if not isinstance(output, Mapping):
            return output
        state, fields = State(cache=output), dict(output)
        fields |= {"reading": state.reading} if state.reading else {}
        return fields | ({"sources": sources_in_words(state.sources)} if state.sources else {})

    @classmethod
    def of(cls, number: int, record: StepRecord, table: Any) -> StepView:
        """Make the view of a step that was given this `table`."""
        changed = [(f"input.{key}", value) for key, value in record.input_changes.items()]
        changed += [(f"cache.{key}", value) for key, value in record.cache_changes.items()]
        output = record.output
        parts = [output, *(output.values() if isinstance(output, Mapping) else ())]
        same = [name for name, value in changed if value in parts]
        if isinstance(output, Table) and output == table:
            output = f"The table stays as it was, {len(output.rows):,} × {len(output.header):,}."
        after = record.input_changes.get("table")
        change = None
        if isinstance(table, Table) and isinstance(after, Table) and after != table:
            change = TableChange.of(table, after)
            output = None if output == after else output
            changed = [(name, value) for name, value in changed if name != "input.table"]
        changes = [(name, value) for name, value in changed if name not in same]
        return cls(number, record, cls._in_words(output), same, changes, change)


class TableChange(NamedTuple):
    """A table after a step, with what the step dropped; each name, row and cell is "", "new" or "gone".

    Attributes:
        rows: the first rows, each with its mark and its cells (mark and text).
        more: the number of hidden rows.
        sizes: the numbers of rows and columns before, and those after.
        dropped: the number of rows that the step dropped.
        is_mixed: whether the step reordered the rows.
        more_columns: the number of hidden columns.
    """

    header: list[tuple[str, str]]
    rows: list[tuple[str, list[tuple[str, str]]]]
    more: int
    sizes: tuple[int, int, int, int]
    dropped: int
    is_mixed: bool
    more_columns: int

    @classmethod
    def of(cls, before: Table, after: Table) -> TableChange:
        """Find what a step kept, dropped and added: columns by name, rows by the cells that both have."""
        old = {name: place for place, name in reversed([*enumerate(before.header)])}  # first of equal names
        places = [old.get(name) for name in after.header][:_MAX_COLUMNS]
        names = set(after.header)
        dropped_columns = [place for place, name in enumerate(before.header) if name not in names]
        more_columns = max(0, len(after.header) + len(dropped_columns) - _MAX_COLUMNS)
        del dropped_columns[_MAX_COLUMNS - len(places) :]
        origins = _origins(before, after, places)
        old_rows = [each for each in origins if each is not None]
        is_mixed = old_rows != sorted(old_rows)
        dropped_rows = sorted(set(range(len(before.rows))) - set(old_rows))
        header = [("new" if there is None else "", after.header[n]) for n, there in enumerate(places)]
        header += [("gone", before.header[each]) for each in dropped_columns]
        height = min(_MAX_ROWS, max(5, _MAX_CELLS // max(1, len(header))))
        # Rows keep their old places, with the dropped ones among them, unless the step reordered the rows.
        # Each line has its place, and its row after the step and before it.
        lines: list[tuple[int, int | None, int | None]] = [
            (number if is_mixed or origin is None else origin, number, origin)
            for number, origin in enumerate(origins)
        ]
        lines += [(number + len(before.rows) * is_mixed, None, number) for number in dropped_rows[:height]]
        rows = []
        for _, number, origin in nsmallest(height, lines, key=lambda line: line[0]):
            own = after.rows[number] if number is not None else ()
            earlier = before.rows[origin] if origin is not None else ()
            mark = "gone" if not own else "" if earlier else "new"
            rows.append((mark, _marked_cells(own, earlier, places, dropped_columns)))
        sizes = (len(before.rows), len(before.header), len(after.rows), len(after.header))
        more = len(after.rows) + len(dropped_rows) - len(rows)
        return cls(header, rows, more, sizes, len(dropped_rows), is_mixed, more_columns)


def _origins(before: Table, after: Table, places: Sequence[int | None]) -> list[int | None]:
    """Return which row each row was: the first unused one with the same cells in the shared columns."""
    common = [(here, there) for here, there in enumerate(places) if there is not None]
    free_rows: dict[tuple[str, ...], list[int]] = {}
    old_cells = _columns_of(before, [there for _, there in common])
    for number in range(len(old_cells) - 1, -1, -1):  # backward, so that `pop` takes the first
        free_rows.setdefault(old_cells[number], []).append(number)
    origins: list[int | None] = []
    for cells in _columns_of(after, [here for here, _ in common]):
        numbers = free_rows.get(cells) if common else None
        origins.append(numbers.pop() if numbers else None)
    if not any(each is not None for each in origins) and len(after.rows) == len(before.rows):
        return [*range(len(before.rows))]  # the values of all rows were rewritten
    return origins


def _columns_of(table: Table, places: Sequence[int]) -> Sequence[tuple[str, ...]]:
    """Return these cells of each row, without a Python loop over the cells of a large table."""
    if not places or [*places] == [*range(len(table.header))]:
        return table.rows
    return [*zip(*(map(itemgetter(place), table.rows) for place in places), strict=True)]


def _marked_cells(
    own: Sequence[str], earlier: Sequence[str], places: Sequence[int | None], dropped: Sequence[int]
) -> list[tuple[str, str]]:
    """Mark the cells of a row: a new one has no `earlier` cells, a dropped one no `own` cells."""
    was = ["" if there is None or not earlier else earlier[there] for there in places]
    if own:
        kept = [there is not None and own[here] == was[here] for here, there in enumerate(places)]
        cells = [("new" if earlier and not same else "", cell) for same, cell in zip(kept, own, strict=False)]
    else:
        cells = [("gone", cell) for cell in was]
    return cells + [("gone", earlier[each] if earlier else "") for each in dropped]


def views(events: Iterable[Event]) -> Iterator[tuple[str, Any]]:
    """Yield events as they are shown, each with its kind; the events of an inner inventory are one."""
    table, steps = None, 0
    for name, group in groupby(events, key=lambda event: event.module if isinstance(event, Nested) else None):
        if name is not None:
            yield "Nested", (name, list(views(each.event for each in group if isinstance(each, Nested))))
            continue
        for event in group:
            if isinstance(event, RunStarted):
                table = event.input.get("table")
            elif isinstance(event, StepRecord):
                steps += 1
                yield "Step", StepView.of(steps, event, table)
                table = table if event.dropped else event.input_changes.get("table", table)
            else:
                yield type(event).__name__, event


def _extent(table: Table) -> tuple[int, int, int]:
    """Return how many rows and columns are shown, and how many characters of each cell."""
    width = min(len(table.header), _MAX_COLUMNS)
    height = min(len(table.rows), _MAX_ROWS, max(5, _MAX_CELLS // width))
    return height, width, max(_MIN_CELL, min(LONGEST, _MAX_TABLE // (width * (height + 1))))


def _rows_with(table: Table, marks: Mapping[int, Any], height: int) -> list[int]:
    """Return the rows to show: the ones that the answer is based on, and the first others."""
    marked = [row for row in sorted(marks) if 0 <= row < len(table.rows)][:height]
    unmarked = islice((row for row in range(len(table.rows)) if row not in marks), height - len(marked))
    return sorted([*marked, *unmarked])


def planned_by(planner: str) -> Shown:
    """Name the planner of a plan, or say that the inventory fixes it."""
    return Shown("fixed by the inventory") if planner == "fixed" else brief(f"by {planner}")


def _as_table(value: Any) -> Table | None:
    """Return a table as it is, and records (mappings of the same keys to short texts) as one; else None."""
    if isinstance(value, Table):
        return value
    if not isinstance(value, tuple | list) or not all(isinstance(item, Mapping) for item in value):
        return None
    headers = {tuple(map(str, item)) for item in value}
    if len(headers) != 1 or not (header := headers.pop()):
        return None
    rows = [[value_text(cell) for cell in item.values()] for item in value[:_MAX_ROWS]]
    is_short = all(len(cell) <= _MIN_CELL and "\n" not in cell for row in rows for cell in row)
    fillers = repeat(rows[0], len(value) - len(rows))  # they are only counted
    return Table(header, [*rows, *fillers]) if is_short else None


def _is_parted(value: Any, depth: int) -> bool:
    """Return whether a value is shown part by part: a mapping, or a list with something large in it."""
    if depth >= _MAX_DEPTH or not isinstance(value, Mapping | tuple | list):
        return False
    return isinstance(value, Mapping) or any(
        isinstance(item, Table | Mapping) or (isinstance(item, str) and "\n" in item) for item in value
    )


def value_text(value: Any) -> str:
    """Write a value as one text: as it is, or as JSON. A list of texts is joined by semicolons."""
    if isinstance(value, str):
        return value
    if isinstance(value, Table):
        return f"a table of {len(value.rows):,} × {len(value.header):,}"
    if isinstance(value, tuple | list):
        value = value[:LONGEST]
        if all(isinstance(item, str) for item in value):
            return "; ".join(value)
    return "none" if value is None else json.dumps(values.to_json(value), ensure_ascii=False)


def _picture_of(path: str) -> str:
    """Return a PNG or JPEG of at most 2 MB as a data: URI, or the reason why it is not shown."""
    file, name = Path(path), brief(Path(path).name)
    try:
        if not file.is_file():  # nor is a device or a pipe, which might never end
            return f"The picture {name} is not there."
        with file.open("rb") as opened:
            data = opened.read(_MAX_PICTURE_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        return f"The picture {name} cannot be read: {reason}."
    kind = next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), None)
    if kind is None or len(data) > _MAX_PICTURE_BYTES:
        return f"The picture {name} is not shown: only PNG and JPEG of up to 2 MB are shown."
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


class Shown(str):
    """Text that is ready for the page."""

    __slots__ = ()


def shown(text: str, most: int = LONGEST) -> Shown:
    """Show the beginning and the end, and how much is left out: a prompt's question comes last."""
    if len(text) <= most:
        return Shown(visible(text))
    half = most // 2
    note = f" … [{len(text) - 2 * half:,} characters are not shown] … "
    return Shown(visible(text[:half]) + note + visible(text[-half:]))


def brief(text: object, most: int = 80) -> Shown:
    """Show the text on one line, cut with an ellipsis."""
    full_text = str(text)
    line = " ".join(full_text[: 4 * most].split())  # a huge text is not split as a whole
    cut = len(line) > most or len(full_text) > 4 * most
    return Shown(visible(line[:most]) + ("…" if cut else ""))


def visible(text: str) -> str:
    """Spell out control characters, bidi overrides and the like as ⟨U+202E⟩, but no white space."""
    if text.isprintable():
        return text
    return "".join(
        each
        if each.isprintable() or each in _ALLOWED_CHARS or unicodedata.category(each) == "Zs"
        else f"⟨U+{ord(each):04X}⟩"
        for each in text.replace("\r\n", "\n")
    )
