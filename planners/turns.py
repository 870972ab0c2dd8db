"""The calls of a model in each of its turns and their results, read from the state of a run."""

from collections.abc import Iterator, Sequence

from chameleon.core.events import Plan, Step, StepRecord
from chameleon.core.state import State
from chameleon.usage import Call

OWN_PLANS = ("proposed", "replan")  # repairs and fallbacks are the executor's


class Turn:
    """A plan, the model call behind it (`said`), and its step records from place `start` on."""

    def __init__(self, plan: Plan, records: Sequence[StepRecord], start: int, end: int) -> None:
        self.plan, self.start = plan, start
        self.said: Call | None = plan.calls[-1] if plan.calls else None
        self._records = records[start:end]

    @property
    def results(self) -> list[StepRecord | None]:
        """Return the record of each step: its own, or the last one if its module was redone."""
        records, ran = list(self._records), list[StepRecord | None]()
        for step in self.plan.steps:
            record = next((each for each in records if each.step == step), None)
            if record is not None:
                records.remove(record)
            ran.append(record)
        redone = {record.step.module: record for record in records if record.step.redo is not None}
        return [redone.get(step.module, record) for step, record in zip(self.plan.steps, ran, strict=True)]

    def came_to_the_same(self, other: "Turn") -> bool:
        """Return whether another turn made the same calls with the same results."""
        mine, theirs = ([each and each.output for each in turn.results] for turn in (self, other))
        return self.plan.steps == other.plan.steps and mine == theirs

    @classmethod
    def all_of(cls, state: State) -> "Iterator[Turn]":
        """Yield the turns of a planner asked after each of its plans; refused ones have no results."""
        records, place = state.executed, 0
        plans = [plan for plan in state.plans if plan.kind in OWN_PLANS]
        for number, plan in enumerate(plans):
            if plan.refused:
                yield cls(plan, records, place, place)
                continue
            start = end = cls._find(records, plan.steps[0], place)
            for step in plan.steps:
                end += end < len(records) and records[end].step == step
            following = next((each for each in plans[number + 1 :] if not each.refused), None)
            place = len(records) if following is None else cls._find(records, following.steps[0], end)
            yield cls(plan, records, start, place)

    @staticmethod
    def _find(records: Sequence[StepRecord], step: Step, start: int) -> int:
        """Return the place of the first record of a step at or after `start`, or the end."""
        places = (place for place in range(start, len(records)) if records[place].step == step)
        return next(places, len(records))
