"""What a benchmark is: a reader of problems, the official scorers, and the columns of its table."""

from __future__ import annotations

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

FAULT = "fault"  # of a row that could not be read: why
Row = Mapping[str, Any]
Cell = tuple[int, int]
"""The row below the header and the column, both from 0."""


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a published table: percentages by column, half of their intervals, and where they are printed.

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
    """One problem: what a run is given, what the scorer compares with, and where it counts.

    `input` may hold more keys than an inventory takes; the gold answer is never among them. `columns` are the
    benchmark's breakdown columns that it counts in (a column that is unknown here is left out). `detail`
    is whatever else the scorers need (the unit, the answer's type); `picture` is a picture of the problem,
    for people to look at. `sequence` names the conversation that the problem is a question of, and `position`
    its place there, from 0: it is asked after those before it, and told what they were answered.
    `to_decline`: a run is right where it declines.
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
    """What is told by the first lines of its docstring, where it does not say itself what it is `about`."""

    about: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ and "about" not in vars(cls):
            cls.about = " ".join(cls.__doc__.partition("\n\n")[0].split()).removesuffix(".")


class Scorer(Described):
    """An official rule: from what a system gave to right or wrong.

    Each method raises `InputError` for a problem that lacks what the rule needs. A scorer is made anew for
    every scoring, so it may hold state where the rule has some (a seeded generator); it is called from one
    thread at a time.
    """

    seed: ClassVar[int | None] = None
    """The seed of its generator, for a rule that draws."""

    def check(self) -> None:
        """Raise `MissingPackage` for a package that any prediction needs, before an evaluation."""

    def from_output(self, text: str, problem: Problem) -> Any:
        """Return the prediction in a model's text, by default all of it. Raises `InputError` for none."""
        return text

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the prediction that a program's value is; the value itself unless the rule changes it."""
        return value

    def from_answer(self, answer: Any, problem: Problem) -> Any:
        """Convert a run's final answer: a choice stays as it is, all else is as a program's value."""
        choices = problem.detail.get("choices") or ()
        return answer if answer in choices else self.from_value(answer, problem)

    def from_run(self, answer: Any, found: Mapping[str, Any], problem: Problem) -> Any:
        """Return what a run came to: its answer, unless the rule looks at what else it `found`."""
        return self.from_answer(answer, problem)

    @abstractmethod
    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether a prediction (None: there is none) is right."""

    def judged(self, prediction: Any, problem: Problem, *, answered: bool = True) -> Judgement:
        """Judge a prediction. What a run has not answered is never right, whatever it may hold."""
        return Judgement(answered and self.right(prediction, problem))


def _scorer_by(function: Callable[[Any, Any], bool]) -> type[Scorer]:
    """Make a scorer of a function of the answer and the gold one."""

    class ByFunction(Scorer):
        """Judges by a function of your own."""

        def right(self, prediction: Any, problem: Problem) -> bool:
            return prediction is not None and bool(function(prediction, problem.gold))

    return ByFunction


class ValueScorer(Scorer):
    """An official rule for what programs come to, which has none for a model's text."""

    def from_output(self, text: str, problem: Problem) -> Any:
        hint = "Score predictions or programs, or take another scorer."
        raise InputError("this scorer has no rule for a model's text", hint=hint)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Right or wrong, or, where `correct` is None, grades by name."""

    correct: bool | None
    grades: Mapping[str, float] = field(default_factory=dict)


class GradedScorer(Scorer):
    """An official rule that grades predictions, where they are not just right or wrong.

    The grades of a problem are numbers that are added up over problems; `overall` makes what is reported of
    the sums: means, and figures that there are only for a whole corpus. `figures` names these, the leading
    one first. What was declined, failed or is missing is graded as None, and counts like the others.
    """

    figures: ClassVar[tuple[str, ...]]

    @abstractmethod
    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return the grades of a prediction (None: there is none)."""

    @abstractmethod
    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the figures over `n` problems (at least one), from the sums of their grades."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare with the gold answer, letter by letter; reports show the grades instead."""
        return bool(prediction == problem.gold)

    def judged(self, prediction: Any, problem: Problem, *, answered: bool = True) -> Judgement:
        """Return the grades of a prediction, or of none where nothing was answered."""
        return Judgement(None, self.grades(prediction if answered else None, problem))


