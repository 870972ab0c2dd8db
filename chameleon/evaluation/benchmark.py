"""The definition of a benchmark: a reader of problems, the official scorers, and the columns of its table."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.lazy import cached_property
from chameleon.text import nearest

FAULT = "fault"  # why a row could not be read
Row = Mapping[str, Any]
Cell = tuple[int, int]
"""The row below the header and the column, both from 0."""


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a published table: percentages by column, half of their intervals, and the source in print.

    `tuned` is how many parameters were tuned for it.
    """

    system: str
    source: str
    percent: Mapping[str, float]
    n: int | None = None
    correct: int | None = None
    half_widths: Mapping[str, float] = field(default_factory=dict)
    tuned: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the input of a run, the gold answer for the scorer, and the columns it counts in.

    Args:
        input: the input of a run. It may hold more keys than an inventory takes, but never the gold answer.
        columns: the benchmark's breakdown columns that the problem counts in; unknown ones are ignored.
        detail: whatever else the scorers need (the unit, the answer's type).
        picture: a picture of the problem for people.
        sequence: names the problem's conversation; empty for a single question.
        position: its place there, from 0: it is asked after the earlier ones and sees their answers.
        to_decline: whether a run is right if it declines.
    """

    id: str
    input: Mapping[str, Any]
    gold: Any
    columns: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    picture: Path | None = None
    sequence: str = ""
    position: int = 0
    to_decline: bool = False


class Described(ABC):
    """A class that takes `about` from the first paragraph of its docstring unless it sets it."""

    about: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ and "about" not in vars(cls):  # an inherited one does not count
            cls.about = " ".join(cls.__doc__.partition("\n\n")[0].split()).removesuffix(".")


class Scorer(Described):
    """An official rule that turns the output of a system into right or wrong.

    Each method raises `InputError` for a problem that lacks what the rule needs. A new scorer is made for
    every scoring, so it may hold state (a seeded generator); it is called from one thread at a time.
    """

    seed: ClassVar[int | None] = None
    """The seed of a rule that draws at random."""

    def check(self) -> None:
        """Raise `MissingPackage`, before an evaluation, for a package that every prediction needs."""

    def from_output(self, text: str, problem: Problem) -> Any:
        """Return the prediction in a model's text, by default all of it. Raises `InputError` for none."""
        return text

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the prediction for a program's value: the value itself unless the rule changes it."""
        return value

    def from_answer(self, answer: Any, problem: Problem) -> Any:
        """Convert a run's final answer: a choice is kept, anything else is treated as a program's value."""
        choices = problem.detail.get("choices") or ()
        return answer if answer in choices else self.from_value(answer, problem)

    def from_run(self, answer: Any, findings: Mapping[str, Any], problem: Problem) -> Any:
        """Return the prediction of a run: its answer, unless the rule also looks at its `findings`."""
        return self.from_answer(answer, problem)

    @abstractmethod
    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether a prediction (or None) is right."""

    def judged(self, prediction: Any, problem: Problem, *, answered: bool = True) -> "Judgment":
        """Judge a prediction. A run that did not answer is never right, whatever it holds."""
        return Judgment(answered and self.right(prediction, problem))


def _scorer_by(function: Callable[[Any, Any], bool]) -> type[Scorer]:
    """Make a scorer from a function of the answer and the gold answer."""

    class ByFunction(Scorer):
        """Judges by your own function."""

        def right(self, prediction: Any, problem: Problem) -> bool:
            return prediction is not None and bool(function(prediction, problem.gold))

    return ByFunction


class ValueScorer(Scorer):
    """An official rule for the values of programs, without one for a model's text."""

    def from_output(self, text: str, problem: Problem) -> Any:
        hint = "Score predictions or programs, or take another scorer."
        raise InputError("this scorer has no rule for a model's text", hint=hint)


@dataclass(frozen=True, slots=True)
class Judgment:
    """Right or wrong, or, if `correct` is None, grades by name."""

    correct: bool | None
    grades: Mapping[str, float] = field(default_factory=dict)


class GradedScorer(Scorer):
    """An official rule that grades predictions instead of judging them right or wrong.

    A problem's grades are numbers that are summed over problems; `overall` turns the sums into the reported
    figures: means, and figures that are only defined for a whole corpus. `figures` names these, the main one
    first. A declined, failed or missing prediction is graded as None and counts like the others.
    """

    figures: ClassVar[tuple[str, ...]]

    @abstractmethod
    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return the grades of a prediction (or None)."""

    @abstractmethod
    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the figures over `n` problems (at least one), from the sums of their grades."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare with the gold answer exactly; reports show the grades instead."""
        return bool(prediction == problem.gold)

    def judged(self, prediction: Any, problem: Problem, *, answered: bool = True) -> Judgment:
        """Return the grades of a prediction, or of None if nothing was answered."""
        return Judgment(None, self.grades(prediction if answered else None, problem))


class Benchmark(Described):
    """A benchmark: subclass it in `benchmarks/NAME.py`, and the file's name is its name.

    Attributes:
        columns: the columns of the paper's table after ALL, in order.
        scorers: the scorers by name, the default first.
        id_key: the row key with the problem's id.
        known_by: sets of keys; a file is recognized by rows that have all keys of one set.
        picture_folders: folders next to the data with pictures, `ID.png` or `ID/image.png`; "" is the data's
            folder. Rows may also name files (`picture_named`).
        picture_key: the key under which runs get the picture, if the questions are about it.
        takes_tables: whether the tables are in a separate file or folder.
        tables_beside: where these tables are by default, relative to the data.
        groups: the columns, also those of runs, that `chameleon stats` shows by a property ("table size").
        last_counts: whether the last of several predictions for a problem counts; otherwise that is an error.
        skips_bad_rows: whether an unusable row is only a warning.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ()
    scorers: ClassVar[Mapping[str, type[Scorer]]]
    id_key: ClassVar[str] = "id"
    known_by: ClassVar[tuple[AbstractSet[str], ...]] = ()
    published_as: ClassVar[str] = ""  # whose published rows it has, if not its own
    picture_folders: ClassVar[tuple[str, ...]] = ()
    picture_key: ClassVar[str] = ""
    takes_tables: ClassVar[bool] = False
    tables_beside: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    last_counts: ClassVar[bool] = False
    skips_bad_rows: ClassVar[bool] = False

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row per problem from the rows of a file, by default unchanged. Raises `InputError`."""
        return iter(rows)

    def tables_in(self, folder: Path) -> Mapping[str, Row]:
        """Return the tables in a folder of the release by id: rows with "header", "rows" and "caption"."""
        raise InputError("this is a folder, but the tables must be in a file", where=str(folder))

    def id_of(self, row: Row) -> str | None:
        """Return the id of the problem in a row, or None."""
        id = row.get(self.id_key)
        id = row.get("id") if id is None else id
        return None if id is None else str(id)

    def files_of(self, data: Iterable[Row], path: Path) -> Collection[Path]:
        """Return the files that rows name and results depend on; none by default."""
        return ()

    def advice(self, row: Row) -> Iterable[str]:
        """Return advice about the columns of the first row, such as another spelling; none by default."""
        return ()

    def place_of(self, row: Row, number: int) -> str:
        """Name a row, the `number`-th of the file, for an error."""
        return f"problem {self.id_of(row) or f'number {number}'}"

    def picture_named(self, row: Row) -> str:
        """Return the path of a row's picture relative to the data's folder, or ""."""
        return ""

    def required_id(self, row: Row) -> str:
        """Return the id of the problem in a row. Raises `InputError` without one."""
        if not (id := self.id_of(row)):
            raise InputError(f'a problem of {self.name} needs an id in "{self.id_key}"')
        return id

    def recognizes(self, row: Row) -> bool:
        """Return whether a row of a data file looks like one of this benchmark's problems."""
        return any(keys <= row.keys() for keys in self.known_by)

    @abstractmethod
    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `tables` are by id, if they are separate. Raises `InputError`."""

    def check(self, problems: Iterable[Problem], modules: Mapping[str, Any]) -> None:
        """Raise `InputError` if problems lack input that the modules need and get from nowhere else.

        Called before an evaluation with its modules by name, without the left-out ones; does nothing by
        default.
        """

    def found(self, state: State) -> Mapping[str, Any]:
        """Return what else a run found that a scorer looks at, by name; kept with the result."""
        return {}

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells of the problem's table with the gold answer; one cell per collection is enough.

        None if no cells hold it, or they are unknown. Shows whether a part of a table still has what the
        answer needs; runs never see it.
        """
        return None

    def run_columns(self, state: State) -> tuple[str, ...]:
        """Return further columns that a run counts in, based on what it did, such as its chain's length."""
        return ()

    def percent(self, column: str, correct: int, n: int) -> str:
        """Write a cell of the printed table: percent with two decimals, or a dash without examples."""
        return f"{100 * correct / n:.2f}" if n else "–"

    def scorer(self, judge: str | Callable[[Any, Any], bool] | None = None) -> type[Scorer]:
        """Return the rule with this name, the first by default, or one made from a function."""
        if isinstance(judge, type):  # first, since a class can be called too
            if issubclass(judge, Scorer):
                return judge
            raise InputError(f"{judge.__name__} is not a scorer", hint="Give a function of answer and gold.")
        if callable(judge):
            return _scorer_by(judge)
        name = judge or next(iter(self.scorers))
        if name not in self.scorers:
            raise InputError(f"{self.name} has no scorer {name!r}", hint=nearest(name, self.scorers))
        return self.scorers[name]

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures reported instead of the share of right answers, if the scorers grade; else none."""
        first = next(iter(self.scorers.values()))
        return first.figures if issubclass(first, GradedScorer) else ()

    @cached_property
    def published(self) -> Sequence[Published]:
        """The published rows from `benchmarks/published/NAME.yaml`; a row may lack columns."""
        rows = [{**row} for row in self._published_file.get("rows", ())]
        for row in rows:
            for key in ("percent", "half_widths"):
                cells = zip(self._published_file["columns"], row.get(key, ()), strict=False)
                row[key] = {name: value for name, value in cells if value is not None}
        return [Published(**row) for row in rows]

    @property
    def published_figures(self) -> Mapping[str, Mapping[str, Any]]:
        """The file's other figures by their source in print, each with `about` and numbers of `systems`."""
        return {**self._published_file.get("figures", {})}

    @cached_property
    def _published_file(self) -> Mapping[str, Any]:
        from chameleon.yaml_text import read_yaml

        file = resources.files("chameleon.benchmarks").joinpath(
            "published", f"{self.published_as or self.name}.yaml"
        )
        return {**read_yaml(file.read_text("utf-8"))} if file.is_file() else {}
