"""Binder: several SQL programs, which may ask a model about cells, vote (Cheng et al., 2023)."""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, Literal

from chameleon import LLMModule, Module, State, StepRejected, Table
from chameleon.core.llm_module import AsksModel
from chameleon.core.module import Keys, Traits
from chameleon.core.prompt import Messages, Prompt
from chameleon.errors import ContextTooLong, EmptyReply, ModelError, ModuleError, Refused
from chameleon.lazy import cached_property
from chameleon.llm import Reply
from chameleon.modules.program.programs import as_answer, program_in, truth_of
from chameleon.modules.sql.binder_calls import all_calls
from chameleon.modules.sql.binder_programs import Answerer, AnswerQuestion, ProgramRun, Question
from chameleon.modules.sql.binder_repair import repaired
from chameleon.modules.sql.binder_table import binder_table
from chameleon.modules.sql.query import check_sql, run_sql
from chameleon.modules.table_ops.table_query import Answer, Form

VoteBy = Literal["simple", "prob", "answer_biased"]
# The answer of a program (None if it failed), and its log-probability (None if unknown).
Ballot = tuple[tuple[Hashable, ...] | None, float | None]

# Errors that concern a single prompt.
_SINGLE_CALL_ERRORS = (ContextTooLong, EmptyReply, ModelError, Refused)
_PROGRAM_LABEL = re.compile(r"^(?:(?:neuralsql|sql|program):\s*)+", re.IGNORECASE)


class BinderGenerator(LLMModule):
    """Writes SQL programs that may ask a model about cells: QA("map@…") and QA("ans@…"). For tables."""

    prompt = "wikitq/binder"
    traits = Traits(shows_own_keys=True)
    reads = ("input.question", "input.table")
    writes = ("cache.programs",)

    def __init__(self, shown_rows: int | None = None) -> None:
        """`shown_rows`: how many rows of the table the prompt shows; by default all, as published.

        A prompt that does not fit the model's context is an error (`ContextTooLong`). The published code
        silently drops demonstrations instead.
        """
        self.shown_rows = shown_rows

    def slots(self, state: State) -> dict[str, Any]:
        """Add `database`: the table as Binder's programs see it."""
        table = state.input["table"]
        text = binder_table(table).described(table.caption.lower(), self.shown_rows)
        return super().slots(state) | {"database": text}

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the program of each sample with its `logprob` if known, or why it `failed`."""
        replies = self.ask(state)
        outcomes = [self._value_or_rejection(reply, state) for reply in replies]
        if all(isinstance(each, StepRejected) for each in outcomes):
            raise outcomes[0]
        programs = []
        for reply, program in zip(replies, outcomes, strict=True):
            if isinstance(program, StepRejected):
                programs.append({"program": reply.text.strip(), "failed": program.what})
            else:
                extra = {} if reply.logprob is None else {"logprob": reply.logprob}
                programs.append({"program": program} | extra)
        return programs

    def interpret(self, text: str, state: State) -> str:
        """Return the program in a reply, repaired for the table. Raises `StepRejected` if it is malformed."""
        table: Table = state.input["table"]
        program = _PROGRAM_LABEL.sub("", program_in(text).strip()).split("\n\n", maxsplit=1)[0]
        fixed = repaired(program, binder_table(table), table.caption)
        if not fixed:
            raise StepRejected("the reply has no program")
        all_calls(fixed)  # raises for a call that cannot be read
        return fixed


class BinderExecutor(AsksModel, Module):
    """Runs the programs of binder_generator and gives the answer of each, or why it has none."""

    prompt = "wikitq/binder_map"
    reads = ("input.question", "input.table", "cache.programs")
    writes = ("cache.ballots",)
    uses: ClassVar[Keys] = ("model",)

    def __init__(self, answer_prompt: str = "wikitq/binder_answer", timeout: float | None = None) -> None:
        """Take settings, all optional. `prompt` is used for QA("map@…").

        Questions about cells are asked once for each distinct value, up to 50 per call, and shared by all
        programs.

        Args:
            answer_prompt: the prompt for QA("ans@…").
            timeout: seconds for one query, by default the sandbox's 2.
        """
        self.answer_prompt, self.timeout = answer_prompt, timeout

    @cached_property
    def answer_template(self) -> Prompt:
        """The prompt of QA("ans@…"). Raises `PromptError` if it does not exist."""
        return Prompt.load(self.answer_prompt, self._asking.folders)

    def check(self) -> None:
        check_sql()
        self.answer_template.check()

    def runtime_info(self) -> Mapping[str, Any]:
        return {"answer_prompt": self.answer_template.digest}

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return a ballot for each program: the program with its `answer`, a list of values, or `failed`."""
        table, answerer = binder_table(state.input["table"]), Answerer(partial(self._ask, state))

        @cache  # equal programs run once
        def outcome_of(program: str) -> dict[str, Any]:
            run = ProgramRun(table, partial(run_sql, timeout=self.timeout), answerer)
            try:
                return {"answer": run.cells(program)}
            except ModuleError as error:
                return {"failed": error.what}

        programs = state.cache["programs"]
        return [{**each, **({} if "failed" in each else outcome_of(each["program"]))} for each in programs]

    def _ask(self, state: State, questions: Sequence[Question], again: bool) -> Sequence[Reply | ModuleError]:
        """Return the model's replies. An error with one prompt fails only the programs that need it."""
        prompts = [self._messages(question, state) for question in questions]
        try:
            if again:  # the store may have a reply to the same prompt, so ask for another sample
                return [self.model.ask(each, sample=1) for each in prompts]
            return self.model.ask_each(prompts)
        except ModelError as error:
            if type(error) not in _SINGLE_CALL_ERRORS:
                raise
            return [ModuleError(error.what, hint=error.hint)] * len(prompts)

    def _messages(self, question: Question, state: State) -> Messages:
        prompt = self.answer_template if isinstance(question, AnswerQuestion) else self._template
        return prompt.render(question.slots | {"title": state.input["table"].caption.lower()})


