"""The page of a report: one HTML file that needs nothing else, in which all from data or models is text."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chameleon import values
from chameleon.core.events import Event, Nested, RunStarted, StepRecord
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.evaluation.report import Comparison
from chameleon.evaluation.results import Count, Result
from chameleon.evaluation.run import Run, in_figures
from chameleon.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2_000
"""As many characters of a text are shown; how many are missing is said where they are left out."""
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 50, 500, 3_000
_TABLE_TEXT, _SHORTEST_CELL = 200_000, 200  # characters: the cells of a table share the first
_MOST_PARTS, _DEEPEST, _TOP_PROGRAMS = 50, 3, 12
_LARGEST_PICTURE = 2_000_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_GENERATOR, _HEAD_BYTES = b'<meta name="generator" content="chameleon report">', 500
_SEEN = "\n\t\u200c\u200d"  # Persian, Indic scripts and emoji are not written without the last two


def write_page(
    runs: Sequence[Run], comparisons: Sequence[Comparison], file: str | Path, problems: int = 200
) -> None:
    """Write the page; `problems` is how many of each run are shown at most, those that went wrong first.

    The same runs give the same page. Memory does not grow with the number of problems. The file is there
    only when it is whole. Raises `InputError` when it cannot be written.
    """
    path = _place_of(Path(file))
    beside = path.with_name(f"{path.name}.new")
    sections = [Section(run, number, problems) for number, run in enumerate(runs, 1)]
    ids = {id for section in sections for id in section.anchors}
    for section in sections:
        section.look_up(ids)
    template = _environment().get_template("report_page.html.j2")
    stream = template.stream(comparisons=comparisons, sections=sections)
    stream.enable_buffering(200)
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as page:
            page.writelines(stream)
        beside.replace(path)
    except OSError as problem:
        where = str(problem.filename or path).removesuffix(".new")  # it may be the events that are not there
        raise InputError(f"the page cannot be written: {problem.strerror}", where=where) from problem
    finally:
        beside.unlink(missing_ok=True)


def _place_of(page: Path) -> Path:
    """Return where a page goes, links followed. Raises `InputError` where anything but such a page is."""
    path = page.resolve()
    if path.is_file():
        with path.open("rb") as file:
            if _GENERATOR in file.read(_HEAD_BYTES):
                return path
    if path.exists():
        what = "the page cannot be written: what is there is no page of `chameleon report`"
        raise InputError(what, where=str(page), hint="Name another file.")
    return path


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("chameleon.evaluation", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What every expression gives, before it is escaped: none is forgotten.
        finalize=lambda value: (
            value if hasattr(value, "__html__") or isinstance(value, Shown) else shown(str(value))
        ),
    )
    environment.filters |= {
        "brief": brief,
        "shown": shown,
        "percent": lambda share: f"{100 * share:.2f}",
        "count": lambda number: f"{number:,}",
        "from_json": values.from_json,
        "text": _value_text,
        "extent": _extent,
        "parts": _parts,
        "picture": _picture_of,
    }
    environment.tests |= {"table": lambda value: isinstance(value, Table), "parted": _is_parted}
    environment.globals |= {"MOST_PARTS": _MOST_PARTS, "TOP_PROGRAMS": _TOP_PROGRAMS}
    return environment


class StepView(NamedTuple):
    """A step: `same` names the keys that hold its output, `changes` those that hold something else."""

    number: int
    record: StepRecord
    output: Any
    same: list[str]
    changes: list[tuple[str, Any]]

    @classmethod
    def of(cls, number: int, record: StepRecord, table: Any) -> StepView:
        """Make the view of a step that was given this `table`."""
        changed = [(f"input.{key}", value) for key, value in record.input_changes.items()]
        changed += [(f"cache.{key}", value) for key, value in record.cache_changes.items()]
        output = record.output
        held = [output, *(output.values() if isinstance(output, Mapping) else ())]
        same = [name for name, value in changed if value in held]
        if isinstance(output, Table) and output == table:
            output = f"The table stays as it was, {len(output.rows):,} × {len(output.header):,}."
        return cls(number, record, output, same, [each for each in changed if each[0] not in same])


class ProblemView(NamedTuple):
    """A problem as it opens on the page: what its run was given, how it was read, and the events."""

    result: Result
    grades: str
    given: Mapping[str, Any]
    reading: str
    events: list[tuple[str, Any]]

    @classmethod
    def of(cls, result: Result, grades: str, events: Sequence[Event]) -> ProblemView:
        """Make the view of a problem from the events of its run."""
        given = next((event.input for event in events if isinstance(event, RunStarted)), {})
        wrote = [event.cache_changes for event in events if isinstance(event, StepRecord)]
        reading = State(cache={key: value for each in wrote for key, value in each.items()}).reading
        return cls(result, grades, given, reading, list(_views(events)))


def _views(events: Iterable[Event]) -> Iterator[tuple[str, Any]]:
    """Yield events as they are shown, each with its kind; an inventory within is one, with its own."""
    table, steps = None, 0
    for name, group in groupby(events, key=lambda event: event.module if isinstance(event, Nested) else None):
        if name is not None:
            yield "Nested", (name, list(_views(each.event for each in group if isinstance(each, Nested))))
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


class Section:
    """The part of the page about one run: at most so many problems, those that were not right first."""

    def __init__(self, run: Run, number: int, most: int) -> None:
        self.run, self.number = run, number
        self.published = [row for row in run.benchmark.published if row.module_use]
        wrong, right = list[tuple[int, Result]](), list[tuple[int, Result]]()
        for placed in enumerate(run.results, 1):
            found = right if placed[1].correct else wrong
            if len(found) < most:
                found.append(placed)
        self.chosen = [*wrong, *right][:most]
        self.anchors = {result.id: f"run{number}-problem{place}" for place, result in self.chosen}
        self.verdicts = {result.id: result.verdict for _, result in self.chosen}
        self.counts = Counter(self.verdicts.values())

    def look_up(self, ids: AbstractSet[str]) -> None:
        """Read the verdicts on these problems, which other runs show."""
        if ids - self.verdicts.keys():
            self.verdicts |= {each.id: each.verdict for each in self.run.results if each.id in ids}

    def module_use(self) -> list[tuple[str, float, list[float | None]]]:
        """List what the run or a published system calls: name, share of questions, published percentages."""
        plans, published = self.run.plans, self.published
        names = dict.fromkeys([*plans.modules, *(name for row in published for name in row.module_use)])
        return [(name, plans.share(name), [row.module_use.get(name) for row in published]) for name in names]

    def problems(self) -> Iterator[ProblemView]:
        """Read the problems that are shown."""
        for result, events in self.run.with_events([result for _, result in self.chosen]):
            count = Count()
            count.add(result)
            grades = in_figures(self.run.tally, count) if result.grades else ""
            yield ProblemView.of(result, grades, events)


def _extent(table: Table) -> tuple[int, int, int]:
    """Return how many rows and columns are shown, and how many characters of each cell."""
    width = min(len(table.header), _MOST_COLUMNS)
    height = min(len(table.rows), _MOST_ROWS, max(5, _MOST_CELLS // width))
    return height, width, max(_SHORTEST_CELL, min(LONGEST, _TABLE_TEXT // (width * (height + 1))))


def _is_parted(value: Any, depth: int) -> bool:
    """Return whether a value is shown part by part: a mapping, or a list with something large in it."""
    if depth >= _DEEPEST or not isinstance(value, Mapping | tuple | list):
        return False
    return isinstance(value, Mapping) or any(
        isinstance(item, Table | Mapping) or (isinstance(item, str) and "\n" in item) for item in value
    )


def _parts(value: Mapping[str, Any] | Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the first parts of a mapping by name, of a list by number."""
    return islice(value.items() if isinstance(value, Mapping) else enumerate(value, 1), _MOST_PARTS)


