"""Ask a model for the answer in a table: the last operation of a chain (Chain-of-Table)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from chameleon import LLMModule, State, StepRejected
from chameleon.core.llm_module import elect, votes, weights_of
from chameleon.core.module import Traits
from chameleon.core.prompt import TableView
from chameleon.modules.program.solution_generator import first_line, is_a_cell, settled, stated_line
from chameleon.text import FURTHER_QUESTION, no_answer, unwrapped

Form = Literal["items", "verdict", "text"]
Answer = str | list[str]

_BULLET = re.compile(r"\A(?:[-*•]|\d{1,2}[.)])\s+")
_STATED = re.compile(
    r"\bthe (?:final )?answer is\s*:|^[^\w\n]*(?:the )?(?:final )?answer(?: is\b|\s*:)\s*:?",
    re.IGNORECASE | re.MULTILINE,
)
_VERDICT = re.compile(  # "No, …" and "No because …", but not "No team won"
    r"\W*(?:(?:answer|(?:the )?statement is)\W+)?(yes|no|true|false)\b"
    r"(?![ \t]+(?!because\b|since\b|as\b)\w)",
    re.IGNORECASE,
)
_TRUE = ("yes", "true")
_SEVERAL = re.compile(r"\b(?:list|name|all|each|every|and|were|are|both|two|three|four|five)\b")
_MIN_ROW_CELLS = 3  # columns: two items that form a row may be two answers


class TableQuery(LLMModule):
    """Answers the question from the table as it now stands. Comes last, once the table shows the answer."""

    prompt = "wikitq/table_query"
    traits = Traits(shows_own_keys=True)
    reads = ("input.question", "input.table", "input.text?", "cache.chain?", "cache.evidence?")
    writes = ("cache.answer",)
    table_view = TableView("numbered", max_rows=100)

    def __init__(self, form: Form = "items") -> None:
        """Samples vote with their probabilities if the model reports them (`llm: {logprobs: true}`).

        `form`: the kind of answer.

        - "items": a list of texts, "a | b" in the reply (WikiTableQuestions);
        - "verdict": "yes" or "no", whether a statement is true (TabFact);
        - "text": a sentence or more (FeTaQA).
        """
        self.form: Form = form

    def run(self, state: State) -> Answer:
        replies = self.ask(state)
        outcomes = [self._value_or_rejection(reply, state) for reply in replies]
        if self.vote == "majority" and (candidates := votes(outcomes, weights_of(replies, "given"))):
            return cast(Answer, candidates[0][0])
        return cast(Answer, elect(outcomes, self.vote))

    def parse(self, text: str) -> Answer:
        return answer_in(text, self.form)

    def interpret(self, text: str, state: State) -> Answer:
        answer, table = self.parse(text), state.table
        items = answer if isinstance(answer, list) else [str(answer)]
        free = (item for item in items if not is_a_cell(item, table))
        if why := next(filter(None, map(no_answer, free)), ""):
            raise StepRejected(why, hint="Give only the answer.")
        if isinstance(answer, list):
            return _asked_cell([settled(item, table) for item in answer], state)
        return answer

    def slots(self, state: State) -> dict[str, Any]:
        """Add `calls`, the operations applied to the table so far, such as "f_group_by(Country)"."""
        chain: Sequence[Mapping[str, Any]] = state.cache.get("chain", ())
        calls = [link["call"] for link in chain if "refused" not in link]
        return super().slots(state) | {"calls": calls}


def answer_in(text: str, form: Form) -> Answer:
    """Return the answer, without any examples after it. Raises `StepRejected` if it has another form."""
    text = FURTHER_QUESTION.split(text.partition("\n/*")[0], maxsplit=1)[0]
    if form == "items":
        return items_in(text)
    return verdict_in(text) if form == "verdict" else sentence_in(text)


def _asked_cell(items: list[str], state: State) -> list[str]:
    """Return the cell asked for if the items are one whole row of three columns or more, else the items.

    The cell is in the column named after "which" or "what". A question for several things may mean the whole
    row. Raises `StepRejected` otherwise.
    """
    table, question = state.input["table"], " ".join(state.input["question"].casefold().split())
    rows = ([cell for cell in map(_plainly, row) if cell] for row in table.rows)
    if len(items) < _MIN_ROW_CELLS or [*map(_plainly, items)] not in rows:
        return items
    names = [" ".join(name.casefold().split()) for name in table.header]
    matches = (re.search(rf"\b(?:which|what) {re.escape(name)}\b", question) for name in names)
    columns = [number for number, match in enumerate(matches) if match]
    if len(columns) == 1 and len(items) == len(names):
        return [items[columns[0]]]
    if _SEVERAL.search(question):
        return items
    raise StepRejected("the reply is a whole row of the table", hint="Give only the cell that answers.")


def _plainly(cell: str) -> str:
    return cell.strip().casefold().replace(",", "")


def items_in(text: str) -> list[str]:
    """Read "The answer is: a | b" as ["a", "b"]; without those words, read up to the first empty line."""
    text = unwrapped(text)
    stated = stated_line(text)
    if stated is None and (labeled := list(_STATED.finditer(text))):
        stated = first_line(text[labeled[-1].end() :].strip("*_ \n")) or ""
    answer = stated if stated is not None else re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
    answer = unwrapped(answer)
    parts = (_BULLET.sub("", part.strip(), count=1) for part in re.split(r"[|\n]", answer))
    items = [item for part in parts if (item := part.replace("**", "").strip())]
    if items and stated is not None:
        items[-1:] = filter(None, [without_stop(items[-1])])
    if not items:
        raise StepRejected("the reply has no answer")
    return items


def without_stop(text: str) -> str:
    """Return a text without the period of its sentence; "6:30 P.M." keeps its period."""
    word = text.rpartition(" ")[2]
    return text.removesuffix(".") if word.count(".") == 1 else text


def verdict_in(text: str) -> Literal["yes", "no"]:
    """Return "yes" or "no", from YES, NO, true, "The answer is: False." and the like.

    The published matcher accepts only the bare words, and counts "Yes." as wrong for either label.
    """
    match = _VERDICT.match(stated_line(text) or text.strip())
    if match is None:
        raise StepRejected("the reply says neither yes nor no")
    return "yes" if match[1].lower() in _TRUE else "no"


def sentence_in(text: str) -> str:
    """Return the text after the last "The answer is:" or "Answer:", else the reply, on one line."""
    text = unwrapped(text)
    stated = list(_STATED.finditer(text))
    answer = " ".join(text[stated[-1].end() if stated else 0 :].split())
    answer = unwrapped(answer.lstrip("* ") if stated else answer)
    if not answer:
        raise StepRejected("the reply is empty")
    return answer
