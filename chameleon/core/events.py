"""The events of a run and their contents: steps, plans, failures.

Six kinds of events make a run: `RunStarted` (the input), `Plan` (steps to take, or a refused plan),
`Approval` (steps that a person is asked to allow, or the answer), `StepRecord` (one step taken), `Nested`
(what happens in a step that runs an inventory) and `RunEnded`.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from chameleon import errors, values
from chameleon.errors import ChameleonError, ModuleError, lack_of
from chameleon.text import one_line
from chameleon.usage import Call

Reason = Literal["answered", "declined", "failed", "budget"]
PlanKind = Literal["proposed", "replan", "repair", "on_error", "fallback"]
Said = Literal["asked", "yes", "no", "begun"]
Ran = Mapping[tuple[str, ...], int]

# Failures as a model sees them: an error's own text may hold paths, hosts and library names.
_MODEL_REASONS: Mapping[str, str] = {
    "InputError": "its input cannot be used",
    "InventoryError": "it is not set up here",
    "MachineError": "it cannot run here",
    "MissingPackage": "it is not installed here",
    "SandboxUnavailable": "it cannot run here",
    "CutOff": "its result cannot be used",
    "NotApproved": "the user did not allow it",
    "StepRejected": "its result cannot be used",
    "StoreError": "its store cannot be used",
    **dict.fromkeys(("Unanswered", "WebError"), "the web gave no answer"),
}
ONE_QUESTION = "for_one_question"
"""The setting of a run that lists the modules whose input changes apply only to the current question."""
_MAX_ARGUMENTS_CHARS, _MAX_REPR_CHARS = 200, 300
LONGEST_REPLY = 4_000  # characters


@dataclass(frozen=True, slots=True)
class Redo:
    """How a repair runs a step again.

    Attributes:
        attempt: the number of the attempt; 0 ran first.
        temperature_step: how much warmer to sample with each attempt.
        last: whether nothing follows this attempt.
        reply: the model's earlier reply, up to `LONGEST_REPLY`.
        fault: the error of that reply, if the model is to see it.
    """

    attempt: int
    temperature_step: float = 0.0
    last: bool = False
    fault: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One module to run, by name, with the arguments a planner chose and the redo it is part of, if any."""

    module: str
    args: Mapping[str, Any] | None = None
    redo: Redo | None = None

    def __str__(self) -> str:
        """Write the step on one line, with its arguments: `weather (city: "Paris")`."""
        if not self.args:
            return self.module
        parts = (f"{k}: {json.dumps(values.to_json(v), ensure_ascii=False)}" for k, v in self.args.items())
        return f"{self.module} ({one_line(', '.join(parts), _MAX_ARGUMENTS_CHARS)})"

    def __repr__(self) -> str:
        return f"<Step {self}>"

    def to_json(self) -> dict[str, Any]:
        """Write the step as JSON; `from_json` reads it back."""
        data: dict[str, Any] = {"module": self.module}
        if self.args is not None:
            data["args"] = values.to_json(self.args)
        if self.redo is not None:
            data["redo"] = asdict(self.redo)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Step":
        """Return the step that `to_json` wrote."""
        redo = Redo(**data["redo"]) if "redo" in data else None
        return cls(data["module"], values.from_json(data.get("args")), redo)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step, a plan or a run failed: the error's class, its message, where, and what to do.

    A user-defined class counts as its nearest base class in `chameleon.errors`. `cause` is the exception
    itself, kept only while the process lives.
    """

    kind: str
    message: str
    hint: str = ""
    where: str = ""
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    code: str = ""

    @classmethod
    def of(cls, error: BaseException, where: str = "") -> "Failure":
        """Return an error as a failure; `where` is put before the place that the error names."""
        error = lack_of(error) or error  # a full disk, say, is the machine's failure, not the module's
        if isinstance(error, ChameleonError):
            # The nearest class of chameleon.errors decides what a run does next.
            kinds = (kind for kind in type(error).__mro__ if kind.__module__ == ChameleonError.__module__)
            place = ": ".join(part for part in (where, error.where) if part)
            return cls(next(kinds).__name__, error.what, error.hint, place, error, error.code)
        try:
            message = str(error) or "no message"
        except Exception:  # a user's `__str__` may raise anything
            message = "its message cannot be read"
        return cls(type(error).__name__, message, where=where, cause=error)

    @property
    def exception(self) -> ChameleonError:
        """Return the error to raise, of the recorded class, with the original exception as its cause."""
        cls = getattr(errors, self.kind, None)  # `kind` may come from a log, so it can be any text
        if not (isinstance(cls, type) and issubclass(cls, ChameleonError)):
            cls = ModuleError
        error = cls(self.message, where=self.where, hint=self.hint, code=self.code)
        error.__cause__ = self.cause
        return error

    @property
    def advice(self) -> str:
        """Return the message and the hint, without the place."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message

    @property
    def reason(self) -> str:
        """Return the failure in a few plain words for a model, with nothing from the error's own text."""
        return _MODEL_REASONS.get(self.kind, "it failed")

    def __str__(self) -> str:
        return f"{self.where}: {self.advice}" if self.where else self.advice

    def to_json(self) -> dict[str, str]:
        data = {"kind": self.kind, "message": self.message, "hint": self.hint, "where": self.where}
        return {**data, "code": self.code} if self.code else data

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> "Failure":
        return cls(data["kind"], data["message"], data["hint"], data["where"], code=data.get("code", ""))


