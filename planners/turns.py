"""What a model called in each of its turns, and what came of it: read from the state of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chameleon.core.events import Plan, Step, StepRecord
from chameleon.core.state import State
from chameleon.usage import Call

OWN_PLANS = ("proposed", "replan")  # repairs and fallbacks are the executor's


class Turn:
    """A plan, what the model `said` for it, and what came of its steps; `start` is the first of these."""

    def __init__(self, plan: Plan, records: Sequence[StepRecord], start: int, end: int) -> None:
        self.plan, self.start = plan, start
        self.said: Call | None = plan.calls[-1] if plan.calls else None
        self._records = records[start:end]

    @property
    def results(self) -> list[StepRecord | None]:
        """Return the record of each step: its own, and of a module that was redone the last."""
        left, found = list(self._records), list[StepRecord | None]()
        for step in self.plan.steps:
            record = next((each for each in left if each.step == step), None)
            if record is not None:
                left.remove(record)
            found.append(record)
        redone = {record.step.module: record for record in left if record.step.redo is not None}
        return [redone.get(step.module, record) for step, record in zip(self.plan.steps, found, strict=True)]

    def came_to_the_same(self, other: Turn) -> bool:
        """Return whether the same was called in another turn, and gave the same."""
        mine, others = ([each and each.output for each in turn.results] for turn in (self, other))
        return self.plan.steps == other.plan.steps and mine == others

    @classmethod
    def all_of(cls, state: State) -> Iterator[Turn]:
        """Yield the turns of a planner that is asked after each of its plans; refused ones gave nothing."""
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
        """Return the place of the first record of a step from there on; the end where there is none."""
        found = (place for place in range(start, len(records)) if records[place].step == step)
        return next(found, len(records))
