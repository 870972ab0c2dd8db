"""One line of `results.jsonl`, and the counts over many."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from chameleon.core.events import Failure
from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import GradedScorer, Judgment, Problem, Scorer
from chameleon.text import one_line
from chameleon.usage import Call, Usage, is_amount
from chameleon.values import to_json

VERDICTS = ("wrong", "declined", "failed", "right")
GRADED = ("declined", "failed", "graded")
SEQUENCES = "SEQ"
"""The column that counts whole conversations: one is right if all its questions are."""
_MAX_REASON_CHARS, _MAX_REASONS = 300, 1000  # characters of a message, distinct messages of a tally
_MAX_FILE_BYTES = 1 << 48  # 256 TiB: a larger offset is damage
_OPTIONAL = frozenset({"picture", "passed_over", "grades", "sequence", "found", "dropped", "member"})


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The outcome of one problem. `answer` and `gold` are JSON values.

    Attributes:
        correct: whether it is right; None if the benchmark grades.
        seconds: the sum over its steps.
        grades: the grades by name, if the benchmark grades.
        sequence, position: as of the problem.
        found: what the run found in addition to its answer.
        dropped: parameters left out of model calls, as "temperature (openai:gpt-5-mini)".
        member: the offset of the gzip member with its events, in bytes.
    """

    id: str
    answer: Any
    declined: bool
    correct: bool | None
    plan: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    error: Failure | None = None
    gold: Any = None
    columns: tuple[str, ...] = ()
    picture: str = ""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    grades: Mapping[str, float] = field(default_factory=dict)
    sequence: str = ""
    position: int = 0
    found: Mapping[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    member: int | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        state: State,
        judged: Judgment,
        run_columns: Sequence[str],
        findings: Mapping[str, Any],
    ) -> Self:
        """Return the result of a run that has ended."""
        assert state.ended is not None
        answered = state.ended.reason == "answered"
        return cls(
            id=problem.id,
            answer=to_json(state.answer),
            declined=state.ended.reason == "declined",
            correct=judged.correct and (answered or problem.to_decline),
            plan=state.plan,
            seconds=round(state.seconds, 6),
            usage=state.usage,
            error=state.ended.error,
            gold=to_json(problem.gold),
            columns=(*problem.columns, *run_columns),
            picture=str(problem.picture or ""),
            passed_over={each.where: _short(each.message) for each in state.skipped} if answered else {},
            grades=judged.grades,
            sequence=problem.sequence,
            position=problem.position,
            found=findings,
            dropped=tuple(f"{each.parameter} ({each.model})" for each in state.dropped),
        )

    def __repr__(self) -> str:
        text = self.error.message if self.error else f"{self.answer!r}, gold {self.gold!r}"
        return f"<Result {self.id} {self.verdict}: {one_line(text, 200)}>"

    @property
    def failed(self) -> bool:
        """Whether the run did not finish: a module or a model failed, or the budget was spent."""
        return self.error is not None and not self.declined

    @property
    def answered(self) -> bool:
        return not self.declined and self.error is None

    @property
    def verdict(self) -> str:
        """The outcome in a word: one of `VERDICTS`, or of `GRADED`."""
        if not self.answered and not self.correct:  # a right decline is "right"
            return "declined" if self.declined else "failed"
        if self.correct is None:
            return "graded"
        return "right" if self.correct else "wrong"

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name, without empty ones from `picture` on."""
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        data |= {"usage": self.usage.to_json(), "error": self.error.to_json() if self.error else None}
        if not self.sequence:
            del data["position"]
        return {name: value for name, value in data.items() if value or value == 0 or name not in _OPTIONAL}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        texts = (data["id"], data.get("sequence", ""), *data.get("plan", ()), *data.get("columns", ()))
        # A rule may grade with True and False, which `is_amount` refuses.
        grades = (float(each) if isinstance(each, bool) else each for each in data.get("grades", {}).values())
        numbers = (data["seconds"], data.get("position", 0), *grades)
        if not all(isinstance(each, str) for each in texts) or not all(map(is_amount, numbers)):
            raise TypeError("a value is of the wrong type")
        if not isinstance(data["correct"], bool | None) or not isinstance(data["declined"], bool):
            raise TypeError("`correct` or `declined` is not true or false")
        member = data.get("member", 0)
        if type(member) is not int or not 0 <= member < _MAX_FILE_BYTES:
            raise TypeError("`member` is not a position in the file")
        values = dict(data)
        values["usage"] = Usage.from_json(data["usage"])
        values["error"] = Failure(**data["error"]) if data["error"] else None
        for name in ("plan", "columns", "dropped"):
            values[name] = tuple(data.get(name, ()))
        return cls(**values)


def _short(message: str) -> str:
    return " ".join(message.split())[:_MAX_REASON_CHARS]


def of_them_right(count: int) -> str:
    """Return the suffix of a number of declines: " (2 right)", or ""."""
    return f" ({count:,} right)" if count else ""


@dataclass
class Count:
    """A number of problems, how many are right, and the sums of their grades if they are graded."""

    n: int = 0
    correct: int = 0
    sums: dict[str, float] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        self.n += 1
        self.correct += bool(result.correct)
        for name, grade in result.grades.items():
            self.sums[name] = self.sums.get(name, 0.0) + grade

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.n if self.n else None


class Tally:
    """Running counts over results: all, answered, by column, spending, and reasons of failures.

    Args:
        columns: the benchmark's columns; runs may count in others, which follow.
        scorer: required if it grades.

    Attributes:
        reasons: counts of the messages of failures, only the first distinct ones if there are very many.
        passed_over: counts of the modules that failed in runs that answered without them.
        passed_over_for: the message of the first of these failures, by module.
        dropped: counts of the problems whose model calls left out a parameter, by parameter.
        declined: the number of declined problems, rightly or wrongly.
        rightly_declined: of these, the right ones; results of `score` have no gold answer and never count.
        programs: the number of problems by plan.
        seconds: the sum over the problems, even if they ran side by side.
    """

    def __init__(self, columns: Sequence[str], scorer: Scorer | None = None) -> None:
        self.all, self.answered = Count(), Count()
        self.graded = scorer if isinstance(scorer, GradedScorer) else None
        self.reasons: Counter[str] = Counter()
        self.passed_over: Counter[str] = Counter()
        self.passed_over_for: dict[str, str] = {}
        self.dropped: Counter[str] = Counter()
        self._columns = {column: Count() for column in columns}
        self._further: dict[str, Count] = {}
        self._sequences: dict[str, bool] = {}
        self.programs: Counter[tuple[str, ...]] = Counter()
        self.usage, self.seconds = Usage(), 0.0
        self._verdicts: Counter[str] = Counter()
        self.declined = self.rightly_declined = 0

    @property
    def verdicts(self) -> Mapping[str, int]:
        """The number of problems by verdict."""
        return {verdict: self._verdicts[verdict] for verdict in (GRADED if self.graded else VERDICTS)}

    @property
    def failed(self) -> int:
        return self._verdicts["failed"]

    @property
    def columns(self) -> Mapping[str, Count]:
        """The counts by column: the benchmark's in its order, then the runs' by name."""
        return {**self._own, **dict(sorted(self._further.items()))}

    @property
    def telling(self) -> Mapping[str, Count]:
        """The counts by column, without the runs' columns if every problem is in all of them."""
        tells = any(count.n != self.all.n for count in self._further.values())
        return self.columns if tells else self._own

    @property
    def _own(self) -> Mapping[str, Count]:
        sequences = {SEQUENCES: Count(len(self._sequences), sum(self._sequences.values()))}
        return self._columns | (sequences if self._sequences else {})

    def figures(self, count: Count) -> Mapping[str, float | None]:
        """Return the reported figures of a count: its accuracy, or the figures of the grading rule."""
        if self.graded is None:
            return {"accuracy": count.accuracy}
        if not count.n:
            return dict.fromkeys(self.graded.figures)
        values = self.graded.overall(count.sums, count.n)
        return {name: values[name] for name in self.graded.figures}

    def add(self, result: Result) -> None:
        self.all.add(result)
        if result.answered:
            self.answered.add(result)
        self._verdicts[result.verdict] += 1
        self.declined += result.declined
        self.rightly_declined += result.declined and bool(result.correct) and result.gold is not None
        self.programs[result.plan] += 1
        if result.failed and result.error is not None:
            reason = _short(result.error.message)
            if reason in self.reasons or len(self.reasons) < _MAX_REASONS:
                self.reasons[reason] += 1
        for where, reason in result.passed_over.items():
            self.passed_over[where] += 1
            self.passed_over_for.setdefault(where, reason)
        self.dropped.update(result.dropped)
        for column in result.columns:
            counts = self._columns if column in self._columns else self._further
            counts.setdefault(column, Count()).add(result)
        if result.sequence and self.graded is None:
            before = self._sequences.get(result.sequence, True)
            self._sequences[result.sequence] = before and bool(result.correct)
        self.usage, self.seconds = self.usage + result.usage, self.seconds + result.seconds

    def to_json(self, benchmark: str) -> dict[str, Any]:
        """Return the counts; accuracies are fractions or null, and "figures" if answers are graded."""
        name = "figures" if self.graded else "accuracy"
        return {
            "benchmark": benchmark,
            **self._counted(self.all),
            "answered": self.answered.n,
            f"answered_{name}": self._counted(self.answered)[name],
            "breakdown": self.counted({"ALL": self.all, **self.columns}),
            **({"dropped": dict(self.dropped)} if self.dropped else {}),
            "usage": self.usage.to_json(),
        }

    def counted(self, counts: Mapping[str, Count]) -> dict[str, dict[str, Any]]:
        """Return counts by name as JSON values."""
        return {name: self._counted(count) for name, count in counts.items()}

    def _counted(self, count: Count) -> dict[str, Any]:
        if self.graded is not None:
            return {"n": count.n, "figures": self.figures(count)}
        return {"n": count.n, "correct": count.correct, "accuracy": count.accuracy}


class Spending:
    """Sum the calls of all runs, including interrupted ones; safe to share between threads.

    `limit` is in US dollars; calls under way when it is reached are still paid. `stored` counts replies that
    came free from the response store.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.usage = Usage()
        self.stored = 0
        self._lock = threading.Lock()

    def add(self, calls: Iterable[Call]) -> None:
        """Count calls that have been made."""
        with self._lock:
            for call in calls:
                self.usage += call.usage
                self.stored += call.cached

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached. Raises `InputError` if there is a limit and costs are unknown."""
        if self.limit is None:
            return False
        if self.usage.cost is None:
            raise InputError(
                "the provider reports no cost, so the cost limit cannot be enforced",
                hint="Set prices in the inventory (llm: {prices: {input: …, output: …}}, US dollars per "
                "million tokens), or drop the limit.",
            )
        return self.usage.cost >= self.limit
