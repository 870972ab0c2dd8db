"""Run several of Binder's programs at once, and ask what they all want to know together and once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chameleon.errors import ModuleError
from chameleon.modules.sql.binding import Answers, Ask, run_program
from chameleon.modules.sql.database import Cell, SqlTable
from chameleon.modules.sql.questions import MOST_ITEMS, AnswerQuestion, Item, MapQuestion, Question

# The model's answers to questions, in their order: of a `MapQuestion` by the item's number, from 1; an error
# where a reply is of no use. `again` tells whether it was asked before.
Model = Callable[[Sequence[Question], bool], Sequence[dict[int, str] | str | ModuleError]]


def run_together(
    programs: Sequence[str], table: SqlTable, ask: Ask, model: Model
) -> dict[str, list[Cell] | ModuleError]:
    """What each program comes to: the cells of its answer, or why it has none. Equal programs run once."""
    answerer = Answerer(model)
    runs = {program: run_program(program, table, ask) for program in programs}
    outcomes: dict[str, list[Cell] | ModuleError] = {}
    waiting: dict[str, Question] = {}
    told: dict[Question, Answers | ModuleError] = {}
    active = list(runs)
    while active:
        for program in active:
            run, question = runs[program], waiting.pop(program, None)
            try:
                answers = None if question is None else told[question]
                failed = isinstance(answers, ModuleError)
                waiting[program] = run.throw(answers) if failed else run.send(answers)  # type: ignore[arg-type]
            except StopIteration as end:
                outcomes[program] = end.value
            except ModuleError as error:
                outcomes[program] = error
        active = list(waiting)
        told = answerer.answers(list(dict.fromkeys(waiting.values())))
    return outcomes


class Answerer:
    """Asks the model for what is not known yet, 50 items to a call, all calls at once; remembers the rest."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[str, tuple[str, ...]], dict[Item, str]] = {}
        self._said: dict[AnswerQuestion, str | ModuleError] = {}

    def answers(self, questions: Sequence[Question]) -> dict[Question, Answers | ModuleError]:
        """What each question comes to; an error where the model did not answer all of it, asked twice."""
        for again in (False, True):
            if calls := self._calls(questions, again):
                for call, reply in zip(calls, self._model(calls, again), strict=True):
                    self._note(call, reply)
        return {question: self._answers(question) for question in questions}

    def _calls(self, questions: Sequence[Question], again: bool) -> list[Question]:
        """The calls that are still to be made; items that several questions ask about stand in one."""
        calls: list[Question] = []
        wanted: dict[tuple[str, tuple[str, ...]], dict[Item, None]] = {}
        for question in questions:
            if isinstance(question, MapQuestion):
                key = question.asked, question.names
                known = self._known.setdefault(key, {})
                items = wanted.setdefault(key, {})
                items.update(dict.fromkeys(item for item in question.items if item not in known))
            elif not again and question not in self._said:
                calls.append(question)
        for (asked, names), items in wanted.items():
            listed = tuple(items)
            starts = range(0, len(listed), MOST_ITEMS)
            calls += [MapQuestion(asked, names, listed[start : start + MOST_ITEMS]) for start in starts]
        return calls

    def _note(self, call: Question, reply: dict[int, str] | str | ModuleError) -> None:
        if isinstance(call, AnswerQuestion):
            self._said[call] = reply if isinstance(reply, str | ModuleError) else ""
        elif isinstance(reply, dict):
            known = self._known[call.asked, call.names]
            known.update({call.items[number - 1]: answer for number, answer in reply.items()})

    def _answers(self, question: Question) -> Answers | ModuleError:
        if isinstance(question, AnswerQuestion):
            return self._said[question]
        known = self._known[question.asked, question.names]
        missing = sum(item not in known for item in question.items)
        if not missing:
            return [known[item] for item in question.items]
        return ModuleError(
            f"the model answered {len(question.items) - missing} of {len(question.items)} items"
            f" of 'map@{question.asked}', though asked twice"
        )