def _value_text(value: Any) -> str:
    """Write a value in one text: as it is, or as JSON. A list of texts is parted by semicolons."""
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
            data = opened.read(_LARGEST_PICTURE + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        return f"The picture {name} cannot be read: {reason}."
    kind = next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), None)
    if kind is None or len(data) > _LARGEST_PICTURE:
        return f"The picture {name} is not shown: it is no PNG or JPEG of at most 2 MB."
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


class Shown(str):
    """Text that is ready for the page."""

    __slots__ = ()


def shown(text: str, most: int = LONGEST) -> Shown:
    """Show beginning and end, and how much is left out between: a prompt's question comes last."""
    if len(text) <= most:
        return Shown(visible(text))
    half = most // 2
    note = f" … [{len(text) - 2 * half:,} characters are not shown] … "
    return Shown(visible(text[:half]) + note + visible(text[-half:]))


def brief(text: object, most: int = 80) -> Shown:
    """Show the text on one line, cut with an ellipsis."""
    whole = str(text)
    line = " ".join(whole[: 4 * most].split())
    cut = len(line) > most or len(whole) > 4 * most
    return Shown(visible(line[:most]) + ("…" if cut else ""))


def visible(text: str) -> str:
    """Spell out control characters, bidi overrides and the like as ⟨U+202E⟩, but no white space."""
    if text.isprintable():
        return text
    return "".join(
        each
        if each.isprintable() or each in _SEEN or unicodedata.category(each) == "Zs"
        else f"⟨U+{ord(each):04X}⟩"
        for each in text.replace("\r\n", "\n")
    )