def not_approved(step: Step) -> Failure:
    """Return the failure of a step that a person did not approve."""
    return Failure(errors.NotApproved.__name__, f"{step} was not approved", where=f"module {step.module}")


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The start of a run: its inventory, its input, and its settings.

    `at` is the start time in seconds since 1970; 0 if the log does not record it.
    """

    inventory: str
    input: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The steps to take next. As an event it replaces the pending steps, unless it is refused.

    Attributes:
        by: who chose the steps: a planner; for a repair or an `on_error` plan the module that failed; for
            the fallback the inventory.
        note: why they were chosen.
        kind: separates a planner's proposal, or its other plan after a failure ("replan"), from the
            inventory's response to a failed step: its repair, its `on_error` plan, or the fallback.
        refused: what is wrong with it, or "".
        path: the position in each of the nested planners, outermost first.
    """

    steps: tuple[Step, ...]
    by: str
    note: str = ""
    kind: PlanKind = "proposed"
    refused: str = ""
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    path: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " → ".join(map(str, self.steps))

    def __repr__(self) -> str:
        steps = f"refused: {self.refused}" if self.refused else str(self)
        return f"<Plan {self.kind} by {self.by}: {one_line(steps, _MAX_REPR_CHARS)}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the modules, in order."""
        return tuple(step.module for step in self.steps)

    def without(self, left_out: Collection[str]) -> "Plan":
        """Return the plan without the steps of these modules and a note that says so."""
        dropped = sorted({name for name in self.names if name in left_out}) if left_out else ()
        if not dropped:
            return self
        note = "; ".join(part for part in (self.note, f"without {', '.join(dropped)}") if part)
        steps = tuple(step for step in self.steps if step.module not in left_out)
        refused = self.refused or ("" if steps else "every module of the plan is left out")
        return replace(self, steps=steps, note=note, refused=refused)


@dataclass(frozen=True, slots=True, repr=False)
class StepRecord:
    """One step taken: its output, its changes, its cost, and why it failed, if it did.

    Attributes:
        dropped: whether it ran in parallel with a step that failed: its calls count, but its output does not.
        beside: whether it ran at the same time as the previous step.
    """

    step: Step
    output: Any = None
    input_changes: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    cache_changes: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    error: Failure | None = None
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    dropped: bool = False
    beside: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        return f"<StepRecord {one_line(f'{self.step}: {self.error or self.output}', _MAX_REPR_CHARS)}>"


@dataclass(frozen=True, slots=True)
class Nested:
    """An event in the run of an inventory that the pending step of that module runs."""

    module: str
    event: "Event"

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the model calls of the inner event."""
        return getattr(self.event, "calls", ())

    @property
    def innermost(self) -> "Event":
        """Return the event of the innermost run."""
        return self.event.innermost if isinstance(self.event, Nested) else self.event


@dataclass(frozen=True, slots=True)
class Approval:
    """A person is asked whether pending steps may run, or has answered; `by` says who or what answered.

    "begun" records that approved steps are now running: the approval is used up, whatever the outcome.
    """

    steps: tuple[Step, ...]
    said: Said
    by: str = ""
    calls: ClassVar[tuple[Call, ...]] = ()  # involves no model

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))


@dataclass(frozen=True, slots=True)
class Dropped:
    """A model was called without a parameter that is set for it, and why.

    Only logs of earlier versions have it as an event, which changes nothing; calls now record the same.
    """

    model: str
    parameter: str
    value: Any = field(compare=False)
    why: str = field(compare=False)
    calls: ClassVar[tuple[Call, ...]] = ()

    def __str__(self) -> str:
        return f"{self.model} was asked without {self.parameter} {json.dumps(self.value)}: {self.why}"

    @classmethod
    def of_calls(cls, calls: Iterable[Call]) -> "list[Dropped]":
        """Return the parameters that calls were made without, each once per model."""
        every = (
            cls(call.model, name, call.params.get(name), why)
            for call in calls
            for name, why in call.dropped.items()
        )
        return list({(each.model, each.parameter): each for each in every}.values())


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The end of a run: answered, declined, failed, or out of budget."""

    reason: Reason
    error: Failure | None = None
    calls: tuple[Call, ...] = ()


Event = RunStarted | Plan | Approval | StepRecord | Nested | Dropped | RunEnded