class Benchmark(Described):
    """A benchmark: subclass it in `benchmarks/NAME.py`, and the file's name is its name.

    `columns` are those of the paper's table after ALL, in order; `scorers` by name, the default first;
    `id_key` is the key of a row that holds the problem's id; pictures of the problems, where there are any,
    lie as `ID.png` or `ID/image.png` in one of the `picture_folders` beside the data ("" is the data's own),
    or where rows name them (`picture_named`), and are given to runs as `picture_key` where the questions are
    about them. `takes_tables`: tables lie in a file or folder of their own, by default in one of
    `tables_beside` the data. `known_by` are keys: a file is known by rows that have all those of one set.
    `groups` are the columns that `chameleon stats` shows by what they have in common ("table size"), those of
    runs among them. `last_counts`: of several predictions for a problem the last one counts, which else is an
    error. `skips_bad_rows`: a row that cannot be used is a warning, which else is an error.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ()
    scorers: ClassVar[Mapping[str, type[Scorer]]]
    id_key: ClassVar[str] = "id"
    known_by: ClassVar[tuple[AbstractSet[str], ...]] = ()
    picture_folders: ClassVar[tuple[str, ...]] = ()
    picture_key: ClassVar[str] = ""
    takes_tables: ClassVar[bool] = False
    tables_beside: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    last_counts: ClassVar[bool] = False
    skips_bad_rows: ClassVar[bool] = False

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row a problem from those in the file `path`, by default as they are, or `InputError`."""
        return iter(found)

    def tables_in(self, folder: Path) -> Mapping[str, Row]:
        """Return the tables in a folder of the release by id: rows with "header", "rows" and "caption"."""
        raise InputError("this is a folder, and the tables lie in a file", where=str(folder))

    def id_of(self, row: Row) -> str | None:
        """Return the id of the problem that a row is about; None where it names none."""
        id = row.get(self.id_key)
        id = row.get("id") if id is None else id
        return None if id is None else str(id)

    def files_of(self, data: Iterable[Row], path: Path) -> Collection[Path]:
        """Return the files that rows name, which results depend on; none by default."""
        return ()

    def advice(self, row: Row) -> Iterable[str]:
        """Return what the columns of the first row call for, such as another spelling; nothing by default."""
        return ()

    def place_of(self, row: Row, number: int) -> str:
        """Name a row, the `number`-th of the file, in an error."""
        return f"problem {self.id_of(row) or f'number {number}'}"

    def picture_named(self, row: Row) -> str:
        """Return the path of a row's picture from the folder of the data; "" where it gives none."""
        return ""

    def required_id(self, row: Row) -> str:
        """Return the id of a row's problem. Raises `InputError` where it names none."""
        if not (id := self.id_of(row)):
            raise InputError(f'a problem of {self.name} needs its id as "{self.id_key}"')
        return id

    def recognises(self, row: Row) -> bool:
        """Return whether a row of a data file looks like one of this benchmark's problems."""
        return any(keys <= row.keys() for keys in self.known_by)

    @abstractmethod
    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `tables` are by id, where they lie apart. Raises `InputError`."""

    def check(self, problems: Iterable[Problem], modules: Mapping[str, Any]) -> None:
        """Raise `InputError` where problems lack what the modules that run need and are not given otherwise.

        Called before an evaluation with its modules by name, the left out ones not among them; by default
        nothing is looked at.
        """

    def found(self, state: State) -> Mapping[str, Any]:
        """Return what else a run has found that a scorer looks at, by name; kept with the result."""
        return {}

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return where the gold answer stands in the problem's table: of each collection one cell is enough.

        None where it stands in no cells, or in which is not known. It tells whether a part of a table still
        has what the answer needs; no run is given it.
        """
        return None

    def run_columns(self, state: State) -> tuple[str, ...]:
        """Return further columns that a run counts in, told from what it did, such as its chain's length."""
        return ()

    def percent(self, column: str, correct: int, n: int) -> str:
        """Write a cell of the printed table: percent with two decimals, or a dash without any example."""
        return f"{100 * correct / n:.2f}" if n else "–"

    def scorer(self, judge: str | Callable[[Any, Any], bool] | None = None) -> type[Scorer]:
        """Return the rule of that name, the first by default, or one that is made of a function."""
        if isinstance(judge, type):
            if issubclass(judge, Scorer):
                return judge
            raise InputError(f"{judge.__name__} is no scorer", hint="Give a function of answer and gold.")
        if callable(judge):
            return _scorer_by(judge)
        name = judge or next(iter(self.scorers))
        if name not in self.scorers:
            raise InputError(f"{self.name} has no scorer {name!r}", hint=nearest(name, self.scorers))
        return self.scorers[name]

    @property
    def figures(self) -> tuple[str, ...]:
        """What is reported in place of the share of right answers, where the scorers grade; else nothing."""
        first = next(iter(self.scorers.values()))
        return first.figures if issubclass(first, GradedScorer) else ()

    @cached_property
    def published(self) -> Sequence[Published]:
        """The published rows, for a report, of `benchmarks/published/NAME.yaml`: a row may lack columns."""
        rows = [{**row} for row in self._published_file.get("rows", ())]
        for row in rows:
            for key in ("percent", "half_widths"):
                cells = zip(self._published_file["columns"], row.get(key, ()), strict=False)
                row[key] = {name: value for name, value in cells if value is not None}
        return [Published(**row) for row in rows]

    @property
    def published_figures(self) -> Mapping[str, Mapping[str, Any]]:
        """The rest of that file by its place in print: what each is `about`, and numbers of `systems`."""
        return {**self._published_file.get("figures", {})}

    @cached_property
    def _published_file(self) -> Mapping[str, Any]:
        from chameleon.yaml_text import read_yaml

        file = resources.files("chameleon.benchmarks").joinpath("published", f"{self.name}.yaml")
        return {**read_yaml(file.read_text("utf-8"))} if file.is_file() else {}
