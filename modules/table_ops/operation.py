"""Define a table operation: arguments chosen by a model, and a pure function that applies them."""

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from chameleon import LLMModule, State, StepRejected, Table
from chameleon.core.llm_module import Weights, votes, weights_of
from chameleon.core.module import Keys
from chameleon.core.prompt import TableView
from chameleon.table.formats import excerpt
from chameleon.text import clean_cell
from chameleon.values import freeze, only_once

Args = Mapping[str, Any]
_MAX_NAMES = 200  # columns that a schema lists
_OBJECT = re.compile(r"^\{.*\}", re.DOTALL | re.MULTILINE)  # by itself, or in a fence


def form_of(**fields: Any) -> type[BaseModel]:
    """Return the form of the arguments: fields with their types, all required and no others."""
    definitions = {name: (kind, ...) for name, kind in fields.items()}
    return create_model("arguments", __config__=ConfigDict(extra="forbid", strict=True), **definitions)  # type: ignore[call-overload, no-any-return]


def name_in(header: Sequence[str]) -> Any:
    """Return the type of a name in a header."""
    return Literal[tuple(dict.fromkeys(header))]


class TableOperation(LLMModule):
    """Changes the table as the question needs it, with arguments that a model chooses (Chain-of-Table).

    A further operation is a file with a subclass and a prompt: the docstring is its card, `read_args` reads
    a reply (`interpret` where that takes more of the state than the table), `apply` is what it makes of a
    table, `written` how the chain shows it; then the planner's `follows` names it.

    With several `samples` the arguments are voted on: `weights` says what each reply counts (`weights_of`).

    The output is the link and the new `table`. A link has `operation`, `call` (such as
    "f_sort_by(Points, large to small)") and `args`, and `note` where the operation has something to say
    (`noted`); where it does not apply, `refused` says why in place of `args`, and the table stays as it was.
    `cache.chain` holds all links so far: those that were not refused, applied in order to the original table,
    give the table as it now stands.
    """

    reads: ClassVar[Keys | None] = ("input.question", "input.table", "cache.chain?")
    writes: ClassVar[Keys] = ("input.table", "cache.chain")
    table_view = TableView("numbered", max_rows=100)

    def __init__(self, weights: Weights = "given") -> None:
        self.weights = weights

    @abstractmethod
    def apply(self, table: Table, args: Args) -> Table:
        """Return the new table. Raises `StepRejected` with the reason if the operation does not apply."""

    @abstractmethod
    def written(self, args: Args) -> str:
        """Return the arguments as written in the chain."""

    def applied(self, input: Mapping[str, Any], args: Args) -> Table:
        """Apply to the input of a run; override it to use more of the input, such as another table."""
        return self.apply(input["table"], args)

    def noted(self, input: Mapping[str, Any], args: Args) -> str:
        """Return a note on the call for the link, such as which rows were dropped, or ""."""
        return ""

    def run(self, state: State) -> dict[str, Any]:
        """Return the link, with the new `table` if the operation applies."""
        link: dict[str, Any] = {"operation": self.name, "call": f"f_{self.name}()"}
        try:
            args = freeze(self.choose_args(state), "args")
            link["call"] = f"f_{self.name}({self.written(args)})"
            table = self.applied(state.input, args)
        except StepRejected as reason:
            return link | {"refused": reason.what}
        note = self.noted(state.input, args)
        return link | {"args": args} | ({"note": note} if note else {}) | {"table": table}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"]} if "table" in output else {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"chain": [*cache.get("chain", ()), link_of(output)]}

    @abstractmethod
    def read_args(self, text: str, table: Table) -> Args:
        """Return the arguments in a reply. Raises `StepRejected` for a reply without arguments."""

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        """Choose from the arguments and their votes, sorted by votes; ties are in order of appearance."""
        return candidates[0][0]

    def choose_args(self, state: State) -> Args:
        replies = self.ask(state)
        outcomes = [self._value_or_rejection(reply, state) for reply in replies]
        candidates = votes(outcomes, weights_of(replies, self.weights))
        if not candidates:
            raise outcomes[0]
        return self.elected(candidates)

    def blocks(self, table: Table, sizes: Iterable[int]) -> list[range]:
        """Return the rows to show in each of several prompts: at most its size, and within `limits`.

        Stops at the end of the table or the sizes, or before a row that is too long to show.
        """
        blocks: list[range] = []
        start = 0
        for size in sizes:
            part = table.take_rows(range(start, min(start + size, len(table.rows))))
            count = len(excerpt(part, **self.table_view.limits).rows)
            if not count:
                break
            blocks.append(range(start, start + count))
            start += count
        return blocks

    def args_form(self, table: Table) -> type[BaseModel] | None:
        """Return the form of the arguments for a table, for models that support one; None for plain text."""
        return None

    def schema(self, state: State) -> Mapping[str, Any] | None:
        """Return the schema of the arguments; None without rows, or if a schema cannot hold all columns."""
        table: Table = state.input["table"]
        form = self.args_form(table) if table.rows and len(table.header) <= _MAX_NAMES else None
        return None if form is None else form.model_json_schema()

    def interpret(self, text: str, state: State) -> Args:
        table: Table = state.input["table"]
        form = self.args_form(table) if self.structured else None
        if form is None or (match := _OBJECT.search(text)) is None:
            return self.read_args(text, table)
        try:
            data = json.loads(match[0], object_pairs_hook=only_once)
            return self.settled(form.model_validate(data).model_dump(), table)
        except ValidationError as problem:
            first = problem.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StepRejected(f"its arguments do not fit: {place}: {first['msg']}") from None
        except (ValueError, RecursionError) as problem:
            raise StepRejected(f"its arguments are not JSON: {problem}") from None

    def settled(self, args: Args, table: Table) -> Args:
        """Check and correct arguments of the right form. Raises `StepRejected` if they are unusable."""
        return args

    def slots(self, state: State) -> dict[str, Any]:
        """Add `columns`, the header on a line."""
        table: Table = state.input["table"]
        return super().slots(state) | {"columns": ", ".join(map(clean_cell, table.header))}


def link_of(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output of an operation without its table, as stored in `cache.chain`."""
    return {key: value for key, value in output.items() if key != "table"}
