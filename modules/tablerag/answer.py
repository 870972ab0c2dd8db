"""Answer several times from the table and everything found out about it, and vote (TableRAG)."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from chameleon import LLMModule, Module, State, StepRejected, Table
from chameleon.core.llm_module import elect
from chameleon.core.module import Traits
from chameleon.core.prompt import TableView, named_tables, table_text, text_within
from chameleon.errors import ChameleonError
from chameleon.modules.program.solution_generator import stated_line
from chameleon.modules.reports.report import text_of
from chameleon.modules.table_ops.table_query import Answer, items_in, sentence_in, verdict_in, without_stop
from chameleon.quoting import on_one_line, unframed
from chameleon.table.formats import Style, excerpt, padded, places

Agree = Literal["value", "text"]
Format = Literal["string", "markdown", "html"] | Style
AnswerForm = Literal["verdict", "label", "items", "short"]

_LABEL = re.compile(
    r"\W*(?:(?:the )?(?:answer|label|verdict|claim)\W+(?:is\W+)?)?"
    r"(?:(?P<unknown>not[ _]enough[ _]info(?:rmation)?|nei|unknown|undecidable|2)"
    r"|(?P<supports>support(?:s|ed)|true|yes|1)|(?P<refutes>refute[sd]|false|no|0))\b(?![ \t]+\w)",
    re.IGNORECASE,
)
_LABELS = {"supports": "SUPPORTS", "refutes": "REFUTES", "unknown": "NOT ENOUGH INFO"}
_NUMBER = re.compile(r"\W*([01])\W*")


class TableFormatter(Module):
    """Sets whether the answering prompt shows the table in aligned columns, as Markdown or as HTML."""

    reads = ("input.table",)
    writes = ("cache.table_format",)
    traits = Traits(non_text=("cache.table_format",))

    def __init__(self, format: Format = "markdown") -> None:
        """`format`: "string" (aligned columns), "markdown" or "html", as published, or another table style.

        Unlike in the published formats, the index column of pandas is not shown.
        """
        self.format: Format = format

    def run(self, state: State) -> dict[str, Any]:
        """Return the format and a formatted table for human readers; prompts format the table themselves."""
        return {"format": self.format, "text": str(_formatted(state.input["table"], self.format))}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table_format": output["format"]}


def _formatted(table: Table, format: Format, **limits: Any) -> str:
    """Return the table as text that cannot close its block in a prompt, within the limits of `to_text`."""
    return aligned(table, **limits) if format == "string" else table_text(table, style=format, **limits)


def aligned(table: Table, **limits: Any) -> str:
    """Return the table as in pandas' `to_string`, without the index; a last line notes what was omitted."""
    view = excerpt(table, **limits)
    widths = [max(map(places, cells)) for cells in zip(*view.lines, strict=True)]
    to_right = [column.meaning.is_number for column in table.columns]
    texts = list[str]()
    for line in view.lines:
        placed = zip(line, widths, to_right, strict=True)
        cells = [padded(cell, width, to_right=right) for cell, width, right in placed]
        texts.append("  ".join(cells).rstrip())
    return unframed("\n".join([*texts, view.note] if view.note else texts))


class TableAnswerer(LLMModule):
    """Answers from the table and what the others found out about it, in several samples for consistency."""

    prompt = "tablerag/tabfact"
    traits = Traits(shows_own_keys=True)
    reads = (
        "input.question, input.table, input.tables?, input.passages?, input.history?, "
        "cache.terms?, cache.summary?, cache.table_format?"
    )
    writes = ("cache.answers",)
    samples = 5
    table_view = TableView(max_rows=100)

    def __init__(self, form: AnswerForm = "verdict") -> None:
        """`form`: the kind of answer.

        - "verdict": "yes" or "no" (TabFact); the published replies 1 and 0 are accepted as well;
        - "label": "SUPPORTS", "REFUTES" or "NOT ENOUGH INFO" (FEVEROUS); published: 1, 0 and 2;
        - "items": a list of texts, "a | b" in the reply (SQA);
        - "short": a few words (HybridQA).
        """
        self.form: AnswerForm = form

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the samples with an answer, as `answer` and `text`. If none has, raises the first error."""
        replies = self.ask(state)
        values = [self._value_or_rejection(reply, state) for reply in replies]
        samples = [
            {"answer": value, "text": reply.text.strip()}
            for reply, value in zip(replies, values, strict=True)
            if not isinstance(value, ChameleonError)
        ]
        return samples or elect(values)  # `elect` raises the first rejection

    def parse(self, text: str) -> Answer:
        """Return the answer after the last "The answer is". Raises `StepRejected` without an answer."""
        if self.form == "items":
            return items_in(text)
        if self.form == "short":
            return without_stop(sentence_in(text).strip(" *\"'`“”")) or sentence_in(text)
        stated = stated_line(text) or text.strip()
        if self.form == "verdict":
            number = _NUMBER.fullmatch(stated)
            return ("no", "yes")[int(number[1])] if number else verdict_in(text)
        match = _LABEL.match(stated)
        if match is None:
            raise StepRejected("the reply has none of the three labels")
        return _LABELS[str(match.lastgroup)]

    def slots(self, state: State) -> dict[str, Any]:
        """Show the table in the chosen format, and add a line for each turn and passage."""
        slots = super().slots(state) | {"passages": passages_in(state, self.table_view)}
        if style := state.cache.get("table_format"):
            limits = self.table_view.limits
            slots["table"] = _formatted(state.input["table"], style, **limits)
            slots["others"] = [
                {"name": name, "table": _formatted(each, style, **limits)}
                for name, each in named_tables(state.input.get("tables") or ())
            ]
        return slots


def passages_in(state: State, view: TableView) -> str:
    """Return the passages of the question, one per line."""
    lines = [on_one_line(text_of(passage)) for passage in state.input.get("passages") or ()]
    return text_within("\n".join(lines), view.max_text_tokens)


class Consistency(Module):
    """Gives the answer that most samples of table_answerer agree on. Always follows it."""

    reads = ("cache.answers",)
    writes = ("cache.answer",)

    def __init__(self, agree: Agree = "value") -> None:
        """`agree`: samples vote by the value of their answers ("value"), or by their exact text, as published
        ("text"), where "Yes" and "Yes." differ. If all differ, the first one wins.
        """
        self.agree: Agree = agree

    def run(self, state: State) -> Any:
        samples = state.cache["answers"]
        votes = [sample["text" if self.agree == "text" else "answer"] for sample in samples]
        return samples[votes.index(elect(votes))]["answer"]


class FinalAnswer(Module):
    """Gives the answer that was found, unchanged. Comes last, after what looks at the answer."""

    reads = ("cache.answer",)
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        return state.cache["answer"]
