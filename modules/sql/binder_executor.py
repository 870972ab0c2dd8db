"""Run Binder's programs: SQL in the sandbox, and the model for what they ask it (Cheng et al., 2023).

What the programs ask about cells is asked once for each different value, at most 50 to a call, and for all
programs together; every call that can be made at the same time is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from chameleon import Module, State, StepRejected
from chameleon.errors import ContextTooLong, CutOff, EmptyReply, ModelError, ModuleError, Refused
from chameleon.llm_module import RAISE_LIMIT, AsksModel
from chameleon.module import Keys
from chameleon.modules.sql.normal import normalised
from chameleon.modules.sql.query import check_sql, run_sql
from chameleon.modules.sql.questions import (
    AnswerQuestion,
    MapQuestion,
    Question,
    item_lines,
    map_answers,
    single_answer,
)
from chameleon.modules.sql.together import run_together
from chameleon.prompt import Messages, Prompt

if TYPE_CHECKING:
    from chameleon.llm import Reply

# Errors that another prompt need not meet.
_OF_ONE_CALL = (ContextTooLong, EmptyReply, ModelError, Refused)


class BinderExecutor(AsksModel, Module):
    """Runs the programs of binder_generator and gives the answer of each, or why it has none."""

    prompt = "wikitq/binder_map"
    reads = ("input.question", "input.table", "cache.programs")
    writes = ("cache.ballots",)
    uses: ClassVar[Keys] = ("model",)

    def __init__(self, answer_prompt: str = "wikitq/binder_answer", timeout: float | None = None) -> None:
        """`prompt` is that of QA("map@…"), `answer_prompt` that of QA("ans@…").

        `timeout`: seconds for one query, by default the sandbox's 2.
        """
        self.answer_prompt, self.timeout = answer_prompt, timeout

    @cached_property
    def answer_template(self) -> Prompt:
        """The prompt of QA("ans@…"). Raises `PromptError` when there is none."""
        return Prompt.load(self.answer_prompt, self.folders)

    def check(self) -> None:
        check_sql()
        self.answer_template.check()

    def runtime_info(self) -> Mapping[str, Any]:
        return {"answer_prompt": self.answer_template.digest}

    def run(self, state: State) -> list[dict[str, Any]]:
        """One ballot for each program: the program with `answer`, a list of values, or with `failed`."""
        programs: Sequence[Mapping[str, Any]] = state.cache["programs"]
        outcomes = run_together(
            [each["program"] for each in programs if "failed" not in each],
            normalised(state.input["table"]),
            partial(run_sql, timeout=self.timeout),
            partial(self._replies, state),
        )
        return [
            dict(each) | ({} if "failed" in each else _told(outcomes[each["program"]])) for each in programs
        ]

    def _replies(
        self, state: State, questions: Sequence[Question], again: bool
    ) -> list[dict[int, str] | str | ModuleError]:
        prompts = [self._asked(question, state) for question in questions]
        replies: Sequence[Reply | ModuleError]
        try:
            # The same prompt may have got its reply before: to ask again is another sample.
            replies = [] if again else self.model.ask_each(prompts)
        except ModelError as error:
            if type(error) not in _OF_ONE_CALL:
                raise
            replies = []
        replies = replies or [self._alone(messages, int(again)) for messages in prompts]
        return [_read(question, reply) for question, reply in zip(questions, replies, strict=True)]

    def _alone(self, messages: Messages, sample: int) -> Reply | ModuleError:
        """The reply to one prompt; what is wrong with it alone fails the programs that need it, no others."""
        try:
            return self.model.ask(messages, sample=sample)
        except ModelError as error:
            if type(error) not in _OF_ONE_CALL:
                raise
            return ModuleError(error.what, hint=error.hint)

    def _asked(self, question: Question, state: State) -> Messages:
        slots: dict[str, Any] = {"asked": question.asked, "title": state.input["table"].caption.lower()}
        if isinstance(question, AnswerQuestion):
            return self.answer_template.render(slots | {"blocks": list(question.blocks)})
        columns = " | ".join(question.names)
        return self.template.render(slots | {"columns": columns, "items": item_lines(question.items)})


def _read(question: Question, reply: Reply | ModuleError) -> dict[int, str] | str | ModuleError:
    """What a reply says; of one that was cut off, the last line says nothing."""
    if isinstance(reply, ModuleError):
        return reply
    if isinstance(question, MapQuestion):
        text = reply.text.rpartition("\n")[0] if reply.truncated else reply.text
        return map_answers(text, len(question.items))
    if reply.truncated:
        return CutOff(f"the reply to 'ans@{question.asked}' was cut off", hint=RAISE_LIMIT)
    try:
        return single_answer(reply.text)
    except StepRejected as rejection:
        return rejection


def _told(outcome: Any) -> dict[str, Any]:
    return {"failed": outcome.what} if isinstance(outcome, ModuleError) else {"answer": outcome}