class BinderVote(Module):
    """Gives the answer that most programs agree on. Follows binder_executor; always the last."""

    reads = ("cache.ballots",)
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items", by: VoteBy = "simple", weight: float = 3.0) -> None:
        """Take settings. A program that finds nothing to support the statement votes "no".

        Args:
            form: "items" (a list of texts), "verdict" ("yes" or "no") or "text".
            by: how votes are weighted, see `winning_answer`.
            weight: the weight of "yes" if `by` is "answer_biased", as published for TabFact.
        """
        self.form, self.by, self.weight = form, by, weight

    def run(self, state: State) -> Answer:
        ballots: list[Ballot] = []
        for ballot in state.cache["ballots"]:
            answer = ballot.get("answer")
            if answer is not None and self.form == "verdict":
                truth = truth_of(answer)
                answer = None if truth is None else (int(truth),)
            ballots.append((None if answer is None else tuple(answer), ballot.get("logprob")))
        return as_answer(self.winning_answer(ballots), self.form)

    def winning_answer(self, ballots: Sequence[Ballot]) -> tuple[Hashable, ...]:
        """Return the answer with the most votes. The order of values matters; 1, 1.0 and True are equal.

        A program that failed or found nothing (no rows, or a single NULL) has no vote. "simple": each vote
        counts 1. "prob": it counts its program's probability, or 1 if unknown. "answer_biased": it counts 1,
        or `weight` if it is for 1, "yes". Ties go to the answer whose first program is the likeliest, then
        to the first answer. Raises `ModuleError` without any votes; the published code answers 0 then.
        """
        voters: dict[tuple[Hashable, ...], list[float]] = {}
        for answer, logprob in ballots:
            if answer and answer != (None,):
                voters.setdefault(answer, []).append(logprob or 0.0)  # an unknown one counts as exp(0), 1
        if not voters:
            raise ModuleError("no program gave an answer")

        def votes(answer: tuple[Hashable, ...]) -> float:
            counted = sum(math.exp(logprob) if self.by == "prob" else 1.0 for logprob in voters[answer])
            return counted * (self.weight if self.by == "answer_biased" and answer == (1,) else 1.0)

        return max(voters, key=lambda answer: (votes(answer), voters[answer][0]))
